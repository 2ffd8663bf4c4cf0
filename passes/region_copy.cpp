#include "passes/region_copy.h"

#include <algorithm>
#include <span>
#include <utility>

#include "passes/analysis/masks.h"

namespace tenon::passes {

using ir::AxisId;
using ir::IndexId;
using ir::IndexKind;
using ir::Opcode;
using ir::RegionId;
using ir::TileOp;
using ir::TileOpId;
using ir::TileValueId;

RegionId RegionCopy::copy(RegionId region) {
  std::vector<TileOpId> around = std::exchange(ops_, {});
  RegionId to = module_.regions.add({});
  for (TileValueId argument : std::vector(module_.regions[region].arguments)) {
    TileValueId own = module_.values.add({module_.values[argument].type, {}});
    image_[argument] = own;
    module_.regions[to].arguments.push_back(own);
  }
  for (TileOpId id : std::vector(module_.regions[region].ops)) copy_op(TileOp(module_.ops[id]));
  module_.regions[to].ops = std::exchange(ops_, std::move(around));
  return to;
}

void RegionCopy::copy_op(TileOp op) {
  if (op.results.size() == 1 && is_true(op.results[0])) return;
  switch (op.op) {
    case Opcode::kAnd:
      if (is_true(op.operands[0]) || is_true(op.operands[1])) return copy_and(op);
      break;
    case Opcode::kLoad:
    case Opcode::kSelect:
    case Opcode::kStore:
      if (mask_of(op).valid()) return copy_masked(std::move(op));
      break;
    case Opcode::kLoop: {
      ir::TileAxis counter = module_.axes[op.axis];
      counter.count = expression(counter.count);
      op.axis = counters_[op.axis] = module_.axes.add(std::move(counter));
      op.regions[0] = copy(op.regions[0]);
      break;
    }
    default:
      break;
  }
  op.operands = full(op.operands);
  append(std::move(op));
}

void RegionCopy::copy_and(const TileOp& op) {
  TileValueId a = op.operands[0];
  TileValueId b = op.operands[1];
  if (is_true(a) && is_true(b)) {
    truths_.insert(op.results[0]);
  } else {
    image_[op.results[0]] = lean(is_true(a) ? b : a);
  }
}

void RegionCopy::copy_masked(TileOp op) {
  TileValueId mask = mask_of(op);
  size_t at = op.op == Opcode::kStore ? 1 : 0;
  TileOp lighter = op;
  lighter.operands.clear();
  for (size_t i = 0; i < op.operands.size(); ++i)
    lighter.operands.push_back(i == at ? lean(mask) : full(op.operands[i]));
  if (is_true(mask)) {
    if (op.op == Opcode::kSelect) std::swap(lighter.operands[0], lighter.operands[1]);
    lighter.operands.resize(op.op == Opcode::kSelect ? 1 : at);
  }
  // A result has the axes of its mask too; without it some may be missing.
  if (!op.results.empty() && union_axes(lighter) != axes(op.results[0])) {
    op.operands = full(op.operands);
    return append(std::move(op));
  }
  if (is_true(mask) && op.op == Opcode::kSelect) {
    image_[op.results[0]] = lighter.operands[0];
    return;
  }
  append(std::move(lighter));
}

std::vector<AxisId> RegionCopy::union_axes(const TileOp& op) const {
  std::set<AxisId> all;
  for (TileValueId operand : op.operands) all.insert(axes(operand).begin(), axes(operand).end());
  for (IndexId subscript : op.subscripts) {
    module_.index.for_each_atom(subscript, [&](IndexId atom) {
      const ir::IndexNode& node = module_.index[atom];
      AxisId axis(node.reference);
      if (node.kind == IndexKind::kValue) {
        const ir::AxisList& of_value = axes(TileValueId(node.reference));
        all.insert(of_value.begin(), of_value.end());
      } else if (node.kind == IndexKind::kAxis && module_.axes[axis].kind == ir::TileAxis::Kind::kTile) {
        all.insert(axis);
      }
    });
  }
  return {all.begin(), all.end()};
}

void RegionCopy::append(TileOp op) {
  if (op.index.valid()) op.index = expression(op.index);
  for (IndexId& subscript : op.subscripts) subscript = expression(subscript);
  auto results = std::exchange(op.results, {});
  TileOpId id = module_.ops.add(std::move(op));
  for (TileValueId result : results) {
    TileValueId own = module_.values.add({module_.values[result].type, id});
    image_[result] = own;
    module_.ops[id].results.push_back(own);
  }
  ops_.push_back(id);
}

TileValueId RegionCopy::lean(TileValueId value) const {
  auto at = image_.find(value);
  return at == image_.end() ? value : at->second;
}

TileValueId RegionCopy::full(TileValueId value) {
  TileValueId image = lean(value);
  if (!is_true(value) && axes(image) == axes(value)) return image;
  auto add = [&](TileOp op) {
    TileOpId id = module_.ops.add(std::move(op));
    TileValueId result = module_.values.add({module_.values[value].type, id});
    module_.ops[id].results = {result};
    ops_.push_back(id);
    return result;
  };
  TileOp constant;
  constant.op = Opcode::kConst;
  constant.bits = 1;
  TileValueId everywhere = add(std::move(constant));
  if (is_true(value)) return everywhere;
  TileOp both;
  both.op = Opcode::kAnd;
  both.operands = {image, everywhere};
  return add(std::move(both));
}

std::vector<TileValueId> RegionCopy::full(std::span<const TileValueId> values) {
  std::vector<TileValueId> images;
  for (TileValueId value : values) images.push_back(full(value));
  return images;
}

IndexId RegionCopy::expression(IndexId index) {
  return module_.index.substitute(index, [&](IndexId atom) {
    const ir::IndexNode node = module_.index[atom];
    if (node.kind == IndexKind::kValue)
      return module_.index.value(ir::ValueId(full(TileValueId(node.reference)).index()));
    if (node.kind == IndexKind::kAxis)
      if (auto at = counters_.find(AxisId(node.reference)); at != counters_.end())
        return module_.index.axis(at->second);
    return atoms_(atom);
  });
}

namespace {

bool has_effects(const TileOp& op) { return op.results.empty() || !op.regions.empty(); }

void remove_unused(ir::TileModule& module, RegionId region, std::set<TileValueId>& used) {
  auto use = [&](IndexId index) {
    if (!index.valid()) return;
    module.index.for_each_atom(index, [&](IndexId atom) {
      if (module.index[atom].kind == IndexKind::kValue)
        used.insert(TileValueId(module.index[atom].reference));
    });
  };
  std::vector<TileOpId> kept;
  std::vector<TileOpId>& ops = module.regions[region].ops;
  for (size_t i = ops.size(); i-- > 0;) {
    const TileOp& op = module.ops[ops[i]];
    bool wanted = std::any_of(op.results.begin(), op.results.end(),
                              [&](TileValueId result) { return used.contains(result); });
    if (!wanted && !has_effects(op)) continue;
    for (RegionId inner : op.regions) remove_unused(module, inner, used);
    used.insert(op.operands.begin(), op.operands.end());
    use(op.index);
    for (IndexId subscript : op.subscripts) use(subscript);
    if (op.op == Opcode::kLoop) use(module.axes[op.axis].count);
    kept.push_back(ops[i]);
  }
  ops.assign(kept.rbegin(), kept.rend());
}

}  // namespace

void remove_unused(ir::TileModule& module, RegionId region) {
  std::set<TileValueId> used;
  remove_unused(module, region, used);
}

}  // namespace tenon::passes
