// The functions of the language as the tensor interpreter computes them: through the host's double-precision
// library, rounded once, sharing nothing with the expansions of the code generation; and how far those may
// lie from it.
#pragma once

#include <span>

#include "support/functions.h"

namespace tenon {

// Correctly rounded but for one argument in about 2^28, where the double lies within its own error of the
// midpoint of two floats. isnan and isinf give 1 or 0. Integer functions are not known here.
float reference_f32(FunctionId id, std::span<const float> args);

// For the rows with f64 support: exact or correctly rounded; rsqrt within 0.51 ulp where the host's long
// double is longer than its double, else 1.5. Other functions: within 1 ulp of the host's library.
double reference_f64(FunctionId id, std::span<const double> args);

// The unit in the last place of f32, and f64, at this value: the distance of neighbours in its binade, that
// of the denormals below 2^-126 and 2^-1022; infinite for infinities and NaN.
double ulp_f32(double value);
double ulp_f64(double value);

// The largest |generated - reference| for f32 operands, by functions.def: 0 where both are exact or correctly
// rounded, infinity where anything may come out (an approximate function of an argument that may be flushed,
// say). `reference` is what reference_f32 gave for `args`.
double function_error(FunctionId id, bool approx, float reference, std::span<const float> args);
// The same for f64.
double function_error_f64(FunctionId id, double reference);

// The same for the division a / b under @allow(approx), which is the reciprocal times a with denormals
// flushed.
double approx_division_error(float a, float b, float reference);

}  // namespace tenon
