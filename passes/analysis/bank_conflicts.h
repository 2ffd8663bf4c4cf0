// Shared-memory passes (wavefronts) of an access, counted from layouts alone.
#pragma once

#include <array>
#include <cstdint>
#include <optional>
#include <vector>

#include "ir/tile.h"

namespace tenon::passes {

// What one access to a shared buffer asks for: for each of its instructions the place of every lane's first
// element, in elements, before any swizzle; warp 0, first iterations.
struct SharedPattern {
  static constexpr int kLanes = 32;
  // Bytes that a lane moves at once.
  int64_t bytes = 4;
  std::vector<std::array<int64_t, kLanes>> instructions;
};

// Empty where a subscript is not computed from axes alone.
std::optional<SharedPattern> shared_pattern(const ir::TileModule& module, const ir::TileOp& op,
                                            const ir::Buffer& buffer);

// The passes that a warp needs for the pattern with the buffer's swizzle. 32 banks of 4 bytes; equal words
// are broadcast; accesses of 8 bytes go in 2 groups of lanes, of 16 bytes in 4.
int64_t wavefronts(const SharedPattern& pattern, const ir::Buffer& buffer);

// The place of an element in the buffer, in elements, with the swizzle.
int64_t swizzled(const ir::Buffer& buffer, int64_t offset);

}  // namespace tenon::passes
