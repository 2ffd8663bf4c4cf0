// What reductions and copies find outside the domain. A load gives any value there until one of its consumers
// needs a certain one.
#include <algorithm>
#include <array>

#include "ir/scalar_eval.h"
#include "passes/analysis/masks.h"
#include "passes/nest/nest.h"

namespace tenon::passes {
namespace {

using ir::Constant;
using ir::Opcode;
using ir::TileOp;
using ir::TileOpId;
using ir::TileValueId;

// Longer chains between a load and its consumer are not evaluated.
constexpr size_t kLongestChain = 8;

bool is_exact(const TileOp& op) {
  if (ir::row(op.op).stage != ir::Stage::kBody || op.op == Opcode::kIndex) return false;
  return ir::row(op.op).rule != ir::TypeRule::kFunction || tenon::row(ir::function_of(op.op)).ulp == 0;
}

// A value as a function of one load: exact operations on it and constants.
class LoadFunction {
 public:
  LoadFunction(const ir::TileModule& module, TileValueId value) : module_(module) {
    valid_ = collect(value) && load_.valid();
  }

  // The load, if the value is such a function.
  TileOpId load() const { return valid_ ? load_ : TileOpId(); }

  // The value where the load gives `loaded`.
  Constant evaluate(const Constant& loaded) const {
    std::map<TileValueId, Constant> known{{module_.ops[load_].results[0], loaded}};
    Constant last = loaded;
    for (TileOpId id : chain_) {
      const TileOp& op = module_.ops[id];
      std::vector<ir::LaneView> operands;
      for (TileValueId operand : op.operands) operands.push_back({known[operand].type, &known[operand].bits});
      last = {module_.values[op.results[0]].type.element, op.bits};
      if (op.op != Opcode::kConst)
        ir::evaluate_lanes(op.op, op.approx, operands, last.type, &last.bits, 1, nullptr);
      known[op.results[0]] = last;
    }
    return last;
  }

 private:
  // Operands first; false where something else than a chain to one load is behind the value.
  bool collect(TileValueId value) {
    TileOpId id = module_.values[value].definition;
    if (!id.valid() || chain_.size() >= kLongestChain) return false;
    if (id == load_ || std::find(chain_.begin(), chain_.end(), id) != chain_.end()) return true;
    const TileOp& op = module_.ops[id];
    if (op.op == Opcode::kLoad) {
      if (load_.valid()) return false;
      load_ = id;
      return true;
    }
    if (!is_exact(op)) return false;
    for (TileValueId operand : op.operands)
      if (!collect(operand)) return false;
    chain_.push_back(id);
    return true;
  }

  const ir::TileModule& module_;
  TileOpId load_;
  std::vector<TileOpId> chain_;
  bool valid_ = false;
};

bool implies(const ir::TileModule& module, TileValueId mask, TileValueId other) {
  std::set<TileValueId> strong = conjuncts(module, mask);
  std::set<TileValueId> weak = conjuncts(module, other);
  return std::includes(strong.begin(), strong.end(), weak.begin(), weak.end());
}

}  // namespace

TileValueId Nest::identity_outside(Context& context, TileValueId value, TileValueId mask,
                                   const Constant& identity) {
  if (!mask.valid() || load_gives_identity(value, mask, identity)) return value;
  return context.builder->elementwise(Opcode::kSelect, identity.type,
                                      {mask, value, constant(context, identity)});
}

bool Nest::load_gives_identity(TileValueId value, TileValueId mask, const Constant& identity) {
  LoadFunction function(module_, value);
  if (!function.load().valid()) return false;
  const TileOp& load = module_.ops[function.load()];
  if (load.operands.empty() || !implies(module_, load.operands[0], mask)) return false;
  if (load.operands.size() > 1) {
    TileOpId elsewhere = module_.values[load.operands[1]].definition;
    if (!elsewhere.valid() || module_.ops[elsewhere].op != Opcode::kConst) return false;
    ElementType type = module_.values[load.operands[1]].type.element;
    return function.evaluate({type, module_.ops[elsewhere].bits}) == identity;
  }
  ElementType loaded = module_.values[load.results[0]].type.element;
  std::vector<Constant> candidates{{loaded, 0}};
  if (loaded == identity.type) candidates.push_back(identity);
  if (loaded != ElementType::kBool)
    for (ir::MonoidKind kind : {ir::MonoidKind::kMax, ir::MonoidKind::kMin})
      candidates.push_back(ir::make_monoid(kind, loaded)->identity[0]);
  for (const Constant& candidate : candidates) {
    if (function.evaluate(candidate) != identity) continue;
    TileValueId elsewhere = first_constant(candidate);
    module_.ops[function.load()].operands.push_back(elsewhere);
    return true;
  }
  return false;
}

TileValueId Nest::first_constant(const Constant& constant) {
  std::vector<TileOpId>& first = module_.regions[module_.kernels.back().body].ops;
  for (TileOpId id : first) {
    const TileOp& op = module_.ops[id];
    if (op.op != Opcode::kConst) break;
    const ir::TileType& type = module_.values[op.results[0]].type;
    if (op.bits == constant.bits && type.element == constant.type && type.axes.empty()) return op.results[0];
  }
  TileOp op;
  op.op = Opcode::kConst;
  op.bits = constant.bits;
  TileOpId id = module_.ops.add(std::move(op));
  first.insert(first.begin(), id);
  TileValueId value = module_.values.add({{constant.type, {}, {}}, id});
  module_.ops[id].results = {value};
  return value;
}

}  // namespace tenon::passes
