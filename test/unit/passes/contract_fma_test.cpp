#include "passed.h"

namespace tenon::passes {
namespace {

std::string body(const std::string& lines) {
  return "kernel @k<N>(%a: f32[N], %b: f32[N], %c: f32[N]) -> (%y: f32[N]) {\n  %y: f32[N] = map [i: N] {\n"
         "    %0 = read %a[i] : f32\n    %1 = read %b[i] : f32\n    %2 = read %c[i] : f32\n" +
         lines + "  }\n}\n";
}

TEST(ContractFma, ProductPlusTerm) {
  Passed passed(body("%3 = mul %0, %1 : f32\n%4 = add %3, %2 : f32\nyield %4\n"), "contract-fma");
  EXPECT_TRUE(passed.has("fma %0, %1, %2"));
  EXPECT_FALSE(passed.has("mul"));
}

TEST(ContractFma, TermPlusProduct) {
  Passed passed(body("%3 = mul %0, %1 : f32\n%4 = add %2, %3 : f32\nyield %4\n"), "contract-fma");
  EXPECT_TRUE(passed.has("fma %0, %1, %2"));
}

TEST(ContractFma, OfTwoProductsTheLeft) {
  Passed passed(body("%3 = mul %0, %1 : f32\n%4 = mul %1, %2 : f32\n%5 = add %3, %4 : f32\nyield %5\n"),
                "contract-fma");
  EXPECT_TRUE(passed.has("%3 = mul %1, %2"));
  EXPECT_TRUE(passed.has("fma %0, %1, %3"));
}

TEST(ContractFma, ProductMinusTermNegatesTheTerm) {
  Passed passed(body("%3 = mul %0, %1 : f32\n%4 = sub %3, %2 : f32\nyield %4\n"), "contract-fma");
  EXPECT_TRUE(passed.has("%3 = neg %2"));
  EXPECT_TRUE(passed.has("fma %0, %1, %3"));
}

TEST(ContractFma, TermMinusProductNegatesAFactor) {
  Passed passed(body("%3 = mul %0, %1 : f32\n%4 = sub %2, %3 : f32\nyield %4\n"), "contract-fma");
  EXPECT_TRUE(passed.has("%3 = neg %0"));
  EXPECT_TRUE(passed.has("fma %3, %1, %2"));
}

TEST(ContractFma, AProductWithAnotherUseStays) {
  Passed passed(body("%3 = mul %0, %1 : f32\n%4 = add %3, %3 : f32\nyield %4\n"), "contract-fma");
  EXPECT_FALSE(passed.has("fma"));
}

TEST(ContractFma, ACastKeepsAProductApart) {
  Passed passed(body("%3 = mul %0, %1 : f32\n%4 = cast %3 : f32\n%5 = add %4, %2 : f32\nyield %5\n"),
                "contract-fma,fold");
  EXPECT_FALSE(passed.has("fma"));
  EXPECT_FALSE(passed.has("cast"));
}

TEST(ContractFma, NeverAcrossNames) {
  Passed passed(
      "kernel @k<N>(%a: f32[N]) -> (%y: f32[N]) {\n"
      "  %t: f32[N] = map [i: N] {\n    %0 = read %a[i] : f32\n    %1 = mul %0, %0 : f32\n    yield %1\n  }\n"
      "  %y: f32[N] = map [i: N] {\n    %0 = read %t[i] : f32\n    %1 = read %a[i] : f32\n"
      "    %2 = add %0, %1 : f32\n    yield %2\n  }\n}\n",
      "contract-fma,inline,contract-fma");
  // A second run would see one statement: the pipeline has one only.
  EXPECT_TRUE(passed.has("fma"));
  Passed once(passed.parsed.sources.file(passed.parsed.file).text, "contract-fma,inline");
  EXPECT_FALSE(once.has("fma"));
  EXPECT_TRUE(once.has("mul"));
}

TEST(ContractFma, IntegersStay) {
  Passed passed(
      "kernel @k<N>(%a: i32[N]) -> (%y: i32[N]) {\n  %y: i32[N] = map [i: N] {\n    %0 = read %a[i] : i32\n"
      "    %1 = mul %0, %0 : i32\n    %2 = add %1, %0 : i32\n    yield %2\n  }\n}\n",
      "contract-fma");
  EXPECT_FALSE(passed.has("fma"));
}

TEST(ContractFma, TheTermOfASumStays) {
  Passed passed(
      "kernel @k<N>(%a: f32[N]) -> (%y: f32) {\n  %y: f32 = reduce<sum> [| k: N] {\n    %0 = read %a[k] : "
      "f32\n"
      "    %1 = mul %0, %0 : f32\n    yield %1\n  }\n}\n",
      "contract-fma");
  EXPECT_TRUE(passed.has("mul"));
}

TEST(ContractFma, LeavesValuesWithinTheirBounds) {
  for (const char* lines :
       {"%3 = mul %0, %1 : f32\n%4 = sub %3, %2 : f32\nyield %4\n",
        "%3 = mul %0, %1 : f32\n%4 = sub %2, %3 : f32\nyield %4\n",
        "%3 = mul %0, %1 : f32\n%4 = mul %1, %2 : f32\n%5 = sub %3, %4 : f32\nyield %5\n"})
    expect_same_after(body(lines), "contract-fma", {{"N", 100}});
}

}  // namespace
}  // namespace tenon::passes
