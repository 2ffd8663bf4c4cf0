// Needs: vector widths.
// Gives: every shared buffer a swizzle and a place, and the module the size of its shared memory.
// Why here: a swizzle depends on all accesses to a buffer with their widths and layouts.
//
// The swizzle is searched for: among the few that keep the widest vector whole, the one with which the
// accesses of a warp, counted bank by bank, need the fewest passes.
#pragma once

#include "ir/tile.h"

namespace tenon::passes {

void allocate_shared(ir::TileModule& module);

}  // namespace tenon::passes
