#include "test/unit/prove/expressions.h"

namespace tenon::prove {
namespace {

class TermTest : public ProveTest {
 protected:
  std::string text(Expr e) { return t().text(e.id); }
  std::string text(Cond c) { return t().text(c.id); }
};

TEST_F(TermTest, EqualTermsAreOneTerm) {
  Expr M = dim("M"), N = dim("N");
  EXPECT_EQ(((M + N) * (M - N)).id, (M * M - N * N).id);
  EXPECT_EQ((4 * M / 2).id, (2 * M).id);
  EXPECT_EQ(((4 * M + 7) / 4).id, (M + 1).id);
  EXPECT_EQ((6 * M / 4).id, (3 * M / 2).id);
  EXPECT_EQ(((M * 4 + 3) % 4).id, number(3).id);
  EXPECT_EQ((M / -2).id, ((-1 * M) / 2).id);
  EXPECT_EQ(min(M, N).id, min(N, M).id);
  EXPECT_EQ(max(M + 1, M).id, (M + 1).id);
}

TEST_F(TermTest, DivisionByZeroHasAValue) {
  Expr M = dim("M");
  EXPECT_EQ((M / 0).id, number(0).id);
  EXPECT_EQ((M % 0).id, M.id);
}

TEST_F(TermTest, SymbolsOfOneNameDiffer) { EXPECT_NE(dim("N").id, dim("N").id); }

TEST_F(TermTest, ReadsOfOneTextAgree) {
  Expr i = index("i", dim("N"));
  EXPECT_EQ(data("x", {i.id}).id, data("x", {i.id}).id);
  EXPECT_NE(data("x", {i.id}).id, data("x", {(i + 1).id}).id);
  EXPECT_NE(data("x", {i.id}).id, data("y", {i.id}).id);
}

TEST_F(TermTest, PrintsAsTheSourceWouldSayIt) {
  Expr H = dim("H"), G = dim("G"), h = scalar("h"), i = scalar("i");
  EXPECT_EQ(text(h / (H / G)), "h / (H / G)");
  EXPECT_EQ(text(i / 4 % 2), "i / 4 % 2");
  EXPECT_EQ(text(h % 2 * 2 + i % 2), "h % 2 * 2 + i % 2");
  EXPECT_EQ(text(2 * i + 1), "2 * i + 1");
  EXPECT_EQ(text(i - 1), "i - 1");
  EXPECT_EQ(text(1 - i), "1 - i");
  EXPECT_EQ(text(i / 2 * 2), "i / 2 * 2");
  EXPECT_EQ(text(-1 * (h % i)), "-(h % i)");
  EXPECT_EQ(text((h + i) / (H - G)), "(h + i) / (H - G)");
  EXPECT_EQ(text(min(h, i + 1) * 3), "3 * min(h, i + 1)");
  EXPECT_EQ(text(data("x", {h.id, (i + 1).id})), "x[h, i + 1]");
  EXPECT_EQ(text(select(h < i, h, i)), "(h < i ? h : i)");
}

TEST_F(TermTest, PrintsConditions) {
  Expr N = dim("N"), i = scalar("i");
  EXPECT_EQ(text(i < N), "i < N");
  EXPECT_EQ(text(i <= N), "i <= N");
  EXPECT_EQ(text(i >= 0), "i >= 0");
  EXPECT_EQ(text(i > 4), "i >= 5");
  EXPECT_EQ(text(i <= 4), "i <= 4");
  EXPECT_EQ(text(i + 3 <= N), "i + 3 <= N");
  EXPECT_EQ(text(i == N), "i == N");
  EXPECT_EQ(text(i != 3), "i != 3");
  EXPECT_EQ(text(N % 8 == 0), "N % 8 == 0");
  EXPECT_EQ(text((i < N && i >= 0) || N == 1), "i < N && i >= 0 || N == 1");
  EXPECT_EQ(text(!(i < N)), "N <= i");
}

TEST_F(TermTest, SubstitutionLooksADefinitionThrough) {
  Expr N = dim("N"), i = index("i", N), j = index("j", N), k = index("k", N);
  Cond keep = j <= i && data("x", {i.id}) > 0;
  const Substitution by = {{*t().single_atom(i.id), (k + 1).id}, {*t().single_atom(j.id), k.id}};
  EXPECT_EQ(t().substitute(keep.id, by), (k <= k + 1 && data("x", {(k + 1).id}) > 0).id);
}

TEST_F(TermTest, SubstitutionIsSimultaneous) {
  Expr i = scalar("i"), j = scalar("j");
  const Substitution swap = {{*t().single_atom(i.id), j.id}, {*t().single_atom(j.id), i.id}};
  EXPECT_EQ(t().substitute((i - 2 * j).id, swap), (j - 2 * i).id);
}

TEST_F(TermTest, LinearParts) {
  Expr N = dim("N"), i = scalar("i"), j = scalar("j");
  const auto linear = t().linear_in((i * N + j + i).id, *t().single_atom(i.id));
  ASSERT_TRUE(linear);
  EXPECT_EQ(linear->coefficient, (N + 1).id);
  EXPECT_EQ(linear->rest, j.id);
  EXPECT_FALSE(t().linear_in((i * i).id, *t().single_atom(i.id)));
  EXPECT_FALSE(t().linear_in((i + i / 2).id, *t().single_atom(i.id)));
}

TEST_F(TermTest, OverflowIsAnUnknownValue) {
  Expr N = dim("N");
  Expr big = N * (int64_t{1} << 62);
  Expr product = big * 4;
  EXPECT_FALSE(proved(product >= 0));
  EXPECT_FALSE(proved(product == 0));
  EXPECT_EQ(context.prove((product >= 0).id).outcome, Outcome::kUnknown);
  // Not even the same unknown value after a substitution, since it depends on N.
  const Substitution by = {{*t().single_atom(N.id), number(1).id}};
  EXPECT_NE(t().substitute(product.id, by), product.id);
}

class VerdictTest : public ProveTest {};

TEST_F(VerdictTest, CounterexampleAndClause) {
  Expr N = dim("N"), s = scalar("s"), i = index("i", N);
  const Verdict verdict = context.prove_in_range((i + s).id, number(0).id, N.id);
  EXPECT_EQ(verdict.outcome, Outcome::kDisproved);
  EXPECT_EQ(verdict.counterexample, "N = 1, s = 1, i = 0");
  EXPECT_EQ(verdict.remaining, "s + i >= 0 && s + i < N");
  ASSERT_TRUE(verdict.suggested_clause);
  EXPECT_EQ(t().text(verdict.suggested_clause), "s >= 0 && s <= 0");
}

TEST_F(VerdictTest, WindowSuggestsItsClause) {
  Expr N = dim("N"), L = dim("L"), start = scalar("start"), i = index("i", L);
  const Verdict verdict = context.prove((start + i < N).id);
  ASSERT_TRUE(verdict.suggested_clause);
  EXPECT_EQ(t().text(verdict.suggested_clause), "L + start <= N");
  EXPECT_FALSE(verdict.launch_check);
}

TEST_F(VerdictTest, SizesAloneBecomeALaunchCheck) {
  Expr M = dim("M"), N = dim("N");
  const Verdict verdict = context.prove((M <= N).id);
  EXPECT_EQ(verdict.outcome, Outcome::kDisproved);
  EXPECT_EQ(verdict.launch_check, (M <= N).id);
}

TEST_F(VerdictTest, ScopesNest) {
  Expr N = dim("N"), i = index("i", N);
  {
    FactScope outer(context);
    guard(i >= 3);
    {
      FactScope inner(context);
      guard(N == 4);
      EXPECT_TRUE(proved(i == 3));
    }
    EXPECT_FALSE(proved(i == 3));
    EXPECT_TRUE(proved(N >= 4));
  }
  EXPECT_FALSE(proved(N >= 4));
}

TEST_F(VerdictTest, ContradictoryFactsProveAnything) {
  Expr N = dim("N"), i = index("i", N);
  EXPECT_FALSE(context.contradictory());
  guard(i < 0);
  EXPECT_TRUE(context.contradictory());
  EXPECT_TRUE(proved(i > 100));
}

TEST_F(VerdictTest, DisjunctionsAreSplit) {
  Expr N = dim("N"), i = index("i", N);
  where(N == 3 || N == 5);
  EXPECT_TRUE(proved(i < 5));
  EXPECT_FALSE(proved(i < 4));
}

TEST_F(VerdictTest, DisequalityAtTheEndOfARange) {
  Expr N = dim("N"), i = index("i", N);
  guard(i != 0);
  EXPECT_TRUE(proved(i >= 1));
}

TEST_F(VerdictTest, OpaqueBoolsSelect) {
  Expr N = dim("N"), i = index("i", N);
  Cond keep = {&context, t().opaque_condition("keep", std::array{i.id}, OpaqueStyle::kSubscripts)};
  Expr position = data("pos", {i.id}, {number(0).id, N.id});
  Expr target = select(keep, position, number(-1));
  EXPECT_FALSE(proved(target >= 0));
  EXPECT_TRUE(proved(target >= -1 && target < N));
  guard(keep);
  EXPECT_TRUE(proved(target >= 0));
}

TEST_F(VerdictTest, GuardDividingByZeroTellsNothingOfItsDivisor) {
  Expr K = scalar("K"), d = dim("d");
  guard(K % d == 0);
  // K = 0 and d = 0 satisfy it.
  EXPECT_EQ(context.prove((d >= 1).id).outcome, Outcome::kDisproved);
}

TEST_F(VerdictTest, ClauseDividingByZeroDoesNotHold) {
  Expr K = scalar("K"), d = dim("d");
  where(K % d == 0);
  EXPECT_TRUE(proved(d >= 1));
}

TEST_F(VerdictTest, ClauseUnderOrDoesNotTellOfItsDivisor) {
  Expr K = dim("K"), d = dim("d");
  where(d == 0 || K % d == 0);
  EXPECT_FALSE(proved(d >= 1));
}

TEST_F(VerdictTest, CyclicDivisibilityEnds) {
  Expr A = dim("A"), B = dim("B"), C = dim("C");
  where(A % B == 0);
  where(B % C == 0);
  where(C % A == 0);
  EXPECT_TRUE(proved(A >= 1));
  EXPECT_FALSE(proved(A >= 2));
}

TEST_F(VerdictTest, DivisibilityIsTransitive) {
  Expr K = dim("K");
  where(K % 128 == 0);
  EXPECT_TRUE(proved(K % 2 == 0 && K % 64 == 0));
  EXPECT_FALSE(proved(K % 256 == 0));
  where(K % 96 == 0);
  EXPECT_TRUE(proved(K % 384 == 0));
  EXPECT_TRUE(context.divisible((K * 3 + 8).id, 8));
  EXPECT_FALSE(context.divisible((K + 4).id, 8));
}

TEST_F(VerdictTest, SimplifyKeepsTheProgramsNames) {
  Expr K = dim("K"), D = dim("D"), N = dim("N"), i = index("i", N), d = index("d", D);
  where(K % 128 == 0);
  EXPECT_EQ(t().text(context.simplify(K.id)), "K");
  EXPECT_EQ(t().text(context.simplify((K / 2).id)), "K / 128 * 64");
  EXPECT_EQ(context.simplify((K / 128 * 128).id), K.id);
  EXPECT_EQ(context.simplify(((i * D + d) / D).id), i.id);
  EXPECT_EQ(context.simplify(((i * D + d) % D).id), d.id);
  EXPECT_EQ(context.simplify(min(i, N).id), i.id);
}

// Inputs that no program has, but a file may.
using HostileTest = ProveTest;

TEST_F(HostileTest, LongSums) {
  Expr N = dim("N");
  Expr sum = number(0);
  for (int k = 0; k < 8192; ++k) sum = sum + index("i", N) * index("j", N);
  EXPECT_FALSE(proved(sum < N));
  EXPECT_FALSE(t().text(sum.id).empty());
}

TEST_F(HostileTest, DeepTerms) {
  Expr e = index("i", dim("N"));
  Expr choice = e;
  Cond c = e >= 1;
  for (int k = 0; k < 20000; ++k) {
    e = (e * 3 + 1) / 2;
    c = (c || e > k) && e != k;
  }
  for (int k = 0; k < 1000; ++k) choice = select(choice > k, min(choice, e), choice * choice % 7);
  EXPECT_FALSE(proved(e >= 5 && choice == 4));
  EXPECT_FALSE(proved(c));
  EXPECT_LT(t().text(choice.id).size(), 100000u);
}

TEST_F(HostileTest, SharedSubtermsDoNotMultiply) {
  Expr e = scalar("s");
  Cond c = e >= 0;
  for (int k = 0; k < 58; ++k) {
    e = max(e / 2, e / 3);
    c = (c && e != k) || (!c && e != k + 1);
  }
  EXPECT_FALSE(proved(e >= 1));
  EXPECT_FALSE(proved(c));
  const Substitution by = {{*t().single_atom(e.id), number(1).id}};
  EXPECT_LT(t().text(t().substitute(c.id, by)).size(), 100000u);
}

TEST_F(HostileTest, ProductsOfSums) {
  Expr e = number(1);
  for (int k = 0; k < 64; ++k) e = e * (scalar("a") + scalar("b") - 1);
  EXPECT_FALSE(proved(e >= 0));
}

TEST_F(HostileTest, ManyFactsAndGoals) {
  Expr N = dim("N");
  for (int k = 0; k < 2000; ++k) {
    Expr s = scalar("s");
    where(s * N % 7 < N / 3 || s != k);
    where(s <= N * s);
  }
  for (int k = 1; k < 200; ++k) EXPECT_FALSE(proved(scalar("t") * k <= N));
}

TEST_F(HostileTest, RangesThatNest) {
  Expr last = dim("N");
  for (int k = 0; k < 20000; ++k) last = index("i", last);
  EXPECT_FALSE(proved(last >= 1));
  EXPECT_TRUE(proved(last >= 0));
}

TEST_F(HostileTest, TenThousandPlainAccesses) {
  Expr N = dim("N");
  for (int k = 0; k < 10000; ++k) ASSERT_TRUE(in_bounds(index("i", N), N));
}

}  // namespace
}  // namespace tenon::prove
