// Needs: a grouped, frozen tensor kernel and the schedule of one of its groups.
// Gives: a launch of a tile module: grid, loops, masks, staged copies, accumulators, reductions and stores;
//        layouts are not assigned, `homes` are. Where the schedule splits a dimension, the launch leaves the
//        states of its reductions, and another one, of the group that merges them, follows (split.h).
// Why here: first of the tile passes; everything after it works on tile IR alone.
//
//   m = reduce<max> [i | k] { x[i, k] }        i = grid, k = fit(256 * 4)
// becomes
//   %mask = lt %k, N    %x = load x[i, k] where %mask else -inf    %m = tile.reduce<max> %x along k
//
// Every operation of the group is evaluated in a context that gives its axes positions. Dimensions that are
// placed serially get a loop for each reduction and for each stored map; maps in between are recomputed in
// each.
#pragma once

#include <string>

#include "ir/tensor.h"
#include "ir/tile.h"
#include "passes/schedule.h"
#include "passes/split.h"

namespace tenon::passes {

// Adds the launch to a module of the kernel, or of one that shares its ids. `states` are given where the
// schedule splits.
void build_nest(ir::TileModule& module, const ir::Kernel& kernel, const ir::Group& group,
                const Schedule& schedule, std::string name, const PartialStates* states = nullptr);

}  // namespace tenon::passes
