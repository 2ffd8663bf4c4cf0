// A reduction that is split over blocks is two groups. The first is the variant's own: every block takes one
// part of the reduced dimension, and leaves the states of its reductions in workspace. The second, derived
// here, reduces those states over an axis of parts and runs the maps that follow:
//
//   s = reduce<sum> [i | k] { x[i, k] }             y = map [i] { s[i] / n }
// leaves s.part0[i, part], and then
//   s = reduce<sum> [i | part] { s.part0[i, part] } y = map [i] { s[i] / n }
//
// The derived group is one like any other, in a kernel of the variant's own that shares all ids with the
// frozen one: tensors, axes and index expressions stand behind its. docs/design/split_reductions.md.
#pragma once

#include <map>
#include <vector>

#include "ir/tensor.h"
#include "passes/schedule.h"

namespace tenon::passes {

// Where the first group leaves its states.
struct PartialStates {
  // The axis of the parts; its extent is their number.
  ir::AxisId part;
  // Whether the parts are the outermost dimension of the tensors, or the innermost.
  bool outermost = false;
  // Of each result of a reduction, a tensor for each slot of its monoid, of the slot's type.
  std::map<ir::TensorId, std::vector<ir::TensorId>> tensors;
};

struct SplitGroup {
  // The frozen kernel with the reductions of the group replaced by those over parts.
  ir::Kernel kernel;
  PartialStates states;
  ir::Group merge;
  Schedule merge_schedule;
};

// The schedule splits a dimension.
SplitGroup split_group(const ir::Kernel& kernel, const ir::Group& group, const Schedule& schedule);

// ceil(a / b); b > 0.
ir::IndexId ceil_div(ir::IndexPool& pool, ir::IndexId a, ir::IndexId b);

// The blocks of a launch, but for a factor of the parts of a split dimension.
ir::IndexId grid_blocks(ir::Kernel& kernel, const Schedule& schedule);

// How many parts a launch has: as many as bring its blocks to Schedule::split, but each of at least the
// dimension's `tiles`, and at least one.
ir::IndexId part_count(ir::Kernel& kernel, const Schedule& schedule);

}  // namespace tenon::passes
