#include "support/integer_math.h"

#include <gtest/gtest.h>

#include <limits>

namespace tenon {
namespace {

TEST(IntegerMath, Wraps) {
  EXPECT_EQ(wrapping_add<int32_t>(INT32_MAX, 1), INT32_MIN);
  EXPECT_EQ(wrapping_add<int8_t>(127, 1), -128);
  EXPECT_EQ(wrapping_sub<uint16_t>(0, 1), 65535);
  EXPECT_EQ(wrapping_mul<uint16_t>(65535, 65535), 1);
  EXPECT_EQ(wrapping_mul<int64_t>(INT64_MIN, -1), INT64_MIN);
  EXPECT_EQ(wrapping_neg<int16_t>(INT16_MIN), INT16_MIN);
  EXPECT_EQ(wrapping_abs<int8_t>(-128), -128);
  EXPECT_EQ(wrapping_abs<uint8_t>(200), 200);
}

// All pairs of a small type, against division in a wide one.
TEST(IntegerMath, DividesAsTheLanguageSays) {
  for (int a = -128; a <= 127; ++a) {
    for (int b = -128; b <= 127; ++b) {
      auto x = static_cast<int8_t>(a);
      auto y = static_cast<int8_t>(b);
      if (b == 0) {
        EXPECT_EQ(div_trunc(x, y), 0);
        EXPECT_EQ(rem_trunc(x, y), x);
        EXPECT_EQ(div_floor(x, y), 0);
        EXPECT_EQ(mod_floor(x, y), x);
        continue;
      }
      int floor = (a - ((a % b + b) % b)) / b;
      EXPECT_EQ(div_trunc(x, y), static_cast<int8_t>(a / b));
      EXPECT_EQ(rem_trunc(x, y), static_cast<int8_t>(a % b));
      EXPECT_EQ(div_floor(x, y), static_cast<int8_t>(floor)) << a << " " << b;
      EXPECT_EQ(mod_floor(x, y), static_cast<int8_t>(a - floor * b)) << a << " " << b;
    }
  }
  EXPECT_EQ(div_trunc<int64_t>(INT64_MIN, -1), INT64_MIN);
  EXPECT_EQ(rem_trunc<int64_t>(INT64_MIN, -1), 0);
  EXPECT_EQ(div_floor<int64_t>(INT64_MIN, -1), INT64_MIN);
  EXPECT_EQ(mod_floor<int64_t>(INT64_MIN, -1), 0);
  EXPECT_EQ(div_floor<uint32_t>(7, 0), 0u);
}

TEST(IntegerMath, ShiftsOutOfRangeGiveZeroOrSign) {
  EXPECT_EQ(shift_left<int8_t>(1, 7), -128);
  EXPECT_EQ(shift_left<int8_t>(1, 8), 0);
  EXPECT_EQ(shift_left<int32_t>(-1, -1), 0);
  EXPECT_EQ(shift_left<uint64_t>(1, uint64_t{1} << 63), 0u);
  EXPECT_EQ(shift_left<int64_t>(3, 62), INT64_MIN | int64_t{1} << 62);
  EXPECT_EQ(shift_right<int16_t>(-2, 1), -1);
  EXPECT_EQ(shift_right<int16_t>(-2, 16), -1);
  EXPECT_EQ(shift_right<int16_t>(2, int8_t{-3}), 0);
  EXPECT_EQ(shift_right<uint8_t>(128, 7), 1);
  EXPECT_EQ(shift_right<uint8_t>(128, 8), 0);
}

TEST(IntegerMath, CountsBits) {
  EXPECT_EQ(population_count<int8_t>(-1), 8);
  EXPECT_EQ(count_leading_zeros<uint16_t>(0), 16);
  EXPECT_EQ(count_leading_zeros<int64_t>(-1), 0);
}

TEST(IntegerMath, IndexSaturates) {
  EXPECT_EQ(index_from_int(INT64_MAX), int64_t{1} << 47);
  EXPECT_EQ(index_from_int(INT64_MIN), -(int64_t{1} << 47));
  EXPECT_EQ(index_from_int(UINT64_MAX), int64_t{1} << 47);
  EXPECT_EQ(index_from_int(uint8_t{7}), 7);
}

}  // namespace
}  // namespace tenon
