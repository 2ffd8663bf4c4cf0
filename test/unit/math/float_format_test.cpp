// Conversions against MPFR, which rounds in every mode to every format.
#include <gtest/gtest.h>

#include <cmath>
#include <vector>

#include "oracle.h"
#include "samples.h"
#include "support/numeric.h"

namespace tenon {
namespace {

constexpr Rounding kModes[] = {Rounding::kNearestEven, Rounding::kNearestAway, Rounding::kTowardZero,
                               Rounding::kDown, Rounding::kUp};

mpfr_rnd_t mpfr_mode(Rounding mode) {
  switch (mode) {
    case Rounding::kNearestEven:
      return MPFR_RNDN;
    case Rounding::kTowardZero:
      return MPFR_RNDZ;
    case Rounding::kDown:
      return MPFR_RNDD;
    case Rounding::kUp:
      return MPFR_RNDU;
    // mpfr_round_nearest_away cannot make denormals; a half is added instead.
    case Rounding::kNearestAway:
      return MPFR_RNDZ;
  }
  return MPFR_RNDN;
}

// `value` in the format as a double: its quotient by the unit in the last place rounded to an integer, then
// overflow.
template <class Format>
double rounded_by_mpfr(double value, Rounding mode) {
  if (std::isnan(value) || std::isinf(value) || value == 0) return value;
  int exponent = std::max(std::ilogb(value), Format::kMinExponent);
  test::Exact units(value);
  mpfr_mul_2si(units.get(), units.get(), Format::kFractionBits - exponent, MPFR_RNDN);
  if (mode == Rounding::kNearestAway) {
    test::Exact half(std::copysign(0.5, value));
    mpfr_add(units.get(), units.get(), half.get(), MPFR_RNDN);
  }
  if (mode == Rounding::kNearestEven) {
    mpfr_rint_roundeven(units.get(), units.get(), MPFR_RNDN);
  } else {
    mpfr_rint(units.get(), units.get(), mpfr_mode(mode));
  }
  mpfr_mul_2si(units.get(), units.get(), exponent - Format::kFractionBits, MPFR_RNDN);
  double result = std::copysign(units.to_double(), value);
  double largest = decode<Format>(static_cast<typename Format::Storage>(Format::kMaxFinite));
  if (std::fabs(result) <= largest) return result;
  bool away = mode == Rounding::kNearestEven || mode == Rounding::kNearestAway ||
              mode == (value < 0 ? Rounding::kDown : Rounding::kUp);
  return std::copysign(away ? INFINITY : largest, value);
}

std::vector<double> doubles(unsigned count) {
  test::Random random(11);
  std::vector<double> out = {0.0, -0.0, INFINITY, -INFINITY, NAN, 5e-324, -5e-324, 1e308};
  for (float x : test::floats_of_all_exponents(count, 12)) {
    double wide = x;
    // The float itself, and its neighbours of two precisions, where double rounding would show.
    out.push_back(wide);
    out.push_back(std::nextafter(wide, INFINITY));
    out.push_back(wide * (1 + 0x1p-24));
    out.push_back(std::nextafter(wide * (1 + 0x1p-24), 0));
    out.push_back(wide * random.uniform(0.5, 2));
  }
  // Ties of the 16-bit and 8-bit formats.
  for (int k = 0; k < 20000; ++k) {
    double tie = std::ldexp(static_cast<double>((random.next() & 0xFFF) * 2 + 1),
                            static_cast<int>(random.next() % 300) - 160);
    out.push_back(tie);
    out.push_back(std::nextafter(tie, 0));
    out.push_back(std::nextafter(-tie, -INFINITY));
  }
  return out;
}

template <class Format>
void check_encode() {
  for (double x : doubles(40)) {
    for (Rounding mode : kModes) {
      double result = decode<Format>(encode<Format>(x, mode));
      double expected = rounded_by_mpfr<Format>(x, mode);
      if (Format::kInfinity == Format::kNan && std::isinf(expected)) expected = NAN;
      if (std::isnan(expected)) {
        EXPECT_TRUE(std::isnan(result)) << x;
      } else {
        ASSERT_EQ(result, expected) << std::hexfloat << x << " mode " << static_cast<int>(mode);
        ASSERT_EQ(std::signbit(result), std::signbit(expected)) << x;
      }
    }
  }
}

TEST(FloatFormat, EncodesF16) { check_encode<Float16>(); }
TEST(FloatFormat, EncodesBF16) { check_encode<BFloat16>(); }
TEST(FloatFormat, EncodesF8E4M3) { check_encode<Float8E4M3>(); }
TEST(FloatFormat, EncodesF8E5M2) { check_encode<Float8E5M2>(); }
TEST(FloatFormat, EncodesTf32) { check_encode<FloatTf32>(); }
TEST(FloatFormat, EncodesF32) { check_encode<Float32>(); }

TEST(FloatFormat, EveryValueOfTheSmallFormatsRoundTrips) {
  for (uint32_t bits = 0; bits < 0x10000; ++bits) {
    auto narrow = static_cast<uint16_t>(bits);
    float half = f32_from_f16(narrow);
    float brain = f32_from_bf16(narrow);
    EXPECT_EQ(f16_from_f32(half), std::isnan(half) ? 0x7FFF : narrow);
    EXPECT_EQ(bf16_from_f32(brain), std::isnan(brain) ? 0x7FFF : narrow);
    if (!std::isnan(half)) EXPECT_EQ(half, decode<Float16>(narrow));
    if (!std::isnan(brain)) EXPECT_EQ(brain, decode<BFloat16>(narrow));
  }
  for (uint32_t bits = 0; bits < 0x100; ++bits) {
    auto narrow = static_cast<uint8_t>(bits);
    float e4m3 = f32_from_f8e4m3(narrow);
    float e5m2 = f32_from_f8e5m2(narrow);
    if (!std::isnan(e4m3)) EXPECT_EQ(f8e4m3_from_f32(e4m3), narrow);
    if (!std::isnan(e5m2) && !std::isinf(e5m2)) EXPECT_EQ(f8e5m2_from_f32(e5m2), narrow);
    if (!std::isnan(e5m2)) EXPECT_EQ(e5m2, decode<Float8E5M2>(narrow));
  }
}

TEST(FloatFormat, FastConversionsAgreeWithTheGeneralOne) {
  for (float x : test::floats_of_all_exponents(2000, 13)) {
    EXPECT_EQ(f16_from_f32(x), encode<Float16>(x)) << x;
    EXPECT_EQ(bf16_from_f32(x), encode<BFloat16>(x)) << x;
  }
  test::Random random(14);
  for (int k = 0; k < 1000000; ++k) {
    float x = random.any_float();
    ASSERT_EQ(f16_from_f32(x), encode<Float16>(x)) << x;
    ASSERT_EQ(bf16_from_f32(x), encode<BFloat16>(x)) << x;
  }
}

TEST(FloatFormat, EightBitFormatsSaturate) {
  EXPECT_EQ(f8e4m3_from_f32(1e9f), 0x7E);
  EXPECT_EQ(f8e4m3_from_f32(-INFINITY), 0xFE);
  EXPECT_EQ(f8e4m3_from_f32(465.0f), 0x7E);
  EXPECT_EQ(f8e4m3_from_f32(NAN), 0x7F);
  EXPECT_EQ(f8e5m2_from_f32(INFINITY), 0x7B);
  EXPECT_EQ(f8e5m2_from_f32(61440.0f), 0x7B);
  EXPECT_EQ(f32_from_f8e4m3(0x7E), 448.0f);
  EXPECT_EQ(f32_from_f8e5m2(0x7B), 57344.0f);
  EXPECT_EQ(f32_from_f8e4m3(0x01), 0x1p-9f);
}

TEST(FloatFormat, Tf32RoundsAwayAtTies) {
  EXPECT_EQ(tf32_from_f32(1.0f + 0x1p-11f), 1.0f + 0x1p-10f);
  EXPECT_EQ(tf32_from_f32(1.0f + 0x1p-11f, Rounding::kNearestEven), 1.0f);
  EXPECT_EQ(tf32_from_f32(-1.0f - 0x1p-11f, Rounding::kTowardZero), -1.0f);
}

TEST(FloatFormat, IntegersRoundOnce) {
  // 2^24 + 1 halves, and a 64-bit value whose rounding a double would decide wrongly.
  EXPECT_EQ(encode_int<Float32>(int64_t{0x1000001}), 0x4B800000u);
  EXPECT_EQ(std::bit_cast<float>(encode_int<Float32>((int64_t{1} << 62) + (int64_t{1} << 38) + 1)),
            0x1p62f + 0x1p39f);
  EXPECT_EQ(std::bit_cast<float>(encode_int<Float32>(INT64_MIN)), -0x1p63f);
  EXPECT_EQ(std::bit_cast<float>(encode_int<Float32>(UINT64_MAX, Rounding::kTowardZero)), 0x1.fffffep63f);
  EXPECT_EQ(std::bit_cast<double>(encode_int<Float64>(INT64_MAX, Rounding::kUp)), 0x1p63);
  test::Random random(15);
  for (int k = 0; k < 100000; ++k) {
    auto x = static_cast<int64_t>(random.next()) >> (random.next() % 64);
    EXPECT_EQ(std::bit_cast<float>(encode_int<Float32>(x)), static_cast<float>(x)) << x;
  }
}

TEST(FloatFormat, ByElementType) {
  EXPECT_EQ(float_value(ElementType::kF16, 0x3C00), 1.0);
  EXPECT_EQ(float_bits(ElementType::kBF16, 1.0), 0x3F80u);
  EXPECT_EQ(float_bits(ElementType::kF16, 1e9), 0x7C00u);
  EXPECT_EQ(float_bits(ElementType::kF8E5M2, 1e9), 0x7Bu);
  EXPECT_EQ(float_value(ElementType::kF64, std::bit_cast<uint64_t>(0.1)), 0.1);
  // Through f32 this would round up to a tie first.
  EXPECT_EQ(float_bits(ElementType::kF16, 1 + 0x1p-11 + 0x1p-40), 0x3C01u);
}

}  // namespace
}  // namespace tenon
