// Recognises contractions: sums of products whose two factors each lack some of the result's axes, so that a
// tile of each factor serves many results. Matrix products, batched ones, and (through their subscripts)
// convolutions.
#pragma once

#include <optional>
#include <vector>

#include "ir/tensor.h"

namespace tenon::passes {

// c[batch, m, n] = sum[k] a[batch, m, k] * b[batch, n, k], in any order of axes.
struct Contraction {
  ir::TensorOpId op;
  // The factors, values of the operation's body.
  ir::ValueId a, b;
  std::vector<ir::AxisId> batch, m, n, k;
};

// Empty where the operation is none: another monoid, a predicate, a factor that depends on all axes, no m or
// no n.
std::optional<Contraction> recognise_contraction(const ir::Kernel& kernel, ir::TensorOpId op);

// The axes that a body value depends on, in the order of the operation's axes (parallel, then reduction).
std::vector<ir::AxisId> axes_of_value(const ir::Kernel& kernel, const ir::TensorOp& op, ir::ValueId value);

}  // namespace tenon::passes
