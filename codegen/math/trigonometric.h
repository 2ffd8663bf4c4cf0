// sin, cos, tan in f32, for all arguments. Coefficients: coefficients.py trigonometric.
#pragma once

#include <array>

#include "codegen/math/builder.h"
#include "codegen/math/exponential.h"
#include "codegen/math/polynomial.h"

namespace tenon::codegen::math {

// pi/2 as a sum of positive parts, so that subtracting multiples of them keeps the sign of -0.
inline constexpr float kHalfPi0 = 0x1.921fb4p+0f;
inline constexpr float kHalfPi1 = 0x1.4442dp-24f;
inline constexpr float kHalfPi2 = 0x1.846988p-48f;

// How much of a reduced angle is wanted: what sin and cos need, `high` within half a unit in its last place,
// or what tan needs, everything.
enum class ReductionError : unsigned char { kHalfUlp, kNone };

// Reduction by subtracting multiples of pi/2, for |x| < 2^16; 5 instructions, 12 without error.
template <MathBuilder B>
ReducedAngle<B> reduce_small_angle(B& b, typename B::F32 x, ReductionError error) {
  auto shifted = b.fma(x, b.f32(0x1.45f306p-1f), b.f32(kToInteger));
  auto j = b.sub(shifted, b.f32(kToInteger));
  // Exact: a difference of neighbours.
  auto rest = b.fma(j, b.f32(-kHalfPi0), x);
  if (error == ReductionError::kHalfUlp) {
    auto high = b.fma(j, b.f32(-kHalfPi1), rest);
    return {high, b.mul(j, b.f32(-kHalfPi2)), b.bits(shifted)};
  }
  // A product and a sum with their errors (Knuth's TwoSum).
  auto product = b.mul(j, b.f32(-kHalfPi1));
  auto minus_lost = b.fma(j, b.f32(kHalfPi1), product);
  auto high = b.add(rest, product);
  auto from_product = b.sub(high, rest);
  auto low = b.add(b.sub(rest, b.sub(high, from_product)), b.sub(product, from_product));
  low = b.fma(j, b.f32(-kHalfPi2), b.sub(low, minus_lost));
  return {high, low, b.bits(shifted)};
}

// Reduction after Payne and Hanek ("Radian reduction for trigonometric functions", SIGNUM 1983), for |x| >=
// 2^16 and finite: the 24 bits of x times the 96 bits of 2/pi that matter for its exponent, in integers.
// About 65 instructions.
template <MathBuilder B>
ReducedAngle<B> reduce_large_angle(B& b, typename B::F32 x) {
  using I32 = typename B::I32;
  // 2/pi behind 32 zero bits, which stand in for whole turns.
  constexpr std::array<uint32_t, 8> kTwoOverPi = {0x00000000, 0xA2F9836E, 0x4E441529, 0xFC2757D1,
                                                  0xF534DDC0, 0xDB629599, 0x3C439041, 0xFE5163AB};
  auto constant = [&](uint32_t bits) { return b.i32(static_cast<int32_t>(bits)); };
  auto bits = b.bits(x);
  // x = mantissa * 2^(field - 150); bits of 2/pi of weight 2^-k with k <= field - 152 give whole turns.
  auto field = b.iand(b.shift_right_unsigned(bits, b.i32(23)), b.i32(0xFF));
  auto mantissa = b.ior(b.iand(bits, b.i32(0x007FFFFF)), b.i32(0x00800000));
  auto skipped = b.isub(field, b.i32(152 - 32));
  auto word = b.shift_right_unsigned(skipped, b.i32(5));
  auto within = b.iand(skipped, b.i32(31));

  // The four words from `word` on, which is at most 4, by its bits.
  auto bit_set = [&](int bit) { return b.not_zero(b.iand(word, b.i32(1 << bit))); };
  auto odd = bit_set(0);
  auto two = bit_set(1);
  auto four = bit_set(2);
  auto by_one = [&](size_t k) { return b.select(odd, constant(kTwoOverPi[k + 1]), constant(kTwoOverPi[k])); };
  std::array<I32, 6> from_one = {by_one(0), by_one(1), by_one(2), by_one(3), by_one(4), by_one(5)};
  auto by_four = [&](size_t k) {
    return b.select(four, constant(kTwoOverPi[k + 4]), b.select(two, from_one[k + 2], from_one[k]));
  };
  std::array<I32, 4> words = {by_four(0), by_four(1), by_four(2), by_four(3)};
  auto window0 = b.funnel_left(words[0], words[1], within);
  auto window1 = b.funnel_left(words[1], words[2], within);
  auto window2 = b.funnel_left(words[2], words[3], within);

  // The product modulo 2^96, of which the two highest bits are the quadrant.
  auto product2 = b.mul_wide_unsigned(mantissa, window2);
  auto product1 = b.mad_wide_unsigned(mantissa, window1, b.widen_unsigned(b.high_word(product2)));
  auto product0 = b.mad_wide_unsigned(mantissa, window0, b.widen_unsigned(b.high_word(product1)));
  auto top = b.low_word(product0);
  auto middle = b.low_word(product1);
  auto bottom = b.low_word(product2);
  auto fraction_high = b.funnel_left(top, middle, b.i32(2));
  auto fraction_low = b.funnel_left(middle, bottom, b.i32(2));
  // Rounding the quadrant to nearest leaves a signed fraction.
  auto quadrant =
      b.iadd(b.shift_right_unsigned(top, b.i32(30)), b.shift_right_unsigned(fraction_high, b.i32(31)));
  auto negative = b.shift_right(fraction_high, b.i32(31));
  fraction_high = b.ixor(fraction_high, negative);
  fraction_low = b.ixor(fraction_low, negative);

  // No f32 is so close to a multiple of pi/2 that more than 30 bits are zero (Muller et al., "Handbook of
  // Floating-Point Arithmetic", 11.3).
  auto zeros = b.count_leading_zeros(fraction_high);
  auto normalised = b.funnel_left(fraction_high, fraction_low, zeros);
  auto below = b.shift_left(fraction_low, zeros);
  auto value = b.to_f32(b.shift_right_unsigned(normalised, b.i32(8)));
  auto rest = b.to_f32(b.shift_right_unsigned(b.funnel_left(normalised, below, b.i32(24)), b.i32(8)));
  value = b.mul(value, b.f32(0x1p-24f));
  rest = b.mul(rest, b.f32(0x1p-48f));
  // The fraction is (value + rest) * 2^-zeros quarter turns; the sign of x and of the fraction go into the
  // factor.
  auto scale = b.isub(b.i32(0x3F800000), b.shift_left(zeros, b.i32(23)));
  auto sign = b.iand(b.ixor(bits, negative), b.i32(INT32_MIN));
  auto factor = b.from_bits(b.ior(scale, sign));
  auto high = b.mul(value, b.f32(kHalfPi0));
  auto low = b.fma(value, b.f32(kHalfPi0), b.neg(high));
  low = b.fma(value, b.f32(kHalfPi1), b.fma(rest, b.f32(kHalfPi0), low));
  // Normalised, since kHalfPi1 reaches into the last place.
  auto sum = b.add(high, low);
  low = b.sub(low, b.sub(sum, high));
  auto signed_quadrant = b.select(b.iless(bits, b.i32(0)), b.isub(b.i32(0), quadrant), quadrant);
  return {b.mul(sum, factor), b.mul(low, factor), signed_quadrant};
}

// NaN for infinities, by way of x * 0.
template <MathBuilder B>
ReducedAngle<B> reduce_angle(B& b, typename B::F32 x, ReductionError error) {
  auto large = b.less_equal(b.f32(0x1p16f), b.abs(x));
  return b.rarely(large, reduce_small_angle(b, x, error), [&] {
    ReducedAngle<B> reduced = reduce_large_angle(b, x);
    reduced.high = b.fma(x, b.f32(0.0f), reduced.high);
    return reduced;
  });
}

// sin(r + quadrant * pi/2), r the reduced angle; its own quadrant is not looked at.
template <MathBuilder B>
typename B::F32 sin_of_reduced(B& b, const ReducedAngle<B>& angle, typename B::I32 quadrant) {
  auto r = angle.high;
  auto square = b.mul(r, r);
  auto sine = polynomial(b, square, std::array{-0x1.555546p-3f, 0x1.110776p-7f, -0x1.9952fap-13f});
  // Adding +0 makes the product have the sign of r where r is a zero.
  sine = b.fma(b.fma(sine, square, b.f32(0.0f)), r, angle.low);
  sine = b.add(sine, r);
  auto cosine =
      polynomial(b, square, std::array{1.0f, -0x1p-1f, 0x1.55554ap-5f, -0x1.6c0c2ap-10f, 0x1.99e908p-16f});
  auto odd = b.not_zero(b.iand(quadrant, b.i32(1)));
  auto value = b.select(odd, cosine, sine);
  auto sign = b.iand(b.shift_left(quadrant, b.i32(30)), b.i32(INT32_MIN));
  return b.from_bits(b.ixor(b.bits(value), sign));
}

// 2 ulp at most; 24 instructions below 2^16.
template <MathBuilder B>
typename B::F32 sin_f32(B& b, typename B::F32 x) {
  auto angle = reduce_angle(b, x, ReductionError::kHalfUlp);
  return sin_of_reduced(b, angle, angle.quadrant);
}

// 2 ulp at most; 25 instructions below 2^16.
template <MathBuilder B>
typename B::F32 cos_f32(B& b, typename B::F32 x) {
  auto angle = reduce_angle(b, x, ReductionError::kHalfUlp);
  return sin_of_reduced(b, angle, b.iadd(angle.quadrant, b.i32(1)));
}

// 2 ulp at most; 36 instructions below 2^16. In odd quadrants tan(x) = -1 / tan(r).
template <MathBuilder B>
typename B::F32 tan_f32(B& b, typename B::F32 x) {
  auto angle = reduce_angle(b, x, ReductionError::kNone);
  auto r = angle.high;
  auto square = b.mul(r, r);
  auto ratio = polynomial(b, square,
                          std::array{0x1.5554dep-2f, 0x1.112deap-3f, 0x1.b58524p-5f, 0x1.907248p-6f,
                                     0x1.968aeep-9f, 0x1.33e68ep-7f});
  ratio = b.mul(ratio, square);
  // tan(r + low) = tan(r) + low (1 + tan(r)^2); the factor to first order in r^2.
  auto low = b.fma(angle.low, square, angle.low);
  auto correction = b.fma(ratio, r, low);
  auto tangent = b.add(r, correction);
  // What the addition lost, for the reciprocal.
  auto lost = b.sub(correction, b.sub(tangent, r));
  auto odd = b.not_zero(b.iand(angle.quadrant, b.i32(1)));
  auto inverse = b.div_rn(b.f32(-1.0f), tangent);
  auto residual = b.fma(inverse, tangent, b.f32(1.0f));
  residual = b.fma(inverse, lost, residual);
  auto refined = b.fma(inverse, residual, inverse);
  // A zero keeps its sign.
  return b.select(odd, refined, b.copysign(tangent, r));
}

}  // namespace tenon::codegen::math
