// log, log2, log1p in f32. Coefficients: coefficients.py logarithms.
#pragma once

#include "codegen/math/builder.h"
#include "codegen/math/exponential.h"
#include "codegen/math/polynomial.h"

namespace tenon::codegen::math {

inline constexpr int32_t kExponentMask = static_cast<int32_t>(0xFF800000);
// The bits of 2/3, which become the least of the reduced range.
inline constexpr int32_t kTwoThirds = 0x3F2AAAAB;

// x = m * 2^e with m in [start, 2 start): m as a float, e in the place of an exponent field.
template <class B>
struct ExponentSplit {
  typename B::F32 m;
  typename B::I32 exponent_bits;
};

// For a positive finite x, denormals too; other arguments give some finite value.
template <MathBuilder B>
ExponentSplit<B> split_exponent(B& b, typename B::F32 x, int32_t start) {
  auto scaled = b.bits(b.mul(x, b.f32(0x1p23f)));
  auto bits = b.select(b.less(x, b.f32(0x1p-126f)), b.isub(scaled, b.i32(23 << 23)), b.bits(x));
  auto exponent = b.iand(b.isub(bits, b.i32(start)), b.i32(kExponentMask));
  return {b.from_bits(b.isub(bits, exponent)), exponent};
}

// `result` for positive finite x; else what lg2.approx says: -inf of zeros, NaN below, infinity and NaN
// themselves.
template <MathBuilder B>
typename B::F32 select_log_result(B& b, typename B::F32 x, typename B::F32 result) {
  auto ordinary = b.iless_unsigned(b.iadd(b.bits(x), b.i32(-1)), b.i32(0x7F7FFFFF));
  return b.select(ordinary, result, b.lg2_approx(x));
}

// (log(1 + f) - f) / f, for f in [-1/3, 1/3].
template <MathBuilder B>
typename B::F32 log1p_tail(B& b, typename B::F32 f) {
  auto p = polynomial(b, f,
                      std::array{-0x1.ffffd6p-2f, 0x1.5554fcp-2f, -0x1.001452p-2f, 0x1.99d3bap-3f,
                                 -0x1.5037fap-3f, 0x1.1ea7a8p-3f, -0x1.3b1262p-3f, 0x1.1f2dap-3f});
  return b.mul(p, f);
}

// 2 ulp at most; 23 instructions.
template <MathBuilder B>
typename B::F32 log_f32(B& b, typename B::F32 x) {
  auto [m, exponent_bits] = split_exponent(b, x, kTwoThirds);
  auto f = b.sub(m, b.f32(1.0f));
  auto log_m = b.fma(log1p_tail(b, f), f, f);
  auto result = b.fma(b.to_f32(exponent_bits), b.f32(0x1.62e43p-24f), log_m);
  return select_log_result(b, x, result);
}

// 2 ulp at most; 24 instructions.
template <MathBuilder B>
typename B::F32 log2_f32(B& b, typename B::F32 x) {
  auto [m, exponent_bits] = split_exponent(b, x, kTwoThirds);
  auto f = b.sub(m, b.f32(1.0f));
  auto p = polynomial(b, f,
                      std::array{-0x1.71546p-1f, 0x1.ec708ep-2f, -0x1.716e6ap-2f, 0x1.2794aap-2f,
                                 -0x1.e5775ap-3f, 0x1.9e908ep-3f, -0x1.c4a9bap-3f, 0x1.9a943p-3f});
  auto log_m = b.fma(f, b.f32(kLog2E), b.mul(b.mul(p, f), f));
  auto result = b.fma(b.to_f32(exponent_bits), b.f32(0x1p-23f), log_m);
  return select_log_result(b, x, result);
}

// 2 ulp at most; 22 instructions.
//
// The exponent e of 1 + x is taken from its rounded sum, and f = (1 + x) 2^-e - 1 = x 2^-e + (2^-e - 1) from
// x itself.
template <MathBuilder B>
typename B::F32 log1p_f32(B& b, typename B::F32 x) {
  auto sum = b.add(x, b.f32(1.0f));
  // Minus e, so that the last fma leaves the sign of a zero: floor((s - c) / n) is -floor((c + n - 1 - s) /
  // n).
  auto negated = b.iand(b.isub(b.i32(kTwoThirds + 0x007FFFFF), b.bits(sum)), b.i32(kExponentMask));
  auto scaled = b.from_bits(b.iadd(b.bits(x), negated));
  // 4 * 2^-e is normal for every e up to 128.
  auto four = b.from_bits(b.iadd(b.i32(0x40800000), negated));
  auto f = b.sub(scaled, b.fma(four, b.f32(-0.25f), b.f32(1.0f)));
  auto log_m = b.fma(log1p_tail(b, f), f, f);
  auto result = b.fma(b.to_f32(negated), b.f32(-0x1.62e43p-24f), log_m);
  return select_log_result(b, sum, result);
}

}  // namespace tenon::codegen::math
