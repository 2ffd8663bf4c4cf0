// The software model of the GPU's approximate instructions, shared by the tile interpreter and the emulated
// device, so that both give the same bits on every host. Everything is computed in doubles with +, -, *, /
// and square root, then rounded once to f32: no function of the host's library takes part. The bounds that
// PTX documents (PTX ISA, "Floating Point Instructions") are given with each function, with the model's own
// error; both are tested against MPFR. A device's results differ within the documented bound.
//
// All functions are free of branches, so that a loop over the lanes of a warp becomes vector code. NaN
// results are the device's canonical NaN. `kFtz` is the .ftz modifier: denormal arguments and results become
// zeros of their sign.
#pragma once

#include <bit>
#include <cstdint>

#include "support/numeric.h"

namespace tenon::device {

namespace internal {

// 1.5 * 2^52: adding it rounds a double below 2^51 to an integer, which stands in the low bits.
inline constexpr double kToInteger = 0x1.8p52;

constexpr double nearest_integer(double x) { return (x + kToInteger) - kToInteger; }

// 2^x for |x| < 1000, with a relative error of 2^-29: 2^n by the exponent field, 2^f by a minimax polynomial
// on
// [-1/2, 1/2].
constexpr double exp2_model(double x) {
  double shifted = x + kToInteger;
  double f = x - (shifted - kToInteger);
  double p = 0x1.41d3332374d16p-13;
  p = p * f + 0x1.5f456ad6b0b57p-10;
  p = p * f + 0x1.3b2dbbc51cca1p-7;
  p = p * f + 0x1.c6aed4b91531ep-5;
  p = p * f + 0x1.ebfbdadca03f2p-3;
  p = p * f + 0x1.62e430c7e85cfp-1;
  p = p * f + 0x1.0000000261672p+0;
  return std::bit_cast<double>(std::bit_cast<uint64_t>(p) + (std::bit_cast<uint64_t>(shifted) << 52));
}

// log2(x) for a positive normal double, with a relative error of 2^-37: exponent plus log2(m), m in [2^-1/2,
// 2^1/2), by its series in s = (m - 1) / (m + 1).
constexpr double log2_model(double x) {
  auto bits = std::bit_cast<uint64_t>(x);
  // The fraction of sqrt(2) decides which power of two is nearest.
  uint64_t biased = bits + (0x3FF0000000000000 - 0x3FE6A09E667F3BCD);
  int64_t exponent = static_cast<int64_t>(biased >> 52) - 1023;
  double m = std::bit_cast<double>(bits - (static_cast<uint64_t>(exponent) << 52));
  double s = (m - 1.0) / (m + 1.0);
  double q = s * s;
  double p = 0x1.5ce85a622fc37p-2;
  p = p * q + 0x1.a58d888300de8p-2;
  p = p * q + 0x1.27777fe8f7afbp-1;
  p = p * q + 0x1.ec709d12cf29cp-1;
  p = p * q + 0x1.71547652bedf3p+1;
  return static_cast<double>(exponent) + s * p;
}

// sin(2 pi t) for |t| <= 1/4, with a relative error of 2^-35.
constexpr double sin_turns(double t) {
  double q = t * t;
  double p = -0x1.cc34596c51f42p+3;
  p = p * q + 0x1.500ff7e833ee3p+5;
  p = p * q - 0x1.32d112016b331p+6;
  p = p * q + 0x1.466bbfc24e049p+6;
  p = p * q - 0x1.4abbce4f1a290p+5;
  p = p * q + 0x1.921fb5441e49fp+2;
  return t * p;
}

// The angle `x` as a fraction of a turn in [-1/2, 1/2]; 0 where x is so large that a double holds only whole
// turns.
constexpr double turns(double x) {
  double t = x * 0x1.45f306dc9c883p-3;
  double magnitude = t < 0 ? -t : t;
  return t - (magnitude < 0x1p51 ? nearest_integer(t) : t);
}

}  // namespace internal

constexpr float flush(float x) {
  auto bits = std::bit_cast<uint32_t>(x);
  bool denormal = (bits & 0x7F800000) == 0;
  return std::bit_cast<float>(denormal ? bits & 0x80000000 : bits);
}

template <bool kFtz>
constexpr float flush_if(float x) {
  return kFtz ? flush(x) : x;
}

// ex2.approx: 2^x. PTX: 2 ulp. Model: 0.51 ulp; exact at integers.
template <bool kFtz>
constexpr float ex2_approx(float x) {
  float argument = flush_if<kFtz>(x);
  // Beyond +-200 the result is 0 or infinity all the same.
  double clamped = argument < -200.0f ? -200.0 : argument > 200.0f ? 200.0 : static_cast<double>(argument);
  double power = internal::exp2_model(clamped != clamped ? 0.0 : clamped);
  float result = flush_if<kFtz>(static_cast<float>(power));
  return x != x ? canonical_nan<float>() : result;
}

// lg2.approx: log2(x). PTX: absolute error 2^-22 in (0.5, 2), relative 2^-22 outside. Model: 0.51 ulp.
template <bool kFtz>
constexpr float lg2_approx(float x) {
  float argument = flush_if<kFtz>(x);
  bool positive = argument > 0.0f;
  bool infinite = argument == std::numeric_limits<float>::infinity();
  float result =
      static_cast<float>(internal::log2_model(positive && !infinite ? static_cast<double>(argument) : 1.0));
  result = flush_if<kFtz>(result);
  result = infinite ? argument : result;
  result = argument == 0.0f ? -std::numeric_limits<float>::infinity() : result;
  return argument < 0.0f || x != x ? canonical_nan<float>() : result;
}

// rcp.approx: 1 / x. PTX: 1 ulp. Model: correctly rounded.
template <bool kFtz>
constexpr float rcp_approx(float x) {
  return canonical(flush_if<kFtz>(1.0f / flush_if<kFtz>(x)));
}

// sqrt.approx. PTX: relative error 2^-23. Model: correctly rounded.
template <bool kFtz>
inline float sqrt_approx(float x) {
  return canonical(__builtin_elementwise_sqrt(flush_if<kFtz>(x)));
}

// rsqrt.approx: 1 / sqrt(x). PTX: relative error 2^-22.9. Model: 0.51 ulp.
template <bool kFtz>
inline float rsqrt_approx(float x) {
  return canonical(
      static_cast<float>(1.0 / __builtin_elementwise_sqrt(static_cast<double>(flush_if<kFtz>(x)))));
}

// sin.approx. PTX: absolute error 2^-20.5 in [-2 pi, 2 pi], 2^-14.7 in [-100 pi, 100 pi], none promised
// beyond. Model: the error of one rounding plus |x| * 2^-52.
template <bool kFtz>
constexpr float sin_approx(float x) {
  double t = internal::turns(static_cast<double>(flush_if<kFtz>(x)));
  // sin(pi - a) = sin(a) folds the outer halves inward.
  double folded = t > 0.25 ? 0.5 - t : t < -0.25 ? -0.5 - t : t;
  return canonical(flush_if<kFtz>(static_cast<float>(internal::sin_turns(folded))));
}

// cos.approx: bounds as sin.approx.
template <bool kFtz>
constexpr float cos_approx(float x) {
  double t = internal::turns(static_cast<double>(flush_if<kFtz>(x)));
  double magnitude = t < 0 ? -t : t;
  return canonical(flush_if<kFtz>(static_cast<float>(internal::sin_turns(0.25 - magnitude))));
}

// tanh.approx.f32. PTX: relative error 2^-11; denormals pass through. Model: relative error 2^-21.
constexpr float tanh_approx(float x) {
  double magnitude = x < 0 ? -static_cast<double>(x) : static_cast<double>(x);
  double clamped = magnitude < 16.0 ? magnitude : 16.0;
  double e = internal::exp2_model(clamped * 0x1.71547652b82fep+1);
  // Near zero e - 1 cancels; there the series is at hand.
  double large = (e - 1.0) / (e + 1.0);
  double small = magnitude - magnitude * magnitude * magnitude * (1.0 / 3.0);
  auto result = std::bit_cast<uint32_t>(static_cast<float>(magnitude < 0x1p-5 ? small : large));
  uint32_t sign = std::bit_cast<uint32_t>(x) & 0x80000000;
  return x != x ? canonical_nan<float>() : std::bit_cast<float>(result | sign);
}

// div.approx: a * (1 / b). PTX: 2 ulp for |b| in [2^-126, 2^126]; beyond, the reciprocal counts as zero, so
// that the result is a zero, or NaN for infinite a. Model: the correctly rounded reciprocal times a.
template <bool kFtz>
constexpr float div_approx(float a, float b) {
  float reciprocal = rcp_approx<kFtz>(b);
  float magnitude = b < 0 ? -b : b;
  reciprocal = magnitude > 0x1p126f ? flush(reciprocal) : reciprocal;
  return canonical(flush_if<kFtz>(flush_if<kFtz>(a) * reciprocal));
}

// div.full: a / b. PTX: 2 ulp over the full range. Model: correctly rounded.
template <bool kFtz>
constexpr float div_full(float a, float b) {
  return canonical(flush_if<kFtz>(flush_if<kFtz>(a) / flush_if<kFtz>(b)));
}

// ex2.approx.f16 (PTX: relative error 2^-9.9) and tanh.approx.f16 (absolute 2^-10.987), on bits. Model: the
// f32 model, rounded to f16.
constexpr uint16_t ex2_approx_f16(uint16_t x) { return f16_from_f32(ex2_approx<false>(f32_from_f16(x))); }
constexpr uint16_t tanh_approx_f16(uint16_t x) { return f16_from_f32(tanh_approx(f32_from_f16(x))); }

// ex2.approx.ftz.bf16 (PTX: relative error 2^-7) and tanh.approx.bf16 (absolute 2^-8). Model: as for f16.
constexpr uint16_t ex2_approx_ftz_bf16(uint16_t x) {
  return bf16_from_f32(ex2_approx<true>(f32_from_bf16(x)));
}
constexpr uint16_t tanh_approx_bf16(uint16_t x) { return bf16_from_f32(tanh_approx(f32_from_bf16(x))); }

namespace internal {

// The upper word of `value` rounded to 20 fraction bits, denormals flushed, NaN as the device writes it.
constexpr double upper_word(double value) {
  auto bits = std::bit_cast<uint64_t>(value);
  uint64_t rounded = (bits + 0x80000000) & 0xFFFFFFFF00000000;
  bool denormal = (bits & 0x7FF0000000000000) == 0;
  uint64_t result = denormal ? bits & 0x8000000000000000 : rounded;
  return std::bit_cast<double>(value != value ? 0x7FFFFFFF00000000 : result);
}

// The operand as rcp.approx.ftz.f64 sees it: without its lower word, denormals as zero.
constexpr double upper_operand(double value) {
  uint64_t bits = std::bit_cast<uint64_t>(value) & 0xFFFFFFFF00000000;
  bool denormal = (bits & 0x7FF0000000000000) == 0;
  bits = denormal ? bits & 0x8000000000000000 : bits;
  return value != value ? value : std::bit_cast<double>(bits);
}

}  // namespace internal

// rcp.approx.ftz.f64 and rsqrt.approx.ftz.f64: on the upper 32 bits of the operand, giving the upper 32 bits
// of the result, the lower being zero. PTX gives no bound. Model: the exact result rounded to 20 fraction
// bits.
constexpr double rcp_approx_ftz_f64(double x) {
  return internal::upper_word(1.0 / internal::upper_operand(x));
}
inline double rsqrt_approx_ftz_f64(double x) {
  return internal::upper_word(1.0 / __builtin_elementwise_sqrt(internal::upper_operand(x)));
}

}  // namespace tenon::device
