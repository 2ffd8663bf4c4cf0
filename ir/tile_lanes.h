// Tiles as plain memory, for the tile interpreter.
#pragma once

#include <cstddef>
#include <cstdint>
#include <memory>
#include <span>
#include <vector>

#include "ir/monoid.h"
#include "ir/tile.h"
#include "ir/tile_interpreter.h"

namespace tenon::ir {

// The positions of a tile in memory: row-major over its axes.
class TileShape {
 public:
  TileShape() = default;
  TileShape(const TileModule& module, std::span<const AxisId> axes);

  const std::vector<AxisId>& axes() const { return axes_; }
  const std::vector<int64_t>& extents() const { return extents_; }
  size_t rank() const { return axes_.size(); }
  int64_t count() const { return count_; }
  // Positions of the innermost axis, and how many such rows there are.
  int64_t row_length() const { return extents_.empty() ? 1 : extents_.back(); }
  int64_t rows() const { return count_ / row_length(); }
  // The step of each axis of `at` in this shape; 0 for those that it has not.
  std::vector<int64_t> strides_in(const TileShape& at) const;

 private:
  std::vector<AxisId> axes_;
  std::vector<int64_t> extents_;
  int64_t count_ = 1;
};

// Copies a tile to the positions of a shape with all its axes: element by element with these strides.
void expand(const std::byte* from, std::span<const int64_t> strides, const TileShape& at, size_t width,
            std::byte* to);

// A scalar operation as the device computes it.
void evaluate_on_device(Opcode op, bool approx, std::span<const LaneView> operands, ElementType type,
                        void* result, size_t count, const DeviceFunctions& device);

// Merges states of a monoid, lane by lane.
class MonoidRunner {
 public:
  MonoidRunner(const Monoid& monoid, size_t most_lanes, const DeviceFunctions& device);

  // One array a slot; `result` may be `left`.
  void merge(std::span<std::byte* const> left, std::span<std::byte* const> right,
             std::span<std::byte* const> result, size_t count);

 private:
  const Monoid& monoid_;
  const DeviceFunctions& device_;
  // By value of the body; empty for arguments.
  std::vector<std::vector<std::byte>> values_;
};

}  // namespace tenon::ir
