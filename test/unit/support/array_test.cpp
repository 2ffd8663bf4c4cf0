#include "support/array.h"

#include <gtest/gtest.h>

#include <cmath>
#include <limits>
#include <vector>

#include "support/array_fill.h"
#include "support/array_text.h"

namespace tenon {
namespace {

constexpr double kInf = std::numeric_limits<double>::infinity();
constexpr double kNan = std::numeric_limits<double>::quiet_NaN();
constexpr int64_t kMost = std::numeric_limits<int64_t>::max();

Array array_of(ElementType type, std::vector<int64_t> shape, const std::vector<double>& values) {
  Array array = *Array::zeros(type, std::move(shape));
  EXPECT_EQ(array.element_count(), static_cast<int64_t>(values.size()));
  for (size_t i = 0; i < values.size(); ++i) array.set_double(static_cast<int64_t>(i), values[i]);
  return array;
}

Array iota_of(ElementType type, std::vector<int64_t> shape) {
  Array array = *Array::zeros(type, std::move(shape));
  fill_iota(array);
  return array;
}

TEST(Array, SizesAreChecked) {
  EXPECT_EQ(*checked_element_count({}), 1);
  EXPECT_EQ(*checked_element_count(std::vector<int64_t>{3, 0, kMost, kMost}), 0);
  EXPECT_FALSE(checked_element_count(std::vector<int64_t>{kMost, 2}));
  EXPECT_FALSE(checked_element_count(std::vector<int64_t>{0, -1}));
  EXPECT_FALSE(checked_byte_count(ElementType::kF32, std::vector<int64_t>{int64_t{1} << 61}));
  Result<Array> huge = Array::zeros(ElementType::kF64, {int64_t{1} << 55});
  ASSERT_FALSE(huge);
  EXPECT_EQ(huge.error().message,
            "no memory for a tensor f64[36028797018963968] of 288230376151711744 bytes");
}

TEST(Array, ConvertsAsTheLanguageDoes) {
  Array i8 = array_of(ElementType::kI8, {5}, {1.9, -1.9, 300, -300, kNan});
  EXPECT_EQ(to_text(i8), "[   1   -1  127 -128    0]");
  Array f8 = array_of(ElementType::kF8E4M3, {3}, {1000, -kInf, 0.3});
  EXPECT_EQ(f8.as_double(0), 448);
  EXPECT_EQ(f8.as_double(1), -448);
  EXPECT_EQ(f8.as_double(2), 0.3125);
  Array f16 = array_of(ElementType::kF16, {2}, {65520, 0.1});
  EXPECT_EQ(f16.as_double(0), kInf);
  Array f32 = *Array::zeros(ElementType::kF32, {1});
  // 2^60 + 2^36 + 1 lies just above the middle of two floats; by way of a double it would land on the lower
  // one.
  f32.set_int64(0, (int64_t{1} << 60) + (int64_t{1} << 36) + 1);
  EXPECT_EQ(f32.as_double(0), 0x1p60 + 0x1p37);
  Array u64 = *Array::zeros(ElementType::kU64, {1});
  u64.set_int64(0, -1);
  EXPECT_EQ(to_text(u64), "[18446744073709551615]");
  Array index = array_of(ElementType::kIndex, {1}, {1e30});
  EXPECT_EQ(index.as_int64(0), int64_t{1} << 47);
  Array boolean = array_of(ElementType::kBool, {2}, {0.5, 0});
  EXPECT_EQ(to_text(boolean), "[ True False]");
}

TEST(Array, CopiesAreDeep) {
  Array a = iota_of(ElementType::kF32, {3});
  Array b = a;
  b.set_double(0, 7);
  EXPECT_EQ(a.as_double(0), 0);
  EXPECT_FALSE(same_values(a, b));
  a = b;
  EXPECT_TRUE(same_values(a, b));
  a.set_double(1, kNan);
  b.set_double(1, -kNan);
  EXPECT_TRUE(same_values(a, b));
}

TEST(ArrayFill, RandomValuesArePinned) {
  Array a = *Array::zeros(ElementType::kF32, {4});
  fill_random(a, 0, random_stream("x"));
  EXPECT_NE(random_bits(0, 0, 0), random_bits(0, 1, 0));
  EXPECT_NE(random_bits(0, 0, 0), random_bits(1, 0, 0));
  EXPECT_EQ(to_text(a), "[ 0.3684137  -0.5391413  -0.38654268  0.47512805]");
}

TEST(ArrayFill, RandomValuesAreSpread) {
  for (ElementType type : {ElementType::kF64, ElementType::kF32, ElementType::kF16, ElementType::kBF16}) {
    Array a = *Array::zeros(type, {10000});
    fill_random(a, 1, 2);
    double sum = 0;
    double squares = 0;
    for (int64_t i = 0; i < a.element_count(); ++i) {
      sum += a.as_double(i);
      squares += a.as_double(i) * a.as_double(i);
      ASSERT_LE(std::fabs(a.as_double(i)), 1);
    }
    EXPECT_LT(std::fabs(sum / 10000), 0.03) << name(type);
    EXPECT_NEAR(squares / 10000, 1.0 / 3, 0.02) << name(type);
  }
}

TEST(ArrayFill, SmallIntegersStayInRange) {
  Array a = *Array::zeros(ElementType::kF16, {1000});
  fill_small_integers(a, 1, 2);
  std::vector<int> counts(9);
  for (int64_t i = 0; i < 1000; ++i) ++counts.at(static_cast<size_t>(a.as_double(i) + 4));
  for (int count : counts) EXPECT_GT(count, 70);
}

TEST(ArrayFill, IotaWrapsAndRounds) {
  Array bytes = iota_of(ElementType::kI8, {130});
  EXPECT_EQ(bytes.as_int64(128), -128);
  Array halves = iota_of(ElementType::kF16, {2050});
  EXPECT_EQ(halves.as_double(2049), 2048);
}

// The expected texts are what NumPy 2 prints.
TEST(ArrayText, LooksLikeNumpy) {
  EXPECT_EQ(to_text(array_of(ElementType::kF32, {3}, {1, 2.5, -0.1})), "[ 1.   2.5 -0.1]");
  EXPECT_EQ(to_text(array_of(ElementType::kF32, {2, 2}, {0, 1, 2, 3})), "[[0. 1.]\n [2. 3.]]");
  EXPECT_EQ(to_text(array_of(ElementType::kF32, {3}, {1e-5, 1, 2})), "[1.e-05 1.e+00 2.e+00]");
  EXPECT_EQ(to_text(array_of(ElementType::kF64, {2}, {1e300, 1})), "[1.e+300 1.e+000]");
  EXPECT_EQ(to_text(array_of(ElementType::kF32, {3}, {kNan, kInf, -kInf})), "[ nan  inf -inf]");
  EXPECT_EQ(to_text(array_of(ElementType::kF64, {1}, {1.0 / 3})), "[0.33333333]");
  EXPECT_EQ(to_text(array_of(ElementType::kF16, {2}, {0.1, 1.0 / 3})), "[0.1    0.3333]");
  EXPECT_EQ(to_text(array_of(ElementType::kF32, {2}, {-7.8190848e+08, 8142180.5})),
            "[-7.8190848e+08  8.1421805e+06]");
  EXPECT_EQ(to_text(array_of(ElementType::kBool, {2}, {1, 1})), "[ True  True]");
  EXPECT_EQ(to_text(iota_of(ElementType::kI32, {0, 3})), "[]");
  EXPECT_EQ(to_text(iota_of(ElementType::kI32, {2, 1, 2})), "[[[0 1]]\n\n [[2 3]]]");
}

TEST(ArrayText, ScalarsShowTheirShortestForm) {
  EXPECT_EQ(to_text(array_of(ElementType::kF32, {}, {0.1})), "0.1");
  EXPECT_EQ(to_text(array_of(ElementType::kF32, {}, {1e20})), "1e+20");
  EXPECT_EQ(to_text(array_of(ElementType::kBF16, {}, {3})), "3.0");
  EXPECT_EQ(to_text(array_of(ElementType::kF64, {}, {-0.0})), "-0.0");
}

TEST(ArrayText, LongTensorsAreCut) {
  EXPECT_EQ(to_text(iota_of(ElementType::kI32, {1001})), "[   0    1    2 ...  998  999 1000]");
  std::string all = to_text(iota_of(ElementType::kI32, {1000}));
  EXPECT_EQ(all.find("..."), std::string::npos);
  EXPECT_EQ(to_text(iota_of(ElementType::kI32, {500, 3})),
            "[[   0    1    2]\n [   3    4    5]\n [   6    7    8]\n ...\n"
            " [1491 1492 1493]\n [1494 1495 1496]\n [1497 1498 1499]]");
}

TEST(ArrayText, ManyDimensionsDoNotUnderflowTheWidth) {
  Array deep = iota_of(ElementType::kI32, std::vector<int64_t>(100, 1));
  EXPECT_EQ(to_text(deep), std::string(100, '[') + "0" + std::string(100, ']'));
}

}  // namespace
}  // namespace tenon
