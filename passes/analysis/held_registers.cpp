#include "passes/analysis/held_registers.h"

#include <algorithm>
#include <map>

#include "passes/analysis/masks.h"

namespace tenon::passes {
namespace {

using ir::Opcode;
using ir::RegionId;
using ir::TileOp;
using ir::TileOpId;
using ir::TileValueId;

int64_t registers_of(const ir::TileModule& module, TileValueId value) {
  if (!takes_registers(module, value)) return 0;
  const ir::TileType& type = module.values[value].type;
  int64_t count = type.layout ? type.layout->register_count() : 1;
  return count == 1 ? 0 : count * ((bit_width(type.element) + 31) / 32);
}

// What one pass through a region reads, loops inside it that run many times left out.
int64_t read_in(const ir::TileModule& module, RegionId region) {
  int64_t registers = 0;
  for (TileOpId id : module.regions[region].ops) {
    const TileOp& op = module.ops[id];
    if (op.op == Opcode::kLoad) registers += registers_of(module, op.results[0]);
    if (op.op == Opcode::kLoop && runs_at_most_once(module, op)) registers += read_in(module, op.regions[0]);
  }
  return registers;
}

void note_uses(const ir::TileModule& module, const TileOp& op, size_t position,
               std::map<TileValueId, size_t>& last_use) {
  for (TileValueId operand : op.operands) last_use[operand] = position;
  for (RegionId inner : op.regions)
    for (TileOpId id : module.regions[inner].ops) note_uses(module, module.ops[id], position, last_use);
}

// What of a region's values is wanted behind each of its reductions.
int64_t kept_in(const ir::TileModule& module, RegionId region) {
  const std::vector<TileOpId>& ops = module.regions[region].ops;
  std::map<TileValueId, size_t> last_use;
  for (size_t i = 0; i < ops.size(); ++i) note_uses(module, module.ops[ops[i]], i, last_use);
  // By position, what a value adds to and takes from those that are held.
  std::vector<int64_t> change(ops.size() + 1, 0);
  for (size_t i = 0; i < ops.size(); ++i) {
    for (TileValueId result : module.ops[ops[i]].results) {
      auto last = last_use.find(result);
      if (last == last_use.end()) continue;
      change[i] += registers_of(module, result);
      change[last->second] -= registers_of(module, result);
    }
  }
  int64_t held = 0;
  int64_t most = 0;
  for (size_t i = 0; i < ops.size(); ++i) {
    held += change[i];
    if (module.ops[ops[i]].op == Opcode::kTileReduce) most = std::max(most, held);
  }
  return most;
}

}  // namespace

bool takes_registers(const ir::TileModule& module, TileValueId value) {
  const ir::TileValue& tile = module.values[value];
  bool constant = tile.definition.valid() && module.ops[tile.definition].op == Opcode::kConst;
  return !constant && tile.type.element != ElementType::kBool && tile.type.element != ElementType::kIndex;
}

int64_t held_registers(const ir::TileModule& module, RegionId region) {
  int64_t most = kept_in(module, region);
  for (TileOpId id : module.regions[region].ops) {
    const TileOp& op = module.ops[id];
    for (RegionId inner : op.regions) {
      most = std::max(most, held_registers(module, inner));
      if (op.op != Opcode::kLoop || op.unroll || runs_at_most_once(module, op)) continue;
      int64_t own = read_in(module, inner);
      for (TileValueId carried : module.regions[inner].arguments) own += registers_of(module, carried);
      most = std::max(most, own);
    }
  }
  return most;
}

}  // namespace tenon::passes
