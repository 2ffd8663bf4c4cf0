// Reductions of the reference interpreter: what order may do to them, and what it may not.
#include <fmt/format.h>
#include <gtest/gtest.h>

#include <cmath>
#include <limits>
#include <string>
#include <string_view>
#include <vector>

#include "interpreted.h"

namespace tenon::ir {
namespace {

constexpr double kInf = std::numeric_limits<double>::infinity();

constexpr int64_t kSizes[][2] = {{1, 1},   {3, 5},   {2, 63},  {5, 64},   {7, 127},
                                 {3, 128}, {2, 513}, {600, 3}, {65, 1025}};

// A reduction of one type over rows and over columns.
std::string reductions(std::string_view monoid, std::string_view type) {
  return fmt::format(R"(kernel @r<M, N>(%x: {0}[M, N]) -> (%rows: {0}[M], %columns: {0}[N]) {{
    %rows: {0}[M] = reduce<{1}> [i: M | k: N] {{ %0 = read %x[i, k] : {0} yield %0 }}
    %columns: {0}[N] = reduce<{1}> [j: N | k: M] {{ %0 = read %x[k, j] : {0} yield %0 }}
  }})",
                     type, monoid);
}

// Sums and products in other orders, in the type's own arithmetic, stay within the bound.
template <class T>
void check_orders(ElementType type) {
  for (bool product : {false, true}) {
    for (auto [m, n] : kSizes) {
      Array x = random_array(type, {m, n}, 9);
      // Factors near 1, and some 0.
      for (int64_t i = 0; product && i < x.element_count(); ++i)
        x.set_double(i, i % 97 == 96 ? 0 : 1 + x.as_double(i) / 16);
      Interpreted run(reductions(product ? "prod" : "sum", name(type)), {x});
      ASSERT_EQ(run.error, "");
      const BoundedArray& rows = run.result("rows");
      for (int64_t i = 0; i < m; ++i) {
        T forward = product, backward = product, tree = product;
        std::vector<T> terms;
        for (int64_t k = 0; k < n; ++k) terms.push_back(static_cast<T>(x.as_double(i * n + k)));
        for (T term : terms) forward = product ? forward * term : forward + term;
        for (size_t k = terms.size(); k-- > 0;)
          backward = product ? backward * terms[k] : backward + terms[k];
        while (terms.size() > 1) {
          for (size_t k = 0; k + 1 < terms.size(); k += 2)
            terms[k / 2] = product ? terms[k] * terms[k + 1] : terms[k] + terms[k + 1];
          if (terms.size() % 2 != 0) terms[terms.size() / 2] = terms.back();
          terms.resize((terms.size() + 1) / 2);
        }
        tree = terms[0];
        for (T other : {forward, backward, tree})
          ASSERT_LE(std::fabs(other - rows.values.as_double(i)), rows.bound(i))
              << product << " " << m << "x" << n;
        ASSERT_TRUE(std::isfinite(rows.bound(i)));
      }
      // Both ways to walk give the same, up to the order of the estimate's own sum.
      Array turned = zeros(type, {n, m});
      for (int64_t i = 0; i < m * n; ++i) turned.set_double(i % n * m + i / n, x.as_double(i));
      Interpreted other(reductions(product ? "prod" : "sum", name(type)), {turned});
      for (int64_t i = 0; i < m; ++i) {
        EXPECT_NEAR(other.result("columns").values.as_double(i), rows.values.as_double(i),
                    rows.bound(i) * 1e-3);
        EXPECT_NEAR(other.result("columns").bound(i), rows.bound(i), rows.bound(i) * 1e-6);
      }
    }
  }
}

TEST(Interpreter, OtherOrdersStayWithinTheBound) {
  check_orders<float>(ElementType::kF32);
  check_orders<double>(ElementType::kF64);
}

TEST(Interpreter, IntegerReductionsWrap) {
  Interpreted run(reductions("sum", "i8"), {array_of({2, 2}, {100, 100, 1, 2}, ElementType::kI8)});
  EXPECT_EQ(run.result("rows").values.as_int64(0), -56);
  EXPECT_EQ(run.result("columns").values.as_int64(1), 102);
  EXPECT_TRUE(run.result("rows").bounds.empty());
}

TEST(Interpreter, SpecialTermsOfSums) {
  auto sum = [](std::vector<double> terms) {
    auto n = static_cast<int64_t>(terms.size());
    return Interpreted(reductions("sum", "f32"), {array_of({1, n}, std::move(terms))}).result("rows");
  };
  EXPECT_EQ(sum({1, kInf}).values.as_double(0), kInf);
  EXPECT_EQ(sum({1, kInf}).bound(0), 0);
  EXPECT_TRUE(std::isnan(sum({-kInf, 0.5, kInf}).values.as_double(0)));
  EXPECT_EQ(sum({-kInf, 0.5, kInf}).bound(0), 0);
  // Which partial sums overflow depends on the order.
  EXPECT_EQ(sum({3e38, 3e38, -3e38}).bound(0), kInf);
  // An overflow of finite terms meets the infinity as another one, and no NaN as anything else.
  EXPECT_EQ(sum({kInf, -3e38, -3e38}).bound(0), kInf);
  EXPECT_EQ(sum({kInf, -kInf, -3e38, -3e38}).bound(0), 0);
  EXPECT_EQ(sum({0x1p24, 1}).bound(0), 5 * 0x1p-23 * (0x1p24 + 1));
  EXPECT_EQ(sum({0x1p23, 1}).bound(0), 0);
}

TEST(Interpreter, NanAndTiesOfArgmax) {
  constexpr const char* kArg = R"(kernel @a<N>(%x: f32[N]) -> (%at: index, %low: index) {
    %at: index, %low: index = reduce<argmax, argmin> [| k: N] {
      %0 = read %x[k] : f32
      %1 = index k : index
      yield (%0, %1), (%0, %1) } })";
  auto at = [&](std::vector<double> values, std::string_view which = "at") {
    auto n = static_cast<int64_t>(values.size());
    return Interpreted(kArg, {array_of({n}, std::move(values))}).result(which).values.as_int64(0);
  };
  EXPECT_EQ(at({1, 3, 3, 2}), 1);
  EXPECT_EQ(at({1, std::nan(""), 3, std::nan("")}), 1);
  EXPECT_EQ(at({0, -0.0}, "low"), 0);
  EXPECT_EQ(at({-kInf, -kInf}), 0);
  std::vector<double> many(1000, 1.0);
  many[700] = many[900] = 2;
  EXPECT_EQ(at(many), 700);
}

}  // namespace
}  // namespace tenon::ir
