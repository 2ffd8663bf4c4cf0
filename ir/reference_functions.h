// The functions of the language as the tensor interpreter evaluates them, on lanes.
#pragma once

#include "ir/scalar_eval.h"

namespace tenon::ir {

// FunctionLanes by support/reference_math.h: correctly rounded, approximate or not; f16 and bf16 through f32.
void reference_function_lanes(FunctionId function, bool approx, ElementType type,
                              std::span<const LaneView> operands, void* result, size_t count);

}  // namespace tenon::ir
