// Single instructions against the host, on every instruction set of the machine, which must agree bit for
// bit.
#include <fmt/format.h>
#include <gtest/gtest.h>

#include <bit>
#include <cmath>
#include <functional>
#include <random>

#include "support/numeric.h"
#include "test/unit/emulator/harness.h"

namespace tenon::emulator::test {
namespace {

constexpr int kCount = 256;

// 64-bit operands; narrower instructions take the low bits.
using Values = std::vector<uint64_t>;

// Random bits mixed with values near which things happen.
Values interesting(unsigned seed) {
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
Values run_instruction(const std::string& instruction, Widths widths, const Values& a, const Values& b,
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

void expect(const std::string& instruction, Widths widths, const Host& host) {
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

float f32(uint64_t value) { return std::bit_cast<float>(static_cast<uint32_t>(value)); }
double f64(uint64_t value) { return std::bit_cast<double>(value); }
uint64_t from_f32(float value) { return value != value ? 0x7FFFFFFF : bits(value); }

constexpr Widths kW64{64, 64, 64, 64};
constexpr Widths kW16{16, 16, 16, 16};

TEST(Instructions, IntegerArithmetic) {
  expect("add.u32 %d, %a, %b;", {}, [](uint64_t a, uint64_t b, uint64_t) { return a + b; });
  expect("sub.s64 %d, %a, %b;", kW64, [](uint64_t a, uint64_t b, uint64_t) { return a - b; });
  expect("add.s16 %d, %a, %b;", kW16, [](uint64_t a, uint64_t b, uint64_t) { return a + b; });
  expect("add.sat.s32 %d, %a, %b;", {}, integers<int32_t>([](int64_t a, int64_t b, int64_t) {
           return std::clamp<int64_t>(a + b, INT32_MIN, INT32_MAX);
         }));
  expect("mul.lo.s32 %d, %a, %b;", {}, [](uint64_t a, uint64_t b, uint64_t) { return a * b; });
  expect("mul.hi.u32 %d, %a, %b;", {}, [](uint64_t a, uint64_t b, uint64_t) { return a * b >> 32; });
  expect("mul.hi.s32 %d, %a, %b;", {},
         integers<int32_t>([](int64_t a, int64_t b, int64_t) { return a * b >> 32; }));
  expect("mul.hi.u64 %d, %a, %b;", kW64, [](uint64_t a, uint64_t b, uint64_t) {
    return static_cast<uint64_t>(static_cast<unsigned __int128>(a) * b >> 64);
  });
  expect("mul.wide.s32 %d, %a, %b;", {64}, [](uint64_t a, uint64_t b, uint64_t) {
    return static_cast<uint64_t>(int64_t{static_cast<int32_t>(a)} * static_cast<int32_t>(b));
  });
  expect("mul.wide.u16 %d, %a, %b;", {32, 16, 16}, [](uint64_t a, uint64_t b, uint64_t) { return a * b; });
  expect("mad.wide.s32 %d, %a, %b, %c;", {64, 32, 32, 64}, [](uint64_t a, uint64_t b, uint64_t c) {
    return static_cast<uint64_t>(int64_t{static_cast<int32_t>(a)} * static_cast<int32_t>(b)) + c;
  });
  expect("mad.lo.u16 %d, %a, %b, %c;", kW16, [](uint64_t a, uint64_t b, uint64_t c) { return a * b + c; });
  expect("mad.hi.s32 %d, %a, %b, %c;", {},
         integers<int32_t>([](int64_t a, int64_t b, int64_t c) { return (a * b >> 32) + c; }));
  expect("div.s32 %d, %a, %b;", {},
         integers<int32_t>([](int64_t a, int64_t b, int64_t) { return b == 0 ? -1 : a / b; }));
  expect("rem.u64 %d, %a, %b;", kW64, [](uint64_t a, uint64_t b, uint64_t) { return b == 0 ? a : a % b; });
  expect("abs.s32 %d, %a;", {},
         integers<int32_t>([](int64_t a, int64_t, int64_t) { return a < 0 ? -a : a; }));
  expect("neg.s16 %d, %a;", kW16, [](uint64_t a, uint64_t, uint64_t) { return 0 - a; });
  expect("min.s64 %d, %a, %b;", kW64,
         integers<int64_t>([](int64_t a, int64_t b, int64_t) { return std::min(a, b); }));
  expect("max.u16 %d, %a, %b;", kW16, [](uint64_t a, uint64_t b, uint64_t) { return std::max(a, b); });
  expect("sad.s32 %d, %a, %b, %c;", {}, [](uint64_t a, uint64_t b, uint64_t c) {
    const int64_t x = static_cast<int32_t>(a), y = static_cast<int32_t>(b);
    return c + static_cast<uint64_t>(x > y ? x - y : y - x);
  });
  expect("mul24.lo.s32 %d, %a, %b;", {}, [](uint64_t a, uint64_t b, uint64_t) {
    return static_cast<uint64_t>(int64_t{static_cast<int32_t>(a << 8) >> 8} *
                                 (static_cast<int32_t>(b << 8) >> 8));
  });
}

TEST(Instructions, CarryChains) {
  // 64-bit sums and products out of 32-bit parts.
  const std::string split = ".reg .b32 %l<4>, %h<4>; mov.b64 {%l1, %h1}, %a; mov.b64 {%l2, %h2}, %b;\n";
  expect(split + "add.cc.u32 %l3, %l1, %l2; addc.u32 %h3, %h1, %h2; mov.b64 %d, {%l3, %h3};", kW64,
         [](uint64_t a, uint64_t b, uint64_t) { return a + b; });
  expect(split + "sub.cc.u32 %l3, %l1, %l2; subc.u32 %h3, %h1, %h2; mov.b64 %d, {%l3, %h3};", kW64,
         [](uint64_t a, uint64_t b, uint64_t) { return a - b; });
  expect(split +
             "mul.lo.u32 %l3, %l1, %l2; mul.hi.u32 %h3, %l1, %l2; mad.lo.cc.u32 %l3, %l1, 1, %l3; "
             "madc.hi.u32 %h3, %l1, %h2, %h3;"
             "mov.b64 %d, {%l3, %h3};",
         kW64, [](uint64_t a, uint64_t b, uint64_t) {
           const uint64_t l1 = a & 0xFFFFFFFF, l2 = b & 0xFFFFFFFF, h2 = b >> 32;
           const uint64_t product = l1 * l2;
           const uint64_t low = (product & 0xFFFFFFFF) + l1;
           const uint64_t high = (l1 * h2 >> 32) + (product >> 32) + (low >> 32);
           return (low & 0xFFFFFFFF) | high << 32;
         });
}

TEST(Instructions, Bits) {
  expect("not.b16 %d, %a;", kW16, [](uint64_t a, uint64_t, uint64_t) { return ~a; });
  expect("xor.b16 %d, %a, %b;", kW16, [](uint64_t a, uint64_t b, uint64_t) { return a ^ b; });
  expect("shl.b32 %d, %a, %b;", {}, [](uint64_t a, uint64_t b, uint64_t) { return b > 31 ? 0 : a << b; });
  expect("shl.b16 %d, %a, %b;", {16, 16, 32},
         [](uint64_t a, uint64_t b, uint64_t) { return b > 15 ? 0 : a << b; });
  expect("shr.u64 %d, %a, %b;", {64, 64, 32},
         [](uint64_t a, uint64_t b, uint64_t) { return b > 63 ? 0 : a >> b; });
  expect("shr.s32 %d, %a, %b;", {}, [](uint64_t a, uint64_t b, uint64_t) {
    return static_cast<uint64_t>(int64_t{static_cast<int32_t>(a)} >> std::min<uint64_t>(b, 31));
  });
  expect("shr.s16 %d, %a, %b;", {16, 16, 32}, [](uint64_t a, uint64_t b, uint64_t) {
    return static_cast<uint64_t>(int64_t{static_cast<int16_t>(a)} >> std::min<uint64_t>(b, 15));
  });
  expect("shf.l.clamp.b32 %d, %a, %b, %c;", {}, [](uint64_t a, uint64_t b, uint64_t c) {
    const unsigned n = c > 32 ? 32 : static_cast<unsigned>(c);
    return n == 0 ? b : n == 32 ? a : b << n | a >> (32 - n);
  });
  expect("shf.r.wrap.b32 %d, %a, %b, %c;", {}, [](uint64_t a, uint64_t b, uint64_t c) {
    const unsigned n = c & 31;
    return n == 0 ? a : b << (32 - n) | a >> n;
  });
  expect("bfe.u32 %d, %a, %b, %c;", {}, [](uint64_t a, uint64_t b, uint64_t c) {
    uint64_t result = 0;
    for (unsigned i = 0; i < 32; ++i) {
      if (i < (c & 255) && (b & 255) + i < 32) result |= (a >> ((b & 255) + i) & 1) << i;
    }
    return result;
  });
  expect("bfe.s64 %d, %a, %b, %c;", {64, 64, 32, 32}, [](uint64_t a, uint64_t b, uint64_t c) {
    const uint64_t position = b & 255, length = c & 255;
    const uint64_t sign = length == 0 ? 0 : a >> std::min<uint64_t>(position + length - 1, 63) & 1;
    uint64_t result = 0;
    for (unsigned i = 0; i < 64; ++i) {
      result |= (i < length && position + i < 64 ? a >> (position + i) & 1 : sign) << i;
    }
    return result;
  });
  expect("bfi.b32 %d, %a, %b, %c, 7;", {}, [](uint64_t a, uint64_t b, uint64_t c) {
    for (unsigned i = 0; i < 7; ++i) {
      const uint64_t at = (c & 255) + i;
      if (at < 32) b = (b & ~(uint64_t{1} << at)) | (a >> i & 1) << at;
    }
    return b;
  });
  expect("brev.b64 %d, %a;", kW64, [](uint64_t a, uint64_t, uint64_t) { return __builtin_bitreverse64(a); });
  expect("popc.b64 %d, %a;", {32, 64},
         [](uint64_t a, uint64_t, uint64_t) { return static_cast<uint64_t>(std::popcount(a)); });
  expect("clz.b32 %d, %a;", {}, [](uint64_t a, uint64_t, uint64_t) {
    return static_cast<uint64_t>(std::countl_zero(static_cast<uint32_t>(a)));
  });
  expect("bfind.s32 %d, %a;", {}, [](uint64_t a, uint64_t, uint64_t) {
    const auto v = static_cast<int32_t>(a);
    const uint32_t u = static_cast<uint32_t>(v < 0 ? ~v : v);
    return u == 0 ? 0xFFFFFFFFu : 31u - static_cast<unsigned>(std::countl_zero(u));
  });
  expect("lop3.b32 %d, %a, %b, %c, 0xCA;", {},
         [](uint64_t a, uint64_t b, uint64_t c) { return (a & b) | (~a & c); });
  expect("prmt.b32 %d, %a, %b, %c;", {}, [](uint64_t a, uint64_t b, uint64_t c) {
    uint64_t result = 0;
    for (unsigned i = 0; i < 4; ++i) {
      const unsigned s = c >> (4 * i) & 15;
      uint64_t byte = (b << 32 | a) >> (8 * (s & 7)) & 255;
      if (s & 8) byte = byte & 128 ? 255 : 0;
      result |= byte << (8 * i);
    }
    return result;
  });
  expect("prmt.b32.b4e %d, %a, %b, 1;", {}, [](uint64_t a, uint64_t b, uint64_t) {
    const uint64_t v = b << 32 | a;
    return (v >> 8 & 255) | (v & 255) << 8 | (v >> 56 & 255) << 16 | (v >> 48 & 255) << 24;
  });
}

TEST(Instructions, Moves) {
  expect(".reg .b16 %x<4>; mov.b64 {%x0, %x1, %x2, %x3}, %a; mov.b64 %d, {%x3, %x0, %x1, %x2};", kW64,
         [](uint64_t a, uint64_t, uint64_t) { return std::rotl(a, 16); });
  expect(".reg .b8 %x<4>; mov.b32 {%x0, %x1, %x2, %x3}, %a; mov.b32 %d, {%x1, %x2, %x3, %x0};", {},
         [](uint64_t a, uint64_t, uint64_t) { return std::rotr(static_cast<uint32_t>(a), 8); });
  expect(".reg .b16 %x; mov.b32 {_, %x}, %a; mov.b32 %d, {%x, 7};", {},
         [](uint64_t a, uint64_t, uint64_t) { return a >> 16 | 7 << 16; });
}

TEST(Instructions, ComparisonsAndSelections) {
  const std::string select = "selp.b32 %d, 1, 0, %p;";
  expect("setp.lt.s32 %p, %a, %b; " + select, {},
         integers<int32_t>([](int64_t a, int64_t b, int64_t) { return a < b; }));
  expect("setp.hs.s32 %p, %a, %b; " + select, {}, [](uint64_t a, uint64_t b, uint64_t) { return a >= b; });
  expect("setp.gt.u16 %p, %a, %b; " + select, {32, 16, 16},
         [](uint64_t a, uint64_t b, uint64_t) { return a > b; });
  expect("setp.lt.f32 %p, %a, %b; " + select, {},
         [](uint64_t a, uint64_t b, uint64_t) { return f32(a) < f32(b); });
  expect("setp.ne.f32 %p, %a, %b; " + select, {}, [](uint64_t a, uint64_t b, uint64_t) {
    return f32(a) == f32(a) && f32(b) == f32(b) && f32(a) != f32(b);
  });
  expect("setp.neu.f32 %p, %a, %b; " + select, {},
         [](uint64_t a, uint64_t b, uint64_t) { return f32(a) != f32(b); });
  expect("setp.geu.f64 %p, %a, %b; " + select, {32, 64, 64},
         [](uint64_t a, uint64_t b, uint64_t) { return !(f64(a) < f64(b)); });
  expect("setp.nan.f64 %p, %a, %b; " + select, {32, 64, 64},
         [](uint64_t a, uint64_t b, uint64_t) { return f64(a) != f64(a) || f64(b) != f64(b); });
  expect(
      "setp.eq.u32 %q, %c, 1; setp.lt.or.u32 %p|%q, %a, %b, !%q; selp.b32 %d, 1, 0, %p; @%q add.u32 %d, %d, "
      "2;",
      {}, [](uint64_t a, uint64_t b, uint64_t c) { return (a < b || c != 1) + 2 * (!(a < b) || c != 1); });
  expect("set.gt.u32.s32 %d, %a, %b;", {},
         integers<int32_t>([](int64_t a, int64_t b, int64_t) { return a > b ? -1 : 0; }));
  expect("set.le.f32.f32 %d, %a, %b;", {},
         [](uint64_t a, uint64_t b, uint64_t) { return f32(a) <= f32(b) ? 0x3F800000 : 0; });
  expect("slct.u64.s32 %d, %a, %b, %c;", {64, 64, 64, 32},
         [](uint64_t a, uint64_t b, uint64_t c) { return static_cast<int32_t>(c) >= 0 ? a : b; });
  expect("setp.lt.f16x2 %p|%q, %a, %b; selp.b32 %d, 1, 0, %p; @%q add.u32 %d, %d, 2;", {},
         [](uint64_t a, uint64_t b, uint64_t) {
           const auto half = [](uint64_t v) { return f32_from_f16(static_cast<uint16_t>(v)); };
           return (half(a) < half(b)) + 2 * (half(a >> 16) < half(b >> 16));
         });
}

TEST(Instructions, Floats) {
  expect("add.rn.f32 %d, %a, %b;", {},
         [](uint64_t a, uint64_t b, uint64_t) { return from_f32(f32(a) + f32(b)); });
  expect("fma.rn.f32 %d, %a, %b, %c;", {},
         [](uint64_t a, uint64_t b, uint64_t c) { return from_f32(std::fma(f32(a), f32(b), f32(c))); });
  expect("div.rn.f32 %d, %a, %b;", {},
         [](uint64_t a, uint64_t b, uint64_t) { return from_f32(f32(a) / f32(b)); });
  expect("sqrt.rn.f32 %d, %a;", {},
         [](uint64_t a, uint64_t, uint64_t) { return from_f32(std::sqrt(f32(a))); });
  // NaN payloads of f64 are left open.
  expect("fma.rn.f64 %d, %a, %b, %c; testp.notanumber.f64 %p, %d; @%p mov.b64 %d, 0;", kW64,
         [](uint64_t a, uint64_t b, uint64_t c) {
           const double r = std::fma(f64(a), f64(b), f64(c));
           return r != r ? 0 : bits(r);
         });
}

TEST(Instructions, FloatDetails) {
  const auto flush = [](float v) { return std::fpclassify(v) == FP_SUBNORMAL ? std::copysign(0.0f, v) : v; };
  expect("add.ftz.f32 %d, %a, %b;", {},
         [&](uint64_t a, uint64_t b, uint64_t) { return from_f32(flush(flush(f32(a)) + flush(f32(b)))); });
  expect("mul.rz.ftz.sat.f32 %d, %a, %b;", {}, [&](uint64_t a, uint64_t b, uint64_t) {
    const double exact = double{flush(f32(a))} * flush(f32(b));
    float r = f32_from_f64(exact, Rounding::kTowardZero);
    r = flush(r);
    return from_f32(r > 0 ? std::min(r, 1.0f) : 0.0f);
  });
  expect("max.f32 %d, %a, %b;", {},
         [](uint64_t a, uint64_t b, uint64_t) { return from_f32(maximum_number(f32(a), f32(b))); });
  expect("min.NaN.f32 %d, %a, %b;", {},
         [](uint64_t a, uint64_t b, uint64_t) { return from_f32(minimum(f32(a), f32(b))); });
  expect("copysign.f32 %d, %a, %b;", {},
         [](uint64_t a, uint64_t b, uint64_t) { return (b & 0x7FFFFFFF) | (a & 0x80000000); });
  expect("testp.subnormal.f32 %p, %a; selp.b32 %d, 1, 0, %p;", {},
         [](uint64_t a, uint64_t, uint64_t) { return std::fpclassify(f32(a)) == FP_SUBNORMAL; });
  for (const auto& [name, rounding] : {std::pair("rz", Rounding::kTowardZero),
                                       std::pair("rm", Rounding::kDown), std::pair("rp", Rounding::kUp)}) {
    expect(fmt::format("mul.{}.f32 %d, %a, %b;", name), {}, [rounding](uint64_t a, uint64_t b, uint64_t) {
      return from_f32(f32_from_f64(double{f32(a)} * f32(b), rounding));
    });
  }
}

// a * b + c, rounded to odd: another rounding to a much shorter format gives what one rounding would.
double fma_to_odd(double a, double b, double c) {
  const __float128 product = static_cast<__float128>(a) * b;
  const __float128 sum = product + c;
  const __float128 part = sum - product;
  const __float128 error = (product - (sum - part)) + (static_cast<__float128>(c) - part);
  const double near = static_cast<double>(sum);
  const __float128 rest = sum - near + error;
  if (near != near || near - near != 0 || rest == 0 || (bits(near) & 1) != 0) return near;
  return std::nextafter(near, rest > 0 ? INFINITY : -INFINITY);
}

TEST(Instructions, Halves) {
  const auto half = [](uint64_t v) { return double{f32_from_f16(static_cast<uint16_t>(v))}; };
  const auto brain = [](uint64_t v) { return double{f32_from_bf16(static_cast<uint16_t>(v))}; };
  expect("fma.rn.f16 %d, %a, %b, %c;", kW16, [&](uint64_t a, uint64_t b, uint64_t c) {
    return encode<Float16>(fma_to_odd(half(a), half(b), half(c)));
  });
  expect("add.f16 %d, %a, %b;", kW16,
         [&](uint64_t a, uint64_t b, uint64_t) { return encode<Float16>(half(a) + half(b)); });
  expect("mul.bf16 %d, %a, %b;", kW16,
         [&](uint64_t a, uint64_t b, uint64_t) { return encode<BFloat16>(brain(a) * brain(b)); });
  expect("fma.rn.relu.bf16 %d, %a, %b, %c;", kW16, [&](uint64_t a, uint64_t b, uint64_t c) {
    const double near = fma_to_odd(brain(a), brain(b), brain(c));
    return near < 0 ? 0 : near == 0 ? 0 : encode<BFloat16>(near);
  });
  const Widths narrow_first{32, 16, 32, 32};
  expect("sub.rn.f32.f16 %d, %a, %b;", narrow_first,
         [&](uint64_t a, uint64_t b, uint64_t) { return from_f32(static_cast<float>(half(a)) - f32(b)); });
  expect("add.f32.bf16 %d, %a, %b;", narrow_first,
         [&](uint64_t a, uint64_t b, uint64_t) { return from_f32(static_cast<float>(brain(a)) + f32(b)); });
  expect("fma.rn.f32.f16 %d, %a, %b, %c;", {32, 16, 16, 32}, [&](uint64_t a, uint64_t b, uint64_t c) {
    return from_f32(std::fma(static_cast<float>(half(a)), static_cast<float>(half(b)), f32(c)));
  });
  expect("neg.f16x2 %d, %a;", {}, [](uint64_t a, uint64_t, uint64_t) { return a ^ 0x80008000; });
  expect("max.f16x2 %d, %a, %b;", {}, [&](uint64_t a, uint64_t b, uint64_t) {
    const auto one = [&](uint64_t x, uint64_t y) {
      return uint64_t{encode<Float16>(maximum_number(half(x), half(y)))};
    };
    return one(a, b) | one(a >> 16, b >> 16) << 16;
  });
}

template <class To, class From>
uint64_t clamped(From value) {
  return bits(device_int_from_float<To>(value));
}

TEST(Instructions, IntegerConversions) {
  expect("cvt.s64.s32 %d, %a;", {64, 32}, [](uint64_t a, uint64_t, uint64_t) {
    return static_cast<uint64_t>(int64_t{static_cast<int32_t>(a)});
  });
  expect("cvt.s32.s8 %d, %a;", {}, [](uint64_t a, uint64_t, uint64_t) {
    return static_cast<uint64_t>(int64_t{static_cast<int8_t>(a)});
  });
  expect("cvt.s16.s8 %d, %a;", kW16, [](uint64_t a, uint64_t, uint64_t) {
    return static_cast<uint64_t>(int64_t{static_cast<int8_t>(a)});
  });
  expect("cvt.u8.u32 %d, %a;", {}, [](uint64_t a, uint64_t, uint64_t) { return a & 255; });
  expect("cvt.u64.u16 %d, %a;", {64, 16}, [](uint64_t a, uint64_t, uint64_t) { return a; });
  expect("cvt.u16.u64 %d, %a;", {16, 64}, [](uint64_t a, uint64_t, uint64_t) { return a; });
  expect("cvt.s64.s16 %d, %a;", {64, 64}, [](uint64_t a, uint64_t, uint64_t) {
    return static_cast<uint64_t>(int64_t{static_cast<int16_t>(a)});
  });
  expect("cvt.sat.s8.s32 %d, %a;", {}, [](uint64_t a, uint64_t, uint64_t) {
    return static_cast<uint64_t>(int64_t{std::clamp(static_cast<int32_t>(a), -128, 127)});
  });
  expect("cvt.sat.u16.s64 %d, %a;", {16, 64}, [](uint64_t a, uint64_t, uint64_t) {
    return static_cast<uint64_t>(std::clamp<int64_t>(static_cast<int64_t>(a), 0, 65535));
  });
  expect("cvt.sat.s32.u64 %d, %a;", {32, 64},
         [](uint64_t a, uint64_t, uint64_t) { return std::min<uint64_t>(a, INT32_MAX); });
}

TEST(Instructions, FloatConversions) {
  expect("cvt.rzi.s32.f32 %d, %a;", {},
         [](uint64_t a, uint64_t, uint64_t) { return clamped<int32_t>(f32(a)); });
  expect("cvt.rni.u8.f32 %d, %a;", {},
         [](uint64_t a, uint64_t, uint64_t) { return clamped<uint8_t>(round_even(f32(a))); });
  expect("cvt.rmi.s16.f32 %d, %a;", {16, 32},
         [](uint64_t a, uint64_t, uint64_t) { return clamped<int16_t>(std::floor(f32(a))); });
  expect("cvt.rpi.s64.f64 %d, %a;", kW64,
         [](uint64_t a, uint64_t, uint64_t) { return clamped<int64_t>(std::ceil(f64(a))); });
  expect("cvt.rzi.u32.f64 %d, %a;", {32, 64},
         [](uint64_t a, uint64_t, uint64_t) { return clamped<uint32_t>(f64(a)); });
  expect("cvt.rzi.u64.f32 %d, %a;", {64, 32},
         [](uint64_t a, uint64_t, uint64_t) { return clamped<uint64_t>(f32(a)); });
  expect("cvt.rzi.s32.f16 %d, %a;", {32, 16}, [](uint64_t a, uint64_t, uint64_t) {
    return clamped<int32_t>(f32_from_f16(static_cast<uint16_t>(a)));
  });
  expect("cvt.rn.f32.s32 %d, %a;", {},
         [](uint64_t a, uint64_t, uint64_t) { return bits(static_cast<float>(static_cast<int32_t>(a))); });
  expect("cvt.rn.f32.u64 %d, %a;", {32, 64},
         [](uint64_t a, uint64_t, uint64_t) { return bits(static_cast<float>(a)); });
  expect("cvt.rz.f32.s64 %d, %a;", {32, 64}, [](uint64_t a, uint64_t, uint64_t) {
    return uint64_t{encode_int<Float32>(static_cast<int64_t>(a), Rounding::kTowardZero)};
  });
  expect("cvt.rn.f32.s8 %d, %a;", {},
         [](uint64_t a, uint64_t, uint64_t) { return bits(static_cast<float>(static_cast<int8_t>(a))); });
  expect("cvt.rn.f16.s32 %d, %a;", {16, 32},
         [](uint64_t a, uint64_t, uint64_t) { return uint64_t{encode<Float16>(static_cast<int32_t>(a))}; });
  expect("cvt.rn.bf16.u32 %d, %a;", {16, 32},
         [](uint64_t a, uint64_t, uint64_t) { return uint64_t{encode<BFloat16>(static_cast<uint32_t>(a))}; });
  expect("cvt.rn.f64.u64 %d, %a;", kW64,
         [](uint64_t a, uint64_t, uint64_t) { return bits(static_cast<double>(a)); });
  expect("cvt.rn.f16.f32 %d, %a;", {16, 32},
         [](uint64_t a, uint64_t, uint64_t) { return uint64_t{encode<Float16>(f32(a))}; });
  expect("cvt.rz.bf16.f32 %d, %a;", {16, 32}, [](uint64_t a, uint64_t, uint64_t) {
    return uint64_t{encode<BFloat16>(f32(a), Rounding::kTowardZero)};
  });
  expect("cvt.rn.f16.f64 %d, %a;", {16, 64},
         [](uint64_t a, uint64_t, uint64_t) { return uint64_t{encode<Float16>(f64(a))}; });
  expect("cvt.rm.f32.f64 %d, %a;", {32, 64},
         [](uint64_t a, uint64_t, uint64_t) { return uint64_t{encode<Float32>(f64(a), Rounding::kDown)}; });
  expect("cvt.rn.bf16x2.f32 %d, %a, %b;", {}, [](uint64_t a, uint64_t b, uint64_t) {
    return uint64_t{encode<BFloat16>(f32(b))} | uint64_t{encode<BFloat16>(f32(a))} << 16;
  });
  expect("cvt.rna.tf32.f32 %d, %a;", {},
         [](uint64_t a, uint64_t, uint64_t) { return bits(tf32_from_f32(f32(a))); });
  expect("cvt.rni.f32.f32 %d, %a;", {},
         [](uint64_t a, uint64_t, uint64_t) { return bits(round_even(f32(a))); });
  expect("cvt.sat.f32.f32 %d, %a;", {},
         [](uint64_t a, uint64_t, uint64_t) { return bits(f32(a) > 0 ? std::min(f32(a), 1.0f) : 0.0f); });
  expect("cvt.rn.satfinite.e4m3x2.f32 %d, %a, %b;", {16}, [](uint64_t a, uint64_t b, uint64_t) {
    return uint64_t{f8e4m3_from_f32(f32(b))} | uint64_t{f8e4m3_from_f32(f32(a))} << 8;
  });
}

TEST(Instructions, Guards) {
  expect("mov.u32 %d, 5; setp.lt.u32 %p, %a, %b; @%p mov.u32 %d, %a; @!%p add.u32 %d, %d, 1;", {},
         [](uint64_t a, uint64_t b, uint64_t) { return a < b ? a : 6; });
}

}  // namespace
}  // namespace tenon::emulator::test
