// The launch: its grid and tiles, and where the states of a split reduction go.
#include <algorithm>

#include "passes/analysis/access.h"
#include "passes/nest/nest.h"
#include "support/check.h"

namespace tenon::passes {

using ir::AxisId;
using ir::IndexId;
using ir::Opcode;
using ir::TensorId;
using ir::TensorOp;
using ir::TensorOpId;
using ir::TileBuilder;
using ir::TileModule;
using ir::TileValueId;

Nest::Nest(TileModule& module, const ir::Kernel& kernel, const ir::Group& group, const Schedule& schedule,
           const PartialStates* states)
    : kernel_(kernel), group_(group), schedule_(schedule), states_(states), module_(module) {}

void Nest::build(std::string name) {
  for (TensorOpId id : group_.ops)
    for (const ir::OpOutput& output : kernel_.ops[id].outputs) producers_[output.tensor] = id;
  external_ = stored_tensors(kernel_, group_);
  if (kept_dim()) kept_reads_ = repeated_row_reads(kernel_, group_, group_axes(kernel_, group_));
  ir::TileKernel launch;
  launch.name = std::move(name);
  launch.warps = schedule_.warps;
  launch.body = module_.regions.add({});
  module_.kernels.push_back(std::move(launch));
  TileBuilder builder(module_, module_.kernels.back().body);
  Context main;
  main.builder = &builder;
  place_dims(main);
  for (TensorOpId id : group_.ops) build_op(main, id);
  builder.yield({});
}

void Nest::place_dims(Context& main) {
  TileBuilder& builder = *main.builder;
  std::vector<ir::Layout::Block> home;
  std::vector<AxisId> grid;
  tile_axes_.resize(schedule_.dims.size());
  step_axes_.resize(schedule_.dims.size());
  for (uint32_t d = 0; d < schedule_.dims.size(); ++d) {
    const LoopDim& dim = schedule_.dims[d];
    int32_t steps = has_steps(d) ? dim.repeat : 1;
    if (dim.tile() > steps) {
      tile_axes_[d] = builder.tile_axis(dim_name(dim), dim.tile() / steps);
      home.push_back({tile_axes_[d], dim.vector, dim.lane, dim.warp, dim.repeat / steps});
    }
    if (steps > 1) {
      step_axes_[d] = builder.tile_axis("step_" + dim_name(dim), steps);
      home.push_back({step_axes_[d], 1, 1, 1, steps});
    }
    IndexId in_tile = place_in_tile(d);
    if (dim.placement == Placement::kGrid) {
      AxisId block =
          builder.grid_axis("block_" + dim_name(dim), module_.index.ceil_div(dim_extent(dim), dim.tile()));
      grid.push_back(block);
      bind(main, d, module_.index.add(module_.index.scale(module_.index.axis(block), dim.tile()), in_tile));
    } else if (dim.placement == Placement::kFit) {
      bind(main, d, in_tile);
    } else if (dim.placement == Placement::kSplit) {
      part_ = builder.grid_axis("part", parts());
      grid.push_back(part_);
    }
  }
  module_.homes.push_back(ir::Layout::blocked(home, schedule_.warps));
  module_.kernels.back().grid = std::move(grid);
}

bool Nest::has_steps(uint32_t d) const {
  const LoopDim& dim = schedule_.dims[d];
  if (dim.placement == Placement::kGrid || dim.placement == Placement::kFit) return false;
  return std::none_of(schedule_.staged.begin(), schedule_.staged.end(), [&](const StagedRead& staged) {
    return std::any_of(staged.factors.begin(), staged.factors.end(),
                       [&](const StagedRead::Factor& factor) { return factor.dim == d; });
  });
}

IndexId Nest::place_in_tile(uint32_t d) {
  IndexId place = tile_axes_[d].valid() ? module_.index.axis(tile_axes_[d]) : module_.index.constant(0);
  if (!step_axes_[d].valid()) return place;
  const LoopDim& dim = schedule_.dims[d];
  return module_.index.add(module_.index.scale(module_.index.axis(step_axes_[d]), dim.tile() / dim.repeat),
                           place);
}

IndexId Nest::parts() const {
  TENON_CHECK(states_ != nullptr, "a split dimension without a place for the states");
  return module_.axes[states_->part].count;
}

void Nest::store_states(Context& context, const TensorOp& op, const ir::OpOutput& output,
                        std::span<const TileValueId> state) {
  std::vector<IndexId> subscripts;
  for (AxisId axis : op.parallel) subscripts.push_back(position(context, axis));
  subscripts.insert(states_->outermost ? subscripts.begin() : subscripts.end(), module_.index.axis(part_));
  TileValueId mask = domain_mask(context, op.parallel);
  const std::vector<TensorId>& tensors = states_->tensors.at(output.tensor);
  for (size_t slot = 0; slot < state.size(); ++slot)
    context.builder->store(tensors[slot], subscripts, state[slot], mask);
}

}  // namespace tenon::passes
