// How far from the reference a right result may lie, carried through every operation.
//
// Each value has a bound: a right program's value lies within it. 0 means the value itself (or, for NaN, any
// NaN); infinity means that nothing is promised: a comparison, a rounding to an integer, a choice or an
// overflow that the operands' bounds leave open. For types that are no floats a bound is 0 or infinity.
//
// The rule for floats: the exact result for the operands anywhere within their bounds lies in an interval,
// and since rounding is monotone, the rounded result lies between its rounded ends. An operation on exact
// operands therefore adds nothing, and a function adds what functions.def allows.
#pragma once

#include <cstddef>
#include <span>
#include <vector>

#include "ir/scalar_eval.h"

namespace tenon::ir {

// An operand's or result's values as doubles, and bounds; no bounds where all are 0.
struct BoundedLanes {
  ElementType type = ElementType::kF32;
  const double* values = nullptr;
  const double* bounds = nullptr;

  double bound(size_t lane) const { return bounds == nullptr ? 0 : bounds[lane]; }
};

struct BoundRules {
  // Denormals of f32 and bf16 may count as zero everywhere (@allow(ftz)).
  bool flush = false;
};

// Whether the result of the operation on operands without bounds has none.
bool keeps_exactness(Opcode op, bool approx, ElementType operand_type, const BoundRules& rules);

// The bounds of the results; `result.bounds` is not looked at.
void propagate_bounds(Opcode op, bool approx, std::span<const BoundedLanes> operands,
                      const BoundedLanes& result, const BoundRules& rules, double* bounds, size_t count);

// The bound of `value`, which is of the type and stands for everything exact in low..high.
double rounded_bound(ElementType type, double value, double low, double high);

}  // namespace tenon::ir
