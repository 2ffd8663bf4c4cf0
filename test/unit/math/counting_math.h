// A builder that only counts instructions; constants and reinterpretations are free.
#pragma once

#include <cstdint>

#include "codegen/math/builder.h"

namespace tenon::codegen::math {

struct CountingMath {
  struct Value {};
  using F32 = Value;
  using F64 = double;
  using I32 = int32_t;
  using I64 = int64_t;
  using Bool = bool;

  int count = 0;

  template <class Result, class... Operands>
  Result op(Operands...) {
    ++count;
    return Result();
  }

  F32 f32(float) { return {}; }
  F64 f64(double) { return {}; }
  I32 i32(int32_t) { return {}; }
  F32 add(F32, F32) { return op<F32>(); }
  F32 sub(F32, F32) { return op<F32>(); }
  F32 mul(F32, F32) { return op<F32>(); }
  F32 fma(F32, F32, F32) { return op<F32>(); }
  F32 neg(F32) { return op<F32>(); }
  F32 abs(F32) { return op<F32>(); }
  F64 mul(F64, F64) { return op<F64>(); }
  F64 fma(F64, F64, F64) { return op<F64>(); }
  F64 neg(F64) { return op<F64>(); }
  F64 abs(F64) { return op<F64>(); }
  F32 fma_down(F32, F32, F32) { return op<F32>(); }
  F32 fma_saturated(F32, F32, F32) { return op<F32>(); }
  F32 copysign(F32, F32) { return op<F32>(); }
  F32 min_number(F32, F32) { return op<F32>(); }
  F32 max_number(F32, F32) { return op<F32>(); }
  F32 minimum(F32, F32) { return op<F32>(); }
  F32 maximum(F32, F32) { return op<F32>(); }
  F32 floor(F32) { return op<F32>(); }
  F32 ceil(F32) { return op<F32>(); }
  F32 round_even(F32) { return op<F32>(); }
  F32 trunc(F32) { return op<F32>(); }
  F64 floor(F64) { return op<F64>(); }
  F64 ceil(F64) { return op<F64>(); }
  F64 round_even(F64) { return op<F64>(); }
  F64 trunc(F64) { return op<F64>(); }
  F32 div_rn(F32, F32) { return op<F32>(); }
  F32 sqrt_rn(F32) { return op<F32>(); }
  F64 sqrt_rn(F64) { return op<F64>(); }
  F64 rcp_rn(F64) { return op<F64>(); }
  F32 ex2_approx(F32) { return op<F32>(); }
  F32 ex2_approx_ftz(F32) { return op<F32>(); }
  F32 lg2_approx(F32) { return op<F32>(); }
  F32 lg2_approx_ftz(F32) { return op<F32>(); }
  F32 rcp_approx_ftz(F32) { return op<F32>(); }
  F32 rsqrt_approx(F32) { return op<F32>(); }
  F32 rsqrt_approx_ftz(F32) { return op<F32>(); }
  F32 sqrt_approx_ftz(F32) { return op<F32>(); }
  F32 sin_approx_ftz(F32) { return op<F32>(); }
  F32 cos_approx_ftz(F32) { return op<F32>(); }
  F32 tanh_approx(F32) { return op<F32>(); }
  F32 div_approx_ftz(F32, F32) { return op<F32>(); }
  Bool less(F32, F32) { return op<Bool>(); }
  Bool less_equal(F32, F32) { return op<Bool>(); }
  Bool equal(F32, F32) { return op<Bool>(); }
  Bool not_equal(F32, F32) { return op<Bool>(); }
  Bool equal(F64, F64) { return op<Bool>(); }
  Bool not_equal(F64, F64) { return op<Bool>(); }
  Bool iequal(I32, I32) { return op<Bool>(); }
  Bool iless(I32, I32) { return op<Bool>(); }
  Bool iless_unsigned(I32, I32) { return op<Bool>(); }
  Bool not_zero(I32) { return op<Bool>(); }
  Bool logical_and(Bool, Bool) { return op<Bool>(); }
  Bool logical_or(Bool, Bool) { return op<Bool>(); }
  F32 select(Bool, F32, F32) { return op<F32>(); }
  I32 select(Bool, I32, I32) { return op<I32>(); }
  I32 bits(F32) { return {}; }
  F32 from_bits(I32) { return {}; }
  I32 low_word(I64) { return {}; }
  I32 high_word(I64) { return {}; }
  I32 iadd(I32, I32) { return op<I32>(); }
  I32 isub(I32, I32) { return op<I32>(); }
  I32 iand(I32, I32) { return op<I32>(); }
  I32 ior(I32, I32) { return op<I32>(); }
  I32 ixor(I32, I32) { return op<I32>(); }
  I32 shift_left(I32, I32) { return op<I32>(); }
  I32 shift_right(I32, I32) { return op<I32>(); }
  I32 shift_right_unsigned(I32, I32) { return op<I32>(); }
  I32 funnel_left(I32, I32, I32) { return op<I32>(); }
  I32 count_leading_zeros(I32) { return op<I32>(); }
  I64 mul_wide_unsigned(I32, I32) { return op<I64>(); }
  I64 mad_wide_unsigned(I32, I32, I64) { return op<I64>(); }
  I64 widen_unsigned(I32) { return op<I64>(); }
  F32 to_f32(I32) { return op<F32>(); }

  // One for the branch.
  template <class Rare>
  ReducedAngle<CountingMath> rarely(Bool, ReducedAngle<CountingMath> usual, Rare) {
    ++count;
    return usual;
  }
};
static_assert(MathBuilder<CountingMath>);

}  // namespace tenon::codegen::math
