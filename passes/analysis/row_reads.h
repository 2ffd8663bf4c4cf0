// Which reads along a row are worth keeping: those that more than one loop over the row makes.
#pragma once

#include <vector>

#include "ir/tensor.h"
#include "passes/group.h"

namespace tenon::passes {

// An element of memory for each position of a row.
struct RowRead {
  ir::TensorId tensor;
  ir::IndexList subscripts;
  bool operator==(const RowRead&) const = default;
};

// A serial row is run by a loop for each reduction of the group and for each map over the row that is stored,
// in which the maps between are computed again. Gives the reads without predicate, along the row, through no
// other read, that two of the loops or more have in common; in the order in which they are met.
std::vector<RowRead> repeated_row_reads(const ir::Kernel& kernel, const ir::Group& group,
                                        const GroupAxes& axes);

}  // namespace tenon::passes
