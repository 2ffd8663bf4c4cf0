// Integer arithmetic as the language defines it: everything wraps, nothing traps. One definition for the
// checker's constants, both interpreters and the compiled guards.
#pragma once

#include <bit>
#include <concepts>
#include <cstdint>
#include <limits>
#include <type_traits>

namespace tenon {

template <std::integral T>
constexpr T wrapping_add(T a, T b) {
  using U = std::make_unsigned_t<T>;
  return static_cast<T>(static_cast<U>(static_cast<U>(a) + static_cast<U>(b)));
}

template <std::integral T>
constexpr T wrapping_sub(T a, T b) {
  using U = std::make_unsigned_t<T>;
  return static_cast<T>(static_cast<U>(static_cast<U>(a) - static_cast<U>(b)));
}

// Products are formed in at least 32 unsigned bits: two u16 would promote to int and overflow.
template <std::integral T>
constexpr T wrapping_mul(T a, T b) {
  using U = std::make_unsigned_t<T>;
  using Wide = std::conditional_t<(sizeof(T) < 4), uint32_t, U>;
  return static_cast<T>(static_cast<Wide>(static_cast<U>(a)) * static_cast<Wide>(static_cast<U>(b)));
}

template <std::integral T>
constexpr T wrapping_neg(T a) {
  return wrapping_sub(T{0}, a);
}

// The least integer stays itself.
template <std::integral T>
constexpr T wrapping_abs(T a) {
  return a < T{0} ? wrapping_neg(a) : a;
}

// Rounds toward zero; x / 0 is 0 and the least integer by -1 is itself.
template <std::integral T>
constexpr T div_trunc(T a, T b) {
  if (b == T{0}) return T{0};
  if constexpr (std::is_signed_v<T>) {
    if (b == T{-1}) return wrapping_neg(a);
  }
  return static_cast<T>(a / b);
}

// The remainder of div_trunc, with the sign of `a`; x % 0 is x.
template <std::integral T>
constexpr T rem_trunc(T a, T b) {
  if (b == T{0}) return a;
  if constexpr (std::is_signed_v<T>) {
    if (b == T{-1}) return T{0};
  }
  return static_cast<T>(a % b);
}

// Rounds down; x / 0 is 0 and the least integer by -1 is itself. What `/` is for `index`.
template <std::integral T>
constexpr T div_floor(T a, T b) {
  T quotient = div_trunc(a, b);
  T remainder = rem_trunc(a, b);
  bool adjust = b != T{0} && remainder != T{0} && ((remainder < T{0}) != (b < T{0}));
  return adjust ? static_cast<T>(quotient - T{1}) : quotient;
}

// The remainder of div_floor, with the sign of `b`; x % 0 is x. What `%` is for `index`.
template <std::integral T>
constexpr T mod_floor(T a, T b) {
  T remainder = rem_trunc(a, b);
  bool adjust = b != T{0} && remainder != T{0} && ((remainder < T{0}) != (b < T{0}));
  return adjust ? static_cast<T>(remainder + b) : remainder;
}

// Counts outside 0..width-1, negative ones too, give 0.
template <std::integral T, std::integral Count>
constexpr T shift_left(T a, Count count) {
  using U = std::make_unsigned_t<T>;
  constexpr auto kBits = static_cast<uint64_t>(std::numeric_limits<U>::digits);
  auto shift = static_cast<uint64_t>(
      static_cast<std::conditional_t<std::is_signed_v<Count>, int64_t, uint64_t>>(count));
  return shift >= kBits ? T{0}
                        : static_cast<T>(static_cast<U>(static_cast<uint64_t>(static_cast<U>(a)) << shift));
}

// Arithmetic for signed types. Counts outside 0..width-1, negative ones too, give 0, or -1 for a negative
// `a`.
template <std::integral T, std::integral Count>
constexpr T shift_right(T a, Count count) {
  using U = std::make_unsigned_t<T>;
  constexpr auto kBits = static_cast<uint64_t>(std::numeric_limits<U>::digits);
  auto shift = static_cast<uint64_t>(
      static_cast<std::conditional_t<std::is_signed_v<Count>, int64_t, uint64_t>>(count));
  if (shift >= kBits) return a < T{0} ? static_cast<T>(-1) : T{0};
  return static_cast<T>(a >> shift);
}

// Both keep type and width; count_leading_zeros(0) is the width.
template <std::integral T>
constexpr T population_count(T a) {
  return static_cast<T>(std::popcount(static_cast<std::make_unsigned_t<T>>(a)));
}

template <std::integral T>
constexpr T count_leading_zeros(T a) {
  return static_cast<T>(std::countl_zero(static_cast<std::make_unsigned_t<T>>(a)));
}

// `index(e)` saturates here, so that sums and products of a few indices cannot overflow 64 bits.
inline constexpr int64_t kIndexLimit = int64_t{1} << 47;

template <std::integral T>
constexpr int64_t index_from_int(T a) {
  if constexpr (std::is_signed_v<T>) {
    int64_t wide = a;
    return wide < -kIndexLimit ? -kIndexLimit : wide > kIndexLimit ? kIndexLimit : wide;
  } else {
    uint64_t wide = a;
    return wide > uint64_t{kIndexLimit} ? kIndexLimit : static_cast<int64_t>(wide);
  }
}

}  // namespace tenon
