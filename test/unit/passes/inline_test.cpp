
#include "passed.h"

namespace tenon::passes {
namespace {

// One statement of IR text: NAME[DOMAIN] over inputs.
std::string map(const std::string& name, const std::string& type, const std::string& domain,
                const std::string& lines) {
  return "  %" + name + ": " + type + " = map [" + domain + "] {\n" + lines + "  }\n";
}

TEST(Inline, AProducerThatIsReadOnce) {
  std::string text =
      "kernel @k<N>(%a: f32[N]) -> (%y: f32[N]) {\n" +
      map("t", "f32[N]", "i: N", "%0 = read %a[i] : f32\n%1 = exp %0 : f32\nyield %1\n") +
      map("y", "f32[N]", "j: N",
          "%0 = index N - 1 - j : index\n%1 = read %t[%0] : f32\n%2 = neg %1 : f32\nyield %2\n") +
      "}\n";
  Passed passed(text, "fold,inline");
  EXPECT_EQ(1u, passed.op_count());
  EXPECT_TRUE(passed.has("read %a[N - j - 1]"));
  expect_same_after(text, "fold,inline", {{"N", 10}});
  expect_same_after(text, "inline", {{"N", 10}});
}

TEST(Inline, PredicatesGuardTheReadsOfTheProducer) {
  std::string text =
      "kernel @k<N>(%a: f32[N]) -> (%y: f32[N]) {\n" +
      map("t", "f32[N]", "i: N",
          "%0 = read %a[i] : f32\n%1 = const 3 : f32\n%2 = add %0, %1 : f32\nyield %2\n") +
      map("y", "f32[N]", "j: N",
          "%0 = index j : index\n%1 = const 0 : index\n%2 = gt %0, %1 : bool\n%3 = const 7 : f32\n"
          "%4 = read %t[j - 1] where %2 else %3 : f32\nyield %4\n") +
      "}\n";
  Passed passed(text, "inline");
  EXPECT_EQ(1u, passed.op_count());
  EXPECT_TRUE(passed.has("read %a[j - 1] where"));
  EXPECT_TRUE(passed.has("select"));
  // The first element would be read out of bounds.
  expect_same_after(text, "inline", {{"N", 10}});
  expect_same_after(text, "inline,fold,cse", {{"N", 1}});
}

TEST(Inline, PredicatesNest) {
  std::string shift =
      "%0 = index i : index\n%1 = const 0 : index\n%2 = gt %0, %1 : bool\n%3 = const 7 : f32\n"
      "%4 = read %FROM[i - 1] where %2 else %3 : f32\nyield %4\n";
  std::string text = "kernel @k<N>(%a: f32[N]) -> (%y: f32[N]) {\n";
  std::string from = "a";
  for (std::string to : {"t", "u", "y"}) {
    std::string lines = shift;
    text += map(to, "f32[N]", "i: N", lines.replace(lines.find("FROM"), 4, from));
    from = to;
  }
  text += "}\n";
  EXPECT_EQ(1u, Passed(text, "inline").op_count());
  expect_same_after(text, "inline", {{"N", 10}});
  expect_same_after(text, "inline,fold,cse", {{"N", 2}});
}

TEST(Inline, IndexHelpersBecomeSubscripts) {
  std::string text =
      "kernel @k<N>(%a: f32[N]) -> (%y: f32[N]) {\n" +
      map("t", "index[N]", "i: N", "%0 = index N - 1 - i : index\nyield %0\n") +
      map("y", "f32[N]", "j: N", "%0 = read %t[j] : index\n%1 = read %a[%0] : f32\nyield %1\n") + "}\n";
  Passed passed(text, "inline,fold");
  EXPECT_TRUE(passed.has("read %a[N - j - 1]"));
  expect_same_after(text, "inline,fold", {{"N", 10}});
}

constexpr const char* kSoftmax = R"(kernel @softmax<M, N>(%x: f32[M, N]) -> (%y: f32[M, N]) {
  %m: f32[M] = reduce<max> [i: M | k: N] {
    %0 = read %x[i, k] : f32
    yield %0
  }
  %e: f32[M, N] = map [i: M, j: N] {
    %0 = read %x[i, j] : f32
    %1 = read %m[i] : f32
    %2 = sub %0, %1 : f32
    %3 = exp %2 : f32
    yield %3
  }
  %s: f32[M] = reduce<sum> [i: M | k: N] {
    %0 = read %e[i, k] : f32
    yield %0
  }
  %y: f32[M, N] = map [i: M, j: N] {
    %0 = read %e[i, j] : f32
    %1 = read %s[i] : f32
    %2 = div %0, %1 : f32
    yield %2
  }
}
)";

TEST(Inline, WhatTheGroupHasInRegistersStays) {
  Passed passed(kSoftmax, "inline");
  EXPECT_EQ(4u, passed.op_count());
  ASSERT_EQ(1u, passed.run.context.remarks.size());
  EXPECT_EQ("e is computed once: 2 operations over the same elements share its value",
            passed.run.context.remarks[0].text);
  EXPECT_EQ("inline", passed.run.context.remarks[0].pass);
}

TEST(Inline, ReductionsAreNeverComputedAgain) {
  std::string text =
      "kernel @k<N>(%x: f32[N]) -> (%y: f32[N]) {\n"
      "  %s: f32 = reduce<sum> [| k: N] {\n    %0 = read %x[k] : f32\n    yield %0\n  }\n" +
      map("y", "f32[N]", "i: N", "%0 = read %s[] : f32\nyield %0\n") + "}\n";
  EXPECT_EQ(2u, Passed(text, "inline").op_count());
}

TEST(Inline, AnExpensiveFactorOfAContractionStays) {
  std::string text =
      "kernel @k<M, N, K>(%x: f32[M, K], %w: f32[K, N]) -> (%y: f32[M, N]) {\n" +
      map("h", "f32[M, K]", "i: M, k: K", "%0 = read %x[i, k] : f32\n%1 = erf %0 : f32\nyield %1\n") +
      "  %y: f32[M, N] = reduce<sum> [i: M, j: N | k: K] {\n    %0 = read %h[i, k] : f32\n"
      "    %1 = read %w[k, j] : f32\n    %2 = mul %0, %1 : f32\n    yield %2\n  }\n}\n";
  EXPECT_EQ(2u, Passed(text, "inline").op_count());
  std::string cheap = text;
  cheap.replace(cheap.find("erf"), 3, "neg");
  EXPECT_EQ(1u, Passed(cheap, "inline").op_count());
  expect_same_after(cheap, "inline", {{"M", 3}, {"N", 4}, {"K", 5}});
}

TEST(Inline, AResultIsReadInItsGroup) {
  std::string text = "kernel @k<N>(%x: f32[N]) -> (%y: f32[N], %z: f32[N]) {\n" +
                     map("y", "f32[N]", "i: N", "%0 = read %x[i] : f32\n%1 = neg %0 : f32\nyield %1\n") +
                     map("z", "f32[N]", "i: N", "%0 = read %y[i] : f32\n%1 = neg %0 : f32\nyield %1\n") +
                     "}\n";
  EXPECT_TRUE(Passed(text, "inline").has("read %y[i]"));
}

TEST(Inline, AResultIsComputedAgainWhereItsGroupHasItNot) {
  std::string text =
      "kernel @k<N>(%x: f32[N]) -> (%y: f32[N], %z: f32[N]) {\n" +
      map("y", "f32[N]", "i: N", "%0 = read %x[i] : f32\n%1 = neg %0 : f32\nyield %1\n") +
      map("z", "f32[N]", "i: N", "%0 = read %y[N - 1 - i] : f32\n%1 = exp %0 : f32\nyield %1\n") + "}\n";
  Passed passed(text, "inline");
  EXPECT_EQ(2u, passed.op_count());
  EXPECT_FALSE(passed.has("read %y"));
  expect_same_after(text, "inline", {{"N", 7}});
}

// y[i] = f(i) + f(i + 1), levels deep: every level doubles the places at which the one before it is read.
std::string doubling(int levels) {
  std::string text = "kernel @k<N>(%t0: f32[N]) -> (%y: f32[N]) {\n";
  for (int level = 1; level <= levels; ++level) {
    std::string from = "t" + std::to_string(level - 1);
    std::string to = level == levels ? "y" : "t" + std::to_string(level);
    text += map(to, "f32[N]", "i: N",
                "%0 = read %" + from + "[2 * i % N] : f32\n%1 = read %" + from + "[(2 * i + 1) % N] : f32\n" +
                    "%2 = sub %0, %1 : f32\nyield %2\n");
  }
  return text + "}\n";
}

TEST(Inline, DoublingUsesStayWithinABudget) {
  Passed passed(doubling(40), "inline,fold,cse");
  size_t instructions = 0;
  for (const ir::TensorOp& op : passed.kernel().ops) instructions += op.body.size();
  EXPECT_LT(instructions, 3000u);
  EXPECT_LT(passed.op_count(), 20u);
  expect_same_after(doubling(7), "inline,fold,cse", {{"N", 12}});
}

// x1 = x0 * x0 - x0, ...: every value is used twice, at the same element.
std::string chain(int statements) {
  std::string text = "kernel @k<N>(%t0: f32[N]) -> (%y: f32[N]) {\n";
  for (int i = 1; i <= statements; ++i) {
    std::string from = "t" + std::to_string(i - 1);
    std::string to = i == statements ? "y" : "t" + std::to_string(i);
    text += map(to, "f32[N]", "i: N",
                "%0 = read %" + from + "[i] : f32\n%1 = read %t0[i] : f32\n%2 = read %" + from +
                    "[i] : f32\n%3 = mul %0, %2 : f32\n%4 = min %3, %1 : f32\nyield %4\n");
  }
  return text + "}\n";
}

TEST(Inline, AChainBecomesOneMap) {
  expect_same_after(chain(20), "inline,fold,cse", {{"N", 5}});
  Passed passed(chain(8000), "");
  ASSERT_TRUE(
      run_passes(passed.run, split_at_commas("contract-fma,fold,cse,inline,fold,cse,sibling-reductions,dce"))
          .has_value());
  EXPECT_EQ(passed.op_count(), 1u);
}

TEST(Inline, SubscriptsStaySmall) {
  std::string text = "kernel @k<N, M>(%t0: f32[N]) -> (%y: f32[N]) {\n";
  constexpr int kLevels = 60;
  for (int i = 1; i <= kLevels; ++i) {
    std::string from = "t" + std::to_string(i - 1);
    std::string to = i == kLevels ? "y" : "t" + std::to_string(i);
    text += map(to, "f32[N]", "i: N", "%0 = read %" + from + "[(i * i + M) % N] : f32\nyield %0\n");
  }
  text += "}\n";
  Passed passed(text, "inline,fold,cse");
  EXPECT_GT(passed.op_count(), 1u);
  bool said = false;
  for (const Remark& remark : passed.run.context.remarks)
    said = said || remark.text.find("its subscripts would become too complicated") != std::string::npos;
  EXPECT_TRUE(said);
  expect_same_after(text, "inline,fold,cse", {{"N", 11}, {"M", 5}});
}

TEST(Inline, SeveralResultsDoNotCopyWhatTheyShare) {
  std::string text = "kernel @k<N>(%t0: f32[N]) -> (%y: f32[N], %z: f32[N]) {\n";
  for (int i = 1; i <= 100; ++i)
    text += map("t" + std::to_string(i), "f32[N]", "i: N",
                "%0 = read %t" + std::to_string(i - 1) + "[i] : f32\n%1 = neg %0 : f32\nyield %1\n");
  text += map("y", "f32[N]", "i: N", "%0 = read %t100[i] : f32\n%1 = abs %0 : f32\nyield %1\n") +
          map("z", "f32[N]", "i: N", "%0 = read %t100[N - 1 - i] : f32\n%1 = neg %0 : f32\nyield %1\n") +
          "}\n";
  Passed passed(text, "inline");
  EXPECT_EQ(3u, passed.op_count());
}

}  // namespace
}  // namespace tenon::passes
