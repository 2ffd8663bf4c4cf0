// Where every order of a sum gives the same bits, results are equal to what integer arithmetic gives: no
// bound, and no reference interpreter.
#include <fmt/format.h>
#include <gtest/gtest.h>

#include <functional>

#include "subject.h"
#include "support/array_fill.h"

namespace tenon::conformance {
namespace {

Array small_integers(ElementType type, std::vector<int64_t> shape, std::string_view name) {
  Array array = Array::zeros(type, std::move(shape)).value();
  fill_small_integers(array, 3, random_stream(name));
  return array;
}

// A kernel of two inputs and one result.
class Product {
 public:
  explicit Product(const char* source)
      : program_("exact.tn", source, {}), subject_(program_, program_.kernels()[0], machine_) {}

  size_t variant_count() const { return subject_.program().steps[0].variants.size(); }

  // Forces a variant of the first step, if one is given. Returns what is wrong; nothing where the variant
  // refuses.
  std::string run(const Sizes& sizes, const Array& a, const Array& b, const Array& expected,
                  std::optional<uint32_t> variant = {}) {
    Case trial{sizes, Fill::kSmallIntegers, {}, {}, to_text(sizes)};
    trial.inputs = {a, b, std::nullopt};
    trial.expected.resize(3);
    trial.expected[2].values = expected;
    runtime::HostLaunchOptions launch;
    launch.launch.variants = {variant};
    Outcome outcome = subject_.run(trial, launch);
    if (outcome.refused) return variant ? "" : outcome.failure;
    ++ran;
    return outcome.failure;
  }

  int ran = 0;

 private:
  SourceProgram program_;
  Machine machine_;
  Subject subject_;
};

// a is [m, k] and b [k, n], or their transposes.
struct Layout {
  const char* name;
  const char* source;
  bool a_transposed;
  bool b_transposed;
};

constexpr Layout kLayouts[] = {
    {"NN", "kernel k(a: f32[M, K], b: f32[K, N]) -> (c: f32[M, N]) { c[i, j] = sum[k](a[i, k] * b[k, j]) }",
     false, false},
    {"NT", "kernel k(a: f32[M, K], b: f32[N, K]) -> (c: f32[M, N]) { c[i, j] = sum[k](a[i, k] * b[j, k]) }",
     false, true},
    {"TN", "kernel k(a: f32[K, M], b: f32[K, N]) -> (c: f32[M, N]) { c[i, j] = sum[k](a[k, i] * b[k, j]) }",
     true, false},
    {"TT", "kernel k(a: f32[K, M], b: f32[N, K]) -> (c: f32[M, N]) { c[i, j] = sum[k](a[k, i] * b[j, k]) }",
     true, true},
    {"HalvesNN",
     "kernel k(a: f16[M, K], b: f16[K, N]) -> (c: f32[M, N]) { c[i, j] = sum[k](a[i, k] * b[k, j]) }", false,
     false},
    {"BytesNT",
     "kernel k(a: i8[M, K], b: i8[N, K]) -> (c: i32[M, N]) { c[i, j] = sum[k](a[i, k] * b[j, k]) }", false,
     true},
};

class ProductTest : public testing::TestWithParam<Layout> {
 protected:
  ElementType operand() const {
    return std::string_view(GetParam().name).starts_with("Halves")  ? ElementType::kF16
           : std::string_view(GetParam().name).starts_with("Bytes") ? ElementType::kI8
                                                                    : ElementType::kF32;
  }

  // The inputs and their product.
  void make(int64_t m, int64_t k, int64_t n) {
    const Layout& layout = GetParam();
    sizes = {{"M", m}, {"K", k}, {"N", n}};
    a = small_integers(operand(), layout.a_transposed ? std::vector{k, m} : std::vector{m, k}, "a");
    b = small_integers(operand(), layout.b_transposed ? std::vector{n, k} : std::vector{k, n}, "b");
    c = Array::zeros(operand() == ElementType::kI8 ? ElementType::kI32 : ElementType::kF32, {m, n}).value();
    std::vector<int32_t> left = rows(a, layout.a_transposed);
    std::vector<int32_t> right = rows(b, layout.b_transposed);
    std::vector<int32_t> sums(static_cast<size_t>(n));
    for (int64_t i = 0; i < m; ++i) {
      std::fill(sums.begin(), sums.end(), 0);
      for (int64_t l = 0; l < k; ++l)
        for (int64_t j = 0; j < n; ++j)
          sums[static_cast<size_t>(j)] +=
              left[static_cast<size_t>(i * k + l)] * right[static_cast<size_t>(l * n + j)];
      for (int64_t j = 0; j < n; ++j) c.set_int64(i * n + j, sums[static_cast<size_t>(j)]);
    }
  }

  Sizes sizes;
  Array a, b, c;

 private:
  // The elements of a matrix, or of its transpose, row by row.
  static std::vector<int32_t> rows(const Array& matrix, bool transposed) {
    const int64_t height = matrix.extent(transposed ? 1 : 0);
    const int64_t width = matrix.extent(transposed ? 0 : 1);
    std::vector<int32_t> elements;
    elements.reserve(static_cast<size_t>(height * width));
    for (int64_t i = 0; i < height; ++i)
      for (int64_t j = 0; j < width; ++j)
        elements.push_back(
            static_cast<int32_t>(matrix.as_double(transposed ? j * height + i : i * width + j)));
    return elements;
  }
};

TEST_P(ProductTest, OfEverySizeUpTo70) {
  Product product(GetParam().source);
  for (int64_t size = 1; size <= 70; ++size) {
    make(size, size, size);
    EXPECT_EQ(product.run(sizes, a, b, c), "");
    for (uint32_t v = 0; v < product.variant_count(); ++v) EXPECT_EQ(product.run(sizes, a, b, c, v), "");
    for (auto [m, k, n] : {std::array{size, int64_t{37}, int64_t{5}},
                           {int64_t{66}, size, int64_t{9}},
                           {int64_t{3}, int64_t{70}, size}}) {
      make(m, k, n);
      EXPECT_EQ(product.run(sizes, a, b, c), "");
    }
  }
}

INSTANTIATE_TEST_SUITE_P(All, ProductTest, testing::ValuesIn(kLayouts),
                         [](const auto& info) { return std::string(info.param.name); });

using LargeProductTest = ProductTest;

TEST_P(LargeProductTest, OfSizesClearOfEveryTile) {
  Product product(GetParam().source);
  make(1000, 999, 1001);
  EXPECT_EQ(product.run(sizes, a, b, c), "");
}

INSTANTIATE_TEST_SUITE_P(All, LargeProductTest, testing::Values(kLayouts[0]),
                         [](const auto& info) { return std::string(info.param.name); });

// Sums whose partial sums are exact in f32, in whichever order they are made.
struct Sum {
  const char* name;
  ElementType type;
  double (*term)(int64_t i);
  // Of n terms.
  double (*total)(int64_t n);
};

constexpr Sum kSums[] = {
    {"NegativeZeros", ElementType::kF32, [](int64_t) { return -0.0; }, [](int64_t) { return 0.0; }},
    {"NegativeZerosOfF16", ElementType::kF16, [](int64_t) { return -0.0; }, [](int64_t) { return 0.0; }},
    {"AlternatingF16", ElementType::kF16, [](int64_t i) { return i % 2 ? -32000.0 : 32000.0; },
     [](int64_t n) { return n % 2 ? 32000.0 : 0.0; }},
    {"LargeF16", ElementType::kF16, [](int64_t) { return 32000.0; },
     [](int64_t n) { return 32000.0 * static_cast<double>(n); }},
    {"AlternatingBf16", ElementType::kBF16, [](int64_t i) { return i % 2 ? -32768.0 : 32768.0; },
     [](int64_t n) { return n % 2 ? 32768.0 : 0.0; }},
};

class SumTest : public testing::TestWithParam<Sum> {
 protected:
  // The kernel on `shape`, in every variant; all sums have n terms.
  static void check(const std::string& source, std::vector<int64_t> shape, const Sizes& sizes, int64_t n,
                    int64_t term_stride) {
    const Sum& sum = GetParam();
    SourceProgram program("sum.tn", source, {});
    ASSERT_EQ(program.kernels().size(), 1u) << program.complaints();
    Machine machine;
    Subject subject(program, program.kernels()[0], machine);
    Array x = Array::zeros(sum.type, std::move(shape)).value();
    for (int64_t i = 0; i < x.element_count(); ++i) x.set_double(i, sum.term(i / term_stride % n));
    Case trial{
        sizes, Fill::kSmallIntegers, {x, std::nullopt}, std::vector<ir::BoundedArray>(2), to_text(sizes)};
    std::vector<int64_t> results;
    if (x.element_count() != n) results = {x.element_count() / n};
    trial.expected[1].values = Array::zeros(ElementType::kF32, results).value();
    fill_constant(trial.expected[1].values, sum.total(n));
    int ran = 0;
    for (uint32_t v = 0; v < subject.program().steps[0].variants.size(); ++v) {
      runtime::HostLaunchOptions launch;
      launch.launch.variants = {v};
      Outcome outcome = subject.run(trial, launch);
      if (outcome.refused) continue;
      EXPECT_EQ(outcome.failure, "");
      ++ran;
    }
    EXPECT_GT(ran, 0);
  }
};

TEST_P(SumTest, AroundAPowerOfTwo) {
  const std::string_view type = name(GetParam().type);
  for (int64_t n : {8191, 8192, 8193}) {
    check(fmt::format("kernel k(x: {}[N]) -> (y: f32) {{ y = sum[i](x[i]) }}", type), {n}, {{"N", n}}, n, 1);
    check(fmt::format("kernel k(x: {}[M, N]) -> (y: f32[M]) {{ y[i] = sum[j](x[i, j]) }}", type), {3, n},
          {{"M", 3}, {"N", n}}, n, 1);
    check(fmt::format("kernel k(x: {}[N, M]) -> (y: f32[M]) {{ y[i] = sum[j](x[j, i]) }}", type), {n, 5},
          {{"M", 5}, {"N", n}}, n, 5);
  }
}

INSTANTIATE_TEST_SUITE_P(All, SumTest, testing::ValuesIn(kSums),
                         [](const auto& info) { return std::string(info.param.name); });

}  // namespace
}  // namespace tenon::conformance
