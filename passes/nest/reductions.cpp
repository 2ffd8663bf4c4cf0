// Reductions: lifted states, accumulators, results.
#include <algorithm>

#include "passes/nest/nest.h"
#include "support/check.h"

namespace tenon::passes {

using ir::AxisId;
using ir::Opcode;
using ir::TensorOp;
using ir::TensorOpId;
using ir::TileValueId;
using ir::ValueId;

void Nest::build_reduction(Context& main, TensorOpId id, const std::vector<uint32_t>& serial) {
  const TensorOp& op = kernel_.ops[id];
  for (const Schedule::Contraction& contraction : schedule_.contractions) {
    if (contraction.op != id) continue;
    build_contraction(main, contraction, serial);
    return;
  }
  std::vector<AxisId> reduced = reduced_tile_axes(op);
  std::vector<TileValueId> state;
  if (serial.empty()) {
    state = masked_lifts(main, id);
  } else {
    std::vector<TileValueId> initial = identities(main, op);
    state = in_loops(main, serial, initial, [&](Context& inner, std::span<const TileValueId> carried) {
      return merged(inner, op, carried, masked_lifts(inner, id));
    });
  }
  size_t next = 0;
  for (const ir::OpOutput& output : op.outputs) {
    size_t slots = output.monoid->slots();
    std::span<const TileValueId> own(state.data() + next, slots);
    next += slots;
    std::vector<TileValueId> result(own.begin(), own.end());
    if (!reduced.empty()) {
      spread(main, *output.monoid, result, reduced);
      result = main.builder->reduce(*output.monoid, result, reduced);
    }
    finish(main, op, output, result);
  }
}

void Nest::spread(Context& context, const ir::Monoid& monoid, std::vector<TileValueId>& state,
                  const std::vector<AxisId>& reduced) {
  std::set<AxisId> all(reduced.begin(), reduced.end());
  for (TileValueId value : state) {
    const std::vector<AxisId>& axes = module_.values[value].type.axes;
    all.insert(axes.begin(), axes.end());
  }
  for (TileValueId value : state)
    if (module_.values[value].type.axes.size() == all.size()) return;
  TileValueId everywhere = splat(context, {ElementType::kBool, 1}, {all.begin(), all.end()});
  const ir::Constant& identity = monoid.identity[0];
  state[0] = context.builder->elementwise(Opcode::kSelect, identity.type,
                                          {everywhere, state[0], constant(context, identity)});
}

std::vector<AxisId> Nest::reduced_tile_axes(const TensorOp& op) const {
  std::vector<AxisId> axes;
  for (uint32_t d = 0; d < schedule_.dims.size(); ++d) {
    if (!tile_axes_[d].valid()) continue;
    const std::vector<AxisId>& dim = schedule_.dims[d].axes;
    if (std::find(op.reduction.begin(), op.reduction.end(), dim.front()) != op.reduction.end())
      axes.push_back(tile_axes_[d]);
  }
  std::sort(axes.begin(), axes.end());
  return axes;
}

void Nest::finish(Context& main, const TensorOp& op, const ir::OpOutput& output,
                  std::span<const TileValueId> state) {
  if (states_ != nullptr) {
    store_states(main, op, output, state);
    return;
  }
  ValueId wanted[] = {output.monoid->projected};
  main.tensors[output.tensor] = main.builder->inline_body(output.monoid->project, state, wanted)[0];
}

std::vector<TileValueId> Nest::identities(Context& context, const TensorOp& op) {
  std::vector<AxisId> axes = reduced_tile_axes(op);
  for (uint32_t d = 0; d < schedule_.dims.size(); ++d) {
    if (!tile_axes_[d].valid()) continue;
    if (std::find(op.parallel.begin(), op.parallel.end(), schedule_.dims[d].axes.front()) !=
        op.parallel.end())
      axes.push_back(tile_axes_[d]);
  }
  std::sort(axes.begin(), axes.end());
  std::vector<TileValueId> values;
  for (const ir::OpOutput& output : op.outputs)
    for (const ir::Constant& identity : output.monoid->identity)
      values.push_back(splat(context, identity, axes));
  return values;
}

TileValueId Nest::splat(Context& context, const ir::Constant& constant, std::vector<AxisId> axes) {
  ir::TileOp op;
  op.op = Opcode::kConst;
  op.bits = constant.bits;
  return context.builder->result(context.builder->append(std::move(op)), constant.type, std::move(axes));
}

std::vector<TileValueId> Nest::merged(Context& context, const TensorOp& op, std::span<const TileValueId> left,
                                      const std::vector<TileValueId>& right) {
  std::vector<TileValueId> result;
  size_t next = 0;
  for (const ir::OpOutput& output : op.outputs) {
    size_t slots = output.monoid->slots();
    std::vector<TileValueId> arguments(left.begin() + next, left.begin() + next + slots);
    arguments.insert(arguments.end(), right.begin() + next, right.begin() + next + slots);
    auto values = context.builder->inline_body(output.monoid->merge, arguments, output.monoid->merged);
    result.insert(result.end(), values.begin(), values.end());
    next += slots;
  }
  return result;
}

std::vector<TileValueId> Nest::masked_lifts(Context& context, TensorOpId id) {
  const TensorOp& op = kernel_.ops[id];
  TileValueId mask = domain_mask(context, op.reduction);
  if (op.predicate.valid()) mask = both(context, mask, body_value(context, id, op.predicate));
  std::vector<TileValueId> lifts;
  for (const ir::OpOutput& output : op.outputs) {
    for (size_t slot = 0; slot < output.values.size(); ++slot) {
      TileValueId value = body_value(context, id, output.values[slot]);
      const ir::Constant& identity = output.monoid->identity[slot];
      bool given = !op.predicate.valid() && load_identity(context, value, identity, op.reduction);
      if (mask.valid() && !given) {
        value = context.builder->elementwise(Opcode::kSelect, identity.type,
                                             {mask, value, constant(context, identity)});
      }
      lifts.push_back(value);
    }
  }
  return lifts;
}

bool Nest::load_identity(Context& context, TileValueId value, const ir::Constant& identity,
                         const std::vector<AxisId>& axes) {
  ir::TileOpId definition = module_.values[value].definition;
  if (!definition.valid()) return false;
  ir::Constant wanted = identity;
  if (module_.ops[definition].op == Opcode::kCast) {
    // What widens to the identity.
    value = module_.ops[definition].operands[0];
    ElementType from = module_.values[value].type.element;
    if (!is_float(from) || !is_float(identity.type)) return false;
    bool found = identity.bits == 0;
    wanted = {from, 0};
    for (ir::MonoidKind kind : {ir::MonoidKind::kMax, ir::MonoidKind::kMin}) {
      if (ir::make_monoid(kind, identity.type).identity[0] != identity) continue;
      wanted = ir::make_monoid(kind, from).identity[0];
      found = true;
    }
    if (!found) return false;
  }
  auto free = free_outside_.find(value);
  if (free == free_outside_.end()) return false;
  std::set<uint32_t> needed = masked_dims(context, axes);
  if (!std::includes(free->second.begin(), free->second.end(), needed.begin(), needed.end())) return false;
  // Before everything else, so that it is there when the load is made.
  ir::TileOp op;
  op.op = Opcode::kConst;
  op.bits = wanted.bits;
  ir::TileOpId constant = module_.ops.add(std::move(op));
  std::vector<ir::TileOpId>& first = module_.regions[module_.kernels.back().body].ops;
  first.insert(first.begin(), constant);
  TileValueId otherwise = context.builder->result(constant, wanted.type, {});
  module_.ops[module_.values[value].definition].operands[1] = otherwise;
  free_outside_.erase(free);
  return true;
}

}  // namespace tenon::passes
