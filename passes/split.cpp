#include "passes/split.h"

#include <fmt/format.h>

#include <algorithm>
#include <bit>
#include <utility>

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

IndexId flat_extent(ir::Kernel& kernel, const LoopDim& dim) {
  IndexId extent = kernel.index.constant(1);
  for (AxisId axis : dim.axes) extent = kernel.index.mul(extent, kernel.axes[axis].extent);
  return extent;
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
                        const std::vector<AxisId>& results) {
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

TensorId add_states(ir::Kernel& kernel, const TensorOp& op, const ir::OpOutput& output, size_t slot,
                    const PartialStates& states) {
  ir::Tensor partial;
  partial.name = fmt::format("{}.part{}", kernel.tensors[output.tensor].name, slot);
  partial.element = output.monoid->identity[slot].type;
  for (AxisId axis : op.parallel) partial.shape.push_back(kernel.axes[axis].extent);
  partial.shape.insert(states.outermost ? partial.shape.begin() : partial.shape.end(),
                       kernel.axes[states.part].extent);
  return kernel.tensors.add(std::move(partial));
}

// The reduction of the same results over the parts' states.
TensorOp over_parts(ir::Kernel& kernel, const TensorOp& op, PartialStates& states) {
  TensorOp merge;
  merge.op = Opcode::kReduce;
  merge.parallel = op.parallel;
  merge.reduction = {states.part};
  merge.spans = op.spans;
  for (const ir::OpOutput& output : op.outputs) {
    ir::OpOutput merged{output.tensor, {}, output.monoid};
    for (size_t slot = 0; slot < output.monoid->slots(); ++slot) {
      ir::Instruction read;
      read.op = Opcode::kRead;
      read.tensor = add_states(kernel, op, output, slot, states);
      read.type = kernel.tensors[read.tensor].element;
      for (AxisId axis : op.parallel) read.subscripts.push_back(kernel.index.axis(axis));
      read.subscripts.insert(states.outermost ? read.subscripts.begin() : read.subscripts.end(),
                             kernel.index.axis(states.part));
      states.tensors[output.tensor].push_back(read.tensor);
      merged.values.push_back(merge.body.add(std::move(read)));
    }
    merge.outputs.push_back(std::move(merged));
  }
  return merge;
}

}  // namespace

IndexId ceil_div(ir::IndexPool& pool, IndexId a, IndexId b) {
  return pool.floor_div(pool.add(a, pool.sub(b, pool.constant(1))), b);
}

IndexId grid_blocks(ir::Kernel& kernel, const Schedule& schedule) {
  ir::IndexPool& pool = kernel.index;
  IndexId blocks = pool.constant(1);
  for (const LoopDim& dim : schedule.dims)
    if (dim.placement == Placement::kGrid)
      blocks = pool.mul(blocks, pool.ceil_div(flat_extent(kernel, dim), dim.tile()));
  return blocks;
}

IndexId part_count(ir::Kernel& kernel, const Schedule& schedule) {
  ir::IndexPool& pool = kernel.index;
  const LoopDim& dim = split_dim(schedule);
  IndexId blocks = pool.max(pool.constant(1), grid_blocks(kernel, schedule));
  IndexId wanted = pool.floor_div(pool.constant(schedule.split), blocks);
  IndexId most = pool.ceil_div(flat_extent(kernel, dim), dim.tile() * dim.tiles);
  return pool.max(pool.constant(1), pool.min(wanted, most));
}

SplitGroup split_group(const ir::Kernel& kernel, const ir::Group& group, const Schedule& schedule) {
  SplitGroup split{
      .kernel = kernel, .states = {}, .merge = {group.name + ".merge", {}}, .merge_schedule = {}};
  split.states.part = split.kernel.axes.add({"part", part_count(split.kernel, schedule)});
  split.states.outermost = lanes_hold_results(schedule);
  std::vector<AxisId> results;
  for (TensorOpId id : group.ops) {
    const TensorOp& op = kernel.ops[id];
    bool over_rows =
        op.op == Opcode::kMap && std::any_of(op.parallel.begin(), op.parallel.end(), [&](AxisId axis) {
          const std::vector<AxisId>& row = split_dim(schedule).axes;
          return std::find(row.begin(), row.end(), axis) != row.end();
        });
    // What reductions alone read is computed where they are.
    if (over_rows) continue;
    split.merge.ops.push_back(id);
    if (op.op != Opcode::kReduce) continue;
    split.kernel.ops[id] = over_parts(split.kernel, op, split.states);
    // In the order in which states lie in memory.
    if (results.empty()) results = op.parallel;
  }
  split.merge_schedule = merge_schedule(schedule, split.states, results);
  return split;
}

}  // namespace tenon::passes
