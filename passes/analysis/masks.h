// What masks are made of.
#pragma once

#include <optional>
#include <set>

#include "ir/tile.h"

namespace tenon::passes {

// The values that a mask joins by `and`; itself where it joins none.
std::set<ir::TileValueId> conjuncts(const ir::TileModule& module, ir::TileValueId mask);

// The mask of a load, a store or a select; invalid where the operation has none.
ir::TileValueId mask_of(const ir::TileOp& op);

// Whether the count of a loop is the truth of a condition, 0 or 1.
bool runs_at_most_once(const ir::TileModule& module, const ir::TileOp& loop);

// Whether one of two conditions is written as the negation of the other; either may be invalid.
bool are_alternatives(const ir::IndexPool& pool, ir::IndexId a, ir::IndexId b);

// For a comparison of index expressions the expression that is at least 0 just where it holds.
std::optional<ir::IndexId> margin(ir::TileModule& module, ir::TileValueId comparison);

}  // namespace tenon::passes
