// The builder that computes: expansions on plain floats, bit for bit what the emulated device does with the
// instructions that the code generation emits for them.
#pragma once

#include <bit>
#include <cmath>
#include <cstdint>

#include "codegen/math/builder.h"
#include "support/device_math.h"
#include "support/directed_arithmetic.h"
#include "support/numeric.h"

namespace tenon::codegen::math {

struct HostMath {
  using F32 = float;
  using F64 = double;
  using I32 = int32_t;
  using I64 = int64_t;
  using Bool = bool;

  F32 f32(float value) { return value; }
  F64 f64(double value) { return value; }
  I32 i32(int32_t value) { return value; }

  F32 add(F32 a, F32 b) { return a + b; }
  F32 sub(F32 a, F32 b) { return a - b; }
  F32 mul(F32 a, F32 b) { return a * b; }
  F32 fma(F32 a, F32 b, F32 c) { return std::fma(a, b, c); }
  F32 neg(F32 a) { return -a; }
  F32 abs(F32 a) { return std::fabs(a); }
  F64 mul(F64 a, F64 b) { return a * b; }
  F64 fma(F64 a, F64 b, F64 c) { return std::fma(a, b, c); }
  F64 neg(F64 a) { return -a; }
  F64 abs(F64 a) { return std::fabs(a); }
  F32 fma_down(F32 a, F32 b, F32 c) { return fma_f32<Rounding::kDown>(a, b, c); }
  F32 fma_saturated(F32 a, F32 b, F32 c) { return saturate(std::fma(a, b, c)); }
  F32 copysign(F32 magnitude, F32 sign) { return std::copysign(magnitude, sign); }
  F32 min_number(F32 a, F32 b) { return minimum_number(a, b); }
  F32 max_number(F32 a, F32 b) { return maximum_number(a, b); }
  F32 minimum(F32 a, F32 b) { return tenon::minimum(a, b); }
  F32 maximum(F32 a, F32 b) { return tenon::maximum(a, b); }
  F32 floor(F32 a) { return std::floor(a); }
  F32 ceil(F32 a) { return std::ceil(a); }
  F32 round_even(F32 a) { return tenon::round_even(a); }
  F32 trunc(F32 a) { return std::trunc(a); }
  F64 floor(F64 a) { return std::floor(a); }
  F64 ceil(F64 a) { return std::ceil(a); }
  F64 round_even(F64 a) { return tenon::round_even(a); }
  F64 trunc(F64 a) { return std::trunc(a); }
  F32 div_rn(F32 a, F32 b) { return a / b; }
  F32 sqrt_rn(F32 a) { return std::sqrt(a); }
  F64 sqrt_rn(F64 a) { return std::sqrt(a); }
  F64 rcp_rn(F64 a) { return 1.0 / a; }

  F32 ex2_approx(F32 a) { return device::ex2_approx<false>(a); }
  F32 ex2_approx_ftz(F32 a) { return device::ex2_approx<true>(a); }
  F32 lg2_approx(F32 a) { return device::lg2_approx<false>(a); }
  F32 lg2_approx_ftz(F32 a) { return device::lg2_approx<true>(a); }
  F32 rcp_approx_ftz(F32 a) { return device::rcp_approx<true>(a); }
  F32 rsqrt_approx(F32 a) { return device::rsqrt_approx<false>(a); }
  F32 rsqrt_approx_ftz(F32 a) { return device::rsqrt_approx<true>(a); }
  F32 sqrt_approx_ftz(F32 a) { return device::sqrt_approx<true>(a); }
  F32 sin_approx_ftz(F32 a) { return device::sin_approx<true>(a); }
  F32 cos_approx_ftz(F32 a) { return device::cos_approx<true>(a); }
  F32 tanh_approx(F32 a) { return device::tanh_approx(a); }
  F32 div_approx_ftz(F32 a, F32 b) { return device::div_approx<true>(a, b); }

  Bool less(F32 a, F32 b) { return a < b; }
  Bool less_equal(F32 a, F32 b) { return a <= b; }
  Bool equal(F32 a, F32 b) { return a == b; }
  Bool not_equal(F32 a, F32 b) { return a != b; }
  Bool equal(F64 a, F64 b) { return a == b; }
  Bool not_equal(F64 a, F64 b) { return a != b; }
  Bool iequal(I32 a, I32 b) { return a == b; }
  Bool iless(I32 a, I32 b) { return a < b; }
  Bool iless_unsigned(I32 a, I32 b) { return static_cast<uint32_t>(a) < static_cast<uint32_t>(b); }
  Bool not_zero(I32 a) { return a != 0; }
  Bool logical_and(Bool a, Bool b) { return a && b; }
  Bool logical_or(Bool a, Bool b) { return a || b; }
  F32 select(Bool condition, F32 a, F32 b) { return condition ? a : b; }
  I32 select(Bool condition, I32 a, I32 b) { return condition ? a : b; }

  I32 bits(F32 a) { return std::bit_cast<I32>(a); }
  F32 from_bits(I32 a) { return std::bit_cast<F32>(a); }
  I32 low_word(I64 a) { return static_cast<I32>(a); }
  I32 high_word(I64 a) { return static_cast<I32>(a >> 32); }

  I32 iadd(I32 a, I32 b) { return wrapping_add(a, b); }
  I32 isub(I32 a, I32 b) { return wrapping_sub(a, b); }
  I32 iand(I32 a, I32 b) { return a & b; }
  I32 ior(I32 a, I32 b) { return a | b; }
  I32 ixor(I32 a, I32 b) { return a ^ b; }
  I32 shift_left(I32 a, I32 count) { return tenon::shift_left(a, count); }
  I32 shift_right(I32 a, I32 count) { return tenon::shift_right(a, count); }
  I32 shift_right_unsigned(I32 a, I32 count) {
    return static_cast<I32>(tenon::shift_right(static_cast<uint32_t>(a), count));
  }
  I32 funnel_left(I32 high, I32 low, I32 count) {
    uint64_t both = static_cast<uint64_t>(static_cast<uint32_t>(high)) << 32 | static_cast<uint32_t>(low);
    return static_cast<I32>((both << (count & 31)) >> 32);
  }
  I32 count_leading_zeros(I32 a) { return tenon::count_leading_zeros(a); }
  I64 mul_wide_unsigned(I32 a, I32 b) {
    return static_cast<I64>(static_cast<uint64_t>(static_cast<uint32_t>(a)) * static_cast<uint32_t>(b));
  }
  I64 mad_wide_unsigned(I32 a, I32 b, I64 c) { return wrapping_add(mul_wide_unsigned(a, b), c); }
  I64 widen_unsigned(I32 a) { return static_cast<I64>(static_cast<uint32_t>(a)); }
  F32 to_f32(I32 a) { return static_cast<F32>(a); }

  template <class Rare>
  ReducedAngle<HostMath> rarely(Bool condition, ReducedAngle<HostMath> usual, Rare rare) {
    return condition ? rare() : usual;
  }
};
static_assert(MathBuilder<HostMath>);

}  // namespace tenon::codegen::math
