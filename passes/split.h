// A group whose reductions are split over blocks is several launches, each of a group derived here. A block
// of the first takes one part of the reduced dimension and leaves the states of its reductions in workspace;
// the second reduces them over an axis of parts and runs the maps that follow:
//
//   s = reduce<sum> [i | k] { x[i, k] }             y = map [i] { s[i] / n }
// leaves s.part0[i, part], and then
//   s = reduce<sum> [i | part] { s.part0[i, part] } y = map [i] { s[i] / n }
//
// A reduction that reads the result of another is a pair of launches later, and what is stored along the row
// is a launch behind all reductions. Derived groups are ones like any others, in a kernel of the variant's
// own whose tensors, axes and index expressions stand behind those of the frozen one.
// docs/design/split_reductions.md.
#pragma once

#include <map>
#include <optional>
#include <span>
#include <string>
#include <vector>

#include "ir/tensor.h"
#include "passes/schedule.h"

namespace tenon::passes {

// Where a launch leaves the states of its reductions.
struct PartialStates {
  // The axis of the parts; its extent is their number.
  ir::AxisId part;
  // Whether the parts are the outermost dimension of the tensors, or the innermost.
  bool outermost = false;
  // Of each result of a reduction, a tensor for each slot of its monoid, of the slot's type.
  std::map<ir::TensorId, std::vector<ir::TensorId>> tensors;
};

struct SplitLaunch {
  // What is appended to the variant's name.
  std::string suffix;
  ir::Group group;
  Schedule schedule;
  // Where the schedule splits.
  std::optional<PartialStates> states;
};

struct SplitGroup {
  ir::Kernel kernel;
  std::vector<SplitLaunch> launches;
};

// The schedule splits a dimension.
SplitGroup split_group(const ir::Kernel& kernel, const ir::Group& group, const Schedule& schedule);

// Whether the row axes of a group may be split: nothing overwrites an inout parameter before the last launch,
// while later ones may still read it.
bool may_split(const ir::Kernel& kernel, const ir::Group& group, std::span<const ir::AxisId> row);

// Launches that splitting the row axes makes of a group.
size_t split_launch_count(const ir::Kernel& kernel, const ir::Group& group, std::span<const ir::AxisId> row);

// ceil(a / b); b > 0.
ir::IndexId ceil_div(ir::IndexPool& pool, ir::IndexId a, ir::IndexId b);

// The blocks of a launch, but for a factor of the parts of a split dimension.
ir::IndexId grid_blocks(ir::Kernel& kernel, const Schedule& schedule);

// How many parts a launch has: as many as bring its blocks to Schedule::split, but each of at least the
// dimension's `tiles`, and at least one.
ir::IndexId part_count(ir::Kernel& kernel, const Schedule& schedule);

}  // namespace tenon::passes
