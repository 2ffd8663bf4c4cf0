// Polynomials by Horner's rule.
#pragma once

#include <array>
#include <cstddef>

#include "codegen/math/builder.h"

namespace tenon::codegen::math {

// c[0] + c[1] x + ... + c[n-1] x^(n-1): n - 1 instructions.
template <MathBuilder B, size_t n>
typename B::F32 polynomial(B& b, typename B::F32 x, const std::array<float, n>& coefficients) {
  static_assert(n >= 2);
  typename B::F32 sum = b.fma(b.f32(coefficients[n - 1]), x, b.f32(coefficients[n - 2]));
  for (size_t k = n - 2; k-- > 0;) sum = b.fma(sum, x, b.f32(coefficients[k]));
  return sum;
}

}  // namespace tenon::codegen::math
