#include "runtime/size_expr.h"

#include <gtest/gtest.h>

#include <array>
#include <random>

namespace tenon::runtime {
namespace {

const SizeExpr kM = SizeExpr::symbol(SymbolId(0));
const SizeExpr kN = SizeExpr::symbol(SymbolId(1));
constexpr std::array<std::string_view, 2> kNames = {"M", "N"};

SizeValue value(const SizeExpr& expr, Int128 m = 0, Int128 n = 0) {
  std::array<Int128, 2> symbols = {m, n};
  return evaluate(expr, symbols);
}

int64_t number(const SizeExpr& expr, Int128 m = 0, Int128 n = 0) {
  return value(expr, m, n).as_int64().value_or(-999999);
}

SizeExpr op(SizeOp operation, const SizeExpr& a, const SizeExpr& b) {
  return SizeExpr::binary(operation, a, b);
}

TEST(SizeExpr, DivisionsRoundAsNamed) {
  struct Case {
    int64_t a, b, floor, floor_rest, ceil, trunc, trunc_rest;
  };
  for (const Case& c :
       {Case{7, 2, 3, 1, 4, 3, 1}, Case{-7, 2, -4, 1, -3, -3, -1}, Case{7, -2, -4, -1, -3, -3, 1},
        Case{-7, -2, 3, -1, 4, 3, -1}, Case{6, 3, 2, 0, 2, 2, 0}, Case{-6, 3, -2, 0, -2, -2, 0},
        Case{5, -1, -5, 0, -5, -5, 0}}) {
    EXPECT_EQ(number(floor_div(kM, kN), c.a, c.b), c.floor) << c.a << " " << c.b;
    EXPECT_EQ(number(floor_mod(kM, kN), c.a, c.b), c.floor_rest) << c.a << " " << c.b;
    EXPECT_EQ(number(ceil_div(kM, kN), c.a, c.b), c.ceil) << c.a << " " << c.b;
    EXPECT_EQ(number(op(SizeOp::kTruncDiv, kM, kN), c.a, c.b), c.trunc) << c.a << " " << c.b;
    EXPECT_EQ(number(op(SizeOp::kTruncMod, kM, kN), c.a, c.b), c.trunc_rest) << c.a << " " << c.b;
  }
}

TEST(SizeExpr, DoesNotWrap) {
  SizeExpr product = kM * kN;
  EXPECT_EQ(to_text(value(product, INT64_MAX, INT64_MAX).value), "85070591730234615847396907784232501249");
  EXPECT_FALSE(value(product, INT64_MAX, INT64_MAX).as_int64());
  EXPECT_EQ(value(product * product, INT64_MAX, INT64_MAX).fault, SizeFault::kOverflow);
  EXPECT_EQ(value(SizeExpr(INT64_MAX) + 1).as_int64(), std::nullopt);
  EXPECT_TRUE(value(op(SizeOp::kGreater, product, kM), INT64_MAX, INT64_MAX).holds());
}

TEST(SizeExpr, DivisionByZeroHasNoValue) {
  for (const SizeExpr& expr :
       {floor_div(kM, kN), floor_mod(kM, kN), ceil_div(kM, kN), floor_div(SizeExpr(4), 0)}) {
    EXPECT_EQ(value(expr, 4, 0).fault, SizeFault::kDivisionByZero);
    EXPECT_FALSE(value(op(SizeOp::kEqual, expr, 0), 4, 0).holds());
    EXPECT_FALSE(value(SizeExpr::unary(SizeOp::kNot, op(SizeOp::kEqual, expr, 0)), 4, 0).holds());
  }
}

TEST(SizeExpr, LeftOperandGuardsTheRight) {
  SizeExpr divides = op(SizeOp::kEqual, floor_mod(kM, kN), 0);
  SizeExpr is_zero = op(SizeOp::kEqual, kN, 0);
  EXPECT_TRUE(value(op(SizeOp::kOr, is_zero, divides), 4, 0).holds());
  EXPECT_FALSE(value(op(SizeOp::kOr, divides, is_zero), 4, 0).holds());
  SizeExpr guarded = op(SizeOp::kAnd, op(SizeOp::kGreater, kN, 0), divides);
  EXPECT_EQ(value(guarded, 4, 0).fault, SizeFault::kNone);
  EXPECT_FALSE(value(guarded, 4, 0).holds());
  EXPECT_TRUE(value(guarded, 4, 2).holds());
  EXPECT_EQ(number(SizeExpr::select(is_zero, 5, floor_div(kM, kN)), 4, 0), 5);
  EXPECT_EQ(number(SizeExpr::select(is_zero, 5, floor_div(kM, kN)), 4, 2), 2);
}

TEST(SizeExpr, BitsAndShifts) {
  EXPECT_EQ(number(op(SizeOp::kShiftLeft, kM, kN), 3, 4), 48);
  EXPECT_EQ(number(op(SizeOp::kShiftLeft, kM, kN), 3, 64), 0);
  EXPECT_EQ(number(op(SizeOp::kShiftLeft, kM, kN), 3, -1), 0);
  EXPECT_EQ(number(op(SizeOp::kShiftRight, kM, kN), -3, 1), -2);
  EXPECT_EQ(number(op(SizeOp::kShiftRight, kM, kN), -3, 100), -1);
  EXPECT_EQ(number(op(SizeOp::kBitAnd, kM, kN), -4, 7), 4);
  EXPECT_EQ(number(SizeExpr::unary(SizeOp::kPopcount, kM), -1), 64);
  EXPECT_EQ(number(SizeExpr::unary(SizeOp::kCountLeadingZeros, kM), 1), 63);
}

TEST(SizeExpr, ConstantsFold) {
  EXPECT_EQ((SizeExpr(3) * 4 + 2).as_constant(), 14);
  EXPECT_EQ(floor_div(SizeExpr(1), 0).as_constant(), std::nullopt);
  EXPECT_EQ(element_count(std::vector<SizeExpr>{2, 3, 4}).as_constant(), 24);
  EXPECT_EQ(element_count({}).as_constant(), 1);
  EXPECT_EQ(kM.as_symbol(), SymbolId(0));
  EXPECT_FALSE((kM + 1).as_symbol());
}

TEST(SizeExpr, PrintsLikeTheSource) {
  auto text = [](const SizeExpr& expr) { return to_text(expr, kNames); };
  EXPECT_EQ(text((kM + 1) * kN), "(M + 1) * N");
  EXPECT_EQ(text(kM + kN * 2), "M + N * 2");
  EXPECT_EQ(text(kM - (kN - 1)), "M - (N - 1)");
  EXPECT_EQ(text(kM - kN - 1), "M - N - 1");
  EXPECT_EQ(text(kM + -3), "M - 3");
  EXPECT_EQ(text(kM * -3), "M * -3");
  EXPECT_EQ(text(floor_div(kM, kN * 2)), "M / (N * 2)");
  EXPECT_EQ(text(ceil_div(kM + 1, 256)), "ceildiv(M + 1, 256)");
  EXPECT_EQ(text(op(SizeOp::kEqual, floor_mod(kM, 4), 0)), "M % 4 == 0");
  SizeExpr less = op(SizeOp::kLess, kM, kN);
  EXPECT_EQ(text(op(SizeOp::kEqual, less, 1)), "(M < N) == 1");
  EXPECT_EQ(text(op(SizeOp::kOr, op(SizeOp::kAnd, less, less), less)), "M < N && M < N || M < N");
  EXPECT_EQ(text(op(SizeOp::kAnd, op(SizeOp::kOr, less, less), less)), "(M < N || M < N) && M < N");
  EXPECT_EQ(text(SizeExpr::unary(SizeOp::kNot, less)), "!(M < N)");
  EXPECT_EQ(text(SizeExpr::unary(SizeOp::kNeg, kM + kN)), "-(M + N)");
}

TEST(SizeExpr, PostfixParsesBack) {
  SizeExpr expr =
      op(SizeOp::kAnd, op(SizeOp::kEqual, floor_mod(kM - -5, kN), 0),
         SizeExpr::unary(SizeOp::kNot, SizeExpr::select(kM, kN, SizeExpr::unary(SizeOp::kNeg, kN))));
  EXPECT_EQ(to_postfix(expr), "$0 -5 - $1 % 0 == $0 $1 $1 neg select ! &&");
  EXPECT_EQ(parse_postfix(to_postfix(expr), 2).value(), expr);
}

TEST(SizeExpr, DamagedPostfixIsRefused) {
  for (std::string_view text : {"", "+", "$0 +", "$0 $1", "$2", "$-1", "$", "x", "$0 $1 select",
                                "99999999999999999999", "$0  $1 +", "1 2 3 +"}) {
    EXPECT_FALSE(parse_postfix(text, 2)) << text;
  }
}

TEST(SizeExpr, LongChainsNeitherRecurseNorTakeQuadraticTime) {
  SizeExpr sum = kM;
  for (int i = 0; i < 100000; ++i) sum = std::move(sum) + kN;
  EXPECT_EQ(number(sum, 1, 2), 200001);
  EXPECT_EQ(to_text(sum, kNames).size(), 1u + 100000 * 4);
  std::vector<SizeInstruction> deep(50000, {SizeOp::kSymbol, 0});
  deep.resize(99999, {SizeOp::kAdd, 0});
  EXPECT_EQ(number(SizeExpr::from_code(deep, 1).value(), 3), 150000);
}

// Random expressions against plain evaluation of the same tree in 64 bits on small values.
TEST(SizeExpr, RandomPostfixRoundTrips) {
  std::mt19937 random(7);
  for (int round = 0; round < 2000; ++round) {
    std::vector<SizeInstruction> code;
    size_t depth = 0;
    while (code.size() < 12 || depth != 1) {
      auto operation = static_cast<SizeOp>(random() % (static_cast<unsigned>(SizeOp::kSelect) + 1));
      if (operation == SizeOp::kConstant || operation == SizeOp::kSymbol || depth < 3) {
        bool symbol = random() % 2 == 0;
        code.push_back({symbol ? SizeOp::kSymbol : SizeOp::kConstant,
                        symbol ? int64_t(random() % 2) : int64_t(random() % 9) - 4});
        ++depth;
      } else {
        unsigned arity = operation == SizeOp::kSelect ? 3
                         : operation == SizeOp::kAbs || operation == SizeOp::kNeg ||
                                 operation == SizeOp::kNot || operation == SizeOp::kBitNot ||
                                 operation == SizeOp::kPopcount || operation == SizeOp::kCountLeadingZeros
                             ? 1
                             : 2;
        code.push_back({operation});
        depth -= arity - 1;
      }
      if (code.size() >= 12)
        while (depth > 1) code.push_back({SizeOp::kSub}), --depth;
    }
    SizeExpr expr = SizeExpr::from_code(code, 2).value();
    EXPECT_EQ(parse_postfix(to_postfix(expr), 2).value(), expr);
    EXPECT_FALSE(to_text(expr, kNames).empty());
    value(expr, 3, -2);
  }
}

}  // namespace
}  // namespace tenon::runtime
