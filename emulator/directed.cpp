#include "emulator/directed.h"

#include <cfenv>
#include <cmath>

#include "support/numeric.h"

// The host's rounding mode is changed around single operations, whose operands and results are volatile so
// that nothing moves across the changes.
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

#define TENON_DIRECTED(T)                                                               \
  T directed_add(T a, T b, Rounding rounding) {                                         \
    return rounded(rounding, a, b, T{0}, [](T x, T y, T) { return x + y; });            \
  }                                                                                     \
  T directed_mul(T a, T b, Rounding rounding) {                                         \
    return rounded(rounding, a, b, T{0}, [](T x, T y, T) { return x * y; });            \
  }                                                                                     \
  T directed_div(T a, T b, Rounding rounding) {                                         \
    return rounded(rounding, a, b, T{0}, [](T x, T y, T) { return x / y; });            \
  }                                                                                     \
  T directed_fma(T a, T b, T c, Rounding rounding) {                                    \
    return rounded(rounding, a, b, c, [](T x, T y, T z) { return std::fma(x, y, z); }); \
  }                                                                                     \
  T directed_sqrt(T a, Rounding rounding) {                                             \
    return rounded(rounding, a, T{0}, T{0}, [](T x, T, T) { return std::sqrt(x); });    \
  }

TENON_DIRECTED(float)
TENON_DIRECTED(double)

}  // namespace tenon::emulator
