// Prints docs/generated/math_accuracy.md: each function of floats with its bound, the largest error found by
// the same samples that the tests use, and its price.
#include <fmt/format.h>

#include <array>
#include <cstdio>
#include <string>
#include <vector>

#include "codegen/math/expand.h"
#include "codegen/math/host.h"
#include "counting_math.h"
#include "oracle.h"
#include "samples.h"

namespace tenon::codegen::math {
namespace {

double error_of(FunctionId id, std::span<const float> args) {
  HostMath b;
  std::vector<double> wide(args.begin(), args.end());
  float result = expand_f32<HostMath>(b, id, args, Accuracy::kAccurate);
  return test::error_in_ulps<Float32>(result, test::exact_function(id, wide));
}

double largest_error(FunctionId id) {
  double worst = 0;
  if (row(id).arity == 1) {
    for (float x : test::floats_of_all_exponents(400, 61)) worst = std::max(worst, error_of(id, {&x, 1}));
    for (float x : test::hard_floats(id, 2000)) worst = std::max(worst, error_of(id, {&x, 1}));
  } else if (row(id).arity == 2) {
    for (const auto& pair : test::float_pairs(id, 60000, 62)) worst = std::max(worst, error_of(id, pair));
  } else {
    test::Random random(63);
    for (int k = 0; k < 50000; ++k)
      worst = std::max(worst,
                       error_of(id, std::array{random.any_float(), random.any_float(), random.any_float()}));
  }
  return worst;
}

int price(FunctionId id, Accuracy accuracy) {
  CountingMath b;
  std::array<CountingMath::F32, 3> args;
  expand_f32<CountingMath>(b, id, std::span<const CountingMath::F32>(args).first(row(id).arity), accuracy);
  return b.count;
}

std::string bound_text(double ulp) {
  return ulp == 0 ? "exact" : ulp == 0.5 ? "correctly rounded" : fmt::format("{} ulp", ulp);
}

std::string approx_text(const FunctionRow& r) {
  std::string text;
  if (r.approx_ulp != 0) text = fmt::format("{:g} ulp", r.approx_ulp);
  if (r.approx_growth != 0) text += fmt::format(" + {:g} ulp x abs(x)", r.approx_growth);
  if (r.approx_absolute != 0)
    text += fmt::format("{}{:.2g} absolute", text.empty() ? "" : " + ", r.approx_absolute);
  return text;
}

void print_row(FunctionId id) {
  const FunctionRow& r = row(id);
  int accurate = price(id, Accuracy::kAccurate);
  int approx = price(id, Accuracy::kApprox);
  bool faster = approx != accurate || r.approx_ulp != r.ulp || r.approx_absolute != 0;
  fmt::print("| {} | {} | {:.2f} | {} | {} | {} | {} |\n", r.name, bound_text(r.ulp), largest_error(id),
             accurate, faster ? approx_text(r) : "the same", faster ? std::to_string(approx) : "",
             r.f64 ? "yes" : "");
}

}  // namespace
}  // namespace tenon::codegen::math

int main() {
  using namespace tenon;
  fmt::print(
      "# Accuracy of the functions\n\n"
      "Printed by `math_accuracy_table`; the bounds stand in `support/functions.def` and are tested against "
      "MPFR.\n\n"
      "An ulp is the distance of neighbouring f32 at the exact result. f16 and bf16 functions are computed "
      "in f32 and\n"
      "rounded once. \"Found\" is the largest error over all exponents and the hard points of each function, "
      "with the\n"
      "approximate instructions of the emulated device. A price is in PTX instructions; sin, cos and tan "
      "branch to a\n"
      "longer reduction from 2^16 on. Under `@allow(approx)` arguments and results below 2^-126 may count as "
      "zero, and\n"
      "sin and cos keep their bound up to 2 pi (2^-14.7 up to 100 pi, none beyond).\n\n"
      "| function | f32 bound | found | price | with `@allow(approx)` | price | f64 |\n"
      "|---|---|---|---|---|---|---|\n");
  for (size_t i = 0; i < function_count(); ++i) {
    auto id = static_cast<FunctionId>(i);
    if (codegen::math::has_float_expansion(id)) codegen::math::print_row(id);
  }
  return 0;
}
