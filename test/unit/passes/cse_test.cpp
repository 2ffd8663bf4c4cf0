#include "passed.h"

namespace tenon::passes {
namespace {

TEST(Cse, EqualValuesOfABody) {
  Passed passed(
      "kernel @k<N>(%a: f32[N], %b: f32[N]) -> (%y: f32[N]) {\n  %y: f32[N] = map [i: N] {\n"
      "    %0 = read %a[i] : f32\n    %1 = read %b[i] : f32\n    %2 = mul %0, %1 : f32\n"
      "    %3 = read %b[i] : f32\n    %4 = read %a[i] : f32\n    %5 = mul %3, %4 : f32\n"
      "    %6 = sub %2, %5 : f32\n    yield %6\n  }\n}\n",
      "cse");
  EXPECT_TRUE(passed.has("%3 = sub %2, %2"));
}

TEST(Cse, OrderMattersWhereAnOperationDoesNotCommute) {
  Passed passed(
      "kernel @k<N>(%a: f32[N], %b: f32[N]) -> (%y: f32[N]) {\n  %y: f32[N] = map [i: N] {\n"
      "    %0 = read %a[i] : f32\n    %1 = read %b[i] : f32\n    %2 = sub %0, %1 : f32\n"
      "    %3 = sub %1, %0 : f32\n    %4 = mul %2, %3 : f32\n    yield %4\n  }\n}\n",
      "cse");
  EXPECT_TRUE(passed.has("mul %2, %3"));
}

constexpr const char* kTwoSums =
    "kernel @k<M, N>(%a: f32[M, N]) -> (%y: f32[M]) {\n"
    "  %s: f32[M] = reduce<sum> [i: M | k: N] {\n    %0 = read %a[i, k] : f32\n    yield %0\n  }\n"
    "  %t: f32[M] = reduce<KIND> [p: M | q: N] {\n    %0 = read %a[p, q] : f32\n    yield %0\n  }\n"
    "  %y: f32[M] = map [i: M] {\n    %0 = read %s[i] : f32\n    %1 = read %t[i] : f32\n"
    "    %2 = sub %0, %1 : f32\n    yield %2\n  }\n}\n";

std::string two_reductions(const std::string& second) {
  std::string text = kTwoSums;
  return text.replace(text.find("KIND"), 4, second);
}

TEST(Cse, EqualOperationsWhateverTheirAxesAreCalled) {
  Passed passed(two_reductions("sum"), "cse,cse");
  EXPECT_EQ(2u, passed.op_count());
  EXPECT_TRUE(passed.has("sub %0, %0"));
  expect_same_after(two_reductions("sum"), "cse", {{"M", 3}, {"N", 5}});
}

TEST(Cse, DifferentReductionsStay) { EXPECT_EQ(3u, Passed(two_reductions("max"), "cse").op_count()); }

TEST(Cse, ResultsAreWrittenEachOfThem) {
  Passed passed(
      "kernel @k<N>(%a: f32[N]) -> (%y: f32[N], %z: f32[N]) {\n"
      "  %y: f32[N] = map [i: N] {\n    %0 = read %a[i] : f32\n    yield %0\n  }\n"
      "  %z: f32[N] = map [i: N] {\n    %0 = read %a[i] : f32\n    yield %0\n  }\n}\n",
      "cse");
  EXPECT_EQ(2u, passed.op_count());
}

}  // namespace
}  // namespace tenon::passes
