// pow in f32. Coefficients: coefficients.py powers.
#pragma once

#include <array>

#include "codegen/math/builder.h"
#include "codegen/math/exponential.h"
#include "codegen/math/logarithm.h"
#include "codegen/math/polynomial.h"

namespace tenon::codegen::math {

// An unevaluated sum of two floats.
template <class B>
struct DoubleFloat {
  typename B::F32 high;
  typename B::F32 low;
};

// A sum with its error, where |a| >= |b| or a is 0 (Dekker's Fast2Sum); 3 instructions.
template <MathBuilder B>
DoubleFloat<B> add_smaller(B& b, typename B::F32 a, typename B::F32 smaller) {
  auto sum = b.add(a, smaller);
  return {sum, b.sub(smaller, b.sub(sum, a))};
}

// log2(x) of a positive finite x, to about 2^-32 of the result.
//
// x = m 2^e with m around 1; log2(m) = s (2/ln 2 + s^2 P(s^2)), s = (m - 1) / (m + 1) with its error.
template <MathBuilder B>
DoubleFloat<B> log2_double_float(B& b, typename B::F32 x) {
  constexpr int32_t kInverseSqrt2 = 0x3F3504F3;
  constexpr float kLead = 0x1.715476p+1f;
  auto [m, exponent_bits] = split_exponent(b, x, kInverseSqrt2);
  auto e = b.mul(b.to_f32(exponent_bits), b.f32(0x1p-23f));
  auto f = b.sub(m, b.f32(1.0f));
  auto divisor = b.add(m, b.f32(1.0f));
  auto divisor_low = b.sub(m, b.sub(divisor, b.f32(1.0f)));
  auto reciprocal = b.rcp_approx_ftz(divisor);
  auto s = b.mul(f, reciprocal);
  auto minus_s = b.neg(s);
  auto residual = b.fma(minus_s, divisor_low, b.fma(minus_s, divisor, f));
  auto s_low = b.mul(residual, reciprocal);

  // tail = s^3 P(s^2) with one rounding; s^2, P and their product carry errors of their own.
  auto square = b.mul(s, s);
  auto minus_square = b.mul(minus_s, s);
  auto square_low = b.fma(s, s, minus_square);
  auto upper =
      b.mul(polynomial(b, square, std::array{0x1.27786cp-1f, 0x1.a521cap-2f, 0x1.6426d4p-2f}), square);
  auto p = add_smaller(b, b.f32(0x1.ec709cp-1f), upper);
  auto product = b.mul(square, p.high);
  auto minus_lost = b.fma(minus_square, p.high, product);
  auto product_low = b.sub(b.fma(square, p.low, b.mul(square_low, p.high)), minus_lost);
  auto tail = b.fma(s, product, b.mul(s, product_low));

  auto lead = b.mul(s, b.f32(kLead));
  auto minus_lead_lost = b.fma(s, b.f32(-kLead), lead);
  auto sum = add_smaller(b, lead, tail);
  auto low = b.sub(b.fma(s, b.f32(kLog2ELow * 2), sum.low), minus_lead_lost);
  // The derivative of the whole, to first order in s^2.
  low = b.fma(s_low, b.fma(square, b.f32(kLead), b.f32(kLead)), low);

  // e is 0 or larger than the logarithm of m.
  auto total = add_smaller(b, e, sum.high);
  return {total.high, b.add(total.low, low)};
}

// 2^(y * logarithm) for |y| <= 2^40 and any finite logarithm.
template <MathBuilder B>
typename B::F32 exp2_of_product(B& b, typename B::F32 y, const DoubleFloat<B>& logarithm) {
  auto high = b.mul(y, logarithm.high);
  auto low = b.fma(y, logarithm.low, b.fma(y, logarithm.high, b.neg(high)));
  // As in exp_scaled.
  auto clamped = b.fma_saturated(b.add(high, low), b.f32(1.0f / 253.0f), b.f32(0.5f));
  auto shifted = b.fma_down(clamped, b.f32(253.0f), b.f32(kToInteger + 1.0f));
  auto minus_j = b.sub(b.f32(kToInteger + 127.0f), shifted);
  auto power = b.ex2_approx_ftz(b.add(b.add(high, minus_j), low));
  return b.mul(power, b.from_bits(b.shift_left(b.bits(shifted), b.i32(23))));
}

// 2 ulp at most; 88 instructions. Special cases as C's powf.
template <MathBuilder B>
typename B::F32 pow_f32(B& b, typename B::F32 x, typename B::F32 y) {
  auto magnitude = b.abs(x);
  // Farther out the result is the same, unless it is 1; NaN is looked at below.
  auto bounded = b.min_number(b.max_number(y, b.f32(-0x1p40f)), b.f32(0x1p40f));
  auto result = exp2_of_product(b, bounded, log2_double_float(b, magnitude));

  // Negative x: NaN where y is no integer.
  auto integral = b.equal(b.trunc(y), y);
  auto defined = b.logical_or(integral, b.less_equal(b.f32(0.0f), x));
  result = b.select(defined, result, b.f32(kNan));

  // Powers of zero, infinity and NaN.
  auto ordinary = b.iless_unsigned(b.iadd(b.bits(magnitude), b.i32(-1)), b.i32(0x7F7FFFFF));
  auto inverted = b.select(b.less(y, b.f32(0.0f)), b.rcp_approx_ftz(magnitude), magnitude);
  result = b.select(ordinary, result, inverted);

  // The sign of an odd power.
  auto half = b.mul(y, b.f32(0.5f));
  auto odd = b.logical_and(integral, b.not_equal(b.trunc(half), half));
  auto sign = b.select(odd, b.iand(b.bits(x), b.i32(INT32_MIN)), b.i32(0));
  result = b.from_bits(b.ixor(b.bits(result), sign));

  result = b.select(b.not_equal(y, y), y, result);
  auto one = b.logical_or(b.equal(y, b.f32(0.0f)), b.equal(x, b.f32(1.0f)));
  return b.select(one, b.f32(1.0f), result);
}

}  // namespace tenon::codegen::math
