#include "passes/group.h"

#include "passed.h"

namespace tenon::passes {
namespace {

TEST(Group, AReadOfOtherElementsRunsBeforeTheyAreOverwritten) {
  // %t reads the whole of %c, so it is a step before the one that overwrites %c, though they share a tensor.
  Passed passed(
      "kernel @k<N>(%c: inout f32[N] as %c.new) -> (%t: f32[N]) {\n"
      "  %t: f32[N] = map [i: N] {\n    %0 = read %c[N - 1 - i] : f32\n    yield %0\n  }\n"
      "  %c.new: f32[N] = map [i: N] {\n    %0 = read %c[i] : f32\n    %1 = neg %0 : f32\n    yield %1\n  "
      "}\n}\n",
      "group");
  ASSERT_EQ(2u, passed.kernel().groups.size());
  EXPECT_EQ(ir::TensorOpId(1), passed.kernel().groups[1].ops[0]);
}

TEST(Group, AnOverwriteIsNoEarlierThanReadersInOtherSteps) {
  // %u depends on a step of its own; %c.new depends on nothing, and must not run before %u.
  Passed passed(
      "kernel @k<N, M>(%c: inout f32[N] as %c.new, %x: f32[N]) -> (%a: f32[N], %u: f32[N]) {\n"
      "  %a: f32[N] = map [i: N] {\n    %0 = read %x[N - 1 - i] : f32\n    yield %0\n  }\n"
      "  %u: f32[N] = map [i: N] {\n    %0 = read %a[N - 1 - i] : f32\n    %1 = read %c[N - 1 - i] : f32\n"
      "    %2 = add %0, %1 : f32\n    yield %2\n  }\n"
      "  %c.new: f32[N] = map [i: N] {\n    %0 = read %a[i] : f32\n    yield %0\n  }\n}\n",
      "group");
  std::vector<ir::Group>& groups = passed.kernel().groups;
  ASSERT_EQ(3u, groups.size());
  EXPECT_EQ(ir::TensorOpId(2), groups[2].ops[0]);
}

TEST(Group, SoftmaxIsOne) {
  Passed passed(R"(kernel @softmax<M, N>(%x: f32[M, N]) -> (%y: f32[M, N]) {
  %m: f32[M] = reduce<max> [i: M | k: N] {
    %0 = read %x[i, k] : f32
    yield %0
  }
  %y: f32[M, N] = map [i: M, j: N] {
    %0 = read %x[i, j] : f32
    %1 = read %m[i] : f32
    %2 = sub %0, %1 : f32
    yield %2
  }
}
)",
                "group");
  ASSERT_EQ(1u, passed.kernel().groups.size());
  GroupAxes axes = group_axes(passed.kernel(), passed.kernel().groups[0]);
  EXPECT_EQ(1u, axes.parallel.size());
  EXPECT_EQ(1u, axes.row.size());
}

TEST(Group, MapsOfDifferentRanksAreTwo) {
  Passed passed(R"(kernel @k<M, N>(%x: f32[M, N], %b: f32[M]) -> (%e: f32[M], %y: f32[M, N]) {
  %e: f32[M] = map [i: M] {
    %0 = read %b[i] : f32
    %1 = exp %0 : f32
    yield %1
  }
  %y: f32[M, N] = map [i: M, j: N] {
    %0 = read %x[i, j] : f32
    %1 = read %e[i] : f32
    %2 = mul %0, %1 : f32
    yield %2
  }
}
)",
                "group");
  EXPECT_EQ(2u, passed.kernel().groups.size());
}

}  // namespace
}  // namespace tenon::passes
