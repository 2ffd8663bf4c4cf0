// Positions in an iteration domain, as values of its axes on strips of lanes.
#pragma once

#include <cstdint>
#include <span>
#include <vector>

#include "ir/lane_index.h"
#include "ir/tensor.h"

namespace tenon::ir {

// Some axes of an operation, the last one fastest.
class AxisBox {
 public:
  // The evaluator knows those axes whose values expressions need.
  AxisBox(const Kernel& kernel, std::span<const AxisId> axes, std::vector<int64_t> extents,
          LaneIndexEvaluator& indices);

  // Product of the extents.
  int64_t points() const { return points_; }
  // How many points from `position` make a good strip, at most `most`: within a row if rows are long.
  size_t strip(int64_t position, int64_t most) const;
  // Lanes are the points from `position` on.
  void set_lanes(int64_t position, size_t lanes);
  // All lanes are the point at `position`.
  void set_uniform(int64_t position);

 private:
  std::vector<int64_t> coordinates(int64_t position) const;

  std::vector<int64_t> extents_;
  // Atoms of the axes; invalid for an axis that no expression mentions.
  std::vector<IndexId> atoms_;
  LaneIndexEvaluator* indices_;
  int64_t points_ = 1;
};

}  // namespace tenon::ir
