#include "support/numeric.h"

#include <gtest/gtest.h>

#include <cmath>

#include "samples.h"

namespace tenon {
namespace {

uint32_t bits(float x) { return std::bit_cast<uint32_t>(x); }

TEST(Numeric, FloatToIntegerTruncatesAndSaturates) {
  EXPECT_EQ(int_from_float<int32_t>(-2.9f), -2);
  EXPECT_EQ(int_from_float<int32_t>(3e9f), INT32_MAX);
  EXPECT_EQ(int_from_float<int32_t>(-INFINITY), INT32_MIN);
  EXPECT_EQ(int_from_float<int32_t>(NAN), 0);
  EXPECT_EQ(int_from_float<uint8_t>(-0.5f), 0);
  EXPECT_EQ(int_from_float<uint8_t>(-1.0f), 0);
  EXPECT_EQ(int_from_float<uint8_t>(255.9f), 255);
  EXPECT_EQ(int_from_float<uint8_t>(256.0f), 255);
  EXPECT_EQ(int_from_float<int8_t>(-128.9), -128);
  EXPECT_EQ(int_from_float<int8_t>(-129.0), -128);
  EXPECT_EQ(int_from_float<uint64_t>(0x1p64), UINT64_MAX);
  EXPECT_EQ(int_from_float<uint64_t>(0x1.fffffep63f), 0xFFFFFF0000000000u);
  EXPECT_EQ(int_from_float<int64_t>(-0x1p63), INT64_MIN);
  EXPECT_EQ(int_from_float<int32_t>(2147483647.5), INT32_MAX);
  EXPECT_EQ(int_from_float<int32_t>(-2147483648.5), INT32_MIN);
  EXPECT_EQ(index_from_float(1e20), int64_t{1} << 47);
  EXPECT_EQ(index_from_float(std::nanf("")), 0);
}

TEST(Numeric, DeviceConversionOfNan) {
  EXPECT_EQ(device_int_from_float<int32_t>(NAN), 0);
  EXPECT_EQ(device_int_from_float<int32_t>(static_cast<double>(NAN)), INT32_MIN);
  EXPECT_EQ(device_int_from_float<int64_t>(NAN), INT64_MIN);
  EXPECT_EQ(device_int_from_float<uint32_t>(static_cast<double>(NAN)), 0x80000000u);
  EXPECT_EQ(device_int_from_float<int16_t>(40000.0f), INT16_MAX);
}

TEST(Numeric, MaximumAndMinimum) {
  EXPECT_EQ(bits(maximum(0.0f, -0.0f)), bits(0.0f));
  EXPECT_EQ(bits(maximum(-0.0f, 0.0f)), bits(0.0f));
  EXPECT_EQ(bits(minimum(0.0f, -0.0f)), bits(-0.0f));
  EXPECT_EQ(bits(minimum(-0.0f, 0.0f)), bits(-0.0f));
  EXPECT_EQ(bits(maximum(-0.0f, -0.0f)), bits(-0.0f));
  EXPECT_EQ(bits(maximum(1.0f, NAN)), 0x7FFFFFFFu);
  EXPECT_EQ(bits(minimum(NAN, -INFINITY)), 0x7FFFFFFFu);
  EXPECT_EQ(maximum_number(1.0f, NAN), 1.0f);
  EXPECT_EQ(minimum_number(static_cast<float>(NAN), -2.0f), -2.0f);
  EXPECT_EQ(bits(maximum_number(NAN, -NAN)), 0x7FFFFFFFu);
  EXPECT_EQ(maximum(2.0, 3.0), 3.0);
  EXPECT_EQ(minimum(-2.0, 3.0), -2.0);
  EXPECT_EQ(bits(minimum_number(0.0f, -0.0f)), bits(-0.0f));
}

TEST(Numeric, RoundEven) {
  for (float x : test::floats_of_all_exponents(500, 21)) {
    float expected = std::nearbyint(x);
    if (std::isnan(x)) {
      EXPECT_TRUE(std::isnan(round_even(x)));
    } else {
      EXPECT_EQ(bits(round_even(x)), bits(expected)) << x;
    }
  }
  EXPECT_EQ(round_even(2.5), 2.0);
  EXPECT_EQ(round_even(-3.5), -4.0);
  EXPECT_EQ(bits(round_even(-0.5f)), bits(-0.0f));
  EXPECT_EQ(round_even(0x1.fffffffffffffp51), 0x1p52);
}

// They are usable in constants, as the checker does.
static_assert(f16_from_f32(1.0f) == 0x3C00);
static_assert(int_from_float<uint8_t>(300.0) == 255);
static_assert(maximum(1.0, 2.0) == 2.0);

}  // namespace
}  // namespace tenon
