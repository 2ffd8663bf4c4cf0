#include "emulator/directed.h"

#include <cfenv>
#include <cmath>

#include "support/directed_arithmetic.h"
#include "support/numeric.h"

// f32 sums and products, of which kernels are full, are computed without touching the host's rounding mode.
// For the rest it is changed around single operations, whose operands and results are volatile so that
// nothing moves across the changes.
#pragma STDC FENV_ACCESS ON

namespace tenon::emulator {
namespace {

class RoundingScope {
 public:
  explicit RoundingScope(Rounding rounding) : before_(std::fegetround()) { std::fesetround(mode(rounding)); }
  ~RoundingScope() { std::fesetround(before_); }
  RoundingScope(const RoundingScope&) = delete;
  RoundingScope& operator=(const RoundingScope&) = delete;

 private:
  static int mode(Rounding rounding) {
    switch (rounding) {
      case Rounding::kTowardZero:
        return FE_TOWARDZERO;
      case Rounding::kDown:
        return FE_DOWNWARD;
      case Rounding::kUp:
        return FE_UPWARD;
      case Rounding::kNearestEven:
      case Rounding::kNearestAway:
        break;
    }
    return FE_TONEAREST;
  }

  int before_;
};

template <class T, class F>
T rounded(Rounding rounding, T a, T b, T c, F operation) {
  volatile T x = a, y = b, z = c;
  const RoundingScope scope(rounding);
  volatile T result = operation(x, y, z);
  return result;
}

}  // namespace

float directed_fma(float a, float b, float c, Rounding rounding) {
  switch (rounding) {
    case Rounding::kTowardZero:
      return fma_f32<Rounding::kTowardZero>(a, b, c);
    case Rounding::kDown:
      return fma_f32<Rounding::kDown>(a, b, c);
    case Rounding::kUp:
      return fma_f32<Rounding::kUp>(a, b, c);
    case Rounding::kNearestEven:
    case Rounding::kNearestAway:
      break;
  }
  return fma_f32<Rounding::kNearestEven>(a, b, c);
}

float directed_add(float a, float b, Rounding rounding) { return directed_fma(a, 1.0f, b, rounding); }

float directed_mul(float a, float b, Rounding rounding) {
  switch (rounding) {
    case Rounding::kTowardZero:
      return mul_f32<Rounding::kTowardZero>(a, b);
    case Rounding::kDown:
      return mul_f32<Rounding::kDown>(a, b);
    case Rounding::kUp:
      return mul_f32<Rounding::kUp>(a, b);
    case Rounding::kNearestEven:
    case Rounding::kNearestAway:
      break;
  }
  return mul_f32<Rounding::kNearestEven>(a, b);
}

double directed_add(double a, double b, Rounding rounding) {
  return rounded(rounding, a, b, 0.0, [](double x, double y, double) { return x + y; });
}

double directed_mul(double a, double b, Rounding rounding) {
  return rounded(rounding, a, b, 0.0, [](double x, double y, double) { return x * y; });
}

double directed_fma(double a, double b, double c, Rounding rounding) {
  return rounded(rounding, a, b, c, [](double x, double y, double z) { return std::fma(x, y, z); });
}

#define TENON_DIRECTED(T)                                                            \
  T directed_div(T a, T b, Rounding rounding) {                                      \
    return rounded(rounding, a, b, T{0}, [](T x, T y, T) { return x / y; });         \
  }                                                                                  \
  T directed_sqrt(T a, Rounding rounding) {                                          \
    return rounded(rounding, a, T{0}, T{0}, [](T x, T, T) { return std::sqrt(x); }); \
  }

TENON_DIRECTED(float)
TENON_DIRECTED(double)

}  // namespace tenon::emulator
