// Needs: tile IR with accesses to shared buffers.
// Gives: a barrier before every access that could meet another thread's earlier one: a read after a write, a
// write
//        after a read or a write, around loops too.
// Why here: last of the passes that move accesses.
//
//   store %a -> shared_0[..]    %b = load shared_0[..]
// becomes
//   store %a -> shared_0[..]    barrier    %b = load shared_0[..]
#pragma once

#include "ir/tile.h"

namespace tenon::passes {

void place_barriers(ir::TileModule& module);

}  // namespace tenon::passes
