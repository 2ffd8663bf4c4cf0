// Single instructions against the host, on every instruction set of the machine, which must agree bit for
// bit.
#include "test/unit/emulator/instructions.h"

#include <fmt/format.h>
#include <gtest/gtest.h>

#include "support/numeric.h"

namespace tenon::emulator::test {
namespace {

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

TEST(Instructions, Guards) {
  expect("mov.u32 %d, 5; setp.lt.u32 %p, %a, %b; @%p mov.u32 %d, %a; @!%p add.u32 %d, %d, 1;", {},
         [](uint64_t a, uint64_t b, uint64_t) { return a < b ? a : 6; });
}

}  // namespace
}  // namespace tenon::emulator::test
