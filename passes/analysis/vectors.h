// What index expressions and masks do within an aligned group of positions of one tile axis: positions t =
// w*q + r with r from 0 to w-1, w a power of two.
#pragma once

#include <cstdint>

#include "ir/tile.h"

namespace tenon::passes {

class VectorAnalysis {
 public:
  VectorAnalysis(ir::TileModule& module, ir::AxisId axis, int64_t width)
      : module_(module), axis_(axis), width_(width) {}

  enum class Step { kConstant, kUnit, kOther };
  // Whether the expression is the same for all of a group, grows by one with each position, or neither is
  // proved.
  Step step(ir::IndexId expression);
  // Whether its value at the first position of every group is proved to be a multiple of the width.
  bool aligned(ir::IndexId expression) { return divisor(expression) >= width_; }
  // Whether a value is proved to be the same for all of a group.
  bool uniform(ir::TileValueId value);

 private:
  // A power of two, at most the width, that divides the expression at the first position of a group.
  int64_t divisor(ir::IndexId expression);
  int64_t factor_divisor(ir::IndexId factor);
  bool mentions_axis(ir::IndexId expression) const;

  ir::TileModule& module_;
  ir::AxisId axis_;
  int64_t width_;
};

}  // namespace tenon::passes
