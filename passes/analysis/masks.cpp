#include "passes/analysis/masks.h"

#include <vector>

#include "passes/analysis/index_bounds.h"

namespace tenon::passes {

using ir::Opcode;
using ir::TileOp;
using ir::TileOpId;
using ir::TileValueId;

std::set<TileValueId> conjuncts(const ir::TileModule& module, TileValueId mask) {
  std::set<TileValueId> all;
  std::set<TileValueId> seen{mask};
  std::vector<TileValueId> work{mask};
  while (!work.empty()) {
    TileValueId next = work.back();
    work.pop_back();
    TileOpId id = module.values[next].definition;
    if (!id.valid() || module.ops[id].op != Opcode::kAnd) {
      all.insert(next);
      continue;
    }
    for (TileValueId operand : module.ops[id].operands)
      if (seen.insert(operand).second) work.push_back(operand);
  }
  return all;
}

TileValueId mask_of(const TileOp& op) {
  size_t at = op.op == Opcode::kStore ? 1 : 0;
  bool may = op.op == Opcode::kLoad || op.op == Opcode::kStore || op.op == Opcode::kSelect;
  return may && op.operands.size() > at ? op.operands[at] : TileValueId();
}

bool runs_at_most_once(const ir::TileModule& module, const TileOp& loop) {
  switch (module.index[module.axes[loop.axis].count].kind) {
    case ir::IndexKind::kLess:
    case ir::IndexKind::kEqual:
    case ir::IndexKind::kAnd:
    case ir::IndexKind::kOr:
    case ir::IndexKind::kNot:
      return true;
    default:
      return false;
  }
}

bool are_alternatives(const ir::IndexPool& pool, ir::IndexId a, ir::IndexId b) {
  auto negates = [&](ir::IndexId one, ir::IndexId other) {
    return pool[one].kind == ir::IndexKind::kNot && pool[one].a == other;
  };
  return a.valid() && b.valid() && (negates(a, b) || negates(b, a));
}

std::optional<ir::IndexId> margin(ir::TileModule& module, TileValueId comparison) {
  TileOpId id = module.values[comparison].definition;
  if (!id.valid() || ir::row(module.ops[id].op).rule != ir::TypeRule::kCompare) return std::nullopt;
  ir::IndexId sides[2];
  for (size_t i = 0; i < 2; ++i) {
    TileOpId side = module.values[module.ops[id].operands[i]].definition;
    if (!side.valid() || module.ops[side].op != Opcode::kIndex) return std::nullopt;
    sides[i] = module.ops[side].index;
  }
  return margin(module.index, module.ops[id].op, sides[0], sides[1]);
}

}  // namespace tenon::passes
