// rsqrt in f32 and f64, isnan and isinf.
#pragma once

#include "codegen/math/builder.h"

namespace tenon::codegen::math {

// 2 ulp, as CUDA documents its rsqrtf, which is this instruction.
template <MathBuilder B>
typename B::F32 rsqrt_f32(B& b, typename B::F32 x) {
  return b.rsqrt_approx(x);
}

// 1.5 ulp: half a unit of the root becomes at most one of the reciprocal, which rounds once more.
template <MathBuilder B>
typename B::F64 rsqrt_f64(B& b, typename B::F64 x) {
  return b.rcp_rn(b.sqrt_rn(x));
}

template <MathBuilder B, class Float>
typename B::Bool is_nan(B& b, Float x) {
  return b.not_equal(x, x);
}

template <MathBuilder B>
typename B::Bool is_inf(B& b, typename B::F32 x) {
  return b.equal(b.abs(x), b.f32(kInfinity));
}

template <MathBuilder B>
typename B::Bool is_inf(B& b, typename B::F64 x) {
  return b.equal(b.abs(x), b.f64(std::numeric_limits<double>::infinity()));
}

}  // namespace tenon::codegen::math
