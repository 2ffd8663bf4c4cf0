// Needs: tile IR from build-nest.
// Gives: sums of products as multiply-adds, in accumulators of loops and in reductions.
// Why here: a float sum is one operation, so its products need no rounding of their own; before layouts,
// since
//        it takes tiles away.
//
//   %p = mul %x, %x                           becomes
//   %s = tile.reduce<sum> %p along k             %s = tile.reduce<sum> product %x, %x along k
//
//   %p = mul %x, %w                           becomes
//   %next = add %carried, %p                     %next = fma %x, %w, %carried
//
// A reduction of an outer product stays: it needs a factor with all axes.
//
// Where elements outside the domain are replaced by 0 behind the product, and the product is a square, they
// are replaced before it.
#include <algorithm>
#include <optional>
#include <utility>
#include <vector>

#include "passes/analysis/loop_slice.h"
#include "passes/pass.h"

namespace tenon::passes {
namespace {

using ir::Opcode;
using ir::TileModule;
using ir::TileOp;
using ir::TileOpId;
using ir::TileValueId;

class ProductFusion {
 public:
  ProductFusion(TileModule& module, const ir::TileKernel& kernel)
      : module_(module), uses_(count_uses(module, kernel)) {}

  void run(ir::RegionId region) {
    for (TileOpId id : std::vector(module_.regions[region].ops)) {
      for (ir::RegionId inner : SmallVector(module_.ops[id].regions)) run(inner);
      if (module_.ops[id].op == Opcode::kTileReduce) fuse_reduce(region, id);
      if (module_.ops[id].op == Opcode::kAdd) fuse_accumulator(region, id);
    }
    // What was taken apart is no longer computed.
    std::erase_if(module_.regions[region].ops, [&](TileOpId id) { return dead_[id] != 0; });
  }

 private:
  const TileOp* definition(TileValueId value) const {
    TileOpId id = module_.values[value].definition;
    return id.valid() ? &module_.ops[id] : nullptr;
  }

  bool is_float_product(TileValueId value) const {
    const TileOp* op = definition(value);
    return op != nullptr && op->op == Opcode::kMul && uses_[value] == 1 &&
           is_float(module_.values[value].type.element) &&
           bit_width(module_.values[value].type.element) >= 32;
  }

  bool is_zero(TileValueId value) const {
    const TileOp* op = definition(value);
    return op != nullptr && op->op == Opcode::kConst && op->bits == 0;
  }

  // Whether neither factor has all axes of the product: a reduction needs one that has.
  bool is_outer_product(TileValueId value) const {
    const TileOp* op = definition(value);
    if (op == nullptr || op->op != Opcode::kMul) return false;
    const size_t axes = module_.values[value].type.axes.size();
    return std::ranges::all_of(
        op->operands, [&](TileValueId factor) { return module_.values[factor].type.axes.size() < axes; });
  }

  // The factors of a term, which is then dead: a product, or a square that is 0 where a mask fails.
  std::optional<std::pair<TileValueId, TileValueId>> factors(ir::RegionId region, TileOpId before,
                                                             TileValueId term) {
    if (is_float_product(term)) {
      const TileOp& product = *definition(term);
      dead_[module_.values[term].definition] = 1;
      return std::pair(product.operands[0], product.operands[1]);
    }
    const TileOp* select = definition(term);
    if (select == nullptr || select->op != Opcode::kSelect || uses_[term] != 1) return std::nullopt;
    if (!is_float_product(select->operands[1]) || !is_zero(select->operands[2])) return std::nullopt;
    const TileOp& product = *definition(select->operands[1]);
    if (product.operands[0] != product.operands[1]) return std::nullopt;
    TileOp masked = *select;
    masked.operands[1] = product.operands[0];
    masked.results.clear();
    dead_[module_.values[select->operands[1]].definition] = 1;
    dead_[module_.values[term].definition] = 1;
    ir::TileType type = module_.values[term].type;
    TileOpId id = module_.ops.add(std::move(masked));
    TileValueId value = module_.values.add({type, id});
    module_.ops[id].results = {value};
    std::vector<TileOpId>& ops = module_.regions[region].ops;
    ops.insert(std::find(ops.begin(), ops.end(), before), id);
    return std::pair(value, value);
  }

  void fuse_reduce(ir::RegionId region, TileOpId id) {
    const TileOp& reduce = module_.ops[id];
    if (reduce.monoid->kind != ir::MonoidKind::kSum || reduce.operands.size() != 1) return;
    if (is_outer_product(reduce.operands[0])) return;
    auto pair = factors(region, id, reduce.operands[0]);
    if (!pair) return;
    module_.ops[id].operands = {pair->first, pair->second};
    module_.ops[id].product = true;
  }

  // A carried value is added to only where a sum accumulates.
  void fuse_accumulator(ir::RegionId region, TileOpId id) {
    TileValueId carried = module_.ops[id].operands[0];
    const std::vector<TileValueId>& arguments = module_.regions[region].arguments;
    if (std::find(arguments.begin(), arguments.end(), carried) == arguments.end()) return;
    auto pair = factors(region, id, module_.ops[id].operands[1]);
    if (!pair) return;
    module_.ops[id].op = Opcode::kFma;
    module_.ops[id].operands = {pair->first, pair->second, carried};
  }

  TileModule& module_;
  SideTable<ir::TileValue, int> uses_;
  SideTable<TileOp, char> dead_;
};

}  // namespace

void fuse_products(TileModule& module, PassContext&) {
  for (const ir::TileKernel& kernel : module.kernels) ProductFusion(module, kernel).run(kernel.body);
}

}  // namespace tenon::passes
