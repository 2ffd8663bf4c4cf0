// What the scalar operations mean, over strips of lanes. Both interpreters evaluate through this.
//
// A lane holds an element as in memory: f16, bf16 and f8 as bits, a bool as a byte 0 or 1, index as int64_t.
// Floats round to nearest even once and keep denormals; integers wrap. Functions that are not exact come from
// the caller, because the interpreters differ in them: correctly rounded ones, or those that the device
// computes.
#pragma once

#include <cstddef>
#include <span>

#include "ir/ops.h"
#include "support/element_type.h"
#include "support/functions.h"

namespace tenon::ir {

// The function that an operation with TypeRule::kFunction calls. Both tables take the rows of functions.def
// in order.
inline FunctionId function_of(Opcode op) {
  return static_cast<FunctionId>(static_cast<unsigned>(op) - static_cast<unsigned>(Opcode::kAbs));
}

struct LaneView {
  ElementType type = ElementType::kF32;
  const void* data = nullptr;
};

// Evaluates an inexact function (ulp above 0.5) on `count` lanes of a float type.
using FunctionLanes = void (*)(FunctionId function, bool approx, ElementType type,
                               std::span<const LaneView> operands, void* result, size_t count);

// Any operation of the Body stage but const, index, arg and read; types by the operation's rule. `result` may
// be an operand's memory only if its type is as wide.
void evaluate_lanes(Opcode op, bool approx, std::span<const LaneView> operands, ElementType type,
                    void* result, size_t count, FunctionLanes functions);

// The conversion of the language.
void cast_lanes(LaneView from, ElementType to, void* result, size_t count);

// The value of each lane; exact but for 64-bit integers, which round.
void lanes_to_double(LaneView lanes, double* result, size_t count);

// `value` rounded to a float type once, as a double.
double round_to_type(ElementType type, double value);

}  // namespace tenon::ir
