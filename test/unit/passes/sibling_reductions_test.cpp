#include "passed.h"

namespace tenon::passes {
namespace {

// Two reductions over x, and a result that needs both.
std::string two(const std::string& first, const std::string& second, const std::string& between = "") {
  return "kernel @k<M, N>(%x: f32[M, N], %p: bool[N]) -> (%y: f32[M]) {\n  %s: f32[M] = " + first + between +
         "  %t: f32[M] = " + second +
         "  %y: f32[M] = map [i: M] {\n    %0 = read %s[i] : f32\n    %1 = read %t[i] : f32\n"
         "    %2 = div %0, %1 : f32\n    yield %2\n  }\n}\n";
}

constexpr const char* kSum = "reduce<sum> [i: M | k: N] {\n    %0 = read %x[i, k] : f32\n    yield %0\n  }\n";
constexpr const char* kMax = "reduce<max> [p: M | q: N] {\n    %0 = read %x[p, q] : f32\n    yield %0\n  }\n";
constexpr const char* kGuarded =
    "reduce<max> [p: M | q: N] {\n    %0 = read %x[p, q] : f32\n    %1 = read %p[q] : bool\n"
    "    yield %0 where %1\n  }\n";

TEST(SiblingReductions, OfOneDomainBecomeOne) {
  Passed passed(two(kSum, kMax), "sibling-reductions");
  EXPECT_EQ(2u, passed.op_count());
  EXPECT_TRUE(passed.has("reduce<sum, max>"));
  EXPECT_TRUE(passed.has("yield %0, %0"));
  expect_same_after(two(kSum, kMax), "sibling-reductions", {{"M", 3}, {"N", 7}});
}

TEST(SiblingReductions, PredicatesMustBeTheSame) {
  EXPECT_EQ(3u, Passed(two(kSum, kGuarded), "sibling-reductions").op_count());
  Passed passed(two(kGuarded, kGuarded), "sibling-reductions");
  EXPECT_EQ(2u, passed.op_count());
  expect_same_after(two(kGuarded, kGuarded), "sibling-reductions", {{"M", 3}, {"N", 7}});
}

TEST(SiblingReductions, OneThatDependsOnTheOtherStays) {
  std::string centred =
      "reduce<sum> [i: M | k: N] {\n    %0 = read %x[i, k] : f32\n    %1 = read %s[i] : f32\n"
      "    %2 = sub %0, %1 : f32\n    yield %2\n  }\n";
  EXPECT_EQ(3u, Passed(two(kMax, centred), "sibling-reductions").op_count());
}

// A map of the first result stands between the two: the second moves up, unless it needs the map.
std::string with_map_between(const std::string& read_by_second) {
  std::string between = "  %u: f32[M] = map [i: M] {\n    %0 = read %s[i] : f32\n    yield %0\n  }\n";
  std::string second = "reduce<max> [p: M | q: N] {\n    %0 = read %x[p, q] : f32\n    %1 = read " +
                       read_by_second + "[p] : f32\n    %2 = add %0, %1 : f32\n    yield %2\n  }\n";
  return two(kSum, second, between);
}

TEST(SiblingReductions, TheLaterOneMovesUp) {
  std::string text =
      two(kSum, kMax, "  %u: f32[M] = map [i: M] {\n    %0 = read %s[i] : f32\n    yield %0\n  }\n");
  EXPECT_EQ(3u, Passed(text, "sibling-reductions").op_count());
  expect_same_after(text, "sibling-reductions", {{"M", 3}, {"N", 7}});
}

TEST(SiblingReductions, ButNotBeforeWhatItNeeds) {
  EXPECT_EQ(4u, Passed(with_map_between("%u"), "sibling-reductions").op_count());
  EXPECT_EQ(4u, Passed(with_map_between("%s"), "sibling-reductions").op_count());
}

TEST(SiblingReductions, ThreeOfThem) {
  std::string text =
      "kernel @k<M, N>(%x: f32[M, N]) -> (%a: f32[M], %b: f32[M], %c: f32[M]) {\n  %a: f32[M] = " +
      std::string(kSum) + "  %b: f32[M] = " + kMax + "  %c: f32[M] = " + kSum + "}\n";
  EXPECT_EQ(1u, Passed(text, "sibling-reductions").op_count());
  expect_same_after(text, "sibling-reductions", {{"M", 3}, {"N", 7}});
}

TEST(SiblingReductions, OtherDomainsStay) {
  std::string columns =
      "reduce<max> [i: M | k: M] {\n    %0 = index min(k, N - 1) : index\n"
      "    %1 = read %x[i, %0] : f32\n    yield %1\n  }\n";
  EXPECT_EQ(3u, Passed(two(kSum, columns), "sibling-reductions").op_count());
}

}  // namespace
}  // namespace tenon::passes
