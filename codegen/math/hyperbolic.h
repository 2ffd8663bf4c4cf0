// tanh, sinh, cosh in f32. Coefficients: coefficients.py hyperbolic.
#pragma once

#include "codegen/math/builder.h"
#include "codegen/math/exponential.h"
#include "codegen/math/polynomial.h"

namespace tenon::codegen::math {

// x + x^3 (c[0] + c[1] x^2 + ...).
template <MathBuilder B, size_t n>
typename B::F32 odd_polynomial(B& b, typename B::F32 x, const std::array<float, n>& coefficients) {
  auto square = b.mul(x, x);
  return b.fma(b.mul(polynomial(b, square, coefficients), square), x, x);
}

// 2 ulp at most; 15 instructions.
template <MathBuilder B>
typename B::F32 tanh_f32(B& b, typename B::F32 x) {
  auto magnitude = b.abs(x);
  auto small =
      odd_polynomial(b, x, std::array{-0x1.555452p-2f, 0x1.10cefcp-3f, -0x1.af7d34p-5f, 0x1.0d5166p-6f});
  // 1 - 2 / (exp(2 |x|) + 1); a reciprocal of at most 1/4 does not show its error.
  auto power = b.ex2_approx_ftz(b.mul(magnitude, b.f32(2 * kLog2E)));
  auto reciprocal = b.rcp_approx_ftz(b.add(power, b.f32(1.0f)));
  auto large = b.copysign(b.fma(reciprocal, b.f32(-2.0f), b.f32(1.0f)), x);
  return b.select(b.less(magnitude, b.f32(0.55f)), small, large);
}

// 2 ulp at most; 11 instructions.
template <MathBuilder B>
typename B::F32 cosh_f32(B& b, typename B::F32 x) {
  auto half_exp = exp_scaled(b, b.abs(x), 1);
  return b.fma(b.rcp_approx_ftz(half_exp), b.f32(0.25f), half_exp);
}

// 2 ulp at most; 19 instructions.
template <MathBuilder B>
typename B::F32 sinh_f32(B& b, typename B::F32 x) {
  auto magnitude = b.abs(x);
  auto half_exp = exp_scaled(b, magnitude, 1);
  auto large = b.copysign(b.fma(b.rcp_approx_ftz(half_exp), b.f32(-0.25f), half_exp), x);
  auto small = odd_polynomial(b, x, std::array{0x1.555598p-3f, 0x1.10f76p-7f, 0x1.ab4288p-13f});
  return b.select(b.less(magnitude, b.f32(1.0f)), small, large);
}

}  // namespace tenon::codegen::math
