// Needs: tile IR as build-nest leaves it: masks are comparisons of index expressions, tiles have no layouts.
// Gives: code without masks wherever they are known to be true. A loop whose masks are affine in its counter
//        becomes a core, where they are true and taken out, and up to two boundary loops with what is left of
//        its iterations; those in which a mask is false at all positions, and nothing happens, are not run. A
//        launch becomes two: for blocks that lie wholly inside their domain, and for the
//        others; each is a loop that runs once or not at all.
// Why here: masks are still comparisons of positions, and what passes behind it see is either masked or not.
//
//   loop l: (N + 255) / 256 {               loop l.1: N / 256 {
//     %m = lt 256 * l + k, N                  %v = load %x[256 * l.1 + k]
//     %v = load %x[256 * l + k] where %m    }
//   }                                       loop l: (N + 255) / 256 - N / 256 {
//                                             %m = lt 256 * (l + N / 256) + k, N
//                                             %v = load %x[256 * (l + N / 256) + k] where %m
//                                           }
//
// Code is written twice, so it is done where masks are a good part of it: bodies up to a weight, counted in
// instructions of a thread. Contractions are out: their masks sit on copies, which are few against their
// products. Launches of rows are out too: blocks end between rows, where a mask is one for a whole row, and
// along a row that fits registers a size class knows the least size that it is used for.
#include <fmt/format.h>

#include <algorithm>
#include <optional>
#include <set>
#include <span>
#include <string_view>
#include <vector>

#include "passes/analysis/block_bounds.h"
#include "passes/analysis/idle.h"
#include "passes/analysis/index_bounds.h"
#include "passes/analysis/index_limits.h"
#include "passes/analysis/masks.h"
#include "passes/analysis/op_weight.h"
#include "passes/pass.h"
#include "passes/region_copy.h"

namespace tenon::passes {
namespace {

using ir::AxisId;
using ir::IndexId;
using ir::IndexKind;
using ir::Opcode;
using ir::RegionId;
using ir::TileAxis;
using ir::TileOp;
using ir::TileOpId;
using ir::TileValueId;

constexpr uint64_t kHeaviestLoop = 600;
constexpr uint64_t kHeaviestLine = 200;
// Different bounds of a loop, or conditions on a block, that are tested.
constexpr size_t kMostConditions = 4;

// The part of a loop in which the comparisons `truths` hold.
struct Core {
  IndexId from;
  // Exclusive.
  IndexId to;
  std::set<TileValueId> truths;
};

class LoopBounding {
 public:
  LoopBounding(ir::TileModule& module, const ir::TileKernel& kernel, PassContext& context)
      : module_(module), kernel_(kernel), context_(context) {}

  void run() {
    std::set<AxisId> around;
    // The boundary of a launch keeps its loops as they are, so that no body is written more than three times.
    std::optional<RegionId> inside = split_launch();
    bool changed = split_loops(inside.value_or(kernel_.body), around);
    if (inside || changed) remove_unused(module_, kernel_.body);
  }

 private:
  ir::IndexPool& pool() { return module_.index; }

  // ---- what a region holds ----

  // Instructions of a thread; none where the region may not be written twice.
  std::optional<uint64_t> weight(RegionId region) const {
    uint64_t sum = 0;
    for (TileOpId id : module_.regions[region].ops) {
      const TileOp& op = module_.ops[id];
      if (op.op == Opcode::kMma || op.unroll) return std::nullopt;
      for (RegionId inner : op.regions) {
        auto own = weight(inner);
        if (!own) return std::nullopt;
        sum += *own;
      }
      bool by_operand = op.op == Opcode::kStore || op.op == Opcode::kTileReduce;
      TileValueId value = by_operand ? op.operands[0] : op.results.empty() ? TileValueId() : op.results[0];
      sum += weight_of(op.op, op.approx) * (value.valid() ? values_of_thread(value) : 1);
    }
    return sum;
  }

  uint64_t values_of_thread(TileValueId value) const {
    double positions = 1;
    for (AxisId axis : module_.values[value].type.axes)
      positions *= static_cast<double>(module_.axes[axis].extent);
    double each = positions / (kernel_.warps * 32);
    return each > 1 ? static_cast<uint64_t>(std::min(each, 1e6)) : 1;
  }

  // The comparisons of indices of which the masks in a region consist.
  std::set<TileValueId> mask_comparisons(RegionId region) const {
    std::set<TileValueId> all;
    for (TileOpId id : module_.regions[region].ops) {
      const TileOp& op = module_.ops[id];
      if (TileValueId mask = mask_of(op); mask.valid()) all.merge(conjuncts(module_, mask));
      for (RegionId inner : op.regions) all.merge(mask_comparisons(inner));
    }
    return all;
  }

  // ---- index expressions ----

  bool at_most(IndexId a, IndexId b) {
    return never_above(module_, a, b, [&](AxisId axis) {
      return std::optional(Interval{0, last_position(module_, axis).value_or(INT64_MAX)});
    });
  }
  IndexId least(IndexId a, IndexId b) { return at_most(a, b) ? a : at_most(b, a) ? b : pool().min(a, b); }
  IndexId most(IndexId a, IndexId b) { return at_most(a, b) ? b : at_most(b, a) ? a : pool().max(a, b); }

  // ---- loops ----

  bool split_loops(RegionId region, std::set<AxisId>& around) {
    bool changed = false;
    for (TileOpId id : std::vector(module_.regions[region].ops)) {
      if (module_.ops[id].op != Opcode::kLoop) continue;
      around.insert(module_.ops[id].axis);
      changed = split_loops(module_.ops[id].regions[0], around) || changed;
      changed = skip_idle(id, around) || changed;
      if (auto core = find_core(id, around); core && split_loop(region, id, *core)) changed = true;
      around.erase(module_.ops[id].axis);
    }
    return changed;
  }

  // Leaves out iterations at either end in which a comparison is false at all positions, and nothing happens.
  bool skip_idle(TileOpId loop, const std::set<AxisId>& around) {
    AxisId counter = module_.ops[loop].axis;
    RegionId body = module_.ops[loop].regions[0];
    IndexId from = pool().constant(0);
    IndexId to = module_.axes[counter].count;
    size_t conditions = 0;
    for (TileValueId comparison : mask_comparisons(body)) {
      auto margin = passes::margin(module_, comparison);
      auto lowest = margin ? least_in_block(module_, pool().scale(*margin, -1), around) : std::nullopt;
      auto of_counter = lowest ? affine(pool(), pool().scale(*lowest, -1), counter) : std::nullopt;
      if (!of_counter || conditions == kMostConditions) continue;
      // The first counter from which on the margin can be at least 0, or the first from which on it cannot.
      IndexId bound = first_beyond(*of_counter);
      bool ends = of_counter->coefficient < 0;
      if (ends ? at_most(to, bound) : at_most(bound, from)) continue;
      if (!is_idle_without(module_, module_.ops[loop], comparison)) continue;
      ++conditions;
      (ends ? to : from) = ends ? least(to, bound) : most(from, bound);
    }
    if (conditions == 0 || module_.ops[loop].unroll || !may_shift(body, counter, from)) return false;
    shift(body, counter, from);
    module_.axes[counter].count = pool().sub(to, from);
    return true;
  }

  // For a margin that falls with the counter the first one with a negative margin, else the first one with
  // another.
  IndexId first_beyond(const Affine& margin) {
    if (margin.coefficient > 0) return pool().ceil_div(pool().scale(margin.rest, -1), margin.coefficient);
    IndexId step = pool().constant(-margin.coefficient);
    return pool().floor_div(pool().add(margin.rest, step), step);
  }

  std::optional<Core> find_core(TileOpId loop, const std::set<AxisId>& around) {
    const TileOp& op = module_.ops[loop];
    AxisId counter = op.axis;
    RegionId region = op.regions[0];
    auto own = weight(region);
    if (op.unroll || !own) return std::nullopt;
    std::set<IndexId> from;
    std::set<IndexId> to;
    Core core;
    for (TileValueId comparison : mask_comparisons(region)) {
      auto margin = passes::margin(module_, comparison);
      auto least = margin ? least_in_block(module_, *margin, around) : std::nullopt;
      auto of_counter = least ? affine(pool(), *least, counter) : std::nullopt;
      if (!of_counter) continue;
      std::set<IndexId>& bounds = of_counter->coefficient < 0 ? to : from;
      IndexId bound = first_beyond(*of_counter);
      if (bounds.size() == kMostConditions && !bounds.contains(bound)) continue;
      bounds.insert(bound);
      core.truths.insert(comparison);
    }
    if (core.truths.empty()) return std::nullopt;
    if (*own > kHeaviestLoop) return remark("a loop", *own, places(module_, op)), std::nullopt;
    IndexId count = module_.axes[counter].count;
    core.from = pool().constant(0);
    for (IndexId bound : from) core.from = most(core.from, bound);
    if (!from.empty()) core.from = least(core.from, count);
    core.to = count;
    for (IndexId bound : to) core.to = least(core.to, bound);
    core.to = most(core.from, core.to);
    return core;
  }

  // Whether all index expressions of a region stay small with `by` added to the counter.
  bool may_shift(RegionId region, AxisId counter, IndexId by) {
    BoundedRewriter rewriter(pool());
    IndexId shifted = pool().add(pool().axis(counter), by);
    auto fits = [&](IndexId index) {
      return !index.valid() || rewriter.substitute(index, replacing(counter, shifted)).valid();
    };
    for (TileOpId id : module_.regions[region].ops) {
      const TileOp& op = module_.ops[id];
      if (!fits(op.index) || (op.op == Opcode::kLoop && !fits(module_.axes[op.axis].count))) return false;
      if (!std::all_of(op.subscripts.begin(), op.subscripts.end(), fits)) return false;
      for (RegionId inner : op.regions)
        if (!may_shift(inner, counter, by)) return false;
    }
    return true;
  }

  ir::IndexPool::AtomMap replacing(AxisId axis, IndexId by) {
    return [this, axis, by](IndexId atom) {
      const ir::IndexNode& node = module_.index[atom];
      return node.kind == IndexKind::kAxis && AxisId(node.reference) == axis ? by : IndexId();
    };
  }

  void shift(RegionId region, AxisId counter, IndexId by) {
    auto map = replacing(counter, pool().add(pool().axis(counter), by));
    for (TileOpId id : module_.regions[region].ops) {
      TileOp& op = module_.ops[id];
      if (op.index.valid()) op.index = pool().substitute(op.index, map);
      for (IndexId& subscript : op.subscripts) subscript = pool().substitute(subscript, map);
      if (op.op == Opcode::kLoop)
        module_.axes[op.axis].count = pool().substitute(module_.axes[op.axis].count, map);
      for (RegionId inner : op.regions) shift(inner, counter, by);
    }
  }

  // Puts a copy of the loop before it, over `count` values of the counter from `from` on; the loop then goes
  // on with what the copy carries.
  void run_before(RegionId region, TileOpId loop, IndexId from, IndexId count,
                  const std::set<TileValueId>& truths) {
    AxisId original = module_.ops[loop].axis;
    AxisId counter = module_.axes.add({module_.axes[original].name, TileAxis::Kind::kLoop, 0, count});
    RegionCopy copy(module_, truths, replacing(original, pool().add(pool().axis(counter), from)));
    TileOp part;
    part.op = Opcode::kLoop;
    part.axis = counter;
    part.operands = module_.ops[loop].operands;
    part.places = module_.ops[loop].places;
    part.regions = {copy.copy(module_.ops[loop].regions[0])};
    TileOpId id = module_.ops.add(std::move(part));
    std::vector<TileValueId> carried;
    for (TileValueId result : module_.ops[loop].results)
      carried.push_back(module_.values.add({module_.values[result].type, id}));
    module_.ops[id].results = carried;
    module_.ops[loop].operands = std::move(carried);
    std::vector<TileOpId>& ops = module_.regions[region].ops;
    ops.insert(std::find(ops.begin(), ops.end(), loop), id);
  }

  // The loop itself is left with the last boundary.
  bool split_loop(RegionId region, TileOpId loop, const Core& core) {
    AxisId counter = module_.ops[loop].axis;
    IndexId count = pool().sub(core.to, core.from);
    if (auto known = pool().as_constant(count); known && *known <= 0) return false;
    RegionId body = module_.ops[loop].regions[0];
    if (!may_shift(body, counter, core.from) || !may_shift(body, counter, core.to)) return false;
    if (!pool().is_constant(core.from, 0)) run_before(region, loop, pool().constant(0), core.from, {});
    run_before(region, loop, core.from, count, core.truths);
    shift(body, counter, core.to);
    module_.axes[counter].count = pool().sub(module_.axes[counter].count, core.to);
    return true;
  }

  // ---- launches ----

  // The region for blocks that lie inside, if there is one now.
  std::optional<RegionId> split_launch() {
    auto own = weight(kernel_.body);
    if (!own) return std::nullopt;
    bool reduces = contains(kernel_.body, Opcode::kTileReduce);
    uint64_t most = contains(kernel_.body, Opcode::kLoop) ? kHeaviestLoop : kHeaviestLine;
    std::set<IndexId> margins;
    std::set<TileValueId> truths;
    bool along_lanes = false;
    for (TileValueId comparison : mask_comparisons(kernel_.body)) {
      auto margin = passes::margin(module_, comparison);
      auto least = margin ? least_in_block(module_, *margin, {}) : std::nullopt;
      if (!least || !mentions(*least, TileAxis::Kind::kGrid)) continue;
      if (margins.size() == kMostConditions && !margins.contains(*least)) continue;
      margins.insert(*least);
      truths.insert(comparison);
      along_lanes = along_lanes || lies_along_lanes(comparison);
    }
    IndexId inside = pool().constant(1);
    for (IndexId margin : margins) inside = pool().logical_and(inside, not_negative(margin));
    if (pool().as_constant(inside) || (reduces && !along_lanes)) return std::nullopt;
    if (*own > most) return remark("a launch", *own, first_places(module_, kernel_)), std::nullopt;
    RegionId core = RegionCopy(module_, truths, [](IndexId) { return IndexId(); }).copy(kernel_.body);
    RegionId boundary = module_.regions.add({{}, module_.regions[kernel_.body].ops});
    module_.regions[kernel_.body].ops = {run_if("inside", inside, core),
                                         run_if("boundary", pool().logical_not(inside), boundary), yield()};
    return core;
  }

  void remark(std::string_view what, uint64_t weight, std::span<const Span> spans) {
    context_.remark(
        "bound-loops", spans.empty() ? Span() : spans[0],
        fmt::format("{} keeps its masks: twice {} instructions of a thread would be more code than they "
                    "are worth",
                    what, weight));
  }

  bool contains(RegionId region, Opcode op) const {
    const std::vector<TileOpId>& ops = module_.regions[region].ops;
    return std::any_of(ops.begin(), ops.end(), [&](TileOpId id) { return module_.ops[id].op == op; });
  }

  bool mentions(IndexId expression, TileAxis::Kind kind) const {
    return module_.index.mentions(expression, [&](const ir::IndexNode& node) {
      return node.kind == IndexKind::kAxis && module_.axes[AxisId(node.reference)].kind == kind;
    });
  }

  // Whether neighbouring lanes, and so the vectors of one, have masks of their own.
  bool lies_along_lanes(TileValueId mask) const {
    const ir::AxisList& axes = module_.values[mask].type.axes;
    return std::any_of(module_.homes.begin(), module_.homes.end(), [&](const ir::Layout& home) {
      return std::any_of(axes.begin(), axes.end(),
                         [&](AxisId axis) { return home.has(axis) && home.lane_basis(0, axis) != 0; });
    });
  }

  // As a comparison of sums without negative terms: those stand in masks and addresses too.
  IndexId not_negative(IndexId margin) {
    IndexId left = pool().constant(-1);
    IndexId right = pool().constant(0);
    for (ir::Monomial term : pool().terms(margin)) {
      bool moves = term.coefficient < 0 || term.factors.empty();
      if (moves) term.coefficient = -term.coefficient;
      IndexId& side = moves ? left : right;
      side = pool().add(side, pool().from_terms({term}));
    }
    return pool().less(left, right);
  }

  TileOpId run_if(std::string name, IndexId condition, RegionId region) {
    TileOp op;
    op.op = Opcode::kLoop;
    op.axis = module_.axes.add({std::move(name), TileAxis::Kind::kLoop, 0, condition});
    op.regions = {region};
    return module_.ops.add(std::move(op));
  }

  TileOpId yield() {
    TileOp op;
    op.op = Opcode::kYield;
    return module_.ops.add(std::move(op));
  }

  ir::TileModule& module_;
  const ir::TileKernel& kernel_;
  PassContext& context_;
};

}  // namespace

void bound_loops(ir::TileModule& module, PassContext& context) {
  // Axes and values are added, and none of them would have a layout.
  bool laid_out = std::any_of(module.values.begin(), module.values.end(),
                              [](const ir::TileValue& value) { return value.type.layout.has_value(); });
  if (laid_out) return;
  for (const ir::TileKernel& kernel : module.kernels) LoopBounding(module, kernel, context).run();
}

}  // namespace tenon::passes
