// Needs: layouts.
// Gives: every load and store the number of elements that one instruction moves, up to 16 bytes; every comparison the
//        number of consecutive elements that are proved to compare alike.
// Why here: after layouts, since a vector is consecutive registers of one thread; before shared memory is
// laid out,
//           since a swizzle must not tear vectors.
//
// A vector needs consecutive addresses, an aligned start, and one mask for all its elements. All three are
// proved from the index expressions and from what the variant's guard promises; nothing is assumed.
#pragma once

#include "ir/tile.h"

namespace tenon::passes {

void vectorize(ir::TileModule& module);

}  // namespace tenon::passes
