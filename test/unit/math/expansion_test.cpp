// Every expansion against MPFR: all exponents, hard points, f16 exhaustively. A test of all 2^32 floats is
// disabled; it takes some minutes a function (--gtest_also_run_disabled_tests --gtest_filter=*EveryFloat*).
#include <gtest/gtest.h>

#include <vector>

#include "codegen/math/expand.h"
#include "codegen/math/host.h"
#include "oracle.h"
#include "samples.h"
#include "support/reference_math.h"

namespace tenon::codegen::math {
namespace {

using test::error_in_ulps;
using test::exact_function;

std::vector<FunctionId> functions_of_arity(unsigned arity) {
  std::vector<FunctionId> out;
  for (size_t i = 0; i < function_count(); ++i) {
    auto id = static_cast<FunctionId>(i);
    if (has_float_expansion(id) && row(id).arity == arity) out.push_back(id);
  }
  return out;
}

template <class B>
float expand(FunctionId id, std::span<const float> args) {
  B b;
  return expand_f32<B>(b, id, args, Accuracy::kAccurate);
}

// The largest error found, and where.
struct Worst {
  double ulps = 0;
  std::vector<float> at;

  void add(double error, std::span<const float> args) {
    if (error <= ulps) return;
    ulps = error;
    at.assign(args.begin(), args.end());
  }
};

std::ostream& operator<<(std::ostream& out, const Worst& worst) {
  out << worst.ulps << " ulp at";
  for (float x : worst.at) out << " " << std::hexfloat << x << std::defaultfloat << " (" << x << ")";
  return out;
}

template <class B>
double error_of(FunctionId id, std::span<const float> args) {
  std::vector<double> wide(args.begin(), args.end());
  return error_in_ulps<Float32>(expand<B>(id, args), exact_function(id, wide));
}

template <class B>
Worst worst_of(FunctionId id, std::span<const float> xs) {
  Worst worst;
  for (const float& x : xs) worst.add(error_of<B>(id, {&x, 1}), {&x, 1});
  return worst;
}

class Unary : public testing::TestWithParam<FunctionId> {};
class Binary : public testing::TestWithParam<FunctionId> {};

auto print_name = [](const auto& info) { return std::string(name(info.param)); };
INSTANTIATE_TEST_SUITE_P(Functions, Unary, testing::ValuesIn(functions_of_arity(1)), print_name);
INSTANTIATE_TEST_SUITE_P(Functions, Binary, testing::ValuesIn(functions_of_arity(2)), print_name);

TEST_P(Unary, AllExponents) {
  Worst worst = worst_of<HostMath>(GetParam(), test::floats_of_all_exponents(120, 1));
  EXPECT_LE(worst.ulps, row(GetParam()).ulp) << worst;
  RecordProperty("ulps", std::to_string(worst.ulps));
}

TEST_P(Unary, HardPoints) {
  Worst worst = worst_of<HostMath>(GetParam(), test::hard_floats(GetParam(), 600));
  EXPECT_LE(worst.ulps, row(GetParam()).ulp) << worst;
}

TEST_P(Unary, Specials) {
  for (float x : test::special_floats()) {
    double error = error_of<HostMath>(GetParam(), {&x, 1});
    EXPECT_LE(error, row(GetParam()).ulp) << x << " gave " << expand<HostMath>(GetParam(), {&x, 1});
  }
}

// One rounding after f32: half a unit of f16, and the f32 error beyond it.
TEST_P(Unary, EveryF16) {
  double bound = 0.5 + (row(GetParam()).ulp + 0.5) * 0x1p-13;
  for (uint32_t bits = 0; bits < 0x10000; ++bits) {
    float x = f32_from_f16(static_cast<uint16_t>(bits));
    double wide = x;
    uint16_t result = f16_from_f32(expand<HostMath>(GetParam(), {&x, 1}));
    double error = error_in_ulps<Float16>(f32_from_f16(result), exact_function(GetParam(), {&wide, 1}));
    ASSERT_LE(error, bound) << "f16 bits " << bits << ", " << x;
  }
}

TEST_P(Unary, Bf16OfAllExponents) {
  double bound = 0.5 + (row(GetParam()).ulp + 0.5) * 0x1p-16;
  for (uint32_t bits = 0; bits < 0x10000; bits += 3) {
    float x = f32_from_bf16(static_cast<uint16_t>(bits));
    double wide = x;
    uint16_t result = bf16_from_f32(expand<HostMath>(GetParam(), {&x, 1}));
    double error = error_in_ulps<BFloat16>(f32_from_bf16(result), exact_function(GetParam(), {&wide, 1}));
    ASSERT_LE(error, bound) << "bf16 bits " << bits << ", " << x;
  }
}

TEST_P(Binary, Pairs) {
  Worst worst;
  for (const auto& pair : test::float_pairs(GetParam(), 20000, 7))
    worst.add(error_of<HostMath>(GetParam(), pair), pair);
  EXPECT_LE(worst.ulps, row(GetParam()).ulp) << worst;
}

// The host's double library finds the candidates, MPFR judges them.
TEST_P(Unary, DISABLED_EveryFloat) {
  Worst worst;
  for (uint64_t bits = 0; bits <= 0xFFFFFFFF; ++bits) {
    auto x = std::bit_cast<float>(static_cast<uint32_t>(bits));
    float result = expand<HostMath>(GetParam(), {&x, 1});
    double error = std::fabs(result - reference_f32(GetParam(), {&x, 1})) / ulp_f32(result);
    bool candidate = !(error < std::max(1.0, worst.ulps - 0.5));
    if (candidate && !(std::isnan(result) && std::isnan(x)))
      worst.add(error_of<HostMath>(GetParam(), {&x, 1}), {&x, 1});
  }
  EXPECT_LE(worst.ulps, row(GetParam()).ulp) << worst;
  std::cout << name(GetParam()) << ": " << worst << "\n";
}

// HostMath whose approximate instructions are off by one unit in the last place, one way or the other, as a
// device's may be. What is exact on every device stays exact: powers of two, zeros, infinities, NaN.
struct PerturbedMath : HostMath {
  static float perturb(float x) {
    auto bits = std::bit_cast<uint32_t>(x);
    bool exact = (bits & 0x7FFFFF) == 0 || (bits & 0x7F800000) == 0x7F800000 || (bits & 0x7F800000) == 0;
    uint32_t hash = bits * 0x9E3779B9u;
    return exact ? x : std::bit_cast<float>((hash >> 31) != 0 ? bits + 1 : bits - 1);
  }
  F32 ex2_approx_ftz(F32 a) { return perturb(HostMath::ex2_approx_ftz(a)); }
  F32 rcp_approx_ftz(F32 a) { return perturb(HostMath::rcp_approx_ftz(a)); }
  template <class Rare>
  ReducedAngle<PerturbedMath> rarely(Bool condition, ReducedAngle<PerturbedMath> usual, Rare rare) {
    return condition ? rare() : usual;
  }
};
static_assert(MathBuilder<PerturbedMath>);

// Expansions must not lean on the model being better than a device. Three quarters of a unit more are
// granted: the model's own half is counted besides the device's, and where sinh lies just below a power of
// two, exp(x) / 2 above it, the unit counts double.
TEST_P(Unary, ToleratesDeviceError) {
  Worst worst = worst_of<PerturbedMath>(GetParam(), test::floats_of_all_exponents(200, 2));
  EXPECT_LE(worst.ulps, row(GetParam()).ulp == 0 ? 0 : row(GetParam()).ulp + 0.75) << worst;
}

TEST(Fma, IsRoundedOnce) {
  test::Random random(3);
  for (int k = 0; k < 20000; ++k) {
    float args[3] = {random.any_float(), random.any_float(), random.any_float()};
    if (k % 2 == 0) args[2] = -args[0] * args[1] * static_cast<float>(random.uniform(0.999, 1.001));
    if (std::isnan(args[0] * args[1] + args[2])) continue;
    double error = error_of<HostMath>(FunctionId::kFma, args);
    EXPECT_LE(error, 0.5) << args[0] << " " << args[1] << " " << args[2];
  }
}

TEST(F64, Functions) {
  test::Random random(5);
  HostMath b;
  for (size_t i = 0; i < function_count(); ++i) {
    auto id = static_cast<FunctionId>(i);
    if (!row(id).f64 || !has_float_expansion(id)) continue;
    for (int k = 0; k < 5000; ++k) {
      double args[3];
      for (double& x : args)
        x = k % 2 == 0 ? std::bit_cast<double>(random.next()) : random.uniform(-1e6, 1e6);
      std::span<const double> used(args, row(id).arity);
      double error = error_in_ulps<Float64>(expand_f64(b, id, used), exact_function(id, used));
      ASSERT_LE(error, row(id).ulp) << name(id) << " " << args[0];
    }
  }
}

}  // namespace
}  // namespace tenon::codegen::math
