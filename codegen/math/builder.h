// What a math expansion is written against. Each expansion in this folder is one template over a builder:
// with HostMath (host.h) it computes on plain floats, for the tests and the tile interpreter; with the
// emitter of the code generation it produces instructions. One operation of the builder is one PTX
// instruction, except where said otherwise, so that the text of an expansion shows its cost.
//
// Nothing is contracted or reordered: an fma is one because it is written as one. Unless said otherwise
// operations round to nearest even and keep denormals. NaN results have unspecified bits.
#pragma once

#include <concepts>
#include <cstdint>
#include <limits>

namespace tenon::codegen::math {

inline constexpr float kInfinity = std::numeric_limits<float>::infinity();
inline constexpr float kNan = std::numeric_limits<float>::quiet_NaN();

// An argument of the circular functions, reduced: x = quadrant * pi/2 + high + low, modulo whole turns, with
// |high| <= pi/4 and low below its last place. Only the two lowest bits of the quadrant count.
template <class B>
struct ReducedAngle {
  typename B::F32 high;
  typename B::F32 low;
  typename B::I32 quadrant;
};

// Values are cheap to copy. F64 is a type of its own; F32, I32, I64 and Bool may be one, hence the `i` of the integer
// operations.
// clang-format off
template <class B>
concept MathBuilder = requires(B& b, typename B::F32 f, typename B::F64 d, typename B::I32 i, typename B::I64 l,
                               typename B::Bool p, ReducedAngle<B> angle,
                               ReducedAngle<B> (*rare)()) {
  // Constants; free where the instruction takes an immediate.
  { b.f32(0.5f) } -> std::same_as<typename B::F32>;
  { b.f64(0.5) } -> std::same_as<typename B::F64>;
  { b.i32(int32_t{1}) } -> std::same_as<typename B::I32>;

  // Arithmetic, f32 and f64.
  { b.add(f, f) } -> std::same_as<typename B::F32>;
  { b.sub(f, f) } -> std::same_as<typename B::F32>;
  { b.mul(f, f) } -> std::same_as<typename B::F32>;
  { b.fma(f, f, f) } -> std::same_as<typename B::F32>;
  { b.neg(f) } -> std::same_as<typename B::F32>;
  { b.abs(f) } -> std::same_as<typename B::F32>;
  { b.mul(d, d) } -> std::same_as<typename B::F64>;
  { b.fma(d, d, d) } -> std::same_as<typename B::F64>;
  { b.neg(d) } -> std::same_as<typename B::F64>;
  { b.abs(d) } -> std::same_as<typename B::F64>;
  // fma.rm, and fma.rn.sat: the result clamped to [0, 1], NaN gives 0 (a second instruction where the first has no
  // modifier for it).
  { b.fma_down(f, f, f) } -> std::same_as<typename B::F32>;
  { b.fma_saturated(f, f, f) } -> std::same_as<typename B::F32>;
  // The first operand's magnitude with the second's sign.
  { b.copysign(f, f) } -> std::same_as<typename B::F32>;
  // min and max of two numbers (a NaN loses), and with NaN propagated (min.NaN, max.NaN); +0 is above -0.
  { b.min_number(f, f) } -> std::same_as<typename B::F32>;
  { b.max_number(f, f) } -> std::same_as<typename B::F32>;
  { b.minimum(f, f) } -> std::same_as<typename B::F32>;
  { b.maximum(f, f) } -> std::same_as<typename B::F32>;
  // To an integral value: cvt.rmi, .rpi, .rni, .rzi; f32 and f64.
  { b.floor(f) } -> std::same_as<typename B::F32>;
  { b.ceil(f) } -> std::same_as<typename B::F32>;
  { b.round_even(f) } -> std::same_as<typename B::F32>;
  { b.trunc(f) } -> std::same_as<typename B::F32>;
  { b.floor(d) } -> std::same_as<typename B::F64>;
  { b.ceil(d) } -> std::same_as<typename B::F64>;
  { b.round_even(d) } -> std::same_as<typename B::F64>;
  { b.trunc(d) } -> std::same_as<typename B::F64>;
  // Correctly rounded.
  { b.div_rn(f, f) } -> std::same_as<typename B::F32>;
  { b.sqrt_rn(f) } -> std::same_as<typename B::F32>;
  { b.sqrt_rn(d) } -> std::same_as<typename B::F64>;
  { b.rcp_rn(d) } -> std::same_as<typename B::F64>;

  // The approximate instructions, with the accuracy of support/device_math.h. `_ftz` flushes denormal arguments and
  // results to zero.
  { b.ex2_approx(f) } -> std::same_as<typename B::F32>;
  { b.ex2_approx_ftz(f) } -> std::same_as<typename B::F32>;
  { b.lg2_approx(f) } -> std::same_as<typename B::F32>;
  { b.lg2_approx_ftz(f) } -> std::same_as<typename B::F32>;
  { b.rcp_approx_ftz(f) } -> std::same_as<typename B::F32>;
  { b.rsqrt_approx(f) } -> std::same_as<typename B::F32>;
  { b.rsqrt_approx_ftz(f) } -> std::same_as<typename B::F32>;
  { b.sqrt_approx_ftz(f) } -> std::same_as<typename B::F32>;
  { b.sin_approx_ftz(f) } -> std::same_as<typename B::F32>;
  { b.cos_approx_ftz(f) } -> std::same_as<typename B::F32>;
  { b.tanh_approx(f) } -> std::same_as<typename B::F32>;
  { b.div_approx_ftz(f, f) } -> std::same_as<typename B::F32>;

  // Ordered comparisons: false for NaN; not_equal is true for NaN.
  { b.less(f, f) } -> std::same_as<typename B::Bool>;
  { b.less_equal(f, f) } -> std::same_as<typename B::Bool>;
  { b.equal(f, f) } -> std::same_as<typename B::Bool>;
  { b.not_equal(f, f) } -> std::same_as<typename B::Bool>;
  { b.equal(d, d) } -> std::same_as<typename B::Bool>;
  { b.not_equal(d, d) } -> std::same_as<typename B::Bool>;
  { b.iequal(i, i) } -> std::same_as<typename B::Bool>;
  { b.iless(i, i) } -> std::same_as<typename B::Bool>;
  { b.iless_unsigned(i, i) } -> std::same_as<typename B::Bool>;
  { b.not_zero(i) } -> std::same_as<typename B::Bool>;
  { b.logical_and(p, p) } -> std::same_as<typename B::Bool>;
  { b.logical_or(p, p) } -> std::same_as<typename B::Bool>;
  { b.select(p, f, f) } -> std::same_as<typename B::F32>;
  { b.select(p, i, i) } -> std::same_as<typename B::I32>;

  // Bits: a reinterpretation, no instruction.
  { b.bits(f) } -> std::same_as<typename B::I32>;
  { b.from_bits(i) } -> std::same_as<typename B::F32>;
  { b.low_word(l) } -> std::same_as<typename B::I32>;
  { b.high_word(l) } -> std::same_as<typename B::I32>;

  // 32-bit integers, wrapping. Shift counts are in 0..31.
  { b.iadd(i, i) } -> std::same_as<typename B::I32>;
  { b.isub(i, i) } -> std::same_as<typename B::I32>;
  { b.iand(i, i) } -> std::same_as<typename B::I32>;
  { b.ior(i, i) } -> std::same_as<typename B::I32>;
  { b.ixor(i, i) } -> std::same_as<typename B::I32>;
  { b.shift_left(i, i) } -> std::same_as<typename B::I32>;
  { b.shift_right(i, i) } -> std::same_as<typename B::I32>;
  { b.shift_right_unsigned(i, i) } -> std::same_as<typename B::I32>;
  // The upper word of (high:low) << count (shf.l).
  { b.funnel_left(i, i, i) } -> std::same_as<typename B::I32>;
  { b.count_leading_zeros(i) } -> std::same_as<typename B::I32>;
  // u32 * u32 + u64, wrapping (mad.wide.u32), and u32 * u32 (mul.wide.u32).
  { b.mul_wide_unsigned(i, i) } -> std::same_as<typename B::I64>;
  { b.mad_wide_unsigned(i, i, l) } -> std::same_as<typename B::I64>;
  // A u32 as a u64.
  { b.widen_unsigned(i) } -> std::same_as<typename B::I64>;
  // cvt.rn.f32.s32.
  { b.to_f32(i) } -> std::same_as<typename B::F32>;

  // `usual`, or the value of the callable where the condition holds, which is rare: a builder may branch around the
  // callable or evaluate it always and select. The callable has no effect but its value.
  { b.rarely(p, angle, rare) } -> std::same_as<ReducedAngle<B>>;
};
// clang-format on

}  // namespace tenon::codegen::math
