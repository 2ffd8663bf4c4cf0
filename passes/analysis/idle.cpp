#include "passes/analysis/idle.h"

#include <algorithm>
#include <map>
#include <optional>

#include "passes/analysis/masks.h"

namespace tenon::passes {
namespace {

using ir::MonoidKind;
using ir::Opcode;
using ir::TileOp;
using ir::TileOpId;
using ir::TileValueId;

// The monoid that merges by this operation.
std::optional<MonoidKind> merged_by(Opcode op) {
  switch (op) {
    case Opcode::kAdd:
      return MonoidKind::kSum;
    case Opcode::kMul:
      return MonoidKind::kProd;
    case Opcode::kMax:
      return MonoidKind::kMax;
    case Opcode::kMin:
      return MonoidKind::kMin;
    default:
      return std::nullopt;
  }
}

class IdleIteration {
 public:
  IdleIteration(const ir::TileModule& module, const TileOp& loop, TileValueId comparison)
      : module_(module), loop_(loop), region_(module.regions[loop.regions[0]]) {
    known_[comparison] = 0;
  }

  bool holds() {
    for (TileOpId id : region_.ops) {
      const TileOp& op = module_.ops[id];
      if (op.op == Opcode::kYield) continue;
      if (!op.regions.empty()) return false;
      if (op.results.empty()) {
        TileValueId mask = op.op == Opcode::kStore ? mask_of(op) : TileValueId();
        if (!mask.valid() || known(mask) != 0) return false;
      } else {
        learn(op);
      }
    }
    const auto& yielded = module_.ops[region_.ops.back()].operands;
    for (size_t i = 0; i < yielded.size(); ++i)
      if (!is_kept(yielded[i], i)) return false;
    return true;
  }

 private:
  // The bits that all elements of a value have.
  std::optional<uint64_t> known(TileValueId value) const {
    if (auto at = known_.find(value); at != known_.end()) return at->second;
    return constant(value);
  }

  std::optional<uint64_t> constant(TileValueId value) const {
    TileOpId id = module_.values[value].definition;
    bool is_constant = id.valid() && module_.ops[id].op == Opcode::kConst;
    return is_constant ? std::optional(module_.ops[id].bits) : std::nullopt;
  }

  void learn(const TileOp& op) {
    if (op.results.size() != 1 || known_.contains(op.results[0])) return;
    std::optional<uint64_t> bits;
    if (op.op == Opcode::kAnd && std::any_of(op.operands.begin(), op.operands.end(),
                                             [&](TileValueId operand) { return known(operand) == 0; }))
      bits = 0;
    if (TileValueId mask = mask_of(op); mask.valid() && known(mask) == 0)
      bits = op.operands.size() > 1 ? known(op.operands.back()) : std::nullopt;
    if (op.op == Opcode::kTileReduce && !op.product && is_neutral(*op.monoid, op.operands[0]))
      bits = op.monoid->identity[0].bits;
    if (bits) known_[op.results[0]] = *bits;
  }

  // Whether merging elements of the value gives the identity bit for bit: they are it, and it is idempotent.
  bool is_neutral(const ir::Monoid& monoid, TileValueId value) const {
    switch (monoid.kind) {
      case MonoidKind::kSum:
      case MonoidKind::kProd:
      case MonoidKind::kMax:
      case MonoidKind::kMin:
        return known(value) == monoid.identity[0].bits;
      default:
        return false;
    }
  }

  // Whether a carried value stays what it is.
  bool is_kept(TileValueId yielded, size_t i) const {
    TileValueId carried = region_.arguments[i];
    if (yielded == carried) return true;
    TileOpId id = module_.values[yielded].definition;
    auto kind = id.valid() ? merged_by(module_.ops[id].op) : std::nullopt;
    if (!kind || module_.ops[id].operands[0] != carried) return false;
    ElementType type = module_.values[yielded].type.element;
    if (known(module_.ops[id].operands[1]) != ir::make_monoid(*kind, type)->identity[0].bits) return false;
    return kind != MonoidKind::kSum || constant(loop_.operands[i]) == 0;
  }

  const ir::TileModule& module_;
  const TileOp& loop_;
  const ir::Region& region_;
  std::map<TileValueId, uint64_t> known_;
};

}  // namespace

bool is_idle_without(const ir::TileModule& module, const TileOp& loop, TileValueId comparison) {
  return IdleIteration(module, loop, comparison).holds();
}

}  // namespace tenon::passes
