// The types and functions that the expressions of lanes.def use. Included by the sources of each instruction
// set, where everything has internal linkage: code for different instruction sets must not be merged by the
// linker.
#pragma once

#include <bit>
#include <cstdint>

#include "emulator/directed.h"
#include "emulator/warp.h"
#include "support/device_math.h"
#include "support/integer_math.h"
#include "support/numeric.h"

namespace tenon::emulator {
namespace {

// How a value lies in a lane (Storage) and what an expression sees of it (Value).
template <class StorageType, class ValueType>
struct PlainLane {
  using Storage = StorageType;
  using Value = ValueType;
  static Value load(Storage lane) { return static_cast<Value>(lane); }
  static Storage store(Value value) {
    return static_cast<Storage>(static_cast<std::make_unsigned_t<Value>>(value));
  }
};
using U8 = PlainLane<uint32_t, uint8_t>;
using S8 = PlainLane<uint32_t, int8_t>;
using U16 = PlainLane<uint32_t, uint16_t>;
using S16 = PlainLane<uint32_t, int16_t>;
using U32 = PlainLane<uint32_t, uint32_t>;
using S32 = PlainLane<uint32_t, int32_t>;
using U64 = PlainLane<uint64_t, uint64_t>;
using S64 = PlainLane<uint64_t, int64_t>;

struct F32 {
  using Storage = float;
  using Value = float;
  static Value load(Storage lane) { return lane; }
  static Storage store(Value value) { return value; }
};
struct F64 {
  using Storage = double;
  using Value = double;
  static Value load(Storage lane) { return lane; }
  static Storage store(Value value) { return value; }
};
struct F16 {
  using Storage = uint32_t;
  using Value = float;
  static Value load(Storage lane) { return f32_from_f16(static_cast<uint16_t>(lane)); }
  static Storage store(Value value) { return f16_from_f32(value); }
};
struct BF16 {
  using Storage = uint32_t;
  using Value = float;
  static Value load(Storage lane) { return f32_from_bf16(static_cast<uint16_t>(lane)); }
  static Storage store(Value value) { return bf16_from_f32(value); }
};

uint32_t bits32(float value) { return std::bit_cast<uint32_t>(value); }
uint64_t bits64(double value) { return std::bit_cast<uint64_t>(value); }
float from_bits32(uint32_t bits) { return std::bit_cast<float>(bits); }
double from_bits64(uint64_t bits) { return std::bit_cast<double>(bits); }

Rounding rounding_of(const Record& record) { return static_cast<Rounding>(record.flags); }

float fused(float a, float b, float c) { return __builtin_elementwise_fma(a, b, c); }
double fused(double a, double b, double c) { return __builtin_elementwise_fma(a, b, c); }

// .sat: NaN becomes +0.
float saturate(float a) { return a > 0.0f ? (a < 1.0f ? a : 1.0f) : 0.0f; }

// The f32 toward zero, its last bit set where something was lost: rounding it once more to a format of at
// most 22 digits gives what rounding the double gives.
float odd_from_f64(double value) {
  const float near = static_cast<float>(value);
  const double back = static_cast<double>(near);
  const bool beyond = (back < 0 ? -back : back) > (value < 0 ? -value : value);
  uint32_t bits = bits32(near) - (beyond ? 1 : 0);
  bits |= back < value || back > value ? 1 : 0;
  return from_bits32(bits);
}

// a * b + c of f16 or bf16 values, to be rounded to their type.
float fused_odd(float a, float b, float c) {
  const double product = static_cast<double>(a) * static_cast<double>(b);
  const double addend = static_cast<double>(c);
  const double sum = product + addend;
  const double part = sum - product;
  const double error = (product - (sum - part)) + (addend - part);
  const bool inexact = error > 0 || error < 0;
  const bool beyond = inexact && ((error < 0) != (sum < 0));
  uint64_t bits = bits64(sum) - (beyond ? 1 : 0);
  bits |= inexact ? 1 : 0;
  return odd_from_f64(from_bits64(bits));
}

int32_t clamp_s32(int64_t value) {
  return static_cast<int32_t>(value > INT32_MAX ? INT32_MAX : value < INT32_MIN ? INT32_MIN : value);
}
int32_t wrap_s32(int64_t value) { return static_cast<int32_t>(static_cast<uint32_t>(value)); }
int32_t sext24(int32_t value) { return static_cast<int32_t>(static_cast<uint32_t>(value) << 8) >> 8; }

uint64_t mul_high_u64(uint64_t a, uint64_t b) {
  return static_cast<uint64_t>(static_cast<unsigned __int128>(a) * b >> 64);
}
int64_t mul_high_s64(int64_t a, int64_t b) {
  return static_cast<int64_t>(static_cast<__int128>(a) * b >> 64);
}

// Division by zero gives all ones, as the devices' code sequences do; PTX leaves it open.
template <class T>
T divide_unsigned(T a, T b) {
  return b == 0 ? static_cast<T>(~T{0}) : static_cast<T>(a / (b == 0 ? T{1} : b));
}
template <class T>
T divide_signed(T a, T b) {
  return b == 0 ? T{-1} : div_trunc(a, b);
}

uint32_t funnel_left(uint32_t low, uint32_t high, uint32_t count) {
  return static_cast<uint32_t>((static_cast<uint64_t>(high) << 32 | low) << count >> 32);
}
uint32_t funnel_right(uint32_t low, uint32_t high, uint32_t count) {
  return static_cast<uint32_t>((static_cast<uint64_t>(high) << 32 | low) >> count);
}

// bfind; `shift_amount` gives the shift that brings the bit to the top instead of its position.
uint32_t find_leading(uint64_t value, uint32_t width, uint32_t shift_amount) {
  const uint32_t position = 63 - static_cast<uint32_t>(std::countl_zero(value | 1));
  return value == 0 ? 0xFFFFFFFF : shift_amount != 0 ? width - 1 - position : position;
}

template <unsigned kWidth, class T>
T extract_unsigned(T a, uint32_t b, uint32_t c) {
  const uint32_t position = b & 0xFF;
  const uint32_t length = c & 0xFF;
  const T shifted = position >= kWidth ? T{0} : static_cast<T>(a >> (position & (kWidth - 1)));
  return length >= kWidth ? shifted : static_cast<T>(shifted & ((T{1} << (length & (kWidth - 1))) - 1));
}
template <unsigned kWidth, class T>
T extract_signed(T a, uint32_t b, uint32_t c) {
  using S = std::make_signed_t<T>;
  const uint32_t position = b & 0xFF;
  const uint32_t length = c & 0xFF;
  if (length == 0) return 0;
  const S shifted = static_cast<S>(static_cast<S>(a) >> (position >= kWidth ? kWidth - 1 : position));
  if (length >= kWidth) return static_cast<T>(shifted);
  const unsigned up = kWidth - length;
  return static_cast<T>(static_cast<S>(static_cast<T>(shifted) << up) >> up);
}
template <unsigned kWidth, class T>
T insert_bits(T a, T b, uint32_t position, uint32_t length) {
  position &= 0xFF;
  length &= 0xFF;
  if (position >= kWidth || length == 0) return b;
  const T ones = length >= kWidth ? static_cast<T>(~T{0}) : static_cast<T>((T{1} << length) - 1);
  const T mask = static_cast<T>(ones << position);
  return static_cast<T>((b & ~mask) | (static_cast<T>(a << position) & mask));
}

uint32_t logic3(uint32_t a, uint32_t b, uint32_t c, uint32_t table) {
  uint32_t result = 0;
  for (uint32_t i = 0; i < 8; ++i) {
    const uint32_t term = (i & 4 ? a : ~a) & (i & 2 ? b : ~b) & (i & 1 ? c : ~c);
    result |= table >> i & 1 ? term : 0;
  }
  return result;
}

uint32_t permute(uint32_t a, uint32_t b, uint32_t selector, bool signs) {
  const uint64_t bytes = static_cast<uint64_t>(b) << 32 | a;
  uint32_t result = 0;
  for (unsigned i = 0; i < 4; ++i) {
    const uint32_t control = selector >> (4 * i);
    uint32_t byte = static_cast<uint32_t>(bytes >> (8 * (control & 7))) & 0xFF;
    if (signs && (control & 8) != 0) byte = byte & 0x80 ? 0xFF : 0;
    result |= byte << (8 * i);
  }
  return result;
}

// The selectors of prmt.f4e, b4e, rc8, ecl, ecr, rc16, in this order, for the four values of the control.
uint32_t permute_selector(uint32_t mode, uint32_t control) {
  constexpr uint16_t kSelectors[6][4] = {
      {0x3210, 0x4321, 0x5432, 0x6543}, {0x5670, 0x6701, 0x7012, 0x0123}, {0x0000, 0x1111, 0x2222, 0x3333},
      {0x3210, 0x3211, 0x3222, 0x3333}, {0x0000, 0x1110, 0x2210, 0x3210}, {0x1010, 0x3232, 0x1010, 0x3232},
  };
  return kSelectors[mode % 6][control & 3];
}

// `flags`: bit 0 and 1 say that a and b are signed; for dp2a bit 2 takes the upper half of b.
uint32_t dot4(uint32_t a, uint32_t b, uint32_t c, uint32_t flags) {
  for (unsigned i = 0; i < 4; ++i) {
    const auto x = static_cast<uint8_t>(a >> (8 * i));
    const auto y = static_cast<uint8_t>(b >> (8 * i));
    c += static_cast<uint32_t>((flags & 1 ? static_cast<int8_t>(x) : x) *
                               (flags & 2 ? static_cast<int8_t>(y) : y));
  }
  return c;
}
uint32_t dot2(uint32_t a, uint32_t b, uint32_t c, uint32_t flags) {
  if (flags & 4) b >>= 16;
  for (unsigned i = 0; i < 2; ++i) {
    const auto x = static_cast<uint16_t>(a >> (16 * i));
    const auto y = static_cast<uint8_t>(b >> (8 * i));
    c += static_cast<uint32_t>((flags & 1 ? static_cast<int16_t>(x) : x) *
                               (flags & 2 ? static_cast<int8_t>(y) : y));
  }
  return c;
}

}  // namespace
}  // namespace tenon::emulator
