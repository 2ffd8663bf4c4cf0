#include "ir/tile_builder.h"

#include <algorithm>
#include <utility>

#include "support/check.h"

namespace tenon::ir {
namespace {

// Both are ascending.
void merge_axes(AxisList& axes, const AxisList& more) {
  for (AxisId axis : more) {
    auto at = std::ranges::lower_bound(axes, axis);
    if (at == axes.end() || *at != axis) axes.insert(at, &axis, &axis + 1);
  }
}

}  // namespace

void TileBuilder::set_places(std::span<const Span> spans) {
  spans = spans.first(std::min(spans.size(), kMostSpans));
  places_ = spans.empty() ? PlacesId() : module_.places.add({spans.begin(), spans.end()});
}

TileOpId TileBuilder::append(TileOp op) {
  if (!op.places.valid()) op.places = places_;
  TileOpId id = module_.ops.add(std::move(op));
  module_.regions[region_].ops.push_back(id);
  return id;
}

TileValueId TileBuilder::result(TileOpId op, ElementType element, AxisList axes) {
  TileValueId id = module_.values.add({{element, std::move(axes), {}}, op});
  module_.ops[op].results.push_back(id);
  return id;
}

AxisList TileBuilder::union_axes(std::span<const TileValueId> values) const {
  AxisList axes;
  for (TileValueId value : values) merge_axes(axes, module_.values[value].type.axes);
  return axes;
}

AxisList TileBuilder::tile_axes(IndexId index) const {
  AxisList axes;
  module_.index.for_each_atom(index, [&](IndexId atom) {
    const IndexNode& node = module_.index[atom];
    if (node.kind == IndexKind::kAxis) {
      AxisId axis(node.reference);
      if (module_.axes[axis].kind == TileAxis::Kind::kTile) merge_axes(axes, {axis});
    } else if (node.kind == IndexKind::kValue) {
      merge_axes(axes, module_.values[TileValueId(node.reference)].type.axes);
    }
  });
  return axes;
}

TileValueId TileBuilder::constant(Constant constant) {
  TileOp op;
  op.op = Opcode::kConst;
  op.bits = constant.bits;
  return result(append(std::move(op)), constant.type, {});
}

TileValueId TileBuilder::index_value(IndexId index) {
  TileOp op;
  op.op = Opcode::kIndex;
  op.index = index;
  return result(append(std::move(op)), ElementType::kIndex, tile_axes(index));
}

TileValueId TileBuilder::elementwise(Opcode opcode, ElementType type, std::span<const TileValueId> operands,
                                     bool approx) {
  TileOp op;
  op.op = opcode;
  op.operands.assign(operands.begin(), operands.end());
  op.approx = approx;
  AxisList axes = union_axes(operands);
  return result(append(std::move(op)), type, std::move(axes));
}

std::vector<TileValueId> TileBuilder::inline_body(const Body& body, std::span<const TileValueId> arguments,
                                                  std::span<const ValueId> wanted) {
  std::vector<TileValueId> image;
  for (const Instruction& instruction : body) {
    if (instruction.op == Opcode::kArg) {
      image.push_back(arguments[instruction.bits]);
    } else if (instruction.op == Opcode::kConst) {
      image.push_back(constant({instruction.type, instruction.bits}));
    } else {
      std::vector<TileValueId> operands;
      for (unsigned i = 0; i < instruction.operand_count(); ++i)
        operands.push_back(image[instruction.operands[i].index()]);
      image.push_back(elementwise(instruction.op, instruction.type, operands, instruction.approx));
    }
  }
  std::vector<TileValueId> values;
  for (ValueId value : wanted) values.push_back(image[value.index()]);
  return values;
}

TileValueId TileBuilder::load(TensorId tensor, IndexList subscripts, TileValueId mask,
                              TileValueId otherwise) {
  AxisList axes;
  for (IndexId subscript : subscripts) merge_axes(axes, tile_axes(subscript));
  TileOp op;
  op.op = Opcode::kLoad;
  op.tensor = tensor;
  op.subscripts = std::move(subscripts);
  if (mask.valid()) {
    op.operands = {mask};
    if (otherwise.valid()) op.operands.push_back(otherwise);
    merge_axes(axes, union_axes(op.operands));
  }
  return result(append(std::move(op)), module_.tensors[tensor].element, std::move(axes));
}

TileValueId TileBuilder::load(BufferId buffer, IndexList subscripts, ElementType element) {
  AxisList axes;
  for (IndexId subscript : subscripts) merge_axes(axes, tile_axes(subscript));
  TileOp op;
  op.op = Opcode::kLoad;
  op.buffer = buffer;
  op.subscripts = std::move(subscripts);
  return result(append(std::move(op)), element, std::move(axes));
}

void TileBuilder::store(TensorId tensor, IndexList subscripts, TileValueId value, TileValueId mask) {
  TileOp op;
  op.op = Opcode::kStore;
  op.tensor = tensor;
  op.subscripts = std::move(subscripts);
  op.operands = {value};
  if (mask.valid()) op.operands.push_back(mask);
  append(std::move(op));
}

void TileBuilder::store(BufferId buffer, IndexList subscripts, TileValueId value, TileValueId mask) {
  TileOp op;
  op.op = Opcode::kStore;
  op.buffer = buffer;
  op.subscripts = std::move(subscripts);
  op.operands = {value};
  if (mask.valid()) op.operands.push_back(mask);
  append(std::move(op));
}

std::vector<TileValueId> TileBuilder::reduce(const SharedMonoid& monoid, std::span<const TileValueId> state,
                                             AxisList reduced) {
  AxisList axes = union_axes(state);
  erase_if(axes,
           [&](AxisId axis) { return std::find(reduced.begin(), reduced.end(), axis) != reduced.end(); });
  TileOp op;
  op.op = Opcode::kTileReduce;
  op.operands.assign(state.begin(), state.end());
  op.monoid = monoid;
  op.reduced = std::move(reduced);
  TileOpId id = append(std::move(op));
  std::vector<TileValueId> results;
  for (const Constant& identity : monoid->identity) results.push_back(result(id, identity.type, axes));
  return results;
}

TileValueId TileBuilder::mma(TileValueId a, TileValueId b, TileValueId accumulator) {
  TileOp op;
  op.op = Opcode::kMma;
  op.operands = {a, b, accumulator};
  TileType type = module_.values[accumulator].type;
  return result(append(std::move(op)), type.element, type.axes);
}

std::vector<TileValueId> TileBuilder::loop(AxisId axis, std::span<const TileValueId> initial,
                                           const LoopBody& body) {
  RegionId region = module_.regions.add({});
  for (TileValueId value : initial) {
    TileType type = module_.values[value].type;
    TileValueId argument = module_.values.add({type, {}});
    module_.regions[region].arguments.push_back(argument);
  }
  TileBuilder inner(module_, region);
  inner.places_ = places_;
  const std::vector<TileValueId> arguments = module_.regions[region].arguments;
  std::vector<TileValueId> yielded = body(inner, arguments);
  TENON_CHECK(yielded.size() == arguments.size(), "a loop yields as many values as it carries");
  inner.yield(yielded);
  TileOp op;
  op.op = Opcode::kLoop;
  op.axis = axis;
  op.operands.assign(initial.begin(), initial.end());
  op.regions = {region};
  TileOpId id = append(std::move(op));
  std::vector<TileValueId> results;
  for (TileValueId argument : arguments) {
    TileType type = module_.values[argument].type;
    results.push_back(result(id, type.element, type.axes));
  }
  return results;
}

void TileBuilder::barrier() {
  TileOp op;
  op.op = Opcode::kBarrier;
  append(std::move(op));
}

void TileBuilder::copy_commit() {
  TileOp op;
  op.op = Opcode::kCopyCommit;
  append(std::move(op));
}

void TileBuilder::copy_wait(uint64_t groups_under_way) {
  TileOp op;
  op.op = Opcode::kCopyWait;
  op.bits = groups_under_way;
  append(std::move(op));
}

void TileBuilder::yield(std::span<const TileValueId> values) {
  TileOp op;
  op.op = Opcode::kYield;
  op.operands.assign(values.begin(), values.end());
  append(std::move(op));
}

AxisId TileBuilder::tile_axis(std::string name, int64_t extent) {
  return module_.axes.add({std::move(name), TileAxis::Kind::kTile, extent, {}});
}
AxisId TileBuilder::loop_axis(std::string name, IndexId count) {
  return module_.axes.add({std::move(name), TileAxis::Kind::kLoop, 0, count});
}
AxisId TileBuilder::grid_axis(std::string name, IndexId count) {
  return module_.axes.add({std::move(name), TileAxis::Kind::kGrid, 0, count});
}

}  // namespace tenon::ir
