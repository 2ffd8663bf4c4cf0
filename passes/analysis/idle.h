// Iterations that change nothing.
#pragma once

#include "ir/tile.h"

namespace tenon::passes {

// Whether an iteration of the loop has no effect, and carries what it was given bit for bit, where a
// comparison in its region is false at all positions: a reduction whose predicate leaves out every element. A
// sum that starts at +0 never becomes -0, so +0 is added to it without effect.
bool is_idle_without(const ir::TileModule& module, const ir::TileOp& loop, ir::TileValueId comparison);

}  // namespace tenon::passes
