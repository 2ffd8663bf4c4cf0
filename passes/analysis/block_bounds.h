// What an index expression comes to over a whole block: bounds as expressions over what its threads share.
#pragma once

#include <cstdint>
#include <optional>
#include <set>

#include "ir/tile.h"

namespace tenon::passes {

// The last position of an axis; empty for a counter whose number of values is not known.
std::optional<int64_t> last_position(const ir::TileModule& module, ir::AxisId axis);

// The least value of an expression over all positions of tile axes and iterations of loops but those
// `around`, as an expression over the rest. Empty where it is not linear in them, or its coefficients are
// nobody's tiles.
std::optional<ir::IndexId> least_in_block(ir::TileModule& module, ir::IndexId expression,
                                          const std::set<ir::AxisId>& around);

// coefficient * counter + rest, the counter nowhere else.
struct Affine {
  int64_t coefficient = 0;
  ir::IndexId rest;
};
// Empty where an expression is not of that form, or does not mention the counter.
std::optional<Affine> affine(ir::IndexPool& pool, ir::IndexId expression, ir::AxisId counter);

}  // namespace tenon::passes
