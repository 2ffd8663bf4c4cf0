// How an access runs through memory: its linear offset as one polynomial, and its step along an axis.
#pragma once

#include <cstdint>
#include <optional>
#include <set>
#include <span>
#include <vector>

#include "ir/index.h"
#include "ir/tensor.h"

namespace tenon::passes {

// The offset in elements of a row-major tensor of this shape.
ir::IndexId linear_offset(ir::IndexPool& pool, std::span<const ir::IndexId> shape,
                          std::span<const ir::IndexId> subscripts);

// What one step along `axis` adds to the expression, where that is the same everywhere: the coefficient of
// the axis. Zero where the axis is not mentioned; empty where it stands inside a division, a product with
// itself or the like.
std::optional<ir::IndexId> coefficient(ir::IndexPool& pool, ir::IndexId expression, ir::AxisId axis);

// An element of memory that an operation of a group reads or writes, outside the group.
struct Access {
  ir::TensorOpId op;
  ir::TensorId tensor;
  // The read in the operation's body; invalid for a write.
  ir::ValueId read;
  ir::IndexId offset;
};

// The tensors of a group that are results or that other groups read: those that it stores.
std::set<ir::TensorId> stored_tensors(const ir::Kernel& kernel, const ir::Group& group);

// The accesses of a group to tensors that it does not define, and to those that it defines for others.
std::vector<Access> group_accesses(ir::Kernel& kernel, const ir::Group& group);

}  // namespace tenon::passes
