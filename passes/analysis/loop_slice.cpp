#include "passes/analysis/loop_slice.h"

#include <algorithm>
#include <set>

namespace tenon::passes {
namespace {

using ir::TileOp;
using ir::TileOpId;
using ir::TileValueId;

void for_each_value(const ir::TileModule& module, ir::IndexId index,
                    const std::function<void(TileValueId)>& visit) {
  module.index.for_each_atom(index, [&](ir::IndexId atom) {
    const ir::IndexNode& node = module.index[atom];
    if (node.kind == ir::IndexKind::kValue) visit(TileValueId(node.reference));
  });
}

}  // namespace

void for_each_use(const ir::TileModule& module, const TileOp& op,
                  const std::function<void(TileValueId)>& visit) {
  for (TileValueId operand : op.operands) visit(operand);
  if (op.index.valid()) for_each_value(module, op.index, visit);
  if (op.axis.valid()) for_each_value(module, module.axes[op.axis].count, visit);
  for (ir::IndexId subscript : op.subscripts) for_each_value(module, subscript, visit);
  for (ir::IndexId subscript : op.target_subscripts) for_each_value(module, subscript, visit);
}

SideTable<ir::TileValue, int> count_uses(const ir::TileModule& module, const ir::TileKernel& kernel) {
  SideTable<ir::TileValue, int> uses(module.values.size(), 0);
  for (TileOpId id : ir::reachable_ops(module, kernel))
    for_each_use(module, module.ops[id], [&](TileValueId value) { ++uses[value]; });
  return uses;
}

std::optional<std::vector<TileOpId>> loop_slice(const ir::TileModule& module, ir::RegionId region,
                                                std::span<const TileValueId> values) {
  const std::vector<TileOpId>& ops = module.regions[region].ops;
  const std::vector<TileValueId>& carried = module.regions[region].arguments;
  std::set<TileOpId> inside(ops.begin(), ops.end());
  std::set<TileOpId> needed;
  std::vector<TileValueId> work(values.begin(), values.end());
  while (!work.empty()) {
    TileValueId value = work.back();
    work.pop_back();
    if (std::find(carried.begin(), carried.end(), value) != carried.end()) return std::nullopt;
    TileOpId definition = module.values[value].definition;
    if (!inside.contains(definition) || !needed.insert(definition).second) continue;
    const TileOp& op = module.ops[definition];
    if (ir::row(op.op).stage != ir::Stage::kBody) return std::nullopt;
    for_each_use(module, op, [&](TileValueId used) { work.push_back(used); });
  }
  std::vector<TileOpId> slice;
  std::copy_if(ops.begin(), ops.end(), std::back_inserter(slice),
               [&](TileOpId id) { return needed.contains(id); });
  return slice;
}

std::vector<TileValueId> access_values(const ir::TileModule& module, const TileOp& op) {
  std::vector<TileValueId> values;
  if (op.op == ir::Opcode::kLoad && !op.operands.empty()) values.push_back(op.operands[0]);
  if (op.op == ir::Opcode::kStore && op.operands.size() > 1) values.push_back(op.operands[1]);
  for (ir::IndexId subscript : op.subscripts)
    for_each_value(module, subscript, [&](TileValueId value) { values.push_back(value); });
  return values;
}

}  // namespace tenon::passes
