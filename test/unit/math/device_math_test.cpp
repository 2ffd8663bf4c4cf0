// The model of the approximate instructions against MPFR: its own bound, which is far inside PTX's, and the
// special values of the PTX ISA's tables.
#include "support/device_math.h"

#include <gtest/gtest.h>

#include <cmath>

#include "oracle.h"
#include "samples.h"

namespace tenon::device {
namespace {

using test::error_in_ulps;
using test::exact_function;

constexpr float kInf = std::numeric_limits<float>::infinity();

uint32_t bits(float x) { return std::bit_cast<uint32_t>(x); }

template <class F>
double worst_ulps(FunctionId id, F model) {
  double worst = 0;
  for (float x : test::floats_of_all_exponents(200, 41)) {
    double wide = x;
    worst = std::max(worst, error_in_ulps<Float32>(model(x), exact_function(id, {&wide, 1})));
  }
  return worst;
}

TEST(DeviceMath, AccuracyWithDenormals) {
  EXPECT_LE(worst_ulps(FunctionId::kExp2, ex2_approx<false>), 0.55);
  EXPECT_LE(worst_ulps(FunctionId::kLog2, lg2_approx<false>), 0.51);
  EXPECT_LE(worst_ulps(FunctionId::kSqrt, sqrt_approx<false>), 0.5);
  EXPECT_LE(worst_ulps(FunctionId::kRsqrt, rsqrt_approx<false>), 0.51);
}

TEST(DeviceMath, Reciprocal) {
  for (float x : test::floats_of_all_exponents(300, 42)) {
    float expected = 1.0f / x;
    EXPECT_EQ(bits(rcp_approx<false>(x)), std::isnan(expected) ? 0x7FFFFFFF : bits(expected));
    EXPECT_EQ(bits(rcp_approx<true>(x)), std::isnan(expected) ? 0x7FFFFFFF : bits(flush(1.0f / flush(x))));
  }
}

TEST(DeviceMath, Exp2IsExactAtIntegers) {
  for (int k = -149; k < 128; ++k) EXPECT_EQ(ex2_approx<false>(static_cast<float>(k)), std::ldexp(1.0f, k));
}

TEST(DeviceMath, SineAndCosine) {
  test::Random random(43);
  double worst = 0;
  for (int k = 0; k < 100000; ++k) {
    auto x = static_cast<float>(random.uniform(-400, 400) * (k % 3 == 0 ? 1 : 0.01));
    worst = std::max(worst, std::fabs(sin_approx<false>(x) - std::sin(static_cast<double>(x))));
    worst = std::max(worst, std::fabs(cos_approx<false>(x) - std::cos(static_cast<double>(x))));
  }
  EXPECT_LE(worst, 0x1p-24);
  // No guarantee farther out but to be a sine of something.
  for (float x : test::floats_of_all_exponents(200, 44)) {
    if (!std::isfinite(x)) continue;
    EXPECT_LE(std::fabs(sin_approx<true>(x)), 1.0f) << x;
    EXPECT_LE(std::fabs(cos_approx<true>(x)), 1.0f) << x;
  }
}

TEST(DeviceMath, Tanh) {
  double worst = 0;
  for (float x : test::floats_of_all_exponents(300, 45)) {
    if (!std::isfinite(x) || x == 0) continue;
    double exact = std::tanh(static_cast<double>(x));
    worst =
        std::max(worst, std::fabs(tanh_approx(x) - exact) / std::fabs(exact) - 0x1p-149 / std::fabs(exact));
  }
  EXPECT_LE(worst, 0x1p-21);
  EXPECT_EQ(bits(tanh_approx(-0.0f)), bits(-0.0f));
  EXPECT_EQ(tanh_approx(-kInf), -1.0f);
  EXPECT_EQ(tanh_approx(-0x1p-149f), -0x1p-149f);
  EXPECT_EQ(bits(tanh_approx(NAN)), 0x7FFFFFFFu);
}

TEST(DeviceMath, SpecialValues) {
  const float denormal = 0x1p-130f;
  EXPECT_EQ(bits(ex2_approx<true>(-kInf)), 0u);
  EXPECT_EQ(ex2_approx<true>(kInf), kInf);
  EXPECT_EQ(ex2_approx<true>(-denormal), 1.0f);
  EXPECT_EQ(bits(ex2_approx<true>(-127.0f)), 0u);
  EXPECT_EQ(ex2_approx<false>(-127.0f), 0x1p-127f);
  EXPECT_EQ(bits(ex2_approx<false>(NAN)), 0x7FFFFFFFu);

  EXPECT_EQ(lg2_approx<true>(-0.0f), -kInf);
  EXPECT_EQ(lg2_approx<true>(denormal), -kInf);
  EXPECT_EQ(lg2_approx<true>(-denormal), -kInf);
  EXPECT_EQ(lg2_approx<false>(denormal), -130.0f);
  EXPECT_EQ(bits(lg2_approx<false>(-denormal)), 0x7FFFFFFFu);
  EXPECT_EQ(bits(lg2_approx<true>(-1.0f)), 0x7FFFFFFFu);
  EXPECT_EQ(bits(lg2_approx<true>(-kInf)), 0x7FFFFFFFu);
  EXPECT_EQ(lg2_approx<true>(kInf), kInf);

  EXPECT_EQ(bits(rcp_approx<true>(-kInf)), bits(-0.0f));
  EXPECT_EQ(rcp_approx<true>(-denormal), -kInf);
  EXPECT_EQ(bits(rcp_approx<true>(-0x1p127f)), bits(-0.0f));
  EXPECT_EQ(rcp_approx<false>(0x1p127f), 0x1p-127f);

  EXPECT_EQ(bits(sqrt_approx<true>(-0.0f)), bits(-0.0f));
  EXPECT_EQ(bits(sqrt_approx<true>(-denormal)), bits(-0.0f));
  EXPECT_EQ(bits(sqrt_approx<true>(-1.0f)), 0x7FFFFFFFu);
  EXPECT_EQ(rsqrt_approx<true>(-0.0f), -kInf);
  EXPECT_EQ(rsqrt_approx<true>(denormal), kInf);
  EXPECT_EQ(bits(rsqrt_approx<true>(-kInf)), 0x7FFFFFFFu);
  EXPECT_EQ(bits(rsqrt_approx<true>(kInf)), 0u);

  EXPECT_EQ(bits(sin_approx<true>(-0.0f)), bits(-0.0f));
  EXPECT_EQ(bits(sin_approx<true>(-denormal)), bits(-0.0f));
  EXPECT_EQ(sin_approx<false>(-denormal), -denormal);
  EXPECT_EQ(bits(sin_approx<true>(kInf)), 0x7FFFFFFFu);
  EXPECT_EQ(cos_approx<true>(0.0f), 1.0f);
  EXPECT_EQ(bits(cos_approx<true>(-kInf)), 0x7FFFFFFFu);
}

TEST(DeviceMath, Division) {
  test::Random random(46);
  for (int k = 0; k < 200000; ++k) {
    float a = random.any_float();
    float b = random.any_float();
    float exact = a / b;
    if (std::isnan(exact) || std::fabs(b) < 0x1p-126f || std::fabs(b) > 0x1p126f || std::fabs(a) < 0x1p-126f)
      continue;
    double unit = std::ldexp(1.0, std::max(std::ilogb(exact), -126) - 23);
    if (std::isfinite(exact) && std::fabs(exact) > 0x1p-125f)
      EXPECT_LE(std::fabs(div_approx<false>(a, b) - static_cast<double>(a) / b), 2 * unit) << a << " / " << b;
    EXPECT_EQ(bits(div_full<false>(a, b)), bits(exact));
  }
  EXPECT_EQ(bits(div_approx<false>(-3.0f, 0x1.8p126f)), bits(-0.0f));
  EXPECT_EQ(bits(div_approx<false>(kInf, 0x1.8p126f)), 0x7FFFFFFFu);
  EXPECT_EQ(div_approx<false>(1.0f, 0x1p126f), 0x1p-126f);
  EXPECT_EQ(div_approx<true>(6.0f, 3.0f), 2.0f);
}

TEST(DeviceMath, HalfPrecisionForms) {
  for (uint32_t x = 0; x < 0x10000; ++x) {
    auto narrow = static_cast<uint16_t>(x);
    double value = f32_from_f16(narrow);
    if (std::isnan(value)) {
      EXPECT_EQ(ex2_approx_f16(narrow), 0x7FFF);
      EXPECT_EQ(tanh_approx_f16(narrow), 0x7FFF);
      continue;
    }
    double power = std::exp2(value);
    if (power < 65520 && power > 0x1p-14)
      EXPECT_LE(std::fabs(f32_from_f16(ex2_approx_f16(narrow)) / power - 1), 0x1p-10);
    EXPECT_LE(std::fabs(f32_from_f16(tanh_approx_f16(narrow)) - std::tanh(value)), 0x1p-11);
  }
  EXPECT_EQ(ex2_approx_ftz_bf16(0x8001), 0x3F80);
  EXPECT_EQ(ex2_approx_ftz_bf16(0xFF80), 0);
  EXPECT_EQ(tanh_approx_bf16(0x7F80), 0x3F80);
}

TEST(DeviceMath, DoublesByTheirUpperWord) {
  test::Random random(47);
  for (int k = 0; k < 100000; ++k) {
    auto x = std::bit_cast<double>(random.next());
    if (!std::isnormal(x)) continue;
    double reciprocal = rcp_approx_ftz_f64(x);
    EXPECT_EQ(std::bit_cast<uint64_t>(reciprocal) & 0xFFFFFFFF, 0u);
    if (std::fabs(x) < 0x1p1021) EXPECT_LE(std::fabs(reciprocal * x - 1), 0x1p-19) << x;
    if (x > 0) EXPECT_LE(std::fabs(rsqrt_approx_ftz_f64(x) * std::sqrt(x) - 1), 0x1p-19) << x;
  }
  EXPECT_EQ(rcp_approx_ftz_f64(-5e-324), -INFINITY);
  EXPECT_EQ(std::bit_cast<uint64_t>(rcp_approx_ftz_f64(NAN)), 0x7FFFFFFF00000000u);
  EXPECT_EQ(std::bit_cast<uint64_t>(rcp_approx_ftz_f64(-INFINITY)), 0x8000000000000000u);
  EXPECT_EQ(rsqrt_approx_ftz_f64(-0.0), -INFINITY);
  EXPECT_EQ(std::bit_cast<uint64_t>(rsqrt_approx_ftz_f64(-1.0)), 0x7FFFFFFF00000000u);
}

}  // namespace
}  // namespace tenon::device
