// Tile IR as text, the same on every run. ir/tile_parser.h reads it back.
//
//   tile.module @softmax.0.row1024<M, N> shared(64) {
//     tensor %x: f32[M, N] input align(16)
//     tensor %y: f32[M, N] result align(16)
//     domain i: M
//     tile k: 1024
//     layout #0 [k: 1024] register(k:1, k:2, k:512) lane(k:4, k:8, k:16, k:32, k:64) warp(k:128, k:256)
//     home #0
//     buffer %tile: f32[32, 32] strides(33, 1) swizzle(2, 3, 0) at 0
//     divisible N by 4
//     bounded N from 513
//     tile.kernel @softmax.0.row1024 threads(128) grid(block_i: M) narrow {
//       %0 = index k : index[k] #0
//       %1 = index N : index
//       %2 = lt %0, %1 : bool[k] #0 vector(4)
//       %3 = const -inf : f32
//       %4 = load %x[block_i, k] where %2 else %3 : f32[k] #0 vector(4)
//       %5 = tile.reduce<max> %4 along k : f32
//       %8 = loop loop_k: N / 32 carry(%6 = %5 : f32) {
//         %7 = exp %6 : f32 approx
//         yield %7
//       }
//       store %8 -> %y[block_i, k] where %2 vector(4)
//       barrier
//       yield
//     }
//   }
//
// A module's text holds all of it: the kernel's axes (`domain`), tile axes, tensors with their roles (those
// that are no parameters are `local`) and guarded alignments, layouts and homes, shared buffers (`swizzle`
// gives bits, from and to; `at` the place, once there is one), divisibility, least values and tensors that
// are `same_memory`. Grid axes stand in the head of their kernel, loop axes with their loop, where `unroll`
// may follow the count. A layout lists what each bit contributes, `0` where threads hold copies and `i:1 +
// k:4` where it moves along two axes; registers beyond the bits are the odd rests of the extents. A sum of
// products is `tile.reduce<sum> product %a, %b along k`. `stages(3)` may follow the count of a loop, and
// `async` a store; what lower-async makes of them reads
//
//   copy.async %x[i, k + 32 * loop_k] -> %tile[loop_k % 3, i, k] where %mask vector(4)
//   copy.commit
//   copy.wait 1
//
// Values are numbered in the order of the text; names are those of the module, made unique by a suffix.
// Entities that no kernel reaches, and spans, are not part of the text.
#pragma once

#include <string>

#include "ir/printer.h"
#include "ir/tile.h"

namespace tenon::ir {

std::string print(const TileModule& module, const PrintOptions& options = {});

// One operation with what it holds, its values named by their ids; for messages.
std::string print_op(const TileModule& module, TileOpId op);

}  // namespace tenon::ir
