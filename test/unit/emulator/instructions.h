// Single instructions against the host, on every instruction set of the machine, which must agree bit for
// bit.
#pragma once

#include <fmt/format.h>
#include <gtest/gtest.h>

#include <bit>
#include <functional>
#include <random>
#include <string>
#include <vector>

#include "test/unit/emulator/harness.h"

namespace tenon::emulator::test {

inline constexpr int kCount = 256;

// 64-bit operands; narrower instructions take the low bits.
using Values = std::vector<uint64_t>;

// Random bits mixed with values near which things happen.
inline Values interesting(unsigned seed) {
  constexpr uint64_t kSpecial[] = {0,
                                   1,
                                   2,
                                   31,
                                   32,
                                   33,
                                   63,
                                   64,
                                   127,
                                   128,
                                   255,
                                   256,
                                   0x7FFF,
                                   0x8000,
                                   0xFFFF,
                                   0x10000,
                                   0x7FFFFFFF,
                                   0x80000000,
                                   0xFFFFFFFF,
                                   0x7FFFFFFFFFFFFFFF,
                                   0x8000000000000000,
                                   0xFFFFFFFFFFFFFFFF,
                                   0x3F800000,
                                   0x7F800000,
                                   0x7FC00000,
                                   0x00000001,
                                   0x80000001,
                                   0x3FF0000000000000,
                                   0x7FF0000000000000,
                                   0x7FF8000000000000,
                                   0x3C00,
                                   0x7C00,
                                   0x7E00};
  std::mt19937_64 engine(seed);
  Values values(kCount);
  for (uint64_t& value : values) {
    value = engine();
    if (engine() % 3 == 0) value = kSpecial[engine() % std::size(kSpecial)];
    if (engine() % 5 == 0) value >>= engine() % 64;
  }
  return values;
}

struct Widths {
  unsigned d = 32, a = 32, b = 32, c = 32;
};

// `instruction` uses %d, %a, %b, %c, which become registers of the widths given.
inline Values run_instruction(const std::string& instruction, Widths widths, const Values& a, const Values& b,
                              const Values& c, InstructionSet set) {
  const auto name = [](char letter, unsigned bits) { return fmt::format("%{}{}", letter, bits); };
  std::string text = instruction;
  const auto put = [&](char letter, unsigned bits) {
    const std::string from = fmt::format("%{}", letter);
    for (size_t at = text.find(from); at != std::string::npos; at = text.find(from, at + 2)) {
      text.replace(at, 2, name(letter, bits));
    }
  };
  put('d', widths.d);
  put('a', widths.a);
  put('b', widths.b);
  put('c', widths.c);
  std::string body = ".visible .entry k(.param .u64 d, .param .u64 a, .param .u64 b, .param .u64 c) {\n";
  body += ".reg .pred %p, %q; .reg .b32 %t; .reg .b64 %i; .reg .b64 %base;\n";
  for (const char letter : {'d', 'a', 'b', 'c'}) {
    for (const unsigned bits : {16u, 32u, 64u})
      body += fmt::format(".reg .b{} {};\n", bits, name(letter, bits));
  }
  body += "mov.u32 %t, %tid.x; mul.wide.u32 %i, %t, 8;\n";
  for (const char letter : {'a', 'b', 'c'}) {
    body += fmt::format("ld.param.u64 %base, [{0}]; add.u64 %base, %base, %i; ld.global.b64 {1}, [%base];\n",
                        letter, name(letter, 64));
    body += fmt::format("cvt.u32.u64 {0}, {1}; cvt.u16.u32 {2}, {0};\n", name(letter, 32), name(letter, 64),
                        name(letter, 16));
  }
  body += text + "\n";
  if (widths.d != 64) body += fmt::format("cvt.u64.u{} %d64, %d{};\n", widths.d, widths.d);
  body += "ld.param.u64 %base, [d]; add.u64 %base, %base, %i; st.global.b64 [%base], %d64; ret; }\n";
  DeviceConfig config;
  config.sm = 90;
  config.instruction_set = set;
  Array dd = Array::fresh(kCount * 8), da = Array::of(a), db = Array::of(b), dc = Array::of(c);
  KernelRun(module_text(body, "sm_90"), config)
      .block(kCount)
      .array(dd)
      .array(da)
      .array(db)
      .array(dc)
      .expect_ok();
  return dd.values<uint64_t>();
}

using Host = std::function<uint64_t(uint64_t, uint64_t, uint64_t)>;

inline void expect(const std::string& instruction, Widths widths, const Host& host) {
  const Values a = interesting(1), b = interesting(2), c = interesting(3);
  const auto cut = [](uint64_t value, unsigned bits) {
    return bits == 64 ? value : value & ((uint64_t{1} << bits) - 1);
  };
  for (const InstructionSet set :
       {InstructionSet::kBaseline, InstructionSet::kAvx2, InstructionSet::kAvx512}) {
    if (lane_ops(set).empty()) continue;
    const Values d = run_instruction(instruction, widths, a, b, c, set);
    for (int i = 0; i < kCount; ++i) {
      const uint64_t x = cut(a[i], widths.a), y = cut(b[i], widths.b), z = cut(c[i], widths.c);
      const uint64_t expected = cut(host(x, y, z), widths.d);
      ASSERT_EQ(d[i], expected) << fmt::format("{} of {:#x} {:#x} {:#x} gives {:#x}, not {:#x}, set {}",
                                               instruction, x, y, z, d[i], expected, static_cast<int>(set));
    }
  }
}

template <class T>
uint64_t bits(T value) {
  if constexpr (sizeof(T) == 8) return std::bit_cast<uint64_t>(value);
  if constexpr (sizeof(T) == 4) return std::bit_cast<uint32_t>(value);
  if constexpr (sizeof(T) == 2) return std::bit_cast<uint16_t>(value);
  if constexpr (sizeof(T) == 1) return std::bit_cast<uint8_t>(value);
}

template <class T, class F>
Host integers(F f) {
  return [f](uint64_t a, uint64_t b, uint64_t c) {
    return bits<T>(static_cast<T>(f(static_cast<T>(a), static_cast<T>(b), static_cast<T>(c))));
  };
}

inline float f32(uint64_t value) { return std::bit_cast<float>(static_cast<uint32_t>(value)); }
inline double f64(uint64_t value) { return std::bit_cast<double>(value); }
inline uint64_t from_f32(float value) { return value != value ? 0x7FFFFFFF : bits(value); }

inline constexpr Widths kW64{64, 64, 64, 64};
inline constexpr Widths kW16{16, 16, 16, 16};

}  // namespace tenon::emulator::test
