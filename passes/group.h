// Needs: tensor IR without dead operations; inout-copies, so that whoever writes an inout parameter is the
// last to
//        read its old value.
// Gives: every operation in one group, groups in an order in which they can run; the operations of a group
// share
//        the ids of the axes that they run over together.
// Why here: last of the tensor passes, since all later ones work on one group at a time.
//
// A group has parallel axes, which every operation of it has, and row axes, which an operation has all of or
// none: as further parallel axes of a map, or as the axes of a reduction. So softmax is one group,
//   m = reduce<max> [i | k]   e = map [i, j]   s = reduce<sum> [i | k]   y = map [i, j]
// with parallel axis i and row axis j = k, and a contraction is a group with the maps over its result.
#pragma once

#include <vector>

#include "ir/tensor.h"

namespace tenon::passes {

// The axes of a group, as shared by its operations: parallel axes in the order of its first operation's
// results, row axes in the order of the first operation that has them.
struct GroupAxes {
  ir::AxisList parallel;
  ir::AxisList row;
};
GroupAxes group_axes(const ir::Kernel& kernel, const ir::Group& group);

}  // namespace tenon::passes
