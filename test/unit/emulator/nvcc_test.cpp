// Kernels of ptx/kernels.cu, as `nvcc -ptx -arch=sm_80` compiles them, against the host.
#include <gtest/gtest.h>

#include <algorithm>
#include <bit>
#include <cmath>
#include <numeric>
#include <random>

#include "support/numeric.h"
#include "test/unit/emulator/harness.h"

namespace tenon::emulator::test {
namespace {

std::vector<float> random_floats(size_t n, float low, float high, unsigned seed = 1) {
  std::mt19937 engine(seed);
  std::uniform_real_distribution<float> distribution(low, high);
  std::vector<float> values(n);
  for (float& value : values) value = distribution(engine);
  return values;
}

const std::string& kernels() {
  static const std::string text = read_ptx("kernels.ptx");
  return text;
}

TEST(Nvcc, Saxpy) {
  const auto x = random_floats(1000, -1, 1), y = random_floats(1000, -1, 1, 2);
  Array dx = Array::of(x), dy = Array::of(y);
  KernelRun(kernels()).grid(3).block(64).value(1000).value(0.3f).array(dx).array(dy).expect_ok("saxpy");
  const auto result = dy.values<float>();
  for (size_t i = 0; i < x.size(); ++i) ASSERT_EQ(result[i], std::fma(0.3f, x[i], y[i]));
}

TEST(Nvcc, Softmax) {
  const int rows = 5, columns = 300;
  const auto x = random_floats(rows * columns, -8, 8);
  Array dx = Array::of(x), dy = Array::fresh(x.size() * 4);
  KernelRun(kernels()).grid(rows).block(128).array(dx).array(dy).value(columns).expect_ok("softmax");
  const auto result = dy.values<float>();
  for (int r = 0; r < rows; ++r) {
    const float* row = x.data() + r * columns;
    const double m = *std::max_element(row, row + columns);
    double sum = 0;
    for (int i = 0; i < columns; ++i) sum += std::exp(row[i] - m);
    for (int i = 0; i < columns; ++i) {
      const double expected = std::exp(row[i] - m) / sum;
      ASSERT_NEAR(result[r * columns + i], expected, expected * 2e-6);
    }
  }
}

TEST(Nvcc, TiledMatmul) {
  const int m = 37, n = 50, k = 41;
  const auto a = random_floats(m * k, -1, 1), b = random_floats(k * n, -1, 1, 2);
  Array da = Array::of(a), db = Array::of(b), dc = Array::fresh(m * n * 4);
  const LaunchReport report = KernelRun(kernels())
                                  .grid(4, 3)
                                  .block(16, 16)
                                  .array(da)
                                  .array(db)
                                  .array(dc)
                                  .value(m)
                                  .value(n)
                                  .value(k)
                                  .expect_ok("matmul");
  const auto c = dc.values<float>();
  for (int i = 0; i < m; ++i) {
    for (int j = 0; j < n; ++j) {
      float sum = 0;
      for (int t = 0; t < k; ++t) sum = std::fma(a[i * k + t], b[t * n + j], sum);
      ASSERT_EQ(c[i * n + j], sum) << i << "," << j;
    }
  }
  EXPECT_GT(report.total.shared_wavefronts, 0u);
}

TEST(Nvcc, Layernorm) {
  const int rows = 4, columns = 777;
  const auto x = random_floats(rows * columns, -3, 5), g = random_floats(columns, 0, 2, 3),
             b = random_floats(columns, -1, 1, 4);
  Array dx = Array::of(x), dg = Array::of(g), db = Array::of(b), dy = Array::fresh(x.size() * 4);
  KernelRun(kernels())
      .grid(rows)
      .block(256)
      .shared(64)
      .array(dx)
      .array(dg)
      .array(db)
      .array(dy)
      .value(columns)
      .value(1e-5f)
      .expect_ok("layernorm");
  const auto y = dy.values<float>();
  for (int r = 0; r < rows; ++r) {
    double s = 0, q = 0;
    for (int i = 0; i < columns; ++i)
      s += x[r * columns + i], q += double{x[r * columns + i]} * x[r * columns + i];
    const double mean = s / columns, scale = 1 / std::sqrt(q / columns - mean * mean + 1e-5);
    for (int i = 0; i < columns; ++i) {
      ASSERT_NEAR(y[r * columns + i], (x[r * columns + i] - mean) * scale * g[i] + b[i], 1e-4);
    }
  }
}

TEST(Nvcc, Transpose) {
  const int rows = 70, columns = 45;
  std::vector<float> x(rows * columns);
  std::iota(x.begin(), x.end(), 0.0f);
  Array dx = Array::of(x), dy = Array::fresh(x.size() * 4);
  const LaunchReport report =
      KernelRun(kernels()).grid(2, 3).block(32, 8).array(dx).array(dy).value(rows).value(columns).expect_ok(
          "transpose");
  const auto y = dy.values<float>();
  for (int r = 0; r < rows; ++r) {
    for (int c = 0; c < columns; ++c) ASSERT_EQ(y[c * rows + r], x[r * columns + c]);
  }
  EXPECT_EQ(report.total.shared_wavefronts, report.total.ideal_shared_wavefronts);
}

TEST(Nvcc, BlockSum) {
  std::vector<int> x(5000);
  std::iota(x.begin(), x.end(), -100);
  Array dx = Array::of(x), total = Array::of(std::vector<int>{7});
  KernelRun(kernels()).grid(5).block(256).array(dx).array(total).value(5000).expect_ok("block_sum");
  EXPECT_EQ(total.values<int>()[0], std::accumulate(x.begin(), x.end(), 7));
}

TEST(Nvcc, SingleFunctions) {
  auto x = random_floats(512, -20, 20);
  x[0] = 0;
  x[1] = 1e6f;
  x[2] = -3e7f;
  const int n = static_cast<int>(x.size());
  Array dx = Array::of(x), dy = Array::fresh(14 * x.size() * 4);
  KernelRun(kernels()).grid(4).block(128).array(dx).array(dy).value(n).expect_ok("functions");
  const auto y = dy.values<float>();
  const auto near = [&](int row, int i, double expected, double tolerance) {
    ASSERT_NEAR(y[row * n + i], expected, std::abs(expected) * tolerance + 1e-7) << row << " of " << x[i];
  };
  for (int i = 0; i < n; ++i) {
    const double v = x[i];
    near(0, i, std::sin(v), 1e-6);
    near(1, i, std::cos(v), 1e-6);
    near(2, i, std::tan(v), 1e-5);
    near(4, i, std::log(std::abs(x[i]) + 1e-3f), 1e-6);
    near(5, i, std::pow(std::abs(v), double{1.7f}), 2e-6);
    near(6, i, std::tanh(v), 1e-6);
    near(7, i, std::erf(v), 1e-6);
    near(8, i, std::sqrt(std::abs(v)), 1e-7);
    near(9, i, 1 / (x[i] + 300.f), 1e-7);
    near(12, i, std::cbrt(v), 1e-6);
    near(13, i, std::atan2(v, 0.7), 1e-6);
    ASSERT_EQ(y[10 * n + i], std::fmod(x[i], 1.3f)) << x[i];
    ASSERT_EQ(y[11 * n + i], std::fma(std::rint(x[i] * 0.5f), 8.0f, std::floor(x[i])) + std::trunc(x[i]))
        << x[i];
    if (std::abs(v) < 80) near(3, i, std::exp(v), 1e-6);
  }
}

TEST(Nvcc, DoubleFunctions) {
  std::vector<double> x;
  for (int i = 0; i < 200; ++i) x.push_back(-10 + i * 0.1037);
  const int n = static_cast<int>(x.size());
  Array dx = Array::of(x), dy = Array::fresh(8 * x.size() * 8);
  KernelRun(kernels()).grid(2).block(128).array(dx).array(dy).value(n).expect_ok("doubles");
  const auto y = dy.values<double>();
  for (int i = 0; i < n; ++i) {
    const double v = x[i];
    ASSERT_NEAR(y[0 * n + i], std::sin(v), 1e-15);
    ASSERT_NEAR(y[1 * n + i], std::exp(v * 0.1), 1e-15 * std::exp(v * 0.1));
    ASSERT_NEAR(y[2 * n + i], std::log(std::abs(v) + 1e-3), 1e-14);
    ASSERT_EQ(y[3 * n + i], std::sqrt(std::abs(v)));
    ASSERT_EQ(y[4 * n + i], v / 3.7);
    ASSERT_NEAR(y[5 * n + i], std::pow(std::abs(v), 1.3), 1e-14 * std::pow(std::abs(v), 1.3));
    ASSERT_EQ(y[6 * n + i], std::fma(v, v, -1.0));
    ASSERT_EQ(y[7 * n + i], static_cast<double>(static_cast<long long>(v * 1e6)));
  }
}

template <class F>
uint32_t on_halves(uint32_t a, uint32_t b, F f) {
  return static_cast<uint32_t>(f(static_cast<uint16_t>(a), static_cast<uint16_t>(b))) |
         static_cast<uint32_t>(f(static_cast<uint16_t>(a >> 16), static_cast<uint16_t>(b >> 16))) << 16;
}

std::vector<uint32_t> random_words(size_t n, uint32_t mask, unsigned seed) {
  std::mt19937 engine(seed);
  std::vector<uint32_t> words(n);
  for (uint32_t& word : words) word = static_cast<uint32_t>(engine()) & mask;
  return words;
}

TEST(Nvcc, PackedHalves) {
  // Without infinities and NaNs.
  const auto x = random_words(500, 0xBFFFBFFF, 1), z = random_words(500, 0xBFFFBFFF, 2);
  const int n = static_cast<int>(x.size());
  Array dx = Array::of(x), dz = Array::of(z), dy = Array::fresh(6 * x.size() * 4);
  KernelRun(kernels()).grid(4).block(128).array(dx).array(dz).array(dy).value(n).expect_ok("halves");
  const auto y = dy.values<uint32_t>();
  const auto value = [](uint16_t bits) { return static_cast<double>(f32_from_f16(bits)); };
  for (int i = 0; i < n; ++i) {
    const auto fma = [&](uint16_t a, uint16_t b) {
      return encode<Float16>(std::fma(value(a), value(b), std::max(value(a), value(b))));
    };
    ASSERT_EQ(y[i], on_halves(x[i], z[i], fma));
    ASSERT_EQ(y[2 * n + i], on_halves(x[i], z[i], [&](uint16_t a, uint16_t b) {
                return encode<Float16>(value(a) + value(b));
              }));
    ASSERT_EQ(y[3 * n + i], on_halves(x[i], z[i], [&](uint16_t a, uint16_t b) {
                return encode<Float16>(value(a) * value(b));
              }));
    const uint32_t low = encode<Float16>(double{f32_from_f16(static_cast<uint16_t>(x[i])) * 3.f});
    ASSERT_EQ(y[5 * n + i] & 0xFFFF, low);
  }
}

TEST(Nvcc, PackedBfloats) {
  const auto x = random_words(500, 0xBFFFBFFF, 3), z = random_words(500, 0xBFFFBFFF, 4);
  const int n = static_cast<int>(x.size());
  Array dx = Array::of(x), dz = Array::of(z), dy = Array::fresh(4 * x.size() * 4);
  KernelRun(kernels()).grid(4).block(128).array(dx).array(dz).array(dy).value(n).expect_ok("bfloats");
  const auto y = dy.values<uint32_t>();
  const auto value = [](uint16_t bits) { return static_cast<double>(f32_from_bf16(bits)); };
  for (int i = 0; i < n; ++i) {
    ASSERT_EQ(y[2 * n + i], on_halves(x[i], z[i], [&](uint16_t a, uint16_t b) {
                return encode<BFloat16>(value(a) * value(b));
              }));
    ASSERT_EQ(y[3 * n + i],
              on_halves(x[i], z[i], [&](uint16_t a, uint16_t b) { return value(a) < value(b) ? a : b; }));
  }
}

TEST(Nvcc, Integers) {
  std::mt19937_64 engine(5);
  std::vector<int> x(600), z(600);
  for (size_t i = 0; i < x.size(); ++i) {
    x[i] = static_cast<int>(engine() >> (32 + i % 32));
    z[i] = static_cast<int>(engine() >> (32 + i % 29)) * (i % 2 ? 1 : -1);
  }
  const int n = static_cast<int>(x.size());
  Array dx = Array::of(x), dz = Array::of(z), dy = Array::fresh(16 * x.size() * 8);
  KernelRun(kernels()).grid(5).block(128).array(dx).array(dz).array(dy).value(n).expect_ok("integers");
  const auto y = dy.values<long long>();
  for (int i = 0; i < n; ++i) {
    const int a = x[i], b = z[i];
    const auto u = static_cast<unsigned>(a), v = static_cast<unsigned>(b);
    const long long p = static_cast<long long>(a) * b + a;
    const long long q =
        static_cast<long long>(static_cast<unsigned long long>(static_cast<long long>(b)) << 20) | 1;
    ASSERT_EQ(y[0 * n + i], b ? static_cast<long long>(a) / b : 0);
    ASSERT_EQ(y[1 * n + i], b ? static_cast<long long>(a) % b : 0);
    ASSERT_EQ(y[2 * n + i], p / q);
    ASSERT_EQ(y[3 * n + i], p % q);
    ASSERT_EQ(y[4 * n + i], v ? u / v : 0);
    ASSERT_EQ(y[5 * n + i],
              std::popcount(u) + 100 * std::countl_zero(v) + 10000 * (u ? std::countr_zero(u) + 1 : 0));
    ASSERT_EQ(y[6 * n + i], static_cast<int>(static_cast<long long>(a) * b >> 32));
    ASSERT_EQ(static_cast<unsigned long long>(y[7 * n + i]),
              static_cast<unsigned long long>(p) / static_cast<unsigned long long>(q | 1));
    ASSERT_EQ(y[9 * n + i], static_cast<long long>(static_cast<unsigned>(
                                ((static_cast<unsigned long long>(v) << 32 | u) << (a & 31)) >> 32)));
    ASSERT_EQ(y[10 * n + i], static_cast<long long>(static_cast<__int128>(p) * q >> 64));
    ASSERT_EQ(y[11 * n + i], static_cast<long long>(static_cast<unsigned>(std::min(a, b)) + std::max(u, v)));
    int dot = a;
    for (int k = 0; k < 4; ++k)
      dot += static_cast<signed char>(u >> (8 * k)) * static_cast<signed char>(v >> (8 * k));
    ASSERT_EQ(y[12 * n + i], dot);
    ASSERT_EQ(y[13 * n + i], static_cast<short>(a) * static_cast<short>(b) + static_cast<signed char>(a) +
                                 static_cast<unsigned char>(b));
    ASSERT_EQ(y[14 * n + i], a >> (b & 31));
    ASSERT_EQ(y[15 * n + i], p >> (b & 63));
  }
}

TEST(Nvcc, VotesAndShuffles) {
  std::vector<int> x(32);
  for (int i = 0; i < 32; ++i) x[i] = (i * 7 + 3) % 13;
  Array dx = Array::of(x), dy = Array::fresh(9 * 32 * 4);
  KernelRun(kernels()).block(32).array(dx).array(dy).expect_ok("votes");
  const auto y = dy.values<int>();
  unsigned ballot = 0;
  int sum = 0, even = 0;
  for (int i = 0; i < 32; ++i) {
    ballot |= static_cast<unsigned>(x[i] > 3) << i;
    sum += x[i];
    if (i % 2 == 0) even = std::max(even, x[i]);
  }
  for (int i = 0; i < 32; ++i) {
    ASSERT_EQ(static_cast<unsigned>(y[i]), ballot);
    ASSERT_EQ(y[32 + i], i < 3 ? x[i] : x[i - 3]);
    ASSERT_EQ(y[64 + i], i % 16 + 5 < 16 ? x[i + 5] : x[i]);
    ASSERT_EQ(y[96 + i], x[(i & ~7) + (x[i] & 7)]);
    ASSERT_EQ(y[128 + i], 3);
    unsigned same = 0;
    for (int j = 0; j < 32; ++j) same |= static_cast<unsigned>((x[i] & 3) == (x[j] & 3)) << j;
    ASSERT_EQ(static_cast<unsigned>(y[160 + i]), same);
    ASSERT_EQ(y[192 + i], sum);
    ASSERT_EQ(y[224 + i], 32);
    ASSERT_EQ(y[256 + i], i & 1 ? x[i ^ 2] : even);
  }
}

TEST(Nvcc, SpinLockWithinAWarp) {
  Array dy = Array::fresh(3 * 4);
  KernelRun(kernels()).grid(3).block(64).array(dy).expect_ok("spin");
  const auto y = dy.values<int>();
  EXPECT_EQ(*std::max_element(y.begin(), y.end()), 3 * 64);
}

TEST(Nvcc, CallsLocalMemoryAndSwitches) {
  const auto x = random_floats(64, -1, 1);
  const float table[] = {1, 2, 3, 5, 7, 11, 13, 17};
  Array dx = Array::of(x), dy = Array::fresh(64 * 4);
  KernelRun(kernels()).block(64).array(dx).array(dy).value(60).expect_ok("calls");
  const auto y = dy.values<float>();
  const auto poly = [](float v, int n) {
    float s = 1;
    for (int i = 0; i < n; ++i) s = std::fma(s, v, static_cast<float>(i));
    return s;
  };
  for (int i = 0; i < 60; ++i) {
    float local[8];
    for (int j = 0; j < 8; ++j) local[(j + i) & 7] = poly(x[i], j) * table[j];
    float v = i & 1 ? poly(x[i], i & 7) : local[i & 7];
    switch (i % 6) {
      case 0:
        v += 1;
        break;
      case 1:
        v *= 2;
        break;
      case 2:
        v = poly(v, 2);
        break;
      case 3:
        v -= local[3];
        break;
      case 4:
        v = -v;
        break;
      default:
        v = table[i & 7];
    }
    ASSERT_EQ(y[i], v) << i;
  }
}

TEST(Nvcc, AsynchronousCopies) {
  const auto x = random_floats(5 * 64 * 4, -1, 1);
  Array dx = Array::of(x), dy = Array::fresh(x.size() * 4);
  KernelRun(kernels()).block(64).array(dx).array(dy).value(5).expect_ok("copies");
  const auto y = dy.values<float>();
  for (size_t s = 0; s < 5; ++s) {
    for (size_t t = 0; t < 64; ++t) {
      for (size_t e = 0; e < 4; ++e) {
        const float expected = x[(s * 64 + 63 - t) * 4 + e] + (e == 0 ? 1.0f : 0.0f);
        ASSERT_EQ(y[(s * 64 + t) * 4 + e], expected);
      }
    }
  }
}

TEST(Nvcc, Atomics) {
  Array f = Array::of(std::vector<float>{2}), d = Array::of(std::vector<double>{1}),
        u = Array::of(std::vector<unsigned>{5, 0, 3, 0});
  Array l = Array::of(std::vector<long long>{1, 0}), h = Array::of(std::vector<uint32_t>{0}),
        s = Array::of(std::vector<unsigned>(8, 0));
  KernelRun(kernels()).grid(4).block(64).array(f).array(d).array(u).array(l).array(h).array(s).expect_ok(
      "atomics");
  EXPECT_EQ(f.values<float>()[0], 258);
  EXPECT_EQ(d.values<double>()[0], 129);
  EXPECT_EQ(u.values<unsigned>()[0], 255u * 3);
  EXPECT_EQ(u.values<int>()[1], -255);
  EXPECT_EQ(u.values<unsigned>()[2], (3 + 256) % 10u);
  EXPECT_EQ(u.values<unsigned>()[3], 0u);
  EXPECT_EQ(l.values<long long>()[0], 1 + 255 * 256 / 2);
  EXPECT_EQ(l.values<long long>()[1], 255ll << 33);
  EXPECT_EQ(h.values<uint32_t>()[0], 0x58005C00u);
  for (const unsigned count : s.values<unsigned>()) EXPECT_EQ(count, 32u);
}

}  // namespace
}  // namespace tenon::emulator::test
