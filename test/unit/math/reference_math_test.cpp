// The reference against MPFR, and generated code (the expansions, exact and approximate) against the
// reference within the error that the interpreter grants it.
#include "support/reference_math.h"

#include <gtest/gtest.h>

#include <cmath>
#include <vector>

#include "codegen/math/expand.h"
#include "codegen/math/host.h"
#include "oracle.h"
#include "samples.h"

namespace tenon {
namespace {

using codegen::math::Accuracy;
using codegen::math::HostMath;

std::vector<FunctionId> float_functions(unsigned arity) {
  std::vector<FunctionId> out;
  for (size_t i = 0; i < function_count(); ++i) {
    auto id = static_cast<FunctionId>(i);
    if (codegen::math::has_float_expansion(id) && row(id).arity == arity) out.push_back(id);
  }
  return out;
}

double error_of(FunctionId id, std::span<const float> args) {
  std::vector<double> wide(args.begin(), args.end());
  return test::error_in_ulps<Float32>(reference_f32(id, args), test::exact_function(id, wide));
}

// Within `error` of the reference, NaN and infinity alike.
bool within(float generated, float reference, double error) {
  if (std::isinf(error)) return true;
  if (std::isnan(reference)) return std::isnan(generated);
  if (generated == reference) return true;
  // An infinity stands for the first value beyond the format.
  auto value = [](float x) { return std::isinf(x) ? std::copysign(0x1p128, x) : static_cast<double>(x); };
  return std::fabs(value(generated) - value(reference)) <= error;
}

TEST(ReferenceMath, IsCorrectlyRounded) {
  for (FunctionId id : float_functions(1)) {
    for (float x : test::floats_of_all_exponents(30, 51))
      ASSERT_LE(error_of(id, {&x, 1}), 0.5 + 1e-7) << name(id) << x;
    for (float x : test::special_floats())
      ASSERT_LE(error_of(id, {&x, 1}), 0.5 + 1e-7) << name(id) << " " << x;
  }
  for (FunctionId id : float_functions(2))
    for (const auto& pair : test::float_pairs(id, 3000, 52))
      ASSERT_LE(error_of(id, pair), 0.5 + 1e-7) << name(id) << " " << pair[0] << " " << pair[1];
}

TEST(ReferenceMath, GrantsGeneratedCodeItsError) {
  HostMath b;
  for (Accuracy accuracy : {Accuracy::kAccurate, Accuracy::kApprox}) {
    bool approx = accuracy == Accuracy::kApprox;
    for (FunctionId id : float_functions(1)) {
      std::vector<float> xs = test::floats_of_all_exponents(100, 53);
      for (float x : test::special_floats()) xs.push_back(x);
      for (float x : xs) {
        float reference = reference_f32(id, {&x, 1});
        float generated = expand_f32<HostMath>(b, id, {&x, 1}, accuracy);
        double error = function_error(id, approx, reference, {&x, 1});
        ASSERT_TRUE(within(generated, reference, error))
            << name(id) << (approx ? " approx " : " ") << x << ": " << generated << " for " << reference;
      }
    }
    for (FunctionId id : float_functions(2)) {
      for (const auto& pair : test::float_pairs(id, 3000, 54)) {
        float reference = reference_f32(id, pair);
        float generated = expand_f32<HostMath>(b, id, pair, accuracy);
        ASSERT_TRUE(within(generated, reference, function_error(id, approx, reference, pair)))
            << name(id) << " " << pair[0] << " " << pair[1];
      }
    }
  }
}

TEST(ReferenceMath, ApproximateDivision) {
  test::Random random(55);
  for (int k = 0; k < 200000; ++k) {
    float a = random.any_float();
    float b = random.any_float();
    float reference = a / b;
    float generated = device::div_approx<true>(a, b);
    if (std::isinf(a) && std::fabs(b) > 0x1p126f) continue;
    ASSERT_TRUE(within(generated, reference, approx_division_error(a, b, reference)))
        << a << " / " << b << " " << generated << " " << reference;
  }
}

TEST(ReferenceMath, Units) {
  EXPECT_EQ(ulp_f32(1.0), 0x1p-23);
  EXPECT_EQ(ulp_f32(-1.99), 0x1p-23);
  EXPECT_EQ(ulp_f32(0.0), 0x1p-149);
  EXPECT_EQ(ulp_f32(0x1p-140), 0x1p-149);
  EXPECT_EQ(ulp_f64(1.0), 0x1p-52);
  EXPECT_TRUE(std::isinf(ulp_f32(INFINITY)));
  EXPECT_TRUE(std::isinf(ulp_f32(NAN)));
  EXPECT_EQ(function_error(FunctionId::kSqrt, false, 2.0f, std::array{4.0f}), 0);
  EXPECT_EQ(function_error(FunctionId::kExp, false, 1.0f, std::array{0.0f}), 2.5 * 0x1p-23);
}

TEST(ReferenceMath, F64) {
  test::Random random(56);
  for (int k = 0; k < 20000; ++k) {
    double x = std::bit_cast<double>(random.next() >> 1);
    for (FunctionId id : {FunctionId::kSqrt, FunctionId::kRsqrt, FunctionId::kRound, FunctionId::kFloor}) {
      double result = reference_f64(id, {&x, 1});
      EXPECT_LE(test::error_in_ulps<Float64>(result, test::exact_function(id, {&x, 1})), 0.51)
          << name(id) << x;
    }
  }
}

}  // namespace
}  // namespace tenon
