// What a tile module promises after every pass.
//
// Module:
//   - Its index pool has not overflowed. Symbols have names, different ones; nothing mentions a fixed one.
//   - Shapes of tensors, extents of domain axes, counts of grid axes, `divisible` and `bounded` mention
//   symbols
//     only.
//   - Tile axes have at least one position. Divisors and alignments are powers of two. Tensors of the same
//     memory have one type.
//   - A layout has a position for each of its axes, every register, lane and warp, of extents that are those
//     of the axes, and reaches all positions. Homes have no axis in common.
//   - A buffer has positive extents and a stride for each; its swizzle moves bits of offsets to lower ones.
//     Either no buffer has a place, or each lies within the shared memory, aligned to its elements.
// Kernel:
//   - Kernels have names, different ones. The number of warps is a power of two, at most 32.
//   - A grid axis belongs to one kernel, a loop axis to one loop, a region to one kernel or loop.
//   - A region ends with its one `yield`; that of a kernel yields nothing.
// Operation:
//   - Its operands are defined before it, in its region or one around it. A value has one definition.
//   - Index expressions mention symbols, tile axes, grid axes of the kernel, axes of loops around them, and
//     visible values of type index; no domain axis.
//   - Types are by the rules of ops.def. A result has the axes of its operands (`const`: any; `index`,
//   `load`:
//     those that its expressions mention too), ascending and of kind tile. A mask is a bool.
//   - Once a tile with axes has a layout, all have: over exactly their axes, with the kernel's warps. An
//     operand's layout is the projection of the result's onto its axes.
//   - `load` and `store` access one tensor or buffer by a subscript a dimension. A stored value has only axes
//     that the subscripts mention, so that no two positions write one element. An access without mask to a
//     buffer lies within its extents where that follows from the axes' counts.
//   - `tile.reduce` has a sound monoid, a result a slot, and an operand a slot or, for a float sum of
//   products,
//     two. One operand has all axes of the others, the reduced ones among them; the results have the rest.
//   - `mma`: an axis of an operand is one of the accumulator, or of both operands, and then summed over.
//   - `loop`: its operands, its region's arguments, what it yields and its results are of the same types
//     (operands and yielded values may have fewer axes). The count mentions no tile axis, and is a constant
//     if the loop is unrolled. One that is not may have two stages or more.
//   - An asynchronous store goes to a buffer, from a load of a tensor, both of the same width: 4, 8 or 16
//   bytes.
//   - `copy.async` goes from a tensor to a buffer of its type, not bool, over the same axes on both sides, 4,
//   8 or
//     16 bytes at once; its mask is over no others.
//   - Vector widths are powers of two, and over 1 only for accesses and comparisons of tiles that have as
//   many
//     registers.
//   - Fields that an operation has no use for are unset.
#pragma once

#include <vector>

#include "ir/tile.h"
#include "ir/verifier.h"

namespace tenon::ir {

// `where` is "@softmax.0" or "@softmax.0: %3 = load %x[...] ...", with values by their ids.
std::vector<Violation> verify(const TileModule& module);

}  // namespace tenon::ir
