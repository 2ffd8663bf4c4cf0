#include "ir/interpreter.h"

#include <fmt/format.h>
#include <gtest/gtest.h>

#include <cmath>
#include <limits>

#include "interpreted.h"
#include "ir/comparison.h"

namespace tenon::ir {
namespace {

constexpr double kInf = std::numeric_limits<double>::infinity();

constexpr const char* kSoftmax = R"(kernel @softmax<M, N>(%x: f32[M, N]) -> (%y: f32[M, N]) {
  %m: f32[M] = reduce<max> [i: M | k: N] {
    %0 = read %x[i, k] : f32
    yield %0
  }
  %e: f32[M, N] = map [i: M, j: N] {
    %0 = read %x[i, j] : f32
    %1 = read %m[i] : f32
    %2 = sub %0, %1 : f32
    %3 = exp %2 : f32
    yield %3
  }
  %s: f32[M] = reduce<sum> [i: M | k: N] {
    %0 = read %e[i, k] : f32
    yield %0
  }
  %y: f32[M, N] = map [i: M, j: N] {
    %0 = read %e[i, j] : f32
    %1 = read %s[i] : f32
    %2 = div %0, %1 : f32
    yield %2
  }
})";

constexpr const char* kMatmul = R"(kernel @matmul<M, N, K>(%a: f32[M, K], %b: f32[K, N]) -> (%c: f32[M, N]) {
  %c: f32[M, N] = reduce<sum> [i: M, j: N | k: K] {
    %0 = read %a[i, k] : f32
    %1 = read %b[k, j] : f32
    %2 = mul %0, %1 : f32
    yield %2
  }
})";

// Sizes below, at and above the strip, the long row and the long reduction.
constexpr int64_t kSizes[][2] = {{1, 1},   {3, 5},   {2, 63},  {5, 64},   {7, 127},
                                 {3, 128}, {2, 513}, {600, 3}, {65, 1025}};

TEST(Interpreter, Softmax) {
  for (auto [m, n] : kSizes) {
    Interpreted run(kSoftmax, {random_array(ElementType::kF32, {m, n})});
    ASSERT_EQ(run.error, "");
    const BoundedArray& y = run.result("y");
    for (int64_t i = 0; i < m; ++i) {
      double most = -kInf, sum = 0;
      for (int64_t j = 0; j < n; ++j) most = std::max(most, run.inputs[0].as_double(i * n + j));
      for (int64_t j = 0; j < n; ++j) sum += std::exp(run.inputs[0].as_double(i * n + j) - most);
      for (int64_t j = 0; j < n; ++j) {
        double exact = std::exp(run.inputs[0].as_double(i * n + j) - most) / sum;
        double error = std::fabs(y.values.as_double(i * n + j) - exact);
        EXPECT_LE(error, y.bound(i * n + j)) << m << "x" << n;
        EXPECT_LT(y.bound(i * n + j), exact * (2 * static_cast<double>(n) + 20) * 0x1p-22) << m << "x" << n;
      }
    }
  }
}

TEST(Interpreter, MatmulOfSmallIntegersIsExact) {
  for (auto [m, k] : kSizes) {
    Array a = zeros(ElementType::kF32, {m, k}), b = zeros(ElementType::kF32, {k, 33});
    fill_small_integers(a, 1, 1);
    fill_small_integers(b, 1, 2);
    Interpreted run(kMatmul, {a, b});
    ASSERT_EQ(run.error, "");
    EXPECT_TRUE(run.result("c").bounds.empty());
    for (int64_t i = 0; i < m; ++i)
      for (int64_t j = 0; j < 33; ++j) {
        double sum = 0;
        for (int64_t t = 0; t < k; ++t) sum += a.as_double(i * k + t) * b.as_double(t * 33 + j);
        ASSERT_EQ(run.result("c").values.as_double(i * 33 + j), sum);
      }
  }
}

TEST(Interpreter, SumsHaveTheBoundOfTheLanguage) {
  Interpreted run(kMatmul, {array_of({1, 3}, {0.1, 1.5, 2.25}), array_of({3, 1}, {1, -1, 3})});
  double a = static_cast<float>(0.1);
  double magnitudes = a + 1.5 + 6.75;
  EXPECT_DOUBLE_EQ(run.result("c").bound(0), 6 * 0x1p-23 * magnitudes);
  EXPECT_EQ(run.result("c").values.as_double(0), static_cast<float>(a - 1.5 + 6.75));
}

TEST(Interpreter, ThreadsShowNowhere) {
  Array x = random_array(ElementType::kF32, {300, 400});
  InterpreterOptions one, three;
  one.threads = 1;
  three.threads = 3;
  Interpreted a(kSoftmax, {x}, {}, one), b(kSoftmax, {x}, {}, three);
  EXPECT_TRUE(same_values(a.result("y").values, b.result("y").values));
  EXPECT_EQ(a.result("y").bounds, b.result("y").bounds);
}

TEST(Interpreter, MaskedSoftmaxRowIsNan) {
  Interpreted run(kSoftmax, {array_of({2, 2}, {-kInf, -kInf, 0, -kInf})});
  const BoundedArray& y = run.result("y");
  EXPECT_TRUE(std::isnan(y.values.as_double(0)));
  EXPECT_EQ(y.bound(0), 0);
  EXPECT_EQ(y.values.as_double(3), 0);
  EXPECT_TRUE(std::isfinite(y.bound(3)));
}

// Everything that an operation of its own has: guarded reads, predicates, several results, subscripts by
// value.
constexpr const char* kVaried =
    R"(kernel @varied<M, N>(%x: f32[M, N], %t: i32[M]) -> (%best: index[M], %low: index[M],
    %count: i32[M], %any: bool[M], %picked: f32[M], %shifted: f32[M, N]) {
  %best: index[M], %low: index[M], %count: i32[M], %any: bool[M] = reduce<argmax, argmin, sum, any> [i: M | k: N] {
    %0 = read %x[i, k] : f32
    %1 = index k : index
    %2 = const 0 : index
    %3 = index k % 3 : index
    %4 = ne %3, %2 : bool
    %5 = const 0x1p-1 : f32
    %6 = gt %0, %5 : bool
    %7 = cast %6 : i32
    yield (%0, %1), (%0, %1), %7, %6 where %4
  }
  %picked: f32[M] = map [i: M] {
    %0 = read %best[i] : index
    %1 = const 0 : index
    %2 = ge %0, %1 : bool
    %3 = const -0x1p+0 : f32
    %4 = read %x[i, %0] where %2 else %3 : f32
    yield %4
  }
  %shifted: f32[M, N] = map [i: M, j: N] {
    %0 = read %t[i] : i32
    %1 = cast %0 : index
    %2 = index 0 <= j + %1 : index
    %3 = index j + %1 < N : index
    %4 = cast %2 : bool
    %5 = cast %3 : bool
    %6 = and %4, %5 : bool
    %7 = const 0x1p+3 : f32
    %8 = read %x[i, j + %1] where %6 else %7 : f32
    yield %8
  }
})";

TEST(Interpreter, ReductionsWithPredicatesAndSubscriptsByValue) {
  for (auto [m, n] : kSizes) {
    Array x = random_array(ElementType::kF32, {m, n});
    Array t = zeros(ElementType::kI32, {m});
    for (int64_t i = 0; i < m; ++i) t.set_int64(i, i % 7 - 3);
    Interpreted run(kVaried, {x, t});
    ASSERT_EQ(run.error, "");
    for (int64_t i = 0; i < m; ++i) {
      int64_t best = -1, low = -1, count = 0;
      for (int64_t k = 0; k < n; ++k) {
        if (k % 3 == 0) continue;
        double value = x.as_double(i * n + k);
        if (best < 0 || value > x.as_double(i * n + best)) best = k;
        if (low < 0 || value < x.as_double(i * n + low)) low = k;
        count += value > 0.5;
      }
      ASSERT_EQ(run.result("best").values.as_int64(i), best) << m << "x" << n;
      ASSERT_EQ(run.result("low").values.as_int64(i), low);
      ASSERT_EQ(run.result("count").values.as_int64(i), count);
      ASSERT_EQ(run.result("any").values.as_int64(i), count > 0);
      ASSERT_EQ(run.result("picked").values.as_double(i), best < 0 ? -1 : x.as_double(i * n + best));
      for (int64_t j = 0; j < n; ++j) {
        int64_t at = j + i % 7 - 3;
        ASSERT_EQ(run.result("shifted").values.as_double(i * n + j),
                  at < 0 || at >= n ? 8 : x.as_double(i * n + at));
      }
    }
    for (const BoundedArray& result : run.all) EXPECT_TRUE(result.bounds.empty());
  }
}

TEST(Interpreter, EmptyDomains) {
  Interpreted none(kSoftmax, {zeros(ElementType::kF32, {0, 5})});
  EXPECT_EQ(none.error, "");
  EXPECT_EQ(none.result("y").values.element_count(), 0);
  Interpreted sum(kMatmul, {zeros(ElementType::kF32, {2, 0}), zeros(ElementType::kF32, {0, 2})});
  EXPECT_EQ(sum.result("c").values.as_double(3), 0);
  EXPECT_EQ(sum.result("c").bound(3), 0);
  Interpreted arg(kVaried, {zeros(ElementType::kF32, {2, 0}), zeros(ElementType::kI32, {2})});
  EXPECT_EQ(arg.result("best").values.as_int64(1), -1);
  EXPECT_EQ(arg.result("picked").values.as_double(1), -1);
}

constexpr const char* kUpdate =
    R"(kernel @update<N, n: scalar>(%a: f32, %x: f32[N], %y: inout f32[N] as %y.new, %n: index = n) where n >= 2 {
  %y.new: f32[N] = map [i: N] {
    %0 = read %a[] : f32
    %1 = read %x[i] : f32
    %2 = mul %0, %1 : f32
    %3 = read %y[i] : f32
    %4 = add %2, %3 : f32
    %5 = index n * i : index
    %6 = cast %5 : f32
    %7 = add %4, %6 : f32
    yield %7
  }
})";

TEST(Interpreter, InoutAndScalars) {
  Interpreted run(kUpdate, {array_of({}, {2}), array_of({2}, {3, 4}), array_of({2}, {10, 20}),
                            array_of({}, {5}, ElementType::kI64)});
  ASSERT_EQ(run.error, "");
  EXPECT_EQ(run.result("y").values.as_double(0), 16);
  EXPECT_EQ(run.result("y").values.as_double(1), 33);
  EXPECT_TRUE(run.result("y").bounds.empty());
  EXPECT_EQ(run.inputs[2].as_double(0), 10);
}

TEST(Interpreter, OpenContractionAllowsBoth) {
  float a = 1 + 0x1p-12f, x = 1 + 0x1p-12f, y = -1;
  std::vector<Array> inputs = {array_of({}, {a}), array_of({1}, {x}), array_of({1}, {y}),
                               array_of({}, {5}, ElementType::kI64)};
  Interpreted open(kUpdate, inputs);
  float fused = std::fma(a, x, y), apart = a * x + y;
  ASSERT_NE(fused, apart);
  EXPECT_EQ(open.result("y").values.as_double(0), apart);
  EXPECT_GE(open.result("y").bound(0), std::fabs(fused - apart));
  EXPECT_LE(open.result("y").bound(0), 2 * std::fabs(fused - apart));
  InterpreterOptions decided;
  decided.contraction_is_open = false;
  Interpreted closed(kUpdate, inputs, {}, decided);
  EXPECT_EQ(closed.result("y").bound(0), 0);
}

// A multiply-add keeps a product from overflowing before it is added.
TEST(Interpreter, ProductsThatOverflowPromiseNothing) {
  constexpr const char* kDot = R"(
kernel @k<N>(%x: f32[N], %y: f32[N]) -> (%s: f32) {
  %s: f32 = reduce<sum> [| k: N] {
    %0 = read %x[k] : f32
    %1 = read %y[k] : f32
    %2 = mul %0, %1 : f32
    yield %2
  }
}
)";
  auto bound = [&](std::vector<double> x, std::vector<double> y) {
    return Interpreted(kDot, {array_of({2}, std::move(x)), array_of({2}, std::move(y))}).result("s").bound(0);
  };
  EXPECT_EQ(bound({kInf, -3e38}, {1, 3e38}), kInf);
  EXPECT_EQ(bound({kInf, -kInf}, {1, 3e38}), 0);
  EXPECT_EQ(bound({kInf, -3e38}, {1, 0.5}), 0);
  auto update = [](double a, double x, double y) {
    return Interpreted(kUpdate, {array_of({}, {a}), array_of({1}, {x}), array_of({1}, {y}),
                                 array_of({}, {5}, ElementType::kI64)})
        .result("y")
        .bound(0);
  };
  EXPECT_EQ(update(3e38, 3e38, -kInf), kInf);
  EXPECT_EQ(update(kInf, 2, 1), 0);
}

TEST(Interpreter, RefusesWhatALaunchWould) {
  Array x = zeros(ElementType::kF32, {2});
  Array n = array_of({}, {5}, ElementType::kI64);
  auto error = [&](std::vector<Array> inputs, std::map<std::string, int64_t> sizes = {}) {
    return Interpreted(kUpdate, std::move(inputs), std::move(sizes)).error;
  };
  EXPECT_EQ(error({array_of({}, {1}), x, x, array_of({}, {1}, ElementType::kI64)}),
            "`2 <= n` does not hold for n = 1");
  EXPECT_EQ(error({array_of({}, {1}), x, zeros(ElementType::kF32, {3}), n}),
            "N is 3 by dimension 0 of y, but was 2 before");
  EXPECT_EQ(error({array_of({}, {1}), x, x, n}, {{"N", 4}}), "N is 2 by dimension 0 of x, but was 4 before");
  EXPECT_EQ(error({array_of({}, {1}), zeros(ElementType::kF64, {2}), x, n}), "x is f32, not f64");
  EXPECT_EQ(error({array_of({}, {1}), zeros(ElementType::kF32, {2, 1}), x, n}), "x has 1 dimensions, not 2");
  EXPECT_EQ(error({array_of({}, {1}), x}), "no array for y");
  constexpr const char* kSized = R"(kernel @sized<N, M>(%x: f32[N * 2 - 2]) -> (%y: f32[M]) where N / M == 1 {
    %y: f32[M] = map [i: M] { %0 = const 1 : f32 yield %0 } })";
  EXPECT_EQ(Interpreted(kSized, {x}).error, "no value for N: give it by name");
  EXPECT_EQ(Interpreted(kSized, {x}, {{"N", 3}, {"M", 3}}).error, "dimension 0 of x is 4, not 2");
  EXPECT_EQ(Interpreted(kSized, {x}, {{"N", 0}, {"M", -1}}).error, "M is -1, and a size is not negative");
  EXPECT_EQ(Interpreted(kSized, {x}, {{"N", 0}, {"M", 1}}).error, "dimension 0 of x is -2");
  EXPECT_EQ(Interpreted(kSized, {x}, {{"N", 2}, {"M", 0}}).error,
            "`N / M == 1` does not hold for N = 2, M = 0");
  EXPECT_EQ(Interpreted(kSized, {x}, {{"N", 2}, {"M", 2}}).error, "");
}

TEST(Interpreter, RefusesTooMuch) {
  constexpr const char* kBig = R"(kernel @big<N>() -> (%y: f32[N]) {
    %s: f32[N] = reduce<sum> [i: N | k: N * N] { %0 = const 1 : f32 yield %0 }
    %y: f32[N] = map [i: N] { %0 = read %s[i] : f32 yield %0 } })";
  EXPECT_EQ(Interpreted(kBig, {}, {{"N", 1 << 16}}).error,
            "the interpreter would compute more than 274877906944 elements and terms");
  EXPECT_EQ(Interpreted(kBig, {}, {{"N", int64_t{1} << 31}}).error,
            "the interpreter would compute more than 274877906944 elements and terms");
  InterpreterOptions small;
  small.max_bytes = 1000;
  EXPECT_EQ(Interpreted(kBig, {}, {{"N", 100}}, small).error,
            "the interpreter would need more than 1000 bytes for tensors");
}

TEST(InterpreterDeathTest, OutOfBoundsIsOurBug) {
  constexpr const char* kWrong = R"(kernel @wrong<N>(%x: f32[N]) -> (%y: f32[N]) {
    %y: f32[N] = map [i: N] { %0 = read %x[i + 1] : f32 yield %0 } })";
  EXPECT_EXIT(Interpreted(kWrong, {zeros(ElementType::kF32, {4})}), testing::ExitedWithCode(70),
              "read of %x out of bounds: subscript 0 is 4, the extent 4");
}

// A chain whose locals would not fit at once: memory is given back after the last use.
TEST(Interpreter, LocalsAreReleased) {
  std::string text = "kernel @chain<N>(%x: f32[N]) -> (%y: f32[N]) {\n";
  std::string from = "x";
  for (int i = 0; i < 200; ++i) {
    std::string to = i == 199 ? "y" : "t" + std::to_string(i);
    text +=
        "%" + to + ": f32[N] = map [i: N] { %0 = read %" + from + "[i] : f32 %1 = neg %0 : f32 yield %1 }\n";
    from = to;
  }
  InterpreterOptions options;
  options.max_bytes = 100 * 1000 * 4;
  Interpreted run(text + "}", {random_array(ElementType::kF32, {10000})}, {}, options);
  EXPECT_EQ(run.error, "");
  EXPECT_TRUE(same_values(run.result("y").values, run.inputs[0]));
}

TEST(Interpreter, LongChains) {
  std::string text = "kernel @chain<N>(%x: f32[N]) -> (%y: f32[N]) {\n";
  std::string from = "x";
  for (int i = 0; i < 10000; ++i) {
    std::string to = i == 9999 ? "y" : "t." + std::to_string(i);
    text +=
        "%" + to + ": f32[N] = map [i: N] { %0 = read %" + from + "[i] : f32 %1 = neg %0 : f32 yield %1 }\n";
    from = to;
  }
  Interpreted run(text + "}", {random_array(ElementType::kF32, {8})});
  EXPECT_EQ(run.error, "");
  EXPECT_TRUE(same_values(run.result("y").values, run.inputs[0]));
  std::string printed = print(*run.parsed.module);
  EXPECT_EQ(print(*Parsed(printed).module), printed);
}

TEST(Interpreter, GroupsRunInTheirOrder) {
  Interpreted run(R"(kernel @g<N>(%x: f32[N]) -> (%y: f32[N]) {
    group @a { %t: f32[N] = map [i: N] { %0 = read %x[i] : f32 %1 = abs %0 : f32 yield %1 } }
    group @b { %y: f32[N] = map [i: N] { %0 = read %t[N - 1 - i] : f32 yield %0 } } })",
                  {array_of({3}, {-1, 2, -3})});
  EXPECT_EQ(run.error, "");
  EXPECT_EQ(run.result("y").values.as_double(0), 3);
  EXPECT_EQ(run.result("y").values.as_double(2), 1);
}

constexpr const char* kRelu =
    R"(kernel @k<N>(%x: f32[N]) -> (%y: f32[N], %b: bool[N], %c: i32[N], %m: f32, %at: index) {
  %e: f32[N] = map [i: N] {
    %0 = read %x[i] : f32
    %1 = exp %0 : f32
    %2 = const 1 : f32
    %3 = sub %1, %2 : f32
    yield %3
  }
  %y: f32[N] = map [i: N] {
    %0 = read %e[i] : f32
    %1 = const 0 : f32
    %2 = gt %0, %1 : bool
    %3 = select %2, %0, %1 : f32
    yield %3
  }
  %b: bool[N] = map [i: N] {
    %0 = read %e[i] : f32
    %1 = const 0 : f32
    %2 = gt %0, %1 : bool
    yield %2
  }
  %c: i32[N] = map [i: N] {
    %0 = read %e[i] : f32
    %1 = const 1000 : f32
    %2 = mul %0, %1 : f32
    %3 = round %2 : f32
    %4 = cast %3 : i32
    yield %4
  }
  %m: f32, %at: index = reduce<max, argmax> [| i: N] {
    %0 = read %e[i] : f32
    %1 = index i : index
    yield %0, (%0, %1)
  }
})";

TEST(Interpreter, OpenDecisionsAreAmbiguous) {
  float near = std::log(1.0125f);
  Interpreted run(kRelu, {array_of({5}, {0, 1, 1.0000001, -2, near})});
  ASSERT_EQ(run.error, "");
  EXPECT_EQ(run.result("b").bound(0), kInf);
  EXPECT_EQ(run.result("b").bound(1), 0);
  // Either branch gives nearly the same.
  EXPECT_LT(run.result("y").bound(0), 1e-6);
  EXPECT_GT(run.result("y").bound(0), 0);
  EXPECT_EQ(run.result("y").bound(3), 0);
  EXPECT_EQ(run.result("c").bound(1), 0);
  EXPECT_EQ(run.result("c").bound(4), kInf) << run.result("c").values.as_int64(4);
  EXPECT_LT(run.result("m").bound(0), 1e-5);
  EXPECT_EQ(run.result("at").bound(0), kInf);
  Interpreted clear(kRelu, {array_of({4}, {0, 1, 0.5, -2})});
  EXPECT_EQ(clear.result("at").bound(0), 0);
  EXPECT_EQ(clear.result("at").values.as_int64(0), 1);
}

TEST(Comparison, HoldsAgainstTheBound) {
  BoundedArray reference{array_of({2, 3}, {1, 2, 3, std::nan(""), kInf, 0}), {0, 0.5, kInf, 0, 0, 0}};
  Comparison good = compare(array_of({2, 3}, {1, 2.25, 99, std::nan(""), kInf, -0.0}), reference);
  EXPECT_TRUE(good.ok());
  EXPECT_EQ(good.ambiguous, 1);
  EXPECT_EQ(good.worst_ratio, 0.5);
  EXPECT_EQ(good.text(),
            "5 of 6 elements as they should be, 1 (16.67%) that rounding may decide either way\n"
            "largest error 0.5 of its bound, at [0, 1]: 0.25 of 0.5");
  Comparison bad = compare(array_of({2, 3}, {1.5, 3, 3, 0, std::nan(""), 0}), reference);
  EXPECT_EQ(bad.mismatches, 4);
  EXPECT_EQ(bad.text(),
            "1 of 6 elements as they should be, 1 (16.67%) that rounding may decide either way\n"
            "largest error 2 of its bound, at [0, 1]: 1 of 0.5\n"
            "at [0, 0]: 1.5, not 1 within 0\nat [0, 1]: 3, not 2 within 0.5\n"
            "at [1, 0]: 0, not nan within 0\nat [1, 1]: nan, not inf within 0");
  Array big = zeros(ElementType::kI64, {1}), near = big;
  big.set_int64(0, INT64_MAX);
  near.set_int64(0, INT64_MAX - 1);
  EXPECT_FALSE(compare(near, {big, {}}).ok());
}

}  // namespace
}  // namespace tenon::ir
