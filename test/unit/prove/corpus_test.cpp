// Every kind of access without default that index notation programs in practice make.
#include "test/unit/prove/expressions.h"

namespace tenon::prove {
namespace {

class CorpusTest : public ProveTest {};

TEST_F(CorpusTest, Flatten) {
  Expr M = dim("M"), N = dim("N"), i = index("i", M * N);
  EXPECT_TRUE(in_bounds(i / N, M));
  EXPECT_TRUE(in_bounds(i % N, N));
}

TEST_F(CorpusTest, Flatten3) {
  Expr A = dim("A"), B = dim("B"), C = dim("C"), i = index("i", A * B * C);
  EXPECT_TRUE(in_bounds(i / (B * C), A));
  EXPECT_TRUE(in_bounds(i / C % B, B));
  EXPECT_TRUE(in_bounds(i % C, C));
}

TEST_F(CorpusTest, Unflatten) {
  Expr M = dim("M"), N = dim("N"), i = index("i", M), j = index("j", N);
  EXPECT_TRUE(in_bounds(i * N + j, M * N));
}

TEST_F(CorpusTest, SplitAndMergeHeads) {
  Expr H = dim("H"), D = dim("D"), h = index("h", H), d = index("d", D), e = index("e", H * D);
  EXPECT_TRUE(in_bounds(h * D + d, H * D));
  EXPECT_TRUE(in_bounds(e / D, H));
  EXPECT_TRUE(in_bounds(e % D, D));
}

TEST_F(CorpusTest, Concat) {
  Expr M = dim("M"), N = dim("N"), i = index("i", M + N);
  {
    FactScope scope(context);
    guard(i < M);
    EXPECT_TRUE(in_bounds(i, M));
  }
  guard(!(i < M));
  EXPECT_TRUE(in_bounds(i - M, N));
}

TEST_F(CorpusTest, SliceStep) {
  Expr N = dim("N"), i = index("i", (N + 1) / 2), k = index("k", (N + 2) / 3);
  EXPECT_TRUE(in_bounds(2 * i, N));
  EXPECT_TRUE(in_bounds(3 * k, N));
}

TEST_F(CorpusTest, ReverseAndWindow) {
  Expr N = dim("N"), L = dim("L"), start = scalar("start"), i = index("i", N), w = index("w", L);
  EXPECT_TRUE(in_bounds(N - 1 - i, N));
  where(start >= 0);
  where(start + L <= N);
  EXPECT_TRUE(in_bounds(start + w, N));
}

TEST_F(CorpusTest, PixelShuffle) {
  Expr C = dim("C"), H = dim("H"), W = dim("W");
  Expr c = index("c", C), h = index("h", 2 * H), v = index("v", 2 * W);
  EXPECT_TRUE(in_bounds(c * 4 + h % 2 * 2 + v % 2, C * 4));
  EXPECT_TRUE(in_bounds(h / 2, H));
  EXPECT_TRUE(in_bounds(v / 2, W));
}

TEST_F(CorpusTest, Im2col) {
  Expr H = dim("H"), W = dim("W"), R = scalar("R"), S = scalar("S");
  where(R >= 1);
  where(S >= 1);
  where(H >= R);
  where(W >= S);
  Expr p = index("p", (H - R + 1) * (W - S + 1)), q = index("q", R * S);
  EXPECT_TRUE(in_bounds(p / (W - S + 1) + q / S, H));
  EXPECT_TRUE(in_bounds(p % (W - S + 1) + q % S, W));
}

TEST_F(CorpusTest, ConvGrouped) {
  Expr C = dim("C"), F = dim("F"), G = dim("G"), U = dim("U"), H = dim("H"), R = dim("R");
  where(C % G == 0);
  where(F % G == 0);
  where(U >= 1);
  Expr f = index("f", F), c = index("c", C / G), h = index("h", (H - R) / U + 1), r = index("r", R);
  EXPECT_TRUE(in_bounds(f / (F / G) * (C / G) + c, C));
  EXPECT_TRUE(in_bounds(h * U + r, H));
}

TEST_F(CorpusTest, GroupedQueryAttention) {
  Expr H = dim("H"), G = dim("G"), h = index("h", H);
  where(H % G == 0);
  EXPECT_TRUE(in_bounds(h / (H / G), G));
}

TEST_F(CorpusTest, GroupedQueryAttentionNeedsItsClause) {
  Expr H = dim("H"), G = dim("G"), h = index("h", H);
  const Verdict verdict = context.prove((h / (H / G) < G).id);
  EXPECT_EQ(verdict.outcome, Outcome::kDisproved);
  EXPECT_EQ(verdict.remaining, "h / (H / G) < G");
  EXPECT_FALSE(verdict.counterexample.empty());
}

TEST_F(CorpusTest, Pool) {
  Expr H = dim("H"), K = dim("K"), U = dim("U");
  where(U >= 1);
  Expr h = index("h", (H - K) / U + 1), r = index("r", K);
  EXPECT_TRUE(in_bounds(h * U + r, H));
}

TEST_F(CorpusTest, GemmF8) {
  Expr K = dim("K"), N = dim("N");
  where(K % 128 == 0);
  Expr j = index("j", N), g = index("g", K / 128), k = index("k", number(128));
  EXPECT_TRUE(in_bounds(j / 128, (N + 127) / 128));
  EXPECT_TRUE(in_bounds(g * 128 + k, K));
}

TEST_F(CorpusTest, GemmW4a16) {
  Expr K = dim("K"), k = index("k", K);
  where(K % 128 == 0);
  EXPECT_TRUE(in_bounds(k / 2, K / 2));
  EXPECT_TRUE(in_bounds(k / 128, K / 128));
  EXPECT_TRUE(proved(K % 2 == 0));
  EXPECT_TRUE(context.divisible(K.id, 64));
  EXPECT_FALSE(context.divisible(K.id, 96));
}

TEST_F(CorpusTest, Groupnorm) {
  Expr C = dim("C"), G = scalar("G");
  where(C % G == 0);
  where(G >= 1);
  Expr q = C / G, k = index("k", G), c = index("c", q), d = index("d", C);
  EXPECT_TRUE(in_bounds(k * q + c, C));
  EXPECT_TRUE(in_bounds(d / q, G));
}

TEST_F(CorpusTest, GroupnormBackward) {
  Expr C = dim("C"), G = dim("G"), c = index("c", C);
  where(C % G == 0);
  EXPECT_TRUE(in_bounds(c / (C / G), G));
}

TEST_F(CorpusTest, Heat) {
  Expr H = dim("H"), i = index("i", H);
  EXPECT_TRUE(in_bounds((i + 1) % H, H));
  EXPECT_TRUE(in_bounds((i - 1) % H, H));
  EXPECT_TRUE(in_bounds(min(i + 1, H - 1), H));
  EXPECT_TRUE(in_bounds(max(i - 1, number(0)), H));
  guard(i > 0 && i < H - 1);
  EXPECT_TRUE(in_bounds(i + 1, H));
  EXPECT_TRUE(in_bounds(i - 1, H));
}

TEST_F(CorpusTest, Rope) {
  Expr D = dim("D"), d = index("d", D);
  where(D % 2 == 0);
  EXPECT_TRUE(in_bounds(d % (D / 2), D / 2));
  EXPECT_TRUE(in_bounds(d / 2, D / 2));
  EXPECT_TRUE(in_bounds(d / 2 * 2 + 1 - d % 2, D));
  {
    FactScope scope(context);
    guard(d < D / 2);
    EXPECT_TRUE(in_bounds(d + D / 2, D));
  }
  guard(!(d < D / 2));
  EXPECT_TRUE(in_bounds(d - D / 2, D));
}

TEST_F(CorpusTest, Upsample) {
  Expr H = dim("H"), P = dim("P"), h = index("h", 2 * H), p = index("p", P);
  EXPECT_TRUE(in_bounds(h / 2, H));
  where(H >= 1);
  EXPECT_TRUE(in_bounds(p * H / P, H));
  Expr y = data("index(floor(fy))", {p.id});
  EXPECT_TRUE(in_bounds(min(max(y, number(0)), H - 1), H));
  EXPECT_TRUE(in_bounds(min(max(y + 1, number(0)), H - 1), H));
}

TEST_F(CorpusTest, SegmentsByData) {
  Expr B = dim("B"), N = dim("N"), b = index("b", B);
  Expr lo = data("off", {b.id}), hi = data("off", {(b + 1).id});
  Expr n = index("n", max(lo, number(0)), min(hi, N));
  EXPECT_TRUE(in_bounds(n, N));
  EXPECT_TRUE(in_bounds(b + 1, B + 1));
}

TEST_F(CorpusTest, ArgmaxAndBytes) {
  Expr N = dim("N"), i = index("i", dim("M"));
  where(N >= 1);
  const Range range = argmax_range(context, N.id, true);
  EXPECT_TRUE(in_bounds(data("best", {i.id}, range), N));
  EXPECT_TRUE(in_bounds(data("x", {i.id}, type_range(t(), ElementType::kU8)), number(256)));
  Expr restricted = data("first", {i.id}, argmax_range(context, N.id, false));
  EXPECT_FALSE(proved(restricted >= 0));
  EXPECT_TRUE(proved(restricted >= -1));
}

TEST_F(CorpusTest, PagedTable) {
  Expr L = dim("L"), P = dim("P"), j = index("j", L * P);
  EXPECT_TRUE(in_bounds(j / P, L));
  EXPECT_TRUE(in_bounds(j % P, P));
}

TEST_F(CorpusTest, LastStep) {
  Expr T = dim("T");
  where(T >= 1);
  EXPECT_TRUE(in_bounds(T - 1, T));
}

TEST_F(CorpusTest, CausalPrefix) {
  Expr S = dim("S"), C = dim("C"), i = index("i", S), j = index("j", C);
  where(C >= S);
  guard(j <= i + C - S);
  EXPECT_TRUE(in_bounds(j, C));
  EXPECT_TRUE(in_bounds(i + C - S, C));
}

TEST_F(CorpusTest, DilatedConvolutionInterior) {
  Expr H = dim("H"), R = dim("R"), A = dim("A"), U = dim("U"), P = dim("P");
  where(U >= 1);
  Expr h = index("h", (H + 2 * P - A * (R - 1) - 1) / U + 1), r = index("r", R);
  EXPECT_TRUE(in_bounds(h * U + r * A, H + 2 * P));
}

// What is left to show is that -(i / 4) is not negative: true, where i / 4 is 0.
TEST_F(CorpusTest, QuotientThatIsZero) {
  Expr K = dim("K");
  Expr i = index("i", number(4)), j = index("j", K);
  EXPECT_TRUE(in_bounds(i / 4, number(1)));
  EXPECT_FALSE(in_bounds(i / 3, number(1)));
  EXPECT_TRUE(in_bounds(i / 4 * K + j, K));
}

TEST_F(CorpusTest, QuotientThatIsNotEmpty) {
  Expr A = dim("A"), B = dim("B"), D = dim("D");
  Expr i = index("i", B / 2), j = index("j", A / D);
  EXPECT_TRUE(in_bounds((i + 2) % B, B));
  EXPECT_TRUE(in_bounds(i + 1, B));
  EXPECT_FALSE(in_bounds(i + 2, B));
  EXPECT_TRUE(in_bounds((j + 1) % D, D));
}

TEST_F(CorpusTest, RangeFromAQuotientIsNotEmpty) {
  Expr B = dim("B"), D = dim("D");
  Expr k = index("k", B / 6, B / 2), j = index("j", B, D);
  EXPECT_TRUE(in_bounds(3 * k % (B / 2), B / 2));
  EXPECT_TRUE(in_bounds(3 * k % B, B));
  EXPECT_FALSE(in_bounds(j % B, B));
}

TEST_F(CorpusTest, MinimumThatIsNotEmpty) {
  Expr C = dim("C"), D = dim("D");
  Expr k = index("k", min(C, min(D, number(29))));
  EXPECT_TRUE(in_bounds(max(k - 1, number(0)), C));
  EXPECT_TRUE(in_bounds(max(k - 1, number(0)), D));
  EXPECT_FALSE(in_bounds(max(k, number(1)), C));
}

TEST_F(CorpusTest, RangesAreEqual) {
  Expr H = dim("H"), D = dim("D"), K = dim("K"), G = dim("G");
  EXPECT_TRUE(context.equal((H * D).id, (D * H).id));
  EXPECT_FALSE(context.equal(H.id, D.id));
  where(K % G == 0);
  EXPECT_TRUE(context.equal((K / G * G).id, K.id));
  Expr i = index("i", H), j = index("j", D);
  EXPECT_TRUE(context.equal(((i * D + j) / D).id, i.id));
  EXPECT_TRUE(context.equal(((i * D + j) % D).id, j.id));
}

}  // namespace
}  // namespace tenon::prove
