#include "support/reference_math.h"

#include <cmath>
#include <limits>
#include <numbers>

#include "support/check.h"
#include "support/numeric.h"

namespace tenon {
namespace {

constexpr double kAnything = std::numeric_limits<double>::infinity();

template <class Float>
Float call(FunctionId id, const Float* x) {
  switch (id) {
    case FunctionId::kAbs:
      return std::fabs(x[0]);
    case FunctionId::kExp:
      return std::exp(x[0]);
    case FunctionId::kExp2:
      return std::exp2(x[0]);
    case FunctionId::kExpm1:
      return std::expm1(x[0]);
    case FunctionId::kLog:
      return std::log(x[0]);
    case FunctionId::kLog2:
      return std::log2(x[0]);
    case FunctionId::kLog1p:
      return std::log1p(x[0]);
    case FunctionId::kSqrt:
      return std::sqrt(x[0]);
    case FunctionId::kRsqrt:
      return 1 / std::sqrt(x[0]);
    case FunctionId::kSin:
      return std::sin(x[0]);
    case FunctionId::kCos:
      return std::cos(x[0]);
    case FunctionId::kTan:
      return std::tan(x[0]);
    case FunctionId::kTanh:
      return std::tanh(x[0]);
    case FunctionId::kSinh:
      return std::sinh(x[0]);
    case FunctionId::kCosh:
      return std::cosh(x[0]);
    case FunctionId::kAsin:
      return std::asin(x[0]);
    case FunctionId::kAcos:
      return std::acos(x[0]);
    case FunctionId::kAtan:
      return std::atan(x[0]);
    case FunctionId::kAtan2:
      return std::atan2(x[0], x[1]);
    case FunctionId::kErf:
      return std::erf(x[0]);
    case FunctionId::kPow:
      return std::pow(x[0], x[1]);
    case FunctionId::kFloor:
      return std::floor(x[0]);
    case FunctionId::kCeil:
      return std::ceil(x[0]);
    case FunctionId::kRound:
      return std::nearbyint(x[0]);
    case FunctionId::kTrunc:
      return std::trunc(x[0]);
    case FunctionId::kFma:
      return std::fma(x[0], x[1], x[2]);
    case FunctionId::kIsNan:
      return std::isnan(x[0]);
    case FunctionId::kIsInf:
      return std::isinf(x[0]);
    case FunctionId::kPopcount:
    case FunctionId::kClz:
      break;
  }
  TENON_UNREACHABLE("not a function of floats");
}

bool rounds_exactly(FunctionId id) { return row(id).ulp <= 0.5; }

bool denormal(double x) { return x != 0 && std::fabs(x) < 0x1p-126; }

double approx_circular_error(float x) {
  double turns = std::fabs(static_cast<double>(x)) / (2 * std::numbers::pi);
  if (turns <= 1) return row(FunctionId::kSin).approx_absolute;
  // 2^-14.7 up to 100 pi; beyond, PTX promises nothing but that the result is a sine of something.
  return turns <= 50 ? 0x1.3b2dp-15 * 2 : 2.0;
}

double approx_error(FunctionId id, float reference, std::span<const float> args) {
  const FunctionRow& r = row(id);
  float x = args[0];
  if (id == FunctionId::kSin || id == FunctionId::kCos) return approx_circular_error(x);
  // log and rsqrt of a flushed argument are infinite.
  bool has_pole = id == FunctionId::kLog || id == FunctionId::kLog2 || id == FunctionId::kRsqrt;
  if (has_pole && denormal(x)) return kAnything;
  // The root of a flushed negative argument is a zero.
  if (id == FunctionId::kSqrt && denormal(x) && x < 0) return kAnything;
  double flushed = id == FunctionId::kSqrt && denormal(x) ? std::fabs(reference) : 0x1p-126;
  double ulps = r.approx_ulp + 0.5 + r.approx_growth * std::fabs(x);
  return ulps * ulp_f32(reference) + r.approx_absolute + flushed;
}

double ulp(double value, int least_exponent, int fraction_bits) {
  if (!std::isfinite(value)) return kAnything;
  int exponent = value == 0 ? least_exponent : std::ilogb(value);
  return std::ldexp(1.0, std::max(exponent, least_exponent) - fraction_bits);
}

}  // namespace

float reference_f32(FunctionId id, std::span<const float> args) {
  TENON_CHECK(args.size() == row(id).arity, "wrong number of operands");
  // The sum of a product of floats need not fit a double.
  if (id == FunctionId::kFma) return std::fma(args[0], args[1], args[2]);
  double wide[3] = {};
  for (size_t i = 0; i < args.size(); ++i) wide[i] = args[i];
  if (id == FunctionId::kRound) return round_even(args[0]);
  return static_cast<float>(call(id, wide));
}

double reference_f64(FunctionId id, std::span<const double> args) {
  TENON_CHECK(args.size() == row(id).arity, "wrong number of operands");
  if (id == FunctionId::kRound) return round_even(args[0]);
  if (id == FunctionId::kRsqrt) return static_cast<double>(1 / std::sqrt(static_cast<long double>(args[0])));
  return call(id, args.data());
}

double ulp_f32(double value) { return ulp(value, -126, 23); }
double ulp_f64(double value) { return ulp(value, -1022, 52); }

double function_error(FunctionId id, bool approx, float reference, std::span<const float> args) {
  const FunctionRow& r = row(id);
  bool faster =
      r.approx_ulp != r.ulp || r.approx_absolute != 0 || id == FunctionId::kExp2 || id == FunctionId::kRsqrt;
  if (approx && faster) return approx_error(id, reference, args);
  // Half a unit of the reference's own rounding.
  return rounds_exactly(id) ? 0 : (r.ulp + 0.5) * ulp_f32(reference);
}

double function_error_f64(FunctionId id, double reference) {
  return rounds_exactly(id) ? 0 : (row(id).ulp + 0.5) * ulp_f64(reference);
}

double approx_division_error(float a, float b, float reference) {
  // The reciprocal of a denormal is infinite, that of a huge number zero.
  if (denormal(b)) return kAnything;
  if (std::fabs(b) > 0x1p126f) return std::fabs(reference) + 0x1p-126;
  if (denormal(a)) return std::fabs(reference) + 0x1p-126;
  return 2.5 * ulp_f32(reference) + 0x1p-126;
}

}  // namespace tenon
