// f32 arithmetic in every rounding mode of PTX, without touching the host's floating-point environment, and
// the fused multiply-adds of the 16-bit formats, rounded once. Free of branches apart from the mode, which is
// a template argument, so that loops over lanes become vector code.
#pragma once

#include <bit>
#include <cmath>
#include <cstdint>

#include "support/numeric.h"

namespace tenon {

namespace directed_internal {

// A sum of two doubles as the rounded sum and the exact error of that rounding (Knuth's TwoSum). Exact unless
// it overflows, which sums of f32 products cannot.
struct ExactSum {
  double sum;
  double error;
};
constexpr ExactSum exact_sum(double a, double b) {
  double sum = a + b;
  double from_b = sum - a;
  double error = (a - (sum - from_b)) + (b - from_b);
  return {sum, error != error ? 0.0 : error};
}

// The neighbours of a float; next_up of -0 is the least denormal, of infinity infinity.
constexpr float next_up(float x) {
  auto bits = std::bit_cast<uint32_t>(x);
  uint32_t next = x == 0.0f ? 1 : (bits >> 31) != 0 ? bits - 1 : bits + 1;
  return x == std::numeric_limits<float>::infinity() || x != x ? x : std::bit_cast<float>(next);
}
constexpr float next_down(float x) { return -next_up(-x); }

// sum + error, |error| at most half a unit in the last place of sum, rounded once to f32.
template <Rounding rounding>
constexpr float round_to_f32(ExactSum exact) {
  auto nearest = static_cast<float>(exact.sum);
  double value = nearest;
  if constexpr (rounding == Rounding::kNearestEven) {
    // Where the sum lies on the midpoint of two floats the error decides the tie that the conversion broke.
    // An overflow stands for the value one step beyond the largest.
    value = value > 0x1p128 ? 0x1p128 : value < -0x1p128 ? -0x1p128 : value;
    float other = value > exact.sum ? next_down(nearest) : next_up(nearest);
    bool tie = value != exact.sum && value - exact.sum == exact.sum - static_cast<double>(other);
    bool wrong = tie && (exact.sum < value ? exact.error < 0 : exact.error > 0);
    return wrong ? other : nearest;
  }
  bool above = value > exact.sum || (value == exact.sum && exact.error < 0);
  bool below = value < exact.sum || (value == exact.sum && exact.error > 0);
  bool down = rounding == Rounding::kDown || (rounding == Rounding::kTowardZero && exact.sum > 0);
  float directed = down ? (above ? next_down(nearest) : nearest) : (below ? next_up(nearest) : nearest);
  return directed;
}

// The sign of an exact zero sum of `a` and `b`: negative only if both are, or if rounding down and one is.
template <Rounding rounding>
constexpr float with_zero_sign(float result, bool exact_zero, double a, double b) {
  uint64_t bits_a = std::bit_cast<uint64_t>(a);
  uint64_t bits_b = std::bit_cast<uint64_t>(b);
  uint64_t sign = rounding == Rounding::kDown ? bits_a | bits_b : bits_a & bits_b;
  // x + -x has operands of both signs; +0 there unless rounding down.
  return exact_zero ? std::bit_cast<float>(static_cast<uint32_t>(sign >> 32) & 0x80000000) : result;
}

}  // namespace directed_internal

// fma.{rn,rz,rm,rp}.f32; NaN results are canonical.
template <Rounding rounding>
constexpr float fma_f32(float a, float b, float c) {
  // 24 by 24 bits: exact in a double, whose range it cannot leave either.
  double product = static_cast<double>(a) * static_cast<double>(b);
  auto exact = directed_internal::exact_sum(product, c);
  float result = directed_internal::round_to_f32<rounding>(exact);
  result = directed_internal::with_zero_sign<rounding>(result, exact.sum == 0.0, product, c);
  return canonical(result);
}

template <Rounding rounding>
constexpr float add_f32(float a, float b) {
  return fma_f32<rounding>(a, 1.0f, b);
}

template <Rounding rounding>
constexpr float mul_f32(float a, float b) {
  double product = static_cast<double>(a) * static_cast<double>(b);
  float result = directed_internal::round_to_f32<rounding>({product, 0.0});
  return canonical(result);
}

// .sat: clamped to [0, 1]; NaN and -0 give +0.
constexpr float saturate(float x) { return x > 0.0f ? (x < 1.0f ? x : 1.0f) : 0.0f; }

// fma.rn.f16, fma.rn.bf16 on bits: the exact a * b + c rounded once.
template <class Format>
constexpr typename Format::Storage fma_16_bit(typename Format::Storage a, typename Format::Storage b,
                                              typename Format::Storage c) {
  double product = decode<Format>(a) * decode<Format>(b);
  auto exact = directed_internal::exact_sum(product, decode<Format>(c));
  // Rounding to odd keeps what the error says for the second rounding, which has 42 bits fewer.
  auto bits = std::bit_cast<uint64_t>(exact.sum);
  bool toward_zero = (exact.error < 0) != (exact.sum < 0);
  bool inexact = exact.error != 0 && (bits & 1) == 0;
  bits = inexact ? (toward_zero ? bits - 1 : bits + 1) : bits;
  return encode<Format>(std::bit_cast<double>(bits));
}

}  // namespace tenon
