// Shared buffers that need no barriers, since every element is touched by one thread alone.
#pragma once

#include <set>

#include "ir/tile.h"

namespace tenon::passes {

// Buffers of one dimension whose every access is at a tile axis plus a multiple of its extent that all threads
// share, the same axis in all of them: which thread touches an element is a matter of its place in the tile, if
// the axis' layout gives each place to one thread. Needs layouts.
std::set<ir::BufferId> private_buffers(const ir::TileModule& module);

}  // namespace tenon::passes
