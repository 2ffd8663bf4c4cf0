// exp, exp2, expm1 in f32. Coefficients: coefficients.py exponentials.
#pragma once

#include "codegen/math/builder.h"
#include "codegen/math/polynomial.h"

namespace tenon::codegen::math {

inline constexpr float kLog2E = 0x1.715476p+0f;
inline constexpr float kLog2ELow = 0x1.4ae0cp-26f;
// ln 2 as a sum of positive parts.
inline constexpr float kLn2High = 0x1.62e42ep-1f;
inline constexpr float kLn2Low = 0x1.efa39ep-25f;
// 1.5 * 2^23: adding it leaves an integer in the low bits.
inline constexpr float kToInteger = 0x1.8p23f;

// exp(x) * 2^-halvings in 8 instructions. halvings is 0, or 1 for an argument that is not negative; the
// halved result overflows ln 2 later.
//
// exp(x) = 2^j * 2^f with j = floor(x log2(e) + 1/2), clamped by a saturating fma to where 2^(j - halvings)
// is normal, so that a shift can put it together; f grows past 1/2 where the result is denormal or overflows,
// and ex2 copes. On a device the result is within 1 ulp, as CUDA documents its own expf, which uses
// ex2.approx.ftz in the same way ("CUDA C++ Programming Guide", mathematical functions).
template <MathBuilder B>
typename B::F32 exp_scaled(B& b, typename B::F32 x, int halvings) {
  const int least_field = 1 - halvings;
  const auto steps = static_cast<float>(254 - least_field);
  constexpr float kLeastJ = -126.0f;
  auto clamped = b.fma_saturated(x, b.f32(kLog2E / steps), b.f32((0.5f - kLeastJ) / steps));
  auto shifted = b.fma_down(clamped, b.f32(steps), b.f32(kToInteger + static_cast<float>(least_field)));
  auto minus_j = b.sub(b.f32(kToInteger + static_cast<float>(127 - halvings)), shifted);
  auto f = b.fma(x, b.f32(kLog2E), minus_j);
  f = b.fma(x, b.f32(kLog2ELow), f);
  auto scale = b.from_bits(b.shift_left(b.bits(shifted), b.i32(23)));
  return b.mul(b.ex2_approx_ftz(f), scale);
}

// 2 ulp at most; 8 instructions.
template <MathBuilder B>
typename B::F32 exp_f32(B& b, typename B::F32 x) {
  return exp_scaled(b, x, 0);
}

// 2 ulp, documented for ex2.approx with denormals kept; 1 instruction.
template <MathBuilder B>
typename B::F32 exp2_f32(B& b, typename B::F32 x) {
  return b.ex2_approx(x);
}

// 2 ulp at most; 19 instructions.
//
// exp(x) - 1 = 2^j (exp(f) - 1) + (2^j - 1), evaluated at half its size so that j = 128 needs no case of its
// own.
template <MathBuilder B>
typename B::F32 expm1_f32(B& b, typename B::F32 x) {
  // The result is -1 below, infinite above.
  auto y = b.minimum(b.maximum(x, b.f32(-25.0f)), b.f32(88.75f));
  auto shifted = b.fma(y, b.f32(kLog2E), b.f32(kToInteger));
  auto j = b.sub(shifted, b.f32(kToInteger));
  auto f = b.fma(j, b.f32(-kLn2High), y);
  f = b.fma(j, b.f32(-kLn2Low), f);
  auto tail = polynomial(
      b, f, std::array{0x1.fffffep-2f, 0x1.5554b4p-3f, 0x1.5556f2p-5f, 0x1.122562p-7f, 0x1.6b9ccap-10f});
  // Adding +0 makes the product below have the sign of f where f is a zero.
  auto small = b.fma(b.fma(tail, f, b.f32(0.0f)), f, f);
  auto half_power = b.ex2_approx_ftz(b.sub(shifted, b.f32(kToInteger + 1.0f)));
  auto half = b.fma(small, half_power, b.sub(half_power, b.f32(0.5f)));
  // With j = 0 the result is `small`, which may be denormal.
  return b.select(b.equal(j, b.f32(0.0f)), small, b.add(half, half));
}

}  // namespace tenon::codegen::math
