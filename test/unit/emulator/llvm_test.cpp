// Kernels of ptx/llvm.ll, as `llc-22 -mcpu=sm_80 -mattr=+ptx70` compiles them, against the host.
#include <gtest/gtest.h>

#include <bit>
#include <cmath>

#include "support/numeric.h"
#include "test/unit/emulator/harness.h"

namespace tenon::emulator::test {
namespace {

const std::string& kernels() {
  static const std::string text = read_ptx("llvm.ptx");
  return text;
}

TEST(Llvm, VectorisedMap) {
  std::vector<float> x(1000);
  for (size_t i = 0; i < x.size(); ++i) x[i] = static_cast<float>(i) * 0.37f - 100;
  x[5] = NAN;
  x[9] = 1;
  Array dx = Array::of(x), dy = Array::fresh(x.size() * 4);
  const LaunchReport report =
      KernelRun(kernels()).grid(2).block(128).array(dx).array(dy).value(2.5f).value(1000).expect_ok(
          "vector_map");
  const auto y = dy.values<float>();
  const auto same = [](float a, float b) {
    return std::bit_cast<uint32_t>(a) == std::bit_cast<uint32_t>(b) || (a != a && b != b);
  };
  for (size_t i = 0; i < x.size(); ++i) {
    const float v = x[i];
    const float expected[] = {std::fma(v, 2.5f, 1.0f), maximum(v, 2.5f), std::sqrt(v / 2.5f),
                              v - std::floor(v)};
    ASSERT_TRUE(same(y[i], expected[i % 4])) << i << ": " << y[i] << " " << expected[i % 4];
  }
  EXPECT_EQ(report.total.global_sectors, 250u);
  EXPECT_EQ(report.total.least_global_sectors, 250u);
}

TEST(Llvm, NarrowTypes) {
  std::vector<uint16_t> h(64), bf(64);
  std::vector<int8_t> i8(64);
  std::vector<int64_t> i64(64);
  for (int i = 0; i < 64; ++i) {
    h[i] = f16_from_f32(static_cast<float>(i) * 0.77f - 20);
    bf[i] = bf16_from_f32(static_cast<float>(i) * 1.3f - 33);
    i8[i] = static_cast<int8_t>(i * 37);
    i64[i] = int64_t{i} * 0x123456789ABCDEF - 0x7FFFFFFF;
  }
  Array dh = Array::of(h), db = Array::of(bf), d8 = Array::of(i8), d64 = Array::of(i64),
        out = Array::fresh(12 * 64 * 4);
  KernelRun(kernels()).block(64).array(dh).array(db).array(d8).array(d64).array(out).expect_ok("types");
  const auto y = out.values<uint32_t>();
  const int table[] = {3, -5, 7, 11};
  for (int i = 0; i < 64; ++i) {
    const float v = f32_from_f16(h[i]);
    const float w = f32_from_bf16(bf[i]);
    const float fh = f32_from_f16(f16_from_f32(f32_from_f16(f16_from_f32(v * v)) + 1));
    const float fb = f32_from_bf16(bf16_from_f32(f32_from_bf16(bf16_from_f32(w + 1)) * w));
    const auto u8 = static_cast<uint8_t>(i8[i]);
    const auto pop = static_cast<uint32_t>(std::popcount(static_cast<uint64_t>(i64[i])));
    const auto row = [&](int r) { return y[r * 64 + i]; };
    ASSERT_EQ(std::bit_cast<float>(row(0)), fh);
    ASSERT_EQ(std::bit_cast<float>(row(1)), fb);
    ASSERT_EQ(row(2), static_cast<uint32_t>(int32_t{i8[i]}));
    ASSERT_EQ(row(3), static_cast<uint32_t>(i8[i] / 7));
    ASSERT_EQ(row(4), uint32_t{u8} << 9 | pop >> 23);
    ASSERT_EQ(row(5), static_cast<uint32_t>(std::countl_zero(uint32_t{u8})));
    ASSERT_EQ(row(6), static_cast<uint32_t>(std::countr_zero(uint32_t{u8})));
    ASSERT_EQ(row(7), static_cast<uint32_t>(i64[i] % 1000));
    ASSERT_EQ(row(8), static_cast<uint32_t>(table[i & 3]));
    ASSERT_EQ(row(9), static_cast<uint32_t>(int_from_float<int32_t>(fh)));
    ASSERT_EQ(row(10), int_from_float<uint8_t>(fb));
    ASSERT_EQ(row(11), f16_from_f32(fb));
  }
}

TEST(Llvm, RowSum) {
  const int rows = 3, n = 1000;
  std::vector<float> x(rows * n);
  for (size_t i = 0; i < x.size(); ++i) x[i] = static_cast<float>(i % 17);
  Array dx = Array::of(x), dy = Array::fresh(rows * 4);
  KernelRun(kernels()).grid(rows).block(128).shared(16).array(dx).array(dy).value(n).expect_ok("row_sum");
  for (int r = 0; r < rows; ++r) {
    float sum = 0;
    for (int i = 0; i < n; ++i) sum += x[r * n + i];
    EXPECT_EQ(dy.values<float>()[r], sum);
  }
}

TEST(Llvm, StackCallsAndSwitches) {
  Array dy = Array::fresh(128 * 4);
  KernelRun(kernels()).block(128).array(dy).value(8).expect_ok("stack");
  const auto y = dy.values<float>();
  for (int t = 0; t < 128; ++t) {
    const float r = 28.0f * static_cast<float>(t);
    const float expected[] = {r + 1, r * 2, 5 - r, static_cast<float>(t), -r, r + 1, r, r};
    ASSERT_EQ(y[t], expected[t & 7]) << t;
  }
}

}  // namespace
}  // namespace tenon::emulator::test
