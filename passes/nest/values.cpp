// Values of bodies as tiles.
#include <algorithm>
#include <span>

#include "passes/analysis/body_walk.h"
#include "passes/nest/nest.h"
#include "support/check.h"

namespace tenon::passes {

using ir::AxisId;
using ir::IndexId;
using ir::IndexKind;
using ir::Opcode;
using ir::TensorId;
using ir::TensorOp;
using ir::TensorOpId;
using ir::TileValueId;
using ir::ValueId;

TileValueId Nest::find_tensor(const Context& context, TensorId tensor) const {
  for (const Context* c = &context; c != nullptr; c = c->parent)
    if (auto at = c->tensors.find(tensor); at != c->tensors.end()) return at->second;
  return {};
}

Context& Nest::hoisted(Context& context, std::span<const IndexId> indices) {
  Context* best = &context;
  for (Context* c = context.parent; c != nullptr; c = c->parent) {
    bool all = true;
    for (IndexId index : indices) {
      kernel_.index.for_each_atom(index, [&](IndexId atom) {
        const ir::IndexNode& node = kernel_.index[atom];
        if (node.kind == IndexKind::kValue) all = false;
        if (node.kind == IndexKind::kAxis) {
          bool found = false;
          for (const Context* up = c; up != nullptr; up = up->parent)
            found = found || up->positions.contains(AxisId(node.reference));
          all = all && found;
        }
      });
    }
    if (!all) break;
    best = c;
  }
  return *best;
}

TileValueId Nest::constant(Context& context, const ir::Constant& constant) {
  auto key = std::pair(constant.type, constant.bits);
  if (auto at = context.constants.find(key); at != context.constants.end()) return at->second;
  return context.constants[key] = context.builder->constant(constant);
}

TileValueId Nest::index_value(Context& context, IndexId index) {
  if (auto at = context.index_values.find(index); at != context.index_values.end()) return at->second;
  return context.index_values[index] = context.builder->index_value(index);
}

TileValueId Nest::both(Context& context, TileValueId a, TileValueId b) {
  if (!a.valid()) return b;
  if (!b.valid()) return a;
  return context.builder->elementwise(Opcode::kAnd, ElementType::kBool, {a, b});
}

TileValueId Nest::domain_mask(Context& context, std::span<const AxisId> axes) {
  TileValueId mask;
  for (uint32_t d = 0; d < schedule_.dims.size(); ++d) {
    const ir::AxisList& own = schedule_.dims[d].axes;
    bool used = std::any_of(own.begin(), own.end(), [&](AxisId axis) {
      return std::find(axes.begin(), axes.end(), axis) != axes.end();
    });
    if (used && dim_position(context, d) && overruns(d)) mask = both(context, mask, dim_mask(context, d));
  }
  return mask;
}

TileValueId Nest::dim_mask(Context& context, uint32_t d) {
  Context* owner = &context;
  while (!owner->dim_positions.contains(d)) owner = owner->parent;
  if (auto at = owner->masks.find(d); at != owner->masks.end()) return at->second;
  TileValueId position = index_value(*owner, owner->dim_positions[d]);
  TileValueId extent = index_value(*owner, dim_extent(schedule_.dims[d]));
  return owner->masks[d] = owner->builder->elementwise(Opcode::kLt, ElementType::kBool, {position, extent});
}

IndexId Nest::placed(Context& context, TensorOpId id, IndexId index) {
  return module_.index.substitute(index, [&](IndexId atom) {
    const ir::IndexNode node = module_.index[atom];
    if (node.kind == IndexKind::kAxis) {
      AxisId axis(node.reference);
      return module_.axes[axis].kind == ir::TileAxis::Kind::kDomain ? position(context, axis) : IndexId();
    }
    if (node.kind == IndexKind::kValue) {
      return module_.index.value(ValueId(body_value(context, id, ValueId(node.reference)).index()));
    }
    return IndexId();
  });
}

TileValueId Nest::body_value(Context& context, TensorOpId id, ValueId value) {
  if (auto have = known(context, id, value)) return *have;
  // Operands come before uses, so the needed part of the body is built in order, without recursion.
  auto is_known = [&](ValueId needed) { return known(context, id, needed).has_value(); };
  TileValueId result;
  for (ValueId needed : values_under(kernel_.index, kernel_.ops[id].body, value, is_known)) {
    if (auto have = known(context, id, needed)) {
      result = *have;
    } else {
      result = build_instruction(context, id, needed);
      context.body_values[id][needed] = result;
    }
  }
  return result;
}

std::optional<TileValueId> Nest::known(const Context& context, TensorOpId id, ValueId value) const {
  for (const Context* c = &context; c != nullptr; c = c->parent)
    if (auto at = c->body_values.find(id); at != c->body_values.end())
      if (TileValueId have = std::as_const(at->second)[value]; have.valid()) return have;
  return std::nullopt;
}

TileValueId Nest::build_instruction(Context& context, TensorOpId id, ValueId value) {
  const ir::Instruction& instruction = kernel_.ops[id].body[value];
  switch (instruction.op) {
    case Opcode::kConst:
      return constant(context, {instruction.type, instruction.bits});
    case Opcode::kIndex:
      return index_value(hoisted(context, std::span(&instruction.index, 1)),
                         placed(context, id, instruction.index));
    case Opcode::kRead:
      return build_read(context, id, value);
    default:
      break;
  }
  SmallVector<TileValueId, 4> operands;
  for (unsigned i = 0; i < instruction.operand_count(); ++i)
    operands.push_back(body_value(context, id, instruction.operands[i]));
  return context.builder->elementwise(instruction.op, instruction.type, operands, instruction.approx);
}

TileValueId Nest::build_read(Context& context, TensorOpId id, ValueId value) {
  const ir::Instruction& read = kernel_.ops[id].body[value];
  if (!in_copy_) {
    for (const StagedRead& staged : schedule_.staged)
      if (staged.op == id && staged.value == value) return build_staged_read(context, staged);
  }
  if (auto producer = producers_.find(read.tensor); producer != producers_.end()) {
    if (TileValueId value = find_tensor(context, read.tensor); value.valid()) return value;
    const TensorOp& op = kernel_.ops[producer->second];
    TENON_CHECK(op.op == Opcode::kMap, "a reduction is read before it is computed");
    for (const ir::OpOutput& output : op.outputs)
      if (output.tensor == read.tensor)
        return context.tensors[read.tensor] = body_value(context, producer->second, output.values[0]);
  }
  bool predicated = read.operands[0].valid();
  Context& where = predicated ? context : hoisted(context, read.subscripts);
  ir::IndexList subscripts;
  std::vector<AxisId> axes;
  for (IndexId subscript : read.subscripts) {
    subscripts.push_back(placed(where, id, subscript));
    collect_axes(id, subscript, axes);
  }
  // What one operation has read another need not read again.
  auto key = std::pair(read.tensor, subscripts);
  if (!predicated) {
    for (const Context* c = &where; c != nullptr; c = c->parent)
      if (auto at = c->loads.find(key); at != c->loads.end()) return at->second;
    if (TileValueId kept = load_kept(where, read); kept.valid()) return where.loads[key] = kept;
  }
  TileValueId mask = domain_mask(where, axes);
  TileValueId otherwise;
  if (predicated) {
    mask = both(where, mask, body_value(where, id, read.operands[0]));
    otherwise = body_value(where, id, read.operands[1]);
  }
  TileValueId result = where.builder->load(read.tensor, std::move(subscripts), mask, otherwise);
  if (!predicated) {
    where.loads[key] = result;
    keep(where, read, result);
  }
  return result;
}

void Nest::collect_axes(TensorOpId id, IndexId index, std::vector<AxisId>& axes) const {
  auto collect = [&](IndexId one) {
    for_each_axis(kernel_.index, one, [&](AxisId axis) { axes.push_back(axis); });
  };
  collect(index);
  kernel_.index.for_each_atom(index, [&](IndexId atom) {
    const ir::IndexNode& node = kernel_.index[atom];
    if (node.kind != IndexKind::kValue) return;
    const ir::Body& body = kernel_.ops[id].body;
    for (ValueId needed : values_under(kernel_.index, body, ValueId(node.reference)))
      for_each_index(body[needed], collect);
  });
}

}  // namespace tenon::passes
