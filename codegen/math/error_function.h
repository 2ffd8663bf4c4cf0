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
                            std::array{-0x1.389f14p-9f, -0x1.9e061ep+0f, -0x1.dfd136p-1f, -0x1.0f9e66p-3f,
                                       0x1.76d196p-6f, -0x1.e7341p-10f});
  auto large = b.copysign(b.sub(b.f32(1.0f), b.ex2_approx_ftz(minus_z)), x);
  auto square = b.mul(x, x);
  auto ratio = polynomial(b, square,
                          std::array{0x1.06eba6p-3f, -0x1.8126ecp-2f, 0x1.ce1b86p-4f, -0x1.b69b8ep-6f,
                                     0x1.479c18p-8f, -0x1.3ba5a8p-11f});
  auto small = b.fma(ratio, x, x);
  return b.select(b.less(magnitude, b.f32(0.875f)), small, large);
}

}  // namespace tenon::codegen::math
