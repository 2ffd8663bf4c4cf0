// What a source file may have at most. Beyond each limit stands a diagnostic, so that no input exhausts the
// stack, the memory or the patience of whoever compiles it. All are far above what people and generators
// write.
#pragma once

#include <cstddef>

namespace tenon::frontend {

inline constexpr size_t kMaxSourceBytes = 16 << 20;
inline constexpr size_t kMaxTokens = 2'000'000;
// Characters.
inline constexpr size_t kMaxNameLength = 1'000;
// Digits of a literal without its exponent. The exact decimal form of every f64 has fewer.
inline constexpr size_t kMaxNumberDigits = 1'000;
// Magnitude of a literal's exponent.
inline constexpr size_t kMaxNumberExponent = 1'000;
// Levels of brackets, unary operators, and arms of `?:` around an expression.
inline constexpr size_t kMaxNesting = 256;
// Subscripts of an access, dimensions of a type, indices of a reduction.
inline constexpr size_t kMaxRank = 64;
// Parameters and results of a kernel: their addresses have to leave room for sizes in a launch's 4,352 bytes.
inline constexpr size_t kMaxParameters = 400;
// Reading stops after so many errors in one file.
inline constexpr size_t kMaxSyntaxErrors = 100;

}  // namespace tenon::frontend
