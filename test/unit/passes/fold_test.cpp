#include "passed.h"

namespace tenon::passes {
namespace {

// A map over one element of each type that a test needs.
std::string body(const std::string& result, const std::string& lines) {
  return "kernel @k<N, s: scalar>(%x: f32[N], %h: f16[N], %n: i32[N], %p: bool[N], %t: index[N], %s: index = "
         "s) -> "
         "(%y: " +
         result + "[N]) {\n  %y: " + result +
         "[N] = map [i: N] {\n    %x0 = read %x[i] : f32\n    %h0 = read %h[i] : f16\n    %n0 = read %n[i] : "
         "i32\n"
         "    %p0 = read %p[i] : bool\n    %t0 = read %t[i] : index\n" +
         lines + "  }\n}\n";
}

// What the body is after fold, without its head.
std::string folded(const std::string& result, const std::string& lines) {
  std::string text = body(result, lines);
  Passed passed(text, "fold");
  expect_same_after(text, "fold", {{"N", 9}, {"s", 3}});
  std::string out = passed.text.substr(passed.text.find("[i: N] {\n") + 9);
  return out.substr(0, out.find("  }\n"));
}

constexpr const char* kX = "    %0 = read %x[i] : f32\n    yield %0\n";

TEST(Fold, IdentitiesOfFloats) {
  EXPECT_EQ(kX, folded("f32", "%0 = const 1 : f32\n%1 = mul %x0, %0 : f32\nyield %1\n"));
  EXPECT_EQ(kX, folded("f32", "%0 = const 0 : f32\n%1 = sub %x0, %0 : f32\nyield %1\n"));
  EXPECT_EQ(kX, folded("f32", "%0 = const -0.0 : f32\n%1 = add %0, %x0 : f32\nyield %1\n"));
  EXPECT_EQ(kX, folded("f32", "%0 = neg %x0 : f32\n%1 = neg %0 : f32\nyield %1\n"));
  EXPECT_EQ(kX, folded("f32", "%0 = max %x0, %x0 : f32\nyield %0\n"));
  EXPECT_EQ(kX, folded("f32", "%0 = select %p0, %x0, %x0 : f32\nyield %0\n"));
  EXPECT_EQ(kX, folded("f32", "%0 = const 1 : f32\n%1 = div %x0, %0 : f32\nyield %1\n"));
}

TEST(Fold, WhatIsNotExactForAllFloatsStays) {
  EXPECT_NE(kX, folded("f32", "%0 = const 0 : f32\n%1 = add %x0, %0 : f32\nyield %1\n"));
  EXPECT_NE(std::string::npos,
            folded("f32", "%0 = const 0 : f32\n%1 = mul %x0, %0 : f32\nyield %1\n").find("mul"));
  EXPECT_NE(std::string::npos, folded("f32", "%0 = sub %x0, %x0 : f32\nyield %0\n").find("sub"));
  EXPECT_NE(std::string::npos, folded("bool", "%0 = eq %x0, %x0 : bool\nyield %0\n").find("eq"));
}

TEST(Fold, IdentitiesOfIntegers) {
  const std::string n = "    %0 = read %n[i] : i32\n    yield %0\n";
  EXPECT_EQ(n, folded("i32", "%0 = const 0 : i32\n%1 = add %n0, %0 : i32\nyield %1\n"));
  EXPECT_EQ(n, folded("i32", "%0 = const -1 : i32\n%1 = and %n0, %0 : i32\nyield %1\n"));
  EXPECT_EQ("    %0 = const 0 : i32\n    yield %0\n", folded("i32", "%0 = sub %n0, %n0 : i32\nyield %0\n"));
  EXPECT_EQ("    %0 = const true : bool\n    yield %0\n",
            folded("bool", "%0 = le %n0, %n0 : bool\nyield %0\n"));
}

TEST(Fold, Casts) {
  EXPECT_EQ("    %0 = read %h[i] : f16\n    yield %0\n",
            folded("f16", "%0 = cast %h0 : f32\n%1 = cast %0 : f16\nyield %1\n"));
  EXPECT_EQ("    %0 = read %h[i] : f16\n    %1 = cast %0 : f64\n    yield %1\n",
            folded("f64", "%0 = cast %h0 : f32\n%1 = cast %0 : f64\nyield %1\n"));
  EXPECT_EQ("    %0 = read %n[i] : i32\n    yield %0\n",
            folded("i32", "%0 = cast %n0 : index\n%1 = cast %0 : i32\nyield %1\n"));
  // What narrows first is not undone by widening, and not every integer is a float.
  EXPECT_NE(kX, folded("f32", "%0 = cast %x0 : f16\n%1 = cast %0 : f32\nyield %1\n"));
  EXPECT_NE(std::string::npos,
            folded("i32", "%0 = cast %n0 : f32\n%1 = cast %0 : i32\nyield %1\n").find("cast"));
}

TEST(Fold, Logic) {
  const std::string p = "    %0 = read %p[i] : bool\n    yield %0\n";
  EXPECT_EQ(p, folded("bool", "%0 = const true : bool\n%1 = and %p0, %0 : bool\nyield %1\n"));
  EXPECT_EQ(p, folded("bool", "%0 = const false : bool\n%1 = or %p0, %0 : bool\nyield %1\n"));
  EXPECT_EQ(p, folded("bool", "%0 = not %p0 : bool\n%1 = not %0 : bool\nyield %1\n"));
  EXPECT_EQ(
      p,
      folded("bool",
             "%0 = const true : bool\n%1 = const false : bool\n%2 = select %p0, %0, %1 : bool\nyield %2\n"));
}

TEST(Fold, LiteralsByTheLanguagesRules) {
  EXPECT_EQ("    %0 = const 0 : i32\n    yield %0\n",
            folded("i32", "%0 = const 7 : i32\n%1 = const 0 : i32\n%2 = div %0, %1 : i32\nyield %2\n"));
  EXPECT_EQ(
      "    %0 = const -3 : index\n    yield %0\n",
      folded("index", "%0 = const -5 : index\n%1 = const 2 : index\n%2 = div %0, %1 : index\nyield %2\n"));
  EXPECT_EQ("    %0 = const 2147483647 : i32\n    yield %0\n",
            folded("i32", "%0 = const 0x1p+40 : f32\n%1 = cast %0 : i32\nyield %1\n"));
}

TEST(Fold, FunctionsWithAnExpansionAreTheDevices) {
  EXPECT_NE(std::string::npos,
            folded("f32", "%0 = const 1 : f32\n%1 = exp %0 : f32\nyield %1\n").find("exp"));
}

TEST(Fold, IndexArithmeticBecomesAnExpression) {
  EXPECT_EQ(
      "    %0 = index N + i - 1 : index\n    yield %0\n",
      folded("index", "%0 = index i : index\n%1 = index N - 1 : index\n%2 = add %0, %1 : index\nyield %2\n"));
}

TEST(Fold, SubscriptsSeeThroughIndexValues) {
  std::string out = folded("f32",
                           "%0 = index N - 1 : index\n%1 = index i : index\n%2 = sub %0, %1 : index\n"
                           "%3 = read %x[%2] : f32\nyield %3\n");
  EXPECT_NE(std::string::npos, out.find("read %x[N - i - 1]")) << out;
}

TEST(Fold, ComparisonsThatThePoolDecides) {
  EXPECT_EQ(
      "    %0 = const true : bool\n    yield %0\n",
      folded("bool", "%0 = index i : index\n%1 = index i + 1 : index\n%2 = lt %0, %1 : bool\nyield %2\n"));
}

TEST(Fold, ComparisonsOfDataMayWrapAndStay) {
  EXPECT_NE(
      std::string::npos,
      folded("bool", "%0 = index %t0 : index\n%1 = index %t0 + 1 : index\n%2 = lt %0, %1 : bool\nyield %2\n")
          .find("lt"));
  EXPECT_NE(
      std::string::npos,
      folded("bool", "%0 = index s : index\n%1 = index s + 1 : index\n%2 = lt %0, %1 : bool\nyield %2\n")
          .find("lt"));
}

TEST(Fold, GuardedReads) {
  EXPECT_EQ(kX, folded("f32",
                       "%0 = const true : bool\n%1 = const 0 : f32\n"
                       "%2 = read %x[i] where %0 else %1 : f32\nyield %2\n"));
  EXPECT_EQ("    %0 = const 0x1p+1 : f32\n    yield %0\n",
            folded("f32",
                   "%0 = const false : bool\n%1 = const 2 : f32\n"
                   "%2 = read %x[i + N] where %0 else %1 : f32\nyield %2\n"));
}

TEST(Fold, WhatAPredicateChoosesAnyway) {
  const char* text =
      "kernel @k<N>(%x: f32[N], %p: bool[N]) -> (%y: f32) {\n  %y: f32 = reduce<sum> [| k: N] {\n"
      "    %0 = read %p[k] : bool\n    %1 = read %x[k] : f32\n    %2 = const 0 : f32\n"
      "    %3 = select %0, %1, %2 : f32\n    yield %3 where %0\n  }\n}\n";
  EXPECT_FALSE(Passed(text, "fold").has("select"));
  expect_same_after(text, "fold", {{"N", 9}});
}

}  // namespace
}  // namespace tenon::passes
