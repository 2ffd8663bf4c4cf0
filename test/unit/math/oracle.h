// Exact values by MPFR, and how far a result lies from them.
#pragma once

#include <mpfr.h>

#include <cstdint>
#include <span>

#include "support/functions.h"
#include "support/numeric.h"

namespace tenon::test {

// A number of 200 bits.
class Exact {
 public:
  Exact() { mpfr_init2(value_, 200); }
  explicit Exact(double value) : Exact() { mpfr_set_d(value_, value, MPFR_RNDN); }
  Exact(const Exact& other) : Exact() { mpfr_set(value_, other.value_, MPFR_RNDN); }
  Exact& operator=(const Exact&) = delete;
  ~Exact() { mpfr_clear(value_); }

  mpfr_ptr get() { return value_; }
  mpfr_srcptr get() const { return value_; }
  double to_double() const { return mpfr_get_d(value_, MPFR_RNDN); }

 private:
  mpfr_t value_;
};

// The exact value of a function of the language, correct to 200 bits.
Exact exact_function(FunctionId id, std::span<const double> args);

// |result - exact| in units of the format's last place at `exact` (the denormals' below the least normal
// number). An infinite result stands for the first value beyond the format, and only where the exact one lies
// within two units of overflow. Infinite for a wrong NaN, infinity or sign.
template <class Format>
double error_in_ulps(double result, const Exact& exact);

extern template double error_in_ulps<Float32>(double, const Exact&);
extern template double error_in_ulps<Float16>(double, const Exact&);
extern template double error_in_ulps<BFloat16>(double, const Exact&);
extern template double error_in_ulps<Float64>(double, const Exact&);

}  // namespace tenon::test
