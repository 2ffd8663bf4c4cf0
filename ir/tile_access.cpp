#include "ir/tile_access.h"

#include <fmt/format.h>

#include <algorithm>

namespace tenon::ir {

TileIndex::TileIndex(const TileIndexContext& context, const TileShape& shape, IndexList expressions)
    : context_(&context),
      shape_(shape),
      expressions_(std::move(expressions)),
      evaluator_(context.module.index, context.symbols) {
  for (IndexId expression : expressions_) {
    std::vector<IndexId> computed = evaluator_.require(expression);
    nodes_.insert(nodes_.end(), computed.begin(), computed.end());
  }
  for (IndexId atom : evaluator_.axes()) {
    AxisId axis(context.module.index[atom].reference);
    auto found = std::find(shape_.axes().begin(), shape_.axes().end(), axis);
    std::optional<size_t> dimension;
    if (found != shape_.axes().end()) dimension = found - shape_.axes().begin();
    axes_.push_back({atom, axis, dimension});
  }
  for (IndexId node : nodes_) {
    if (context.module.index[node].kind != IndexKind::kValue) continue;
    TileValueId value(context.module.index[node].reference);
    TileShape own(context.module, context.module.values[value].type.axes);
    values_.push_back({node, value, own.strides_in(shape_)});
  }
}

void TileIndex::begin() {
  for (const AxisAtom& atom : axes_)
    if (!atom.dimension) evaluator_.at(atom.atom).set_affine(context_->counters[atom.axis.index()], 0);
}

void TileIndex::evaluate_row(int64_t row, size_t lanes) {
  size_t inner = shape_.rank() == 0 ? 0 : shape_.rank() - 1;
  // The position of the row along the outer axes.
  std::vector<int64_t> position(inner, 0);
  for (size_t d = inner; d-- > 0;) {
    position[d] = row % shape_.extents()[d];
    row /= shape_.extents()[d];
  }
  for (const AxisAtom& atom : axes_) {
    if (!atom.dimension) continue;
    bool runs = *atom.dimension == inner;
    evaluator_.at(atom.atom).set_affine(runs ? 0 : position[*atom.dimension], runs ? 1 : 0);
  }
  for (const ValueAtom& atom : values_) {
    const int64_t* data = context_->value(atom.value);
    for (size_t d = 0; d < inner; ++d) data += position[d] * atom.strides[d];
    int64_t step = shape_.rank() == 0 ? 0 : atom.strides[inner];
    LaneInteger& lane = evaluator_.at(atom.atom);
    if (step == 0) {
      lane.set_affine(*data, 0);
      continue;
    }
    lane.listed = true;
    lane.values.resize(lanes);
    for (size_t i = 0; i < lanes; ++i) lane.values[i] = data[static_cast<int64_t>(i) * step];
  }
  evaluator_.evaluate(nodes_, lanes);
}

std::optional<int64_t> TileAccess::offsets(int64_t row, const AccessedMemory& memory, size_t width,
                                           const uint8_t* mask, std::vector<int64_t>& offsets) {
  auto length = static_cast<size_t>(shape_.row_length());
  // What lies behind the last position that is not masked need not be computed: rows are often short.
  size_t lanes = length;
  while (mask != nullptr && lanes > 0 && mask[lanes - 1] == 0) --lanes;
  offsets.assign(length, -1);
  if (lanes == 0) return std::nullopt;
  std::fill_n(offsets.begin(), lanes, 0);
  index_.evaluate_row(row, lanes);
  for (size_t d = 0; d < memory.extents.size(); ++d) {
    const LaneInteger& subscript = index_.at(d);
    auto extent = static_cast<uint64_t>(memory.extents[d]);
    for (size_t i = 0; i < lanes; ++i) {
      int64_t at = subscript[i];
      bool outside = static_cast<uint64_t>(at) >= extent || offsets[i] < 0;
      offsets[i] = outside ? -1 : offsets[i] + at * memory.strides[d];
    }
  }
  if (memory.buffer != nullptr && memory.buffer->swizzle_bits != 0) {
    const Buffer& buffer = *memory.buffer;
    int64_t field = (int64_t{1} << buffer.swizzle_bits) - 1;
    for (int64_t& offset : offsets)
      if (offset >= 0) offset ^= ((offset >> buffer.swizzle_from) & field) << buffer.swizzle_to;
  }
  auto end = static_cast<int64_t>(memory.size / width);
  std::optional<int64_t> outside;
  for (size_t i = 0; i < lanes; ++i) {
    if (mask != nullptr && mask[i] == 0) {
      offsets[i] = -1;
    } else if (offsets[i] < 0 || offsets[i] >= end) {
      offsets[i] = -1;
      if (!outside) outside = static_cast<int64_t>(i);
    }
  }
  return outside;
}

std::string TileAccess::subscripts_text(int64_t position, size_t rank) {
  std::string text;
  for (size_t d = 0; d < rank; ++d)
    text += fmt::format("{}{}", d > 0 ? ", " : "", index_.at(d)[static_cast<size_t>(position)]);
  return "[" + text + "]";
}

}  // namespace tenon::ir
