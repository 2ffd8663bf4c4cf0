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
  auto small = odd_polynomial(b, magnitude,
                              std::array{-0x1.555452p-2f, 0x1.10cefcp-3f, -0x1.af7d34p-5f, 0x1.0d5166p-6f});
  // 1 - 2 / (exp(2 |x|) + 1); a reciprocal of at most 1/4 does not show its error.
  auto power = b.ex2_approx_ftz(b.mul(magnitude, b.f32(2 * kLog2E)));
  auto reciprocal = b.rcp_approx_ftz(b.add(power, b.f32(1.0f)));
  auto large = b.fma(reciprocal, b.f32(-2.0f), b.f32(1.0f));
  return b.copysign(b.select(b.less(magnitude, b.f32(0.55f)), small, large), x);
}

// 2 ulp at most; 11 instructions.
template <MathBuilder B>
typename B::F32 cosh_f32(B& b, typename B::F32 x) {
  auto half_exp = exp_scaled(b, b.abs(x), 1);
  return b.fma(b.rcp_approx_ftz(half_exp), b.f32(0.25f), half_exp);
}

// 2 ulp at most; 21 instructions.
//
// The polynomial reaches past where exp(x) / 2 is above and the result below 2 or 4, so that there no error
// of the exponential counts double.
template <MathBuilder B>
typename B::F32 sinh_f32(B& b, typename B::F32 x) {
  auto magnitude = b.abs(x);
  auto half_exp = exp_scaled(b, magnitude, 1);
  auto large = b.fma(b.rcp_approx_ftz(half_exp), b.f32(-0.25f), half_exp);
  auto small = odd_polynomial(
      b, magnitude,
      std::array{0x1.555556p-3f, 0x1.1110eap-7f, 0x1.a02508p-13f, 0x1.708cp-19f, 0x1.d26f3cp-26f});
  return b.copysign(b.select(b.less(magnitude, b.f32(2.1f)), small, large), x);
}

}  // namespace tenon::codegen::math
