// asin, acos, atan, atan2 in f32. Coefficients: coefficients.py inverse_trigonometric.
#pragma once

#include <array>

#include "codegen/math/builder.h"
#include "codegen/math/polynomial.h"

namespace tenon::codegen::math {

// Two floats whose exact product is pi/2: an fma subtracts from pi/2 without a rounding of its own (to
// 6e-14).
inline constexpr float kHalfPiFactorA = 0x1.e599ep-1f;
inline constexpr float kHalfPiFactorB = 0x1.a7fc14p+0f;

// Up to here asin is evaluated directly; beyond, asin(a) = pi/2 - 2 asin(sqrt((1 - a) / 2)), an angle below
// 1/2, whose doubled error does not count more than the result's rounding.
inline constexpr float kAsinBorder = 0.56f;

// asin(r) for |r| <= kAsinBorder and q = r^2: 6 instructions.
template <MathBuilder B>
typename B::F32 asin_by_square(B& b, typename B::F32 r, typename B::F32 q) {
  auto p = polynomial(
      b, q, std::array{0x1.555714p-3f, 0x1.329c86p-4f, 0x1.7dfda2p-5f, 0x1.33485ep-6f, 0x1.a0978ap-5f});
  return b.fma(b.mul(p, q), r, r);
}

// 2 ulp at most; 17 instructions. NaN beyond 1.
template <MathBuilder B>
typename B::F32 asin_f32(B& b, typename B::F32 x) {
  auto a = b.abs(x);
  auto outer = b.less(b.f32(kAsinBorder), a);
  auto half = b.fma(a, b.f32(-0.5f), b.f32(0.5f));
  auto r = b.select(outer, b.sqrt_rn(half), a);
  auto angle = asin_by_square(b, r, b.select(outer, half, b.mul(a, a)));
  auto folded = b.fma(b.f32(kHalfPiFactorA), b.f32(kHalfPiFactorB), b.mul(angle, b.f32(-2.0f)));
  return b.copysign(b.select(outer, folded, angle), x);
}

// 2 ulp at most; 20 instructions.
template <MathBuilder B>
typename B::F32 acos_f32(B& b, typename B::F32 x) {
  auto a = b.abs(x);
  auto outer = b.less(b.f32(kAsinBorder), a);
  auto half = b.fma(a, b.f32(-0.5f), b.f32(0.5f));
  auto r = b.select(outer, b.sqrt_rn(half), a);
  auto angle = asin_by_square(b, r, b.select(outer, half, b.mul(a, a)));
  // For x >= 0: pi/2 - angle, or 2 angle; for x < 0 pi minus that.
  auto inner = b.sub(b.f32(0x1.921fb6p+0f), b.copysign(angle, x));
  auto doubled = b.add(angle, angle);
  auto mirrored = b.sub(b.f32(0x1.921fb6p+1f), doubled);
  auto outer_value = b.select(b.less(x, b.f32(0.0f)), mirrored, doubled);
  return b.select(outer, outer_value, inner);
}

// atan(z) for z in [0, 1]: 10 instructions.
template <MathBuilder B>
typename B::F32 atan_of_fraction(B& b, typename B::F32 z) {
  auto q = b.mul(z, z);
  auto p = polynomial(b, q,
                      std::array{-0x1.5554dcp-2f, 0x1.9978eep-3f, -0x1.230ab2p-3f, 0x1.b4dffcp-4f,
                                 -0x1.35545ap-4f, 0x1.61f896p-5f, -0x1.0c25eap-6f, 0x1.7ec664p-9f});
  return b.fma(b.mul(p, q), z, z);
}

// 2 ulp at most; 18 instructions. Above 1: atan(a) = pi/2 - atan(1/a).
template <MathBuilder B>
typename B::F32 atan_f32(B& b, typename B::F32 x) {
  auto a = b.abs(x);
  auto outer = b.less(b.f32(1.0f), a);
  auto angle = atan_of_fraction(b, b.select(outer, b.rcp_approx_ftz(a), a));
  auto folded = b.fma(b.f32(kHalfPiFactorA), b.f32(kHalfPiFactorB), b.neg(angle));
  return b.copysign(b.select(outer, folded, angle), x);
}

// The angle of the point (x, y), in [-pi, pi]; 2 ulp at most; 28 instructions. Zeros and infinities as C's
// atan2f.
template <MathBuilder B>
typename B::F32 atan2_f32(B& b, typename B::F32 y, typename B::F32 x) {
  auto ay = b.abs(y);
  auto ax = b.abs(x);
  auto steep = b.less(ax, ay);
  auto large = b.maximum(ax, ay);
  auto small = b.minimum(ax, ay);
  auto quotient = b.div_rn(small, large);
  // 0/0 counts as 0, inf/inf as 1.
  auto same = b.equal(small, large);
  auto equal = b.select(b.equal(large, b.f32(0.0f)), large, b.f32(1.0f));
  quotient = b.select(same, equal, quotient);
  auto angle = atan_of_fraction(b, quotient);
  auto folded = b.fma(b.f32(kHalfPiFactorA), b.f32(kHalfPiFactorB), b.neg(angle));
  angle = b.select(steep, folded, angle);
  // By the sign bit: -0 is on the left.
  auto left = b.iless(b.bits(x), b.i32(0));
  auto mirrored = b.fma(b.f32(2 * kHalfPiFactorA), b.f32(kHalfPiFactorB), b.neg(angle));
  angle = b.select(left, mirrored, angle);
  return b.copysign(angle, y);
}

}  // namespace tenon::codegen::math
