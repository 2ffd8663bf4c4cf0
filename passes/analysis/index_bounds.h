// Bounds of index expressions: from the ranges of axes and from what a variant's guard promises about sizes.
#pragma once

#include <cstdint>
#include <functional>
#include <optional>

#include "ir/tile.h"

namespace tenon::passes {

struct Interval {
  int64_t least = 0;
  int64_t most = 0;
};

// Gives the positions of an axis, where they are known.
using AxisInterval = std::function<std::optional<Interval>(ir::AxisId axis)>;

// A number that the expression does not fall below; empty where none is known.
std::optional<int64_t> least_value(const ir::TileModule& module, ir::IndexId expression,
                                   const AxisInterval& interval);

// Whether a <= b is known; of quotients by one number it is where it is of their dividends.
bool never_above(ir::TileModule& module, ir::IndexId a, ir::IndexId b, const AxisInterval& interval);

// The expression that is at least 0 just where the comparison of two integers holds; empty for `eq` and `ne`,
// and where coefficients are huge.
std::optional<ir::IndexId> margin(ir::IndexPool& pool, ir::Opcode comparison, ir::IndexId a, ir::IndexId b);

}  // namespace tenon::passes
