// The programs of cases.def.
#include <gtest/gtest.h>

#include <numeric>

#include "examples.h"
#include "sweep.h"

namespace tenon::conformance {
namespace {

struct CaseRow {
  const char* name;
  const char* sizes;
  const char* source;
};

constexpr CaseRow kCases[] = {
#define TENON_CASE(name, sizes, source) {#name, sizes, source},
#include "cases.def"
};

class CasesTest : public testing::TestWithParam<CaseRow> {};

TEST_P(CasesTest, GiveTheValuesOfTheLanguage) {
  SourceProgram program("case.tn", GetParam().source, {});
  ASSERT_EQ(program.kernels().size(), 1u) << program.complaints();
  auto given = check_options(GetParam().sizes, "").sizes;
  Machine machine;
  Subject subject(program, program.kernels()[0], machine);
  SweepResult result = sweep(subject, {Sizes(given.begin(), given.end())});
  EXPECT_EQ(result.failed, 0) << result.text();
  EXPECT_EQ(result.cases, 1) << "the kernel refuses these sizes";
}

// Products are wrong, if they are, near some multiple of a tile.
TEST(Products, OfEverySizeInEachAxis) {
  SourceProgram program("product.tn",
                        "kernel k(a: f32[M, K], b: f32[K, N]) -> (c: f32[M, N]) {"
                        " c[i, j] = sum[k](a[i, k] * b[k, j]) }",
                        {});
  ASSERT_EQ(program.kernels().size(), 1u) << program.complaints();
  Machine machine;
  Subject subject(program, program.kernels()[0], machine);
  SweepOptions options;
  options.sizes.resize(70);
  std::iota(options.sizes.begin(), options.sizes.end(), 1);
  options.others = {20};
  options.random_shapes = 0;
  SweepResult result = sweep(subject, sweep_sizes(subject, options));
  EXPECT_EQ(result.failed, 0) << result.text();
  EXPECT_GE(result.cases, 3 * 69);
}

INSTANTIATE_TEST_SUITE_P(All, CasesTest, testing::ValuesIn(kCases),
                         [](const auto& info) { return std::string(info.param.name); });

}  // namespace
}  // namespace tenon::conformance
