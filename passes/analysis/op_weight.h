// What computing an element of an operation costs, roughly: to weigh it against memory.
#pragma once

#include <cstdint>

#include "ir/tensor.h"

namespace tenon::passes {

struct OpWeight {
  // Instructions of the body, as a device executes them.
  uint64_t own = 0;
  // With the local maps that it reads, and those that they read; saturated.
  uint64_t total = 0;
  // Holds a division, a square root or a function with an expansion.
  bool expensive = false;
  // Reads the result of a reduction, directly or through maps.
  bool reads_reduction = false;
};

// Instructions of a scalar operation of this kind, roughly.
uint64_t weight_of(ir::Opcode op, bool approx);

// For each operation, in an ungrouped kernel.
SideTable<ir::TensorOp, OpWeight> op_weights(const ir::Kernel& kernel);

}  // namespace tenon::passes
