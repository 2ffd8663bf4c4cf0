// Needs: tile IR with homes.
// Gives: every tile with axes a layout: the projection of the home that holds its axes.
// Why here: vector widths, swizzles and conversions are facts about layouts.
//
//   %x = load x[%i, %k] : tile<f32, [k: 1024]>
// becomes
//   %x = load x[%i, %k] : tile<f32, [k: 1024], reg[k1 k2 k128 ...] lane[k4 k8 k16 k32 k64] warp[]>
#pragma once

#include "ir/tile.h"

namespace tenon::passes {

void assign_layouts(ir::TileModule& module);

}  // namespace tenon::passes
