#include "oracle.h"

#include <cmath>
#include <limits>

#include "support/check.h"

namespace tenon::test {
namespace {

constexpr double kWrong = std::numeric_limits<double>::infinity();

// MPFR has no rsqrt of -0 as IEEE has it.
void rsqrt(mpfr_ptr out, mpfr_srcptr x) {
  if (mpfr_zero_p(x)) {
    mpfr_set_inf(out, mpfr_signbit(x) ? -1 : 1);
  } else {
    mpfr_rec_sqrt(out, x, MPFR_RNDN);
  }
}

void evaluate(FunctionId id, mpfr_ptr out, const Exact* x) {
  mpfr_srcptr a = x[0].get();
  switch (id) {
    case FunctionId::kAbs:
      mpfr_abs(out, a, MPFR_RNDN);
      return;
    case FunctionId::kExp:
      mpfr_exp(out, a, MPFR_RNDN);
      return;
    case FunctionId::kExp2:
      mpfr_exp2(out, a, MPFR_RNDN);
      return;
    case FunctionId::kExpm1:
      mpfr_expm1(out, a, MPFR_RNDN);
      return;
    case FunctionId::kLog:
      mpfr_log(out, a, MPFR_RNDN);
      return;
    case FunctionId::kLog2:
      mpfr_log2(out, a, MPFR_RNDN);
      return;
    case FunctionId::kLog1p:
      mpfr_log1p(out, a, MPFR_RNDN);
      return;
    case FunctionId::kSqrt:
      mpfr_sqrt(out, a, MPFR_RNDN);
      return;
    case FunctionId::kRsqrt:
      rsqrt(out, a);
      return;
    case FunctionId::kSin:
      mpfr_sin(out, a, MPFR_RNDN);
      return;
    case FunctionId::kCos:
      mpfr_cos(out, a, MPFR_RNDN);
      return;
    case FunctionId::kTan:
      mpfr_tan(out, a, MPFR_RNDN);
      return;
    case FunctionId::kTanh:
      mpfr_tanh(out, a, MPFR_RNDN);
      return;
    case FunctionId::kSinh:
      mpfr_sinh(out, a, MPFR_RNDN);
      return;
    case FunctionId::kCosh:
      mpfr_cosh(out, a, MPFR_RNDN);
      return;
    case FunctionId::kAsin:
      mpfr_asin(out, a, MPFR_RNDN);
      return;
    case FunctionId::kAcos:
      mpfr_acos(out, a, MPFR_RNDN);
      return;
    case FunctionId::kAtan:
      mpfr_atan(out, a, MPFR_RNDN);
      return;
    case FunctionId::kAtan2:
      mpfr_atan2(out, a, x[1].get(), MPFR_RNDN);
      return;
    case FunctionId::kErf:
      mpfr_erf(out, a, MPFR_RNDN);
      return;
    case FunctionId::kPow:
      mpfr_pow(out, a, x[1].get(), MPFR_RNDN);
      return;
    case FunctionId::kFloor:
      mpfr_rint_floor(out, a, MPFR_RNDN);
      return;
    case FunctionId::kCeil:
      mpfr_rint_ceil(out, a, MPFR_RNDN);
      return;
    case FunctionId::kRound:
      mpfr_rint_roundeven(out, a, MPFR_RNDN);
      return;
    case FunctionId::kTrunc:
      mpfr_rint_trunc(out, a, MPFR_RNDN);
      return;
    case FunctionId::kFma:
      mpfr_fma(out, a, x[1].get(), x[2].get(), MPFR_RNDN);
      return;
    default:
      TENON_UNREACHABLE("no function of floats with a float result");
  }
}

}  // namespace

Exact exact_function(FunctionId id, std::span<const double> args) {
  const Exact operands[3] = {Exact(args[0]), Exact(args.size() > 1 ? args[1] : 0),
                             Exact(args.size() > 2 ? args[2] : 0)};
  Exact out;
  evaluate(id, out.get(), operands);
  return out;
}

template <class Format>
double error_in_ulps(double result, const Exact& exact) {
  mpfr_srcptr e = exact.get();
  if (mpfr_nan_p(e)) return std::isnan(result) ? 0 : kWrong;
  if (std::isnan(result)) return kWrong;
  if (mpfr_inf_p(e)) return std::isinf(result) && std::signbit(result) == (mpfr_signbit(e) != 0) ? 0 : kWrong;
  if (std::signbit(result) != (mpfr_signbit(e) != 0)) return kWrong;

  constexpr int kMaxExponent = Format::kBias;
  int exponent = mpfr_zero_p(e) ? Format::kMinExponent : static_cast<int>(mpfr_get_exp(e)) - 1;
  exponent = std::clamp(exponent, Format::kMinExponent, kMaxExponent);
  // The first value that is out of range stands for infinity; anything larger is as good as it.
  Exact limit(1.0);
  mpfr_mul_2si(limit.get(), limit.get(), kMaxExponent + 1, MPFR_RNDN);
  Exact difference;
  if (std::isinf(result)) {
    mpfr_abs(difference.get(), e, MPFR_RNDN);
    if (mpfr_cmp(difference.get(), limit.get()) >= 0) return 0;
    mpfr_sub(difference.get(), limit.get(), difference.get(), MPFR_RNDN);
  } else {
    mpfr_set_d(difference.get(), result, MPFR_RNDN);
    mpfr_sub(difference.get(), difference.get(), e, MPFR_RNDN);
    mpfr_abs(difference.get(), difference.get(), MPFR_RNDN);
  }
  mpfr_mul_2si(difference.get(), difference.get(), Format::kFractionBits - exponent, MPFR_RNDN);
  return difference.to_double();
}

template double error_in_ulps<Float32>(double, const Exact&);
template double error_in_ulps<Float16>(double, const Exact&);
template double error_in_ulps<BFloat16>(double, const Exact&);
template double error_in_ulps<Float64>(double, const Exact&);

}  // namespace tenon::test
