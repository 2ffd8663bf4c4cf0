// Floating-point formats and conversions between them, bit-exact on every host, as the language and PTX
// define them. Small formats are passed as their bits: f16 and bf16 in a uint16_t, f8e4m3 and f8e5m2 in a
// uint8_t. Whoever includes this is built with -ffp-contract=off and without -ffast-math.
#pragma once

#include <bit>
#include <cmath>
#include <concepts>
#include <cstdint>
#include <limits>
#include <type_traits>

#include "support/element_type.h"
#include "support/integer_math.h"

namespace tenon {

// The rounding modifiers of PTX: .rn .rna .rz .rm .rp.
enum class Rounding : uint8_t { kNearestEven, kNearestAway, kTowardZero, kDown, kUp };

// What happens to values beyond the largest finite one: IEEE overflow (infinity, or the largest finite value
// when rounding away from it), or always the largest finite value, also for infinity itself (.satfinite).
enum class Overflow : uint8_t { kInfinity, kSaturate };

// An IEEE-like binary format of 1 + exponent + fraction bits with denormals. `kMaxFinite`, `kInfinity` and
// `kNan` are magnitudes as bits; a format without infinities has kInfinity == kNan. NaNs are written as the
// device does.
template <class StorageType, int exponent_bits, int fraction_bits, uint64_t max_finite, uint64_t infinity,
          uint64_t nan>
struct FloatFormat {
  using Storage = StorageType;
  static constexpr int kFractionBits = fraction_bits;
  static constexpr int kBits = 1 + exponent_bits + fraction_bits;
  static constexpr int kBias = (1 << (exponent_bits - 1)) - 1;
  static constexpr int kMinExponent = 1 - kBias;
  static constexpr uint64_t kMaxFinite = max_finite;
  static constexpr uint64_t kInfinity = infinity;
  static constexpr uint64_t kNan = nan;
};

using Float64 = FloatFormat<uint64_t, 11, 52, 0x7FEFFFFFFFFFFFFF, 0x7FF0000000000000, 0x7FFFFFFFFFFFFFFF>;
using Float32 = FloatFormat<uint32_t, 8, 23, 0x7F7FFFFF, 0x7F800000, 0x7FFFFFFF>;
// TF32 lives in the upper 19 bits of an f32; here it is shifted down.
using FloatTf32 = FloatFormat<uint32_t, 8, 10, 0x3FBFF, 0x3FC00, 0x3FFFF>;
using Float16 = FloatFormat<uint16_t, 5, 10, 0x7BFF, 0x7C00, 0x7FFF>;
using BFloat16 = FloatFormat<uint16_t, 8, 7, 0x7F7F, 0x7F80, 0x7FFF>;
using Float8E4M3 = FloatFormat<uint8_t, 4, 3, 0x7E, 0x7F, 0x7F>;
using Float8E5M2 = FloatFormat<uint8_t, 5, 2, 0x7B, 0x7C, 0x7F>;

// The value (-1)^negative * significand * 2^exponent in `Format`, rounded once. The significand may have any
// number of bits; if it was cut from a longer one, its lowest bit must be set where something was lost below
// it, and it must have at least two bits more than the format.
template <class Format>
constexpr typename Format::Storage encode_significand(bool negative, uint64_t significand, int exponent,
                                                      Rounding rounding,
                                                      Overflow overflow = Overflow::kInfinity) {
  uint64_t sign = static_cast<uint64_t>(negative) << (Format::kBits - 1);
  if (significand == 0) return static_cast<typename Format::Storage>(sign);
  int zeros = std::countl_zero(significand);
  significand <<= zeros;
  // The exponent of the leading bit, and how far below the format's least normal exponent it lies.
  int leading = exponent - zeros + 63;
  int below = leading < Format::kMinExponent ? Format::kMinExponent - leading : 0;
  // Beyond 63 everything is a remainder below half a unit; the top bit is then moved out of the way.
  int shift = 63 - Format::kFractionBits + below;
  if (shift > 63) {
    int excess = shift - 63;
    uint64_t lost = excess >= 64 ? significand : significand & ((uint64_t{1} << excess) - 1);
    significand = (excess >= 64 ? 0 : significand >> excess) | (lost != 0);
    shift = 63;
  }
  uint64_t kept = significand >> shift;
  uint64_t remainder = significand & ((uint64_t{1} << shift) - 1);
  uint64_t half = uint64_t{1} << (shift - 1);
  bool up = false;
  switch (rounding) {
    case Rounding::kNearestEven:
      up = remainder > half || (remainder == half && (kept & 1) != 0);
      break;
    case Rounding::kNearestAway:
      up = remainder >= half;
      break;
    case Rounding::kTowardZero:
      break;
    case Rounding::kDown:
      up = remainder != 0 && negative;
      break;
    case Rounding::kUp:
      up = remainder != 0 && !negative;
      break;
  }
  kept += up;
  int above = below > 0 ? 0 : leading - Format::kMinExponent;
  bool overflows = above >= (1 << (Format::kBits - 1 - Format::kFractionBits)) ||
                   (static_cast<uint64_t>(above) << Format::kFractionBits) + kept > Format::kMaxFinite;
  uint64_t magnitude = (static_cast<uint64_t>(above) << Format::kFractionBits) + kept;
  if (overflows) {
    bool away = rounding == Rounding::kNearestEven || rounding == Rounding::kNearestAway ||
                rounding == (negative ? Rounding::kDown : Rounding::kUp);
    magnitude = overflow == Overflow::kInfinity && away ? Format::kInfinity : Format::kMaxFinite;
  }
  return static_cast<typename Format::Storage>(sign | magnitude);
}

// `value` in `Format`, rounded once from the double itself.
template <class Format>
constexpr typename Format::Storage encode(double value, Rounding rounding = Rounding::kNearestEven,
                                          Overflow overflow = Overflow::kInfinity) {
  auto bits = std::bit_cast<uint64_t>(value);
  bool negative = (bits >> 63) != 0;
  uint64_t sign = (bits >> 63) << (Format::kBits - 1);
  int biased = static_cast<int>((bits >> 52) & 0x7FF);
  uint64_t fraction = bits & ((uint64_t{1} << 52) - 1);
  if (biased == 0x7FF) {
    if (fraction != 0) return static_cast<typename Format::Storage>(Format::kNan);
    uint64_t magnitude = overflow == Overflow::kSaturate ? Format::kMaxFinite : Format::kInfinity;
    return static_cast<typename Format::Storage>(sign | magnitude);
  }
  if (biased == 0) return encode_significand<Format>(negative, fraction, -1074, rounding, overflow);
  return encode_significand<Format>(negative, fraction | (uint64_t{1} << 52), biased - 1075, rounding,
                                    overflow);
}

// The exact value of `bits` in a format of at most 32 bits; NaNs come out as the canonical quiet one.
template <class Format>
constexpr double decode(typename Format::Storage bits) {
  static_assert(Format::kBits <= 32);
  uint64_t magnitude = static_cast<uint64_t>(bits) & ((uint64_t{1} << (Format::kBits - 1)) - 1);
  uint64_t sign = static_cast<uint64_t>(bits >> (Format::kBits - 1) & 1) << 63;
  // As the fraction of a double with the same exponent field the value is short by the difference of the
  // biases.
  double value = std::bit_cast<double>(magnitude << (52 - Format::kFractionBits)) *
                 std::bit_cast<double>(static_cast<uint64_t>(2046 - Format::kBias) << 52);
  uint64_t special =
      magnitude > Format::kMaxFinite
          ? (magnitude == Format::kInfinity && Format::kInfinity != Format::kNan ? Float64::kInfinity
                                                                                 : Float64::kNan)
          : std::bit_cast<uint64_t>(value);
  return std::bit_cast<double>(special | sign);
}

// f16, bf16 and f8 from f32, nearest even: the hot conversions, without branches.

constexpr uint16_t f16_from_f32(float value) {
  auto bits = std::bit_cast<uint32_t>(value);
  uint32_t sign = bits >> 16 & 0x8000;
  uint32_t magnitude = bits & 0x7FFFFFFF;
  // Normal results: rebias, add half a unit less one and the unit's parity. The carry runs into the exponent.
  uint32_t normal = (magnitude - 0x38000000 + 0xFFF + (magnitude >> 13 & 1)) >> 13;
  // Denormal results: adding 0.5 aligns the fraction's last place to 2^-24 and rounds as the host does.
  uint32_t denormal = std::bit_cast<uint32_t>(std::bit_cast<float>(magnitude) + 0.5f) - 0x3F000000;
  uint32_t result = magnitude < 0x38800000 ? denormal : normal;
  result = magnitude >= 0x47800000 ? 0x7C00 : result;
  return static_cast<uint16_t>(magnitude > 0x7F800000 ? 0x7FFF : sign | result);
}

constexpr float f32_from_f16(uint16_t bits) {
  uint32_t sign = static_cast<uint32_t>(bits & 0x8000) << 16;
  uint32_t magnitude = bits & 0x7FFF;
  // 2^112 corrects the bias, for denormals too.
  float scaled = std::bit_cast<float>(magnitude << 13) * 0x1p112f;
  uint32_t result = magnitude >= 0x7C00 ? (magnitude << 13) + 0x70000000 : std::bit_cast<uint32_t>(scaled);
  return std::bit_cast<float>(sign | result);
}

constexpr uint16_t bf16_from_f32(float value) {
  auto bits = std::bit_cast<uint32_t>(value);
  uint32_t rounded = (bits + 0x7FFF + (bits >> 16 & 1)) >> 16;
  return static_cast<uint16_t>((bits & 0x7FFFFFFF) > 0x7F800000 ? 0x7FFF : rounded);
}

constexpr float f32_from_bf16(uint16_t bits) {
  return std::bit_cast<float>(static_cast<uint32_t>(bits) << 16);
}

// Saturating, infinity too: what a cast to f8 means, and what cvt.rn.satfinite does.
constexpr uint8_t f8e4m3_from_f32(float value) {
  return encode<Float8E4M3>(value, Rounding::kNearestEven, Overflow::kSaturate);
}
constexpr uint8_t f8e5m2_from_f32(float value) {
  return encode<Float8E5M2>(value, Rounding::kNearestEven, Overflow::kSaturate);
}
constexpr float f32_from_f8e4m3(uint8_t bits) { return static_cast<float>(decode<Float8E4M3>(bits)); }
// An f16 cut after eight bits.
constexpr float f32_from_f8e5m2(uint8_t bits) { return f32_from_f16(static_cast<uint16_t>(bits << 8)); }

// f32 from f64 in any mode.
constexpr float f32_from_f64(double value, Rounding rounding = Rounding::kNearestEven) {
  return std::bit_cast<float>(encode<Float32>(value, rounding));
}

// cvt.{rn,rna,rz}.tf32.f32: the value rounded to 10 fraction bits, still as an f32.
constexpr float tf32_from_f32(float value, Rounding rounding = Rounding::kNearestAway) {
  uint32_t bits = encode<FloatTf32>(value, rounding);
  return std::bit_cast<float>(bits << 13);
}

// The value of an element of a floating-point type, given as its bits in the low end of `bits`; exact.
double float_value(ElementType type, uint64_t bits);
// The bits of `value` in a floating-point type, rounded to nearest even once; f8 saturates, others overflow
// to infinity.
uint64_t float_bits(ElementType type, double value);

// An integer as a float, rounded once; `From` may have 64 bits.
template <class Format, std::integral From>
constexpr typename Format::Storage encode_int(From value, Rounding rounding = Rounding::kNearestEven) {
  using U = std::make_unsigned_t<From>;
  bool negative = value < From{0};
  uint64_t magnitude = static_cast<uint64_t>(static_cast<U>(negative ? wrapping_neg(value) : value));
  return encode_significand<Format>(negative, magnitude, 0, rounding);
}

// Truncates and saturates; NaN gives 0. What a cast to an integer type means.
template <std::integral To, std::floating_point From>
constexpr To int_from_float(From value) {
  using Limits = std::numeric_limits<To>;
  // 2^digits is exact in any format; the least value is 0 or its negative.
  constexpr From kEnd = static_cast<From>(uint64_t{1} << (Limits::digits - 1)) * From{2};
  constexpr From kBegin = std::is_signed_v<To> ? -kEnd : From{0};
  To result = value >= kEnd     ? Limits::max()
              : value <= kBegin ? Limits::min()
                                : static_cast<To>(value != value ? From{0} : value);
  return result;
}

// cvt to an integer: as int_from_float, but NaN gives 1 << (bits - 1) where the source is f64 or the result
// has 64 bits. `value` has been rounded to an integer before if the mode is not .rzi.
template <std::integral To, std::floating_point From>
constexpr To device_int_from_float(From value) {
  constexpr bool kNanIsLeast = sizeof(From) == 8 || sizeof(To) == 8;
  using U = std::make_unsigned_t<To>;
  constexpr To kNan = static_cast<To>(kNanIsLeast ? static_cast<U>(U{1} << (8 * sizeof(To) - 1)) : U{0});
  return value != value ? kNan : int_from_float<To>(value);
}

// `index(e)` of a float: truncates, saturates at +-2^47, NaN gives 0.
template <std::floating_point From>
constexpr int64_t index_from_float(From value) {
  return index_from_int(int_from_float<int64_t>(value));
}

template <std::floating_point T>
constexpr T canonical_nan() {
  if constexpr (sizeof(T) == 8) return std::bit_cast<double>(Float64::kNan);
  if constexpr (sizeof(T) == 4) return std::bit_cast<float>(static_cast<uint32_t>(Float32::kNan));
}

namespace numeric_internal {
template <std::floating_point T>
using BitsOf = std::conditional_t<sizeof(T) == 8, uint64_t, uint32_t>;

// Equal operands differ at most in the sign of a zero; joining their bits picks the sign that max or min
// wants.
template <std::floating_point T>
constexpr T larger(T a, T b) {
  using U = BitsOf<T>;
  T equal = std::bit_cast<T>(static_cast<U>(std::bit_cast<U>(a) & std::bit_cast<U>(b)));
  return a == b ? equal : a > b ? a : b;
}
template <std::floating_point T>
constexpr T smaller(T a, T b) {
  using U = BitsOf<T>;
  T equal = std::bit_cast<T>(static_cast<U>(std::bit_cast<U>(a) | std::bit_cast<U>(b)));
  return a == b ? equal : a < b ? a : b;
}
}  // namespace numeric_internal

// max and min of the language, and max.NaN and min.NaN of PTX: NaN if either operand is one, +0 above -0.
template <std::floating_point T>
constexpr T maximum(T a, T b) {
  return a != a || b != b ? canonical_nan<T>() : numeric_internal::larger(a, b);
}
template <std::floating_point T>
constexpr T minimum(T a, T b) {
  return a != a || b != b ? canonical_nan<T>() : numeric_internal::smaller(a, b);
}

// `x`, its NaNs made the device's. On the bits: a compiler may drop a selection between two NaNs.
template <std::floating_point T>
constexpr T canonical(T x) {
  using U = numeric_internal::BitsOf<T>;
  using Format = std::conditional_t<sizeof(T) == 8, Float64, Float32>;
  U bits = std::bit_cast<U>(x);
  constexpr U kMagnitude = static_cast<U>(~(U{1} << (8 * sizeof(T) - 1)));
  return std::bit_cast<T>((bits & kMagnitude) > Format::kInfinity ? static_cast<U>(Format::kNan) : bits);
}

// max and min of PTX: a NaN loses to a number, two give the canonical one; +0 above -0.
template <std::floating_point T>
constexpr T maximum_number(T a, T b) {
  T number = a != a ? b : b != b ? a : numeric_internal::larger(a, b);
  return canonical(number);
}
template <std::floating_point T>
constexpr T minimum_number(T a, T b) {
  T number = a != a ? b : b != b ? a : numeric_internal::smaller(a, b);
  return canonical(number);
}

// Ties to even, whatever rounding mode or library the host has; keeps the sign of zero.
template <std::floating_point T>
constexpr T round_even(T value) {
  // Adding and subtracting 2^(fraction bits) leaves the integer part.
  constexpr T kShift = sizeof(T) == 8 ? T(0x1p52) : T(0x1p23);
  T magnitude = value < T{0} ? -value : value;
  T rounded = magnitude < kShift ? (magnitude + kShift) - kShift : magnitude;
  using U = numeric_internal::BitsOf<T>;
  constexpr U kSign = U{1} << (8 * sizeof(T) - 1);
  U bits = (std::bit_cast<U>(rounded) & ~kSign) | (std::bit_cast<U>(value) & kSign);
  return value != value ? value : std::bit_cast<T>(bits);
}

}  // namespace tenon
