// What the functions become under @allow(approx): the hardware's instructions, denormals flushed. Bounds:
// support/functions.def. A function without a faster form here uses its accurate expansion.
#pragma once

#include "codegen/math/builder.h"
#include "codegen/math/exponential.h"

namespace tenon::codegen::math {

template <MathBuilder B>
typename B::F32 exp_approx(B& b, typename B::F32 x) {
  return b.ex2_approx_ftz(b.mul(x, b.f32(kLog2E)));
}

template <MathBuilder B>
typename B::F32 log_approx(B& b, typename B::F32 x) {
  return b.mul(b.lg2_approx_ftz(x), b.f32(0x1.62e43p-1f));
}

}  // namespace tenon::codegen::math
