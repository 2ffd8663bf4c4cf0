// Index expressions over tiles, and what they access, for the tile interpreter.
#pragma once

#include <cstddef>
#include <cstdint>
#include <functional>
#include <optional>
#include <span>
#include <string>
#include <vector>

#include "ir/lane_index.h"
#include "ir/tile_lanes.h"

namespace tenon::ir {

// What index expressions of a block refer to.
struct TileIndexContext {
  const TileModule& module;
  std::span<const int64_t> symbols;
  // By axis: the value of grid axes and loop counters.
  std::span<const int64_t> counters;
  // The memory of a value of type index.
  std::function<const int64_t*(TileValueId)> value;
};

// Some expressions of one operation, evaluated row by row of a tile.
class TileIndex {
 public:
  TileIndex(const TileIndexContext& context, const TileShape& shape, IndexList expressions);

  // Takes over the counters and values as they are now.
  void begin();
  // The expressions' values at the first `lanes` positions of a row of the shape are then in `at`.
  void evaluate_row(int64_t row, size_t lanes);
  const LaneInteger& at(size_t expression) { return evaluator_.at(expressions_[expression]); }

 private:
  struct ValueAtom {
    IndexId atom;
    TileValueId value;
    std::vector<int64_t> strides;
  };
  struct AxisAtom {
    IndexId atom;
    AxisId axis;
    // Of the shape, if it is one of its axes.
    std::optional<size_t> dimension;
  };

  const TileIndexContext* context_;
  TileShape shape_;
  IndexList expressions_;
  LaneIndexEvaluator evaluator_;
  std::vector<IndexId> nodes_;
  std::vector<AxisAtom> axes_;
  std::vector<ValueAtom> values_;
};

// Elements in memory that subscripts address.
struct AccessedMemory {
  std::byte* data = nullptr;
  // Bytes there are.
  size_t size = 0;
  std::vector<int64_t> extents;
  std::vector<int64_t> strides;
  // Of a buffer: its swizzle.
  const Buffer* buffer = nullptr;
};

// The element offsets of a load or store, row by row.
class TileAccess {
 public:
  TileAccess(const TileIndexContext& context, const TileShape& shape, IndexList subscripts)
      : shape_(shape), index_(context, shape, std::move(subscripts)) {}

  const TileShape& shape() const { return shape_; }
  void begin() { index_.begin(); }
  // The offsets of the positions of a row; -1 where it lies outside the memory, or its mask is false.
  // `mask` has a byte a position of the row, or is null. Returns the first position of the row that is not
  // masked and lies outside, if there is one.
  std::optional<int64_t> offsets(int64_t row, const AccessedMemory& memory, size_t width, const uint8_t* mask,
                                 std::vector<int64_t>& offsets);
  // The subscripts at a position of the row that `offsets` was called for: "[3, 17]".
  std::string subscripts_text(int64_t position, size_t rank);

 private:
  TileShape shape_;
  TileIndex index_;
};

}  // namespace tenon::ir
