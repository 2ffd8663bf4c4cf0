// Programs that would exhaust time or memory end in a diagnostic; long ones do not.
#include "test/unit/check/checked.h"

namespace tenon::frontend {
namespace {

std::string chain(size_t statements) {
  std::string text = "kernel chain(x: f32[N]) -> (y: f32[N]) {\n";
  std::string previous = "x";
  for (size_t i = 0; i < statements; ++i) {
    text += fmt::format("  t{}[i] = {}[i] * 1.5 + x[i]\n", i, previous);
    previous = fmt::format("t{}", i);
  }
  return text + fmt::format("  y[i] = {}[i]\n}}\n", previous);
}

TEST(Limits, LongChainsOfStatements) {
  const Checked checked(chain(10'000));
  EXPECT_EQ(checked.messages(), "");
  EXPECT_EQ(checked.result.module.kernels[0].ops.size(), 10'001u);
}

// Every function calls the one before twice; `call` is its second call.
std::string doubling(std::string_view call) {
  std::string text = "fn g0(x: f32) -> f32 = x * 2\n";
  for (int i = 1; i < 40; ++i)
    text += fmt::format("fn g{}(x: f32) -> f32 = g{}(x) + g{}({})\n", i, i - 1, i - 1, call);
  return text + "kernel k(x: f32[N]) -> (y: f32[N]) { y[i] = g39(x[i]) }\n";
}

TEST(Limits, EqualCallsAreInlinedOnce) {
  const Checked checked(doubling("x"));
  EXPECT_EQ(checked.messages(), "");
  EXPECT_LT(checked.result.module.kernels[0].ops[ir::TensorOpId(0)].body.size(), 200u);
}

TEST(Limits, DoublingScalarFunctions) {
  EXPECT_EQ(Checked(doubling("x + x * x")).messages(),
            "E0722 41:45 this expression comes to more than 50000 operations, calls inlined\n");
}

TEST(Limits, DoublingTensorFunctions) {
  std::string text = "fn g0(x: f32[N]) -> (y: f32[N]) { y[i] = x[i] * 2 }\n";
  for (int i = 1; i < 40; ++i)
    text += fmt::format("fn g{0}(x: f32[N]) -> (y: f32[N]) {{ a = g{1}(x) y = g{1}(a) }}\n", i, i - 1);
  EXPECT_EQ(
      Checked(text + "kernel k(x: f32[N]) -> (y: f32[N]) { y = g39(x) }\n").messages(),
      "E0725 1:35 `k` comes to more than 32768 tensor operations or 2000000 instructions, calls inlined\n");
}

TEST(Limits, CallsNest) {
  std::string text = "fn g0(x: f32) -> f32 = x * 2\n";
  for (int i = 1; i < 150; ++i) text += fmt::format("fn g{}(x: f32) -> f32 = g{}(x) + 1\n", i, i - 1);
  EXPECT_EQ(Checked(text + "kernel k(x: f32[N]) -> (y: f32[N]) { y[i] = g149(x[i]) }\n").messages(),
            "E0724 51:25 calls nest more than 100 levels deep\n");
}

TEST(Limits, LongSums) {
  std::string sum = "x[i]";
  for (int i = 0; i < 60'000; ++i) sum += " + x[i]";
  EXPECT_EQ(Checked("kernel k(x: f32[N]) -> (y: f32[N]) { y[i] = " + sum + " }").messages(),
            "E0722 1:45 this expression comes to more than 50000 operations, calls inlined\n");
}

TEST(Limits, IndexExpressions) {
  std::string product = "(i + 1)";
  for (int i = 0; i < 60; ++i) product += fmt::format(" * (i + {})", i);
  EXPECT_EQ(Checked("kernel k(x: f32[N]) -> (y: f32[N]) { y[i] = x[(" + product + ") % N] }").messages(),
            "E0721 1:48 this index expression is too large to be looked into\n");
  std::string quotient = "i";
  for (int i = 0; i < 1'000; ++i) quotient += " / N";
  EXPECT_EQ(Checked("kernel k(x: f32[N]) -> (y: f32[N]) { y[i] = x[" + quotient + "] }").messages(),
            "E0721 1:47 this index expression is too large to be looked into\n");
}

TEST(Limits, ExactNumbers) {
  std::string product = "1e900";
  for (int i = 0; i < 100; ++i) product += " * 1e900";
  EXPECT_EQ(Checked("kernel k(x: f32[N]) -> (y: f32[N]) { y[i] = x[i] * (" + product + ") }").messages(),
            "E0720 1:53 this number has too many digits\n");
}

TEST(Limits, NestedReductions) {
  std::string text;
  for (int i = 0; i < 40; ++i) text += fmt::format("sum[k{} in 0..2](", i);
  text += "x[i]";
  for (int i = 0; i < 40; ++i) text += ")";
  EXPECT_EQ(Checked("kernel k(x: f32[N]) -> (y: f32[N]) { y[i] = " + text + " }").messages(),
            "E0723 1:579 reductions nest more than 32 levels deep\n");
}

TEST(Limits, DefinitionsOfDefinitions) {
  std::string text = "kernel k(x: f32[N]) -> (y: f32[N]) {\n  k0[i] = i > 0 && x[i] > 0\n";
  for (int i = 1; i < 3'000; ++i) text += fmt::format("  k{}[i] = k{}[i] && x[i] > {}\n", i, i - 1, i);
  const Checked checked(text + "  y[i] = k2999[i] ? x[i - 1] : 0\n}\n");
  // Looking through stops at some depth; the access is then not shown to be within bounds.
  EXPECT_EQ(checked.messages().substr(0, 5), "E0401");
}

}  // namespace
}  // namespace tenon::frontend
