// Copies to shared memory, and contractions, which live by them.
#include <algorithm>

#include "passes/nest/nest.h"
#include "support/check.h"

namespace tenon::passes {

using ir::AxisId;
using ir::IndexId;
using ir::IndexKind;
using ir::Opcode;
using ir::TensorOp;
using ir::TensorOpId;
using ir::TileBuilder;
using ir::TileValueId;
using ir::ValueId;

void Nest::build_contraction(Context& main, const Schedule::Contraction& contraction,
                             const std::vector<uint32_t>& serial) {
  const TensorOp& op = kernel_.ops[contraction.op];
  const ir::OpOutput& output = op.outputs[0];
  TENON_CHECK(serial.size() == 1, "a contraction has one serial dimension");
  uint32_t k = serial[0];
  std::vector<AxisId> accumulated;
  for (uint32_t d = 0; d < schedule_.dims.size(); ++d)
    if (d != k && tile_axes_[d].valid()) accumulated.push_back(tile_axes_[d]);
  std::sort(accumulated.begin(), accumulated.end());
  TileValueId zero = splat(main, output.monoid->identity[0], accumulated);
  std::vector<TileValueId> initial{zero};
  auto result = in_loops(main, serial, initial, [&](Context& inner, std::span<const TileValueId> carried) {
    TileBuilder& builder = *inner.builder;
    // Both operands are on their way before the block waits to store the first.
    StagedTile a = copy_tile(inner, staged_read(contraction.op, contraction.a));
    StagedTile b = copy_tile(inner, staged_read(contraction.op, contraction.b));
    builder.store(a.buffer, a.subscripts, a.value);
    builder.store(b.buffer, b.subscripts, b.value);
    AxisId step = builder.loop_axis("step_" + dim_name(schedule_.dims[k]),
                                    module_.index.constant(schedule_.dims[k].tile()));
    auto sum =
        builder.loop(step, carried, [&](TileBuilder& unrolled, std::span<const TileValueId> accumulator) {
          TileValueId fragment_a = load_staged(unrolled, a, k, step);
          TileValueId fragment_b = load_staged(unrolled, b, k, step);
          return std::vector<TileValueId>{unrolled.mma(fragment_a, fragment_b, accumulator[0])};
        });
    module_.ops[module_.values[sum[0]].definition].unroll = true;
    return sum;
  });
  module_.ops[module_.values[result[0]].definition].stages = schedule_.stages;
  finish(main, op, output, result);
}

const StagedRead& Nest::staged_read(TensorOpId op, ValueId value) const {
  for (const StagedRead& staged : schedule_.staged)
    if (staged.op == op && staged.value == value) return staged;
  TENON_UNREACHABLE("the schedule does not say how an operand is staged");
}

Nest::StagedTile Nest::copy_tile(Context& context, const StagedRead& staged) {
  TensorOpId id = staged.op;
  ValueId value = staged.value;
  TileBuilder& builder = *context.builder;
  Context copy;
  copy.builder = &builder;
  copy.parent = nullptr;
  std::vector<ir::Layout::Block> blocks;
  std::map<uint32_t, IndexId> in_tile;
  for (const StagedRead::Factor& factor : staged.factors) {
    ir::Layout::Block block{{}, factor.vector, factor.lane, factor.warp, factor.repeat};
    block.axis = builder.tile_axis("copy_" + dim_name(schedule_.dims[factor.dim]), block.extent());
    blocks.push_back(block);
    in_tile[factor.dim] = module_.index.axis(block.axis);
  }
  module_.homes.push_back(ir::Layout::blocked(blocks, schedule_.warps));
  for (uint32_t d = 0; d < schedule_.dims.size(); ++d) {
    auto position = dim_position(context, d);
    if (!position) continue;
    // The main mapping's position with the copy's place in the tile instead of its own.
    IndexId moved = module_.index.substitute(*position, [&](IndexId atom) {
      const ir::IndexNode& node = module_.index[atom];
      bool own =
          node.kind == IndexKind::kAxis && tile_axes_[d].valid() && AxisId(node.reference) == tile_axes_[d];
      return own && in_tile.contains(d) ? in_tile[d] : IndexId();
    });
    bind(copy, d, moved);
  }
  in_copy_ = true;
  TileValueId tile = body_value(copy, id, value);
  in_copy_ = false;
  const TensorOp& op = kernel_.ops[id];
  std::vector<AxisId> domain;
  for (const StagedRead::Factor& factor : staged.factors)
    for (AxisId axis : schedule_.dims[factor.dim].axes) domain.push_back(axis);
  ElementType element = op.body.type(value);
  tile = identity_outside(copy, tile, domain_mask(copy, domain), {element, 0});
  ir::Buffer buffer;
  buffer.name = "shared_" + std::to_string(module_.buffers.size());
  buffer.element = element;
  std::vector<IndexId> subscripts;
  for (uint32_t d : staged.buffer_order) {
    buffer.shape.push_back(schedule_.dims[d].tile());
    subscripts.push_back(in_tile[d]);
  }
  buffer.strides.assign(buffer.shape.size(), 1);
  for (size_t i = buffer.shape.size() - 1; i-- > 0;)
    buffer.strides[i] = buffer.strides[i + 1] * buffer.shape[i + 1];
  return {&staged, module_.buffers.add(std::move(buffer)), std::move(subscripts), tile};
}

TileValueId Nest::build_staged_read(Context& context, const StagedRead& staged) {
  StagedTile tile = copy_tile(context, staged);
  context.builder->store(tile.buffer, tile.subscripts, tile.value);
  std::vector<IndexId> subscripts;
  for (uint32_t d : staged.buffer_order) subscripts.push_back(module_.index.axis(tile_axes_[d]));
  return context.builder->load(tile.buffer, std::move(subscripts), module_.buffers[tile.buffer].element);
}

TileValueId Nest::load_staged(TileBuilder& builder, const StagedTile& tile, uint32_t serial, AxisId step) {
  std::vector<IndexId> subscripts;
  for (uint32_t d : tile.staged->buffer_order)
    subscripts.push_back(module_.index.axis(d == serial ? step : tile_axes_[d]));
  return builder.load(tile.buffer, std::move(subscripts), module_.buffers[tile.buffer].element);
}

}  // namespace tenon::passes
