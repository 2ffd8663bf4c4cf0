// Shared-memory passes (wavefronts) of an access, counted from layouts alone.
#pragma once

#include <cstdint>
#include <optional>

#include "ir/tile.h"

namespace tenon::passes {

// The passes that one warp needs for all its instructions of this access to a shared buffer with the buffer's
// present strides and swizzle, at warp 0 and first iterations. 32 banks of 4 bytes; equal words are
// broadcast; accesses of 8 bytes go in 2 groups of lanes, of 16 bytes in 4. Empty where a subscript is not
// computed from tile axes alone.
std::optional<int64_t> wavefronts(const ir::TileModule& module, const ir::TileOp& op,
                                  const ir::Buffer& buffer);

// The place of an element in the buffer, in elements, with the swizzle.
int64_t swizzled(const ir::Buffer& buffer, int64_t offset);

}  // namespace tenon::passes
