// Needs: tile IR from build-nest.
// Gives: sums of products as multiply-adds, in accumulators of loops and in reductions.
// Why here: a float sum is one operation, so its products need no rounding of their own; before layouts,
// since it
//           takes tiles away.
//
//   %p = mul %x, %x    %s = tile.reduce<sum> %p along k     becomes   %s = tile.reduce<sum> product %x, %x
//   along k %p = mul %x, %w    %next = add %carried, %p             becomes   %next = fma %x, %w, %carried
//
// Where elements outside the domain are replaced by 0 behind the product, and the product is a square, they
// are replaced before it.
#pragma once

#include "ir/tile.h"

namespace tenon::passes {

void fuse_products(ir::TileModule& module);

}  // namespace tenon::passes
