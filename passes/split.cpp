#include "passes/split.h"

#include <fmt/format.h>

#include <algorithm>
#include <bit>
#include <set>
#include <span>
#include <utility>

#include "passes/analysis/access.h"
#include "passes/families/family.h"
#include "support/check.h"

namespace tenon::passes {
namespace {

using ir::AxisId;
using ir::IndexId;
using ir::Opcode;
using ir::TensorId;
using ir::TensorOp;
using ir::TensorOpId;

const LoopDim& split_dim(const Schedule& schedule) {
  auto split = std::find_if(schedule.dims.begin(), schedule.dims.end(),
                            [](const LoopDim& dim) { return dim.placement == Placement::kSplit; });
  TENON_CHECK(split != schedule.dims.end(), "a schedule that splits nothing");
  return *split;
}

// Where lanes hold results, neighbours in memory are results of one part; where they hold a reduction, a
// block has one result or a few, and the parts of each lie side by side.
bool lanes_hold_results(const Schedule& schedule) {
  return std::any_of(schedule.dims.begin(), schedule.dims.end(), [](const LoopDim& dim) {
    return dim.placement != Placement::kSplit && dim.vector * dim.lane > 1;
  });
}

// With `outermost` parts, lanes along the results and a loop over the parts; else a warp a result.
Schedule merge_schedule(const Schedule& schedule, const PartialStates& states,
                        std::span<const AxisId> results) {
  constexpr int32_t kWarps = 4;
  Schedule merge;
  if (states.outermost) {
    merge.family = "columns";
    merge.warps = kWarps;
    merge.dims.push_back({.axes = results, .placement = Placement::kGrid, .lane = 32});
    merge.dims.push_back(
        {.axes = {states.part}, .placement = Placement::kSerial, .warp = kWarps, .repeat = 4});
    return merge;
  }
  merge.family = "rows";
  merge.warps = results.empty() ? 1 : kWarps;
  int32_t most_parts = static_cast<int32_t>(std::bit_ceil(static_cast<uint32_t>(schedule.split)));
  merge.dims.push_back({.axes = {states.part},
                        .placement = Placement::kFit,
                        .lane = 32,
                        .repeat = std::max(1, most_parts / 32)});
  if (!results.empty())
    merge.dims.push_back({.axes = results, .placement = Placement::kGrid, .warp = kWarps});
  return merge;
}

bool runs_over(const TensorOp& op, std::span<const AxisId> row) {
  return op.op == Opcode::kMap && std::any_of(op.parallel.begin(), op.parallel.end(), [&](AxisId axis) {
           return std::find(row.begin(), row.end(), axis) != row.end();
         });
}

// How many reductions of the group lie one behind the other before an operation's results are there, its own
// included.
std::map<TensorOpId, uint32_t> reduction_levels(const ir::Kernel& kernel, const ir::Group& group) {
  std::map<TensorId, uint32_t> of_tensor;
  std::map<TensorOpId, uint32_t> levels;
  for (TensorOpId id : group.ops) {
    const TensorOp& op = kernel.ops[id];
    uint32_t level = 0;
    for (const ir::Instruction& read : op.body)
      if (auto at = of_tensor.find(read.tensor); read.op == Opcode::kRead && at != of_tensor.end())
        level = std::max(level, at->second);
    if (op.op == Opcode::kReduce) ++level;
    levels[id] = level;
    for (const ir::OpOutput& output : op.outputs) of_tensor[output.tensor] = level;
  }
  return levels;
}

uint32_t last_level(const std::map<TensorOpId, uint32_t>& levels) {
  uint32_t last = 0;
  for (const auto& [id, level] : levels) last = std::max(last, level);
  return last;
}

// The maps along the row that are stored.
std::set<TensorOpId> stored_rows(const ir::Kernel& kernel, const ir::Group& group,
                                 std::span<const AxisId> row) {
  std::set<TensorId> stored = stored_tensors(kernel, group);
  std::set<TensorOpId> maps;
  for (TensorOpId id : group.ops)
    for (const ir::OpOutput& output : kernel.ops[id].outputs)
      if (runs_over(kernel.ops[id], row) && stored.contains(output.tensor)) maps.insert(id);
  return maps;
}

// Derives the launches one after the other. Each has operations of its own, copies of the group's that define
// tensors of their own: a map along the row may be computed in several launches.
class Splitter {
 public:
  Splitter(const ir::Kernel& kernel, const ir::Group& group, const Schedule& schedule)
      : from_(kernel),
        group_(group),
        schedule_(schedule),
        row_(split_dim(schedule).axes),
        levels_(reduction_levels(kernel, group)),
        stored_(stored_tensors(kernel, group)) {}

  SplitGroup run() {
    split_.kernel = from_;
    for (TensorOpId id : group_.ops) split_.kernel.ops[id] = {};
    part_ = split_.kernel.axes.add({"part", part_count(split_.kernel, schedule_)});
    for (TensorOpId id : group_.ops)
      for (const ir::OpOutput& output : from_.ops[id].outputs) producers_[output.tensor] = id;
    uint32_t last = last_level(levels_);
    for (uint32_t level = 1; level <= last; ++level) {
      std::string number = level == 1 ? "" : std::to_string(level);
      add_states(level, level == 1 ? "" : ".states" + number);
      add_merge(level, ".merge" + number);
    }
    add_rows();
    return std::move(split_);
  }

 private:
  // What an operation of the launch being made reads for a tensor of the group: what this launch defines,
  // else what an earlier one has left in memory.
  using Scope = std::map<TensorId, TensorId>;

  TensorId fresh(TensorId tensor) {
    ir::Tensor copy = split_.kernel.tensors[tensor];
    copy.role = ir::Tensor::Role::kLocal;
    return split_.kernel.tensors.add(std::move(copy));
  }

  TensorOp copy(TensorOpId id, Scope& scope, bool stores) {
    TensorOp op = from_.ops[id];
    for (ir::Instruction& read : op.body) {
      if (read.op != Opcode::kRead) continue;
      if (auto here = scope.find(read.tensor); here != scope.end()) {
        read.tensor = here->second;
      } else if (auto left = left_.find(read.tensor); left != left_.end()) {
        read.tensor = left->second;
      }
    }
    for (ir::OpOutput& output : op.outputs) {
      TensorId tensor = stores && stored_.contains(output.tensor) ? output.tensor : fresh(output.tensor);
      scope[output.tensor] = tensor;
      output.tensor = tensor;
    }
    return op;
  }

  // Maps of which a launch needs what no earlier one has left.
  std::set<TensorOpId> needed_by(const std::set<TensorOpId>& roots) const {
    std::set<TensorOpId> needed = roots;
    for (size_t i = group_.ops.size(); i-- > 0;) {
      if (!needed.contains(group_.ops[i])) continue;
      for (const ir::Instruction& read : from_.ops[group_.ops[i]].body) {
        auto producer = producers_.find(read.tensor);
        if (read.op == Opcode::kRead && producer != producers_.end() && !left_.contains(read.tensor))
          needed.insert(producer->second);
      }
    }
    return needed;
  }

  void add_states(uint32_t level, const std::string& suffix) {
    std::set<TensorOpId> roots;
    for (TensorOpId id : group_.ops)
      if (from_.ops[id].op == Opcode::kReduce && levels_.at(id) == level) roots.insert(id);
    std::set<TensorOpId> needed = needed_by(roots);
    SplitLaunch launch{
        suffix, {group_.name, {}}, schedule_, PartialStates{part_, lanes_hold_results(schedule_), {}}};
    Scope scope;
    for (TensorOpId id : group_.ops) {
      if (!needed.contains(id)) continue;
      TensorOp op = copy(id, scope, false);
      // A schedule names the reductions that it stages, so they keep their ids.
      TensorOpId own = roots.contains(id) ? id : split_.kernel.ops.add({});
      if (roots.contains(id)) add_tensors(op, *launch.states);
      split_.kernel.ops[own] = std::move(op);
      launch.group.ops.push_back(own);
    }
    split_.launches.push_back(std::move(launch));
  }

  void add_tensors(const TensorOp& op, PartialStates& states) {
    ir::Kernel& kernel = split_.kernel;
    for (const ir::OpOutput& output : op.outputs) {
      for (size_t slot = 0; slot < output.monoid->slots(); ++slot) {
        ir::Tensor partial;
        partial.name = fmt::format("{}.part{}", kernel.tensors[output.tensor].name, slot);
        partial.element = output.monoid->identity[slot].type;
        for (AxisId axis : op.parallel) partial.shape.push_back(kernel.axes[axis].extent);
        partial.shape.insert(states.outermost ? partial.shape.begin() : partial.shape.end(),
                             kernel.axes[part_].extent);
        states.tensors[output.tensor].push_back(kernel.tensors.add(std::move(partial)));
      }
    }
  }

  // The reductions of the launch before, over its states, and the maps that wait for them.
  void add_merge(uint32_t level, const std::string& suffix) {
    const SplitLaunch before = split_.launches.back();
    SplitLaunch launch{suffix, {group_.name, {}}, {}, std::nullopt};
    Scope scope;
    ir::AxisList results;
    for (TensorOpId id : group_.ops) {
      const TensorOp& op = from_.ops[id];
      bool reduces = op.op == Opcode::kReduce;
      bool waits =
          reduces ? levels_.at(id) == level : !runs_over(op, row_) && is_new(op) && levels_.at(id) <= level;
      if (!waits) continue;
      TensorOp merged = reduces ? over_parts(id, *before.states, scope) : copy(id, scope, true);
      launch.group.ops.push_back(split_.kernel.ops.add(std::move(merged)));
      // In the order in which states lie in memory.
      if (reduces && results.empty()) results = op.parallel;
    }
    left_.insert(scope.begin(), scope.end());
    launch.schedule = merge_schedule(schedule_, *before.states, results);
    split_.launches.push_back(std::move(launch));
  }

  bool is_new(const TensorOp& op) const {
    return std::none_of(op.outputs.begin(), op.outputs.end(),
                        [&](const ir::OpOutput& output) { return left_.contains(output.tensor); });
  }

  TensorOp over_parts(TensorOpId id, const PartialStates& states, Scope& scope) {
    const TensorOp& of_states = split_.kernel.ops[id];
    TensorOp merge;
    merge.op = Opcode::kReduce;
    merge.parallel = of_states.parallel;
    merge.reduction = {part_};
    merge.spans = of_states.spans;
    std::vector<IndexId> subscripts;
    for (AxisId axis : merge.parallel) subscripts.push_back(split_.kernel.index.axis(axis));
    subscripts.insert(states.outermost ? subscripts.begin() : subscripts.end(),
                      split_.kernel.index.axis(part_));
    const std::vector<ir::OpOutput>& results = from_.ops[id].outputs;
    for (size_t i = 0; i < results.size(); ++i) {
      ir::OpOutput merged{results[i].tensor, {}, results[i].monoid};
      if (!stored_.contains(merged.tensor)) merged.tensor = fresh(merged.tensor);
      scope[results[i].tensor] = merged.tensor;
      for (TensorId tensor : states.tensors.at(of_states.outputs[i].tensor)) {
        ir::Instruction read;
        read.op = Opcode::kRead;
        read.tensor = tensor;
        read.type = split_.kernel.tensors[tensor].element;
        read.subscripts = subscripts;
        merged.values.push_back(merge.body.add(std::move(read)));
      }
      merge.outputs.push_back(std::move(merged));
    }
    return merge;
  }

  // What is stored along the row, behind all reductions; its blocks lie along the row too.
  void add_rows() {
    std::set<TensorOpId> roots = stored_rows(from_, group_, row_);
    if (roots.empty()) return;
    SplitLaunch launch{".rows", {group_.name, {}}, schedule_, std::nullopt};
    for (LoopDim& dim : launch.schedule.dims)
      if (dim.placement == Placement::kSplit) dim.placement = Placement::kGrid;
    Scope scope;
    std::set<TensorOpId> needed = needed_by(roots);
    for (TensorOpId id : group_.ops)
      if (needed.contains(id)) launch.group.ops.push_back(split_.kernel.ops.add(copy(id, scope, true)));
    split_.launches.push_back(std::move(launch));
  }

  const ir::Kernel& from_;
  const ir::Group& group_;
  const Schedule& schedule_;
  const ir::AxisList& row_;
  std::map<TensorOpId, uint32_t> levels_;
  std::set<TensorId> stored_;
  std::map<TensorId, TensorOpId> producers_;
  SplitGroup split_;
  AxisId part_;
  // Tensors of the group that an earlier launch has left in memory, and where.
  Scope left_;
};

}  // namespace

IndexId ceil_div(ir::IndexPool& pool, IndexId a, IndexId b) {
  return pool.floor_div(pool.add(a, pool.sub(b, pool.constant(1))), b);
}

IndexId grid_blocks(ir::Kernel& kernel, const Schedule& schedule) {
  ir::IndexPool& pool = kernel.index;
  IndexId blocks = pool.constant(1);
  for (const LoopDim& dim : schedule.dims)
    if (dim.placement == Placement::kGrid)
      blocks = pool.mul(blocks, pool.ceil_div(extent_of(kernel, dim.axes), dim.tile()));
  return blocks;
}

IndexId part_count(ir::Kernel& kernel, const Schedule& schedule) {
  ir::IndexPool& pool = kernel.index;
  const LoopDim& dim = split_dim(schedule);
  IndexId blocks = pool.max(pool.constant(1), grid_blocks(kernel, schedule));
  IndexId wanted = pool.floor_div(pool.constant(schedule.split), blocks);
  IndexId most = pool.ceil_div(extent_of(kernel, dim.axes), dim.tile() * dim.tiles);
  return pool.max(pool.constant(1), pool.min(wanted, most));
}

bool may_split(const ir::Kernel& kernel, const ir::Group& group, std::span<const AxisId> row) {
  if (split_launch_count(kernel, group, row) == 2) return true;
  std::set<TensorId> overwriting;
  for (const ir::Parameter& parameter : kernel.parameters)
    if (parameter.inout()) overwriting.insert(parameter.output);
  return std::none_of(group.ops.begin(), group.ops.end(), [&](TensorOpId id) {
    const TensorOp& op = kernel.ops[id];
    return !runs_over(op, row) &&
           std::any_of(op.outputs.begin(), op.outputs.end(),
                       [&](const ir::OpOutput& output) { return overwriting.contains(output.tensor); });
  });
}

size_t split_launch_count(const ir::Kernel& kernel, const ir::Group& group, std::span<const AxisId> row) {
  return 2 * last_level(reduction_levels(kernel, group)) + (stored_rows(kernel, group, row).empty() ? 0 : 1);
}

SplitGroup split_group(const ir::Kernel& kernel, const ir::Group& group, const Schedule& schedule) {
  return Splitter(kernel, group, schedule).run();
}

}  // namespace tenon::passes
