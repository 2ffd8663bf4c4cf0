// Arithmetic of floats and conversions between them.
#include <cmath>
#include <utility>

#include "support/numeric.h"
#include "test/unit/emulator/instructions.h"

namespace tenon::emulator::test {
namespace {

TEST(FloatInstructions, Arithmetic) {
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

TEST(FloatInstructions, Details) {
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

TEST(FloatInstructions, Halves) {
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

TEST(FloatInstructions, Conversions) {
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

}  // namespace
}  // namespace tenon::emulator::test
