// Loop dimensions: positions, loops, and the operations in them.
#include <algorithm>

#include "passes/nest/nest.h"
#include "support/check.h"

namespace tenon::passes {

using ir::AxisId;
using ir::IndexId;
using ir::Opcode;
using ir::TensorOp;
using ir::TensorOpId;
using ir::TileBuilder;
using ir::TileValueId;

IndexId Nest::dim_extent(const LoopDim& dim) {
  IndexId extent = module_.index.constant(1);
  for (AxisId axis : dim.axes) extent = module_.index.mul(extent, kernel_.axes[axis].extent);
  return extent;
}

std::string Nest::dim_name(const LoopDim& dim) const {
  std::string name;
  for (AxisId axis : dim.axes) name += (name.empty() ? "" : "_") + kernel_.axes[axis].name;
  return name.empty() ? "one" : name;
}

void Nest::bind(Context& context, uint32_t d, IndexId position) {
  const LoopDim& dim = schedule_.dims[d];
  context.dim_positions[d] = position;
  IndexId rest = position;
  for (size_t i = dim.axes.size(); i-- > 0;) {
    IndexId extent = kernel_.axes[dim.axes[i]].extent;
    context.positions[dim.axes[i]] = i == 0 ? rest : module_.index.floor_mod(rest, extent);
    if (i > 0) rest = module_.index.floor_div(rest, extent);
  }
}

bool Nest::overruns(uint32_t d) {
  const LoopDim& dim = schedule_.dims[d];
  auto extent = module_.index.as_constant(dim_extent(dim));
  if (dim.placement == Placement::kFit) return extent != dim.tile();
  IndexId tile = module_.index.constant(dim.tile());
  if (dim.placement == Placement::kSplit) tile = module_.index.mul(tile, parts());
  bool promised = std::any_of(module_.divisible.begin(), module_.divisible.end(), [&](const auto& known) {
    return known.first == dim_extent(dim) &&
           module_.index.is_constant(module_.index.floor_mod(module_.index.constant(known.second), tile), 0);
  });
  return !promised && !module_.index.is_constant(module_.index.floor_mod(dim_extent(dim), tile), 0);
}

std::vector<uint32_t> Nest::unbound_dims(const Context& context, const TensorOp& op) const {
  std::vector<uint32_t> dims;
  for (uint32_t d = 0; d < schedule_.dims.size(); ++d) {
    if (bound(context, d)) continue;
    const ir::AxisList& axes = schedule_.dims[d].axes;
    bool used = std::any_of(axes.begin(), axes.end(), [&](AxisId axis) {
      return std::find(op.parallel.begin(), op.parallel.end(), axis) != op.parallel.end() ||
             std::find(op.reduction.begin(), op.reduction.end(), axis) != op.reduction.end();
    });
    if (used) dims.push_back(d);
  }
  return dims;
}

bool Nest::bound(const Context& context, uint32_t d) {
  for (const Context* c = &context; c != nullptr; c = c->parent)
    if (c->dim_positions.contains(d)) return true;
  return false;
}

std::vector<TileValueId> Nest::in_loops(Context& outer, std::span<const uint32_t> dims,
                                        std::span<const TileValueId> initial, const InLoops& body) {
  if (dims.empty()) return body(outer, initial);
  uint32_t d = dims.front();
  const LoopDim& dim = schedule_.dims[d];
  IndexId tiles = module_.index.ceil_div(dim_extent(dim), dim.tile());
  bool split = dim.placement == Placement::kSplit;
  // Parts are runs of tiles, of equal length.
  if (split) tiles = ceil_div(module_.index, tiles, parts());
  AxisId counter = outer.builder->loop_axis("loop_" + dim_name(dim), tiles);
  return outer.builder->loop(
      counter, initial, [&](TileBuilder& builder, std::span<const TileValueId> carried) {
        Context inner;
        inner.builder = &builder;
        inner.parent = &outer;
        IndexId tile = module_.index.axis(counter);
        if (split) tile = module_.index.add(module_.index.mul(module_.index.axis(part_), tiles), tile);
        bind(inner, d, module_.index.add(module_.index.scale(tile, dim.tile()), place_in_tile(d)));
        return in_loops(inner, dims.subspan(1), carried, body);
      });
}

void Nest::build_op(Context& main, TensorOpId id) {
  const TensorOp& op = kernel_.ops[id];
  // Maps are computed where a reduction reads them; what is stored belongs to the group that merges.
  if (states_ != nullptr && op.op == Opcode::kMap) return;
  main.builder->set_places(op.spans);
  std::vector<uint32_t> serial = unbound_dims(main, op);
  if (op.op == Opcode::kReduce) {
    build_reduction(main, id, serial);
  } else if (serial.empty()) {
    for (const ir::OpOutput& output : op.outputs)
      main.tensors[output.tensor] = body_value(main, id, output.values[0]);
  }
  bool stored = std::any_of(op.outputs.begin(), op.outputs.end(),
                            [&](const ir::OpOutput& output) { return external_.contains(output.tensor); });
  if (!stored || states_ != nullptr) return;
  if (op.op == Opcode::kReduce || serial.empty()) {
    store_outputs(main, op);
  } else {
    in_loops(main, serial, {}, [&](Context& inner, std::span<const TileValueId>) {
      for (const ir::OpOutput& output : op.outputs)
        inner.tensors[output.tensor] = body_value(inner, id, output.values[0]);
      store_outputs(inner, op);
      return std::vector<TileValueId>{};
    });
  }
}

void Nest::store_outputs(Context& context, const TensorOp& op) {
  for (const ir::OpOutput& output : op.outputs) {
    if (!external_.contains(output.tensor)) continue;
    std::vector<IndexId> subscripts;
    for (AxisId axis : op.parallel) subscripts.push_back(position(context, axis));
    TileValueId value = find_tensor(context, output.tensor);
    context.builder->store(output.tensor, std::move(subscripts), value, domain_mask(context, op.parallel));
  }
}

std::optional<IndexId> Nest::dim_position(const Context& context, uint32_t d) const {
  for (const Context* c = &context; c != nullptr; c = c->parent)
    if (auto at = c->dim_positions.find(d); at != c->dim_positions.end()) return at->second;
  return std::nullopt;
}

IndexId Nest::position(const Context& context, AxisId axis) const {
  for (const Context* c = &context; c != nullptr; c = c->parent)
    if (auto at = c->positions.find(axis); at != c->positions.end()) return at->second;
  TENON_UNREACHABLE("an axis has no position here");
}

}  // namespace tenon::passes
