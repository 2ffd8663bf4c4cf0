// erf in f32. Coefficients: coefficients.py error_function.
#pragma once

#include "codegen/math/builder.h"
#include "codegen/math/polynomial.h"

namespace tenon::codegen::math {

// 2 ulp at most; 18 instructions.
//
// From 0.875 on erf(a) = 1 - 2^-z(a), where z is so smooth that six coefficients do up to 4, beyond which the
// power vanishes beside 1; its error counts at most half. Below, a polynomial in x^2.
template <MathBuilder B>
typename B::F32 erf_f32(B& b, typename B::F32 x) {
  auto magnitude = b.abs(x);
  auto minus_z = polynomial(b, magnitude,
                            std::array{-0x1.38abbcp-9f, -0x1.9e0604p+0f, -0x1.dfd188p-1f, -0x1.0f9d6ep-3f,
                                       0x1.76cec8p-6f, -0x1.e72dep-10f});
  auto large = b.copysign(b.sub(b.f32(1.0f), b.ex2_approx_ftz(minus_z)), x);
  auto square = b.mul(x, x);
  auto ratio = polynomial(b, square,
                          std::array{0x1.06eba8p-3f, -0x1.81271cp-2f, 0x1.ce2314p-4f, -0x1.b70b32p-6f,
                                     0x1.4a4622p-8f, -0x1.47132cp-11f});
  auto small = b.fma(ratio, x, x);
  return b.select(b.less(magnitude, b.f32(0.875f)), small, large);
}

}  // namespace tenon::codegen::math
