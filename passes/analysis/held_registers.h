// How many registers of a thread hold values.
#pragma once

#include <cstdint>

#include "ir/tile.h"

namespace tenon::passes {

// Whether elements of the value are in registers: no masks, constants, positions.
bool takes_registers(const ir::TileModule& module, ir::TileValueId value);

// The most registers of 32 bits in which a thread holds elements of tiles at once, whatever the order in
// which code is arranged: what is needed behind a reduction that was there before it, and what an iteration
// of a loop reads and carries. Masks, constants, positions, addresses and values of which a thread has one
// are not counted, and nothing of the temporaries of a computation. Tiles need layouts.
int64_t held_registers(const ir::TileModule& module, ir::RegionId region);

}  // namespace tenon::passes
