#include "passed.h"

namespace tenon::passes {
namespace {

TEST(Dce, OperationsThatOnlyDeadOnesRead) {
  Passed passed(
      "kernel @k<N>(%a: f32[N]) -> (%y: f32[N]) {\n"
      "  %t: f32[N] = map [i: N] {\n    %0 = read %a[i] : f32\n    yield %0\n  }\n"
      "  %u: f32[N] = map [i: N] {\n    %0 = read %t[i] : f32\n    yield %0\n  }\n"
      "  %y: f32[N] = map [i: N] {\n    %0 = read %a[i] : f32\n    %1 = exp %0 : f32\n    yield %0\n  }\n}\n",
      "dce");
  EXPECT_EQ(1u, passed.op_count());
  EXPECT_FALSE(passed.has("exp"));
}

TEST(Dce, ResultsOfAnOperationOneByOne) {
  Passed passed(
      "kernel @k<N>(%a: f32[N]) -> (%y: f32) {\n"
      "  %t: f32, %y: f32 = reduce<max, sum> [| k: N] {\n    %0 = read %a[k] : f32\n"
      "    %1 = mul %0, %0 : f32\n    yield %0, %1\n  }\n}\n",
      "dce");
  EXPECT_TRUE(passed.has("reduce<sum>"));
}

TEST(Dce, IndexValuesThatSubscriptsMentionStay) {
  Passed passed(
      "kernel @k<N>(%a: f32[N], %t: index[N]) -> (%y: f32[N]) {\n  %y: f32[N] = map [i: N] {\n"
      "    %0 = const 1 : index\n    %1 = read %t[i] : index\n    %2 = index max(0, min(%1, N - 1)) : index\n"
      "    %3 = read %a[%2] : f32\n    yield %3\n  }\n}\n",
      "dce");
  EXPECT_TRUE(passed.has("read %a[%1]"));
}

}  // namespace
}  // namespace tenon::passes
