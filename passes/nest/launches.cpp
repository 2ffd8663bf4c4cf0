// Launches: the main one, and the one that merges what it split.
#include <algorithm>

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

Nest::Nest(const ir::Kernel& kernel, const ir::Group& group, const Schedule& schedule, std::string name)
    : kernel_(kernel),
      group_(group),
      schedule_(schedule),
      module_(ir::make_tile_module(kernel, std::move(name))) {}

TileModule Nest::build() {
  for (TensorOpId id : group_.ops)
    for (const ir::OpOutput& output : kernel_.ops[id].outputs) producers_[output.tensor] = id;
  find_external();
  build_main_launch();
  if (schedule_.split > 1) build_merge_launch();
  return std::move(module_);
}

void Nest::find_external() {
  std::set<TensorOpId> inside(group_.ops.begin(), group_.ops.end());
  for (uint32_t i = 0; i < kernel_.ops.size(); ++i) {
    if (inside.contains(TensorOpId(i))) continue;
    for (const ir::Instruction& read : kernel_.ops[TensorOpId(i)].body)
      if (read.op == Opcode::kRead && producers_.contains(read.tensor)) external_.insert(read.tensor);
  }
  for (auto [tensor, op] : producers_)
    if (kernel_.tensors[tensor].role == ir::Tensor::Role::kResult) external_.insert(tensor);
}

ir::TileKernel& Nest::new_launch(std::string name) {
  ir::TileKernel launch;
  launch.name = std::move(name);
  launch.warps = schedule_.warps;
  launch.body = module_.regions.add({});
  module_.kernels.push_back(std::move(launch));
  return module_.kernels.back();
}

void Nest::build_main_launch() {
  new_launch(module_.name);
  TileBuilder builder(module_, module_.kernels.back().body);
  Context main;
  main.builder = &builder;
  std::vector<ir::Layout::Block> home;
  std::vector<AxisId> grid;
  tile_axes_.resize(schedule_.dims.size());
  for (uint32_t d = 0; d < schedule_.dims.size(); ++d) {
    const LoopDim& dim = schedule_.dims[d];
    if (dim.tile() > 1) {
      tile_axes_[d] = builder.tile_axis(dim_name(dim), dim.tile());
      home.push_back({tile_axes_[d], dim.vector, dim.lane, dim.warp, dim.repeat});
    }
    IndexId in_tile = dim.tile() > 1 ? module_.index.axis(tile_axes_[d]) : module_.index.constant(0);
    if (dim.placement == Placement::kGrid) {
      AxisId block =
          builder.grid_axis("block_" + dim_name(dim), module_.index.ceil_div(dim_extent(dim), dim.tile()));
      grid.push_back(block);
      grid_axes_[d] = block;
      bind(main, d, module_.index.add(module_.index.scale(module_.index.axis(block), dim.tile()), in_tile));
    } else if (dim.placement == Placement::kFit) {
      bind(main, d, in_tile);
    } else if (dim.placement == Placement::kSplit) {
      split_axis_ = builder.grid_axis("part", module_.index.constant(schedule_.split));
      grid.push_back(split_axis_);
    }
  }
  module_.homes.push_back(ir::Layout::blocked(home, schedule_.warps));
  module_.kernels.back().grid = std::move(grid);
  for (TensorOpId id : group_.ops) build_op(main, id);
  builder.yield({});
}

void Nest::store_partials(Context& context, const TensorOp& op, const ir::OpOutput& output,
                          std::span<const TileValueId> state) {
  for (size_t slot = 0; slot < state.size(); ++slot) {
    ir::Tensor partial;
    partial.name = kernel_.tensors[output.tensor].name + ".part" + std::to_string(slot);
    partial.element = output.monoid->identity[slot].type;
    std::vector<IndexId> subscripts;
    for (AxisId axis : op.parallel) {
      partial.shape.push_back(kernel_.axes[axis].extent);
      subscripts.push_back(position(context, axis));
    }
    partial.shape.push_back(module_.index.constant(schedule_.split));
    subscripts.push_back(module_.index.axis(split_axis_));
    TensorId tensor = module_.tensors.add(std::move(partial));
    partials_[output.tensor].push_back(tensor);
    context.builder->store(tensor, std::move(subscripts), state[slot], domain_mask(context, op.parallel));
  }
}

void Nest::build_merge_launch() {
  std::vector<AxisId> first_tile_axes = std::exchange(tile_axes_, std::vector<AxisId>(schedule_.dims.size()));
  new_launch(module_.name + ".merge");
  TileBuilder builder(module_, module_.kernels.back().body);
  Context main;
  main.builder = &builder;
  std::vector<AxisId> grid;
  int32_t lanes = std::min(32, schedule_.split);
  int32_t warps = std::min(schedule_.warps, std::max(1, schedule_.split / 32));
  AxisId parts = builder.tile_axis("parts", schedule_.split);
  ir::Layout::Block block{parts, 1, lanes, warps, schedule_.split / (lanes * warps)};
  module_.homes.push_back(ir::Layout::blocked(std::span(&block, 1), schedule_.warps));
  for (uint32_t d = 0; d < schedule_.dims.size(); ++d) {
    const LoopDim& dim = schedule_.dims[d];
    if (dim.placement == Placement::kSplit) continue;
    AxisId axis = builder.grid_axis("block_" + dim_name(dim), dim_extent(dim));
    grid.push_back(axis);
    bind(main, d, module_.index.axis(axis));
  }
  module_.kernels.back().grid = std::move(grid);
  for (TensorOpId id : group_.ops) {
    const TensorOp& op = kernel_.ops[id];
    if (op.op == Opcode::kMap && !unbound_dims(main, op).empty()) continue;
    builder.set_spans(op.spans);
    for (const ir::OpOutput& output : op.outputs) {
      if (op.op == Opcode::kReduce) {
        std::vector<TileValueId> state;
        for (TensorId partial : partials_[output.tensor]) {
          std::vector<IndexId> subscripts;
          for (AxisId axis : op.parallel) subscripts.push_back(position(main, axis));
          subscripts.push_back(module_.index.axis(parts));
          state.push_back(builder.load(partial, std::move(subscripts)));
        }
        state = builder.reduce(*output.monoid, state, {parts});
        main.tensors[output.tensor] = project(main, *output.monoid, state);
      } else {
        main.tensors[output.tensor] = body_value(main, id, output.values[0]);
      }
    }
    store_outputs(main, op);
  }
  builder.yield({});
}

}  // namespace tenon::passes
