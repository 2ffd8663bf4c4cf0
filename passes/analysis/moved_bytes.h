// The bytes of memory that a variant's schedule moves: what its accesses come to over the blocks and loops
// around them.
#pragma once

#include <optional>

#include "ir/tensor.h"
#include "ir/tile.h"

namespace tenon::passes {

// Expressions over the module's symbols.
struct MovedBytes {
  ir::IndexId read;
  ir::IndexId written;
};

// Of all launches of a variant of the group, as build-nest leaves it. An access counts once for each block
// and iteration that makes it; elements that several threads of a block ask for together count once. What
// masks leave out of a tile that overruns its dimension does not count. Empty where the group has predicates,
// so that what is read depends on more than sizes, or where a count leaves 64 bits.
std::optional<MovedBytes> moved_bytes(const ir::Kernel& kernel, const ir::Group& group,
                                      ir::TileModule& module);

}  // namespace tenon::passes
