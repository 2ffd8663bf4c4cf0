// Needs: tile IR as build-nest leaves it: masks are comparisons of index expressions, tiles have no layouts.
// Gives: code without masks wherever they are known to be true. A loop whose masks are affine in its counter
//        becomes a core, where they are true and taken out, and up to two boundary loops with what is left of
//        its iterations. A launch becomes two: for blocks that lie wholly inside their domain, and for the
//        others; each is a loop that runs once or not at all.
// Why here: masks are still comparisons of positions, and what passes behind it see is either masked or not.
//
//   loop l: (N + 255) / 256 {               loop l.1: N / 256 {
//     %m = lt 256 * l + k, N                  %v = load %x[256 * l.1 + k]
//     %v = load %x[256 * l + k] where %m    }
//   }                                       loop l: (N + 255) / 256 - N / 256 {
//                                             %m = lt 256 * (l + N / 256) + k, N
//                                             %v = load %x[256 * (l + N / 256) + k] where %m
//                                           }
//
// Code is written twice, so it is done where masks are a good part of it: bodies up to a weight, counted in
// instructions of a thread. Contractions are out: their masks sit on copies, which are few against their
// products. Launches of rows are out too: blocks end between rows, where a mask is one for a whole row, and
// along a row that fits registers a size class knows the least size that it is used for.
#pragma once

#include "ir/tile.h"

namespace tenon::passes {

void bound_loops(ir::TileModule& module);

}  // namespace tenon::passes
