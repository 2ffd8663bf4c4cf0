#include "frontend/check/exact.h"
#include "test/unit/check/checked.h"

namespace tenon::frontend {
namespace {

LiteralValue literal(std::string_view text) {
  LiteralValue value;
  value.value = *parse_exact_number(text);
  value.is_float = text.find_first_of(".e") != std::string_view::npos && !text.starts_with("0x");
  return value;
}

uint64_t bits(std::string_view text, ElementType type) {
  return to_constant(literal(text), type).value().bits;
}

LiteralMisfit misfit(std::string_view text, ElementType type) {
  const auto constant = to_constant(literal(text), type);
  EXPECT_FALSE(constant.has_value()) << text;
  return constant.error();
}

TEST(Literals, FloatsAreRoundedOnceToNearestEven) {
  EXPECT_EQ(bits("0.1", ElementType::kF32), 0x3dcccccdu);
  EXPECT_EQ(bits("0.1", ElementType::kF64), 0x3fb999999999999aull);
  EXPECT_EQ(bits("0.1", ElementType::kF16), 0x2e66u);
  EXPECT_EQ(bits("0.1", ElementType::kBF16), 0x3dcdu);
  // Halfway between 1 and its successor, and just above: rounding in two steps would lose the difference.
  EXPECT_EQ(bits("1.00000005960464477539062500", ElementType::kF32), 0x3f800000u);
  EXPECT_EQ(bits("1.00000005960464477539062501", ElementType::kF32), 0x3f800001u);
  EXPECT_EQ(bits("3.4028234663852886e38", ElementType::kF32), 0x7f7fffffu);
  EXPECT_EQ(bits("1.401298464324817e-45", ElementType::kF32), 1u);
  EXPECT_EQ(bits("65504.0", ElementType::kF16), 0x7bffu);
  EXPECT_EQ(bits("65519.0", ElementType::kF16), 0x7bffu);
}

TEST(Literals, WhatDoesNotFitIsRefused) {
  EXPECT_EQ(misfit("16777217", ElementType::kF32), LiteralMisfit::kNotExact);
  EXPECT_EQ(bits("16777216", ElementType::kF32), 0x4b800000u);
  EXPECT_EQ(bits("16777217.0", ElementType::kF32), 0x4b800000u);
  EXPECT_EQ(misfit("2e50", ElementType::kF32), LiteralMisfit::kOverflow);
  EXPECT_EQ(misfit("70000", ElementType::kF16), LiteralMisfit::kOverflow);
  EXPECT_EQ(misfit("65520.0", ElementType::kF16), LiteralMisfit::kOverflow);
  EXPECT_EQ(misfit("1e-60", ElementType::kF32), LiteralMisfit::kUnderflow);
  EXPECT_EQ(misfit("0.5", ElementType::kI32), LiteralMisfit::kNotAnInteger);
  EXPECT_EQ(misfit("1e3", ElementType::kI32), LiteralMisfit::kNotAnInteger);
  EXPECT_EQ(misfit("256", ElementType::kU8), LiteralMisfit::kOutOfRange);
  EXPECT_EQ(misfit("1", ElementType::kBool), LiteralMisfit::kBool);
  EXPECT_EQ(bits("0xFFFFFFFFFFFFFFFF", ElementType::kU64), ~uint64_t{0});
}

TEST(Literals, IntegersKeepTheirSign) {
  EXPECT_EQ(to_constant(negate(literal("128")), ElementType::kI8)->bits, 0x80u);
  EXPECT_FALSE(to_constant(negate(literal("129")), ElementType::kI8).has_value());
  EXPECT_FALSE(to_constant(negate(literal("1")), ElementType::kU32).has_value());
  EXPECT_EQ(to_constant(negate(literal("9223372036854775808")), ElementType::kI64)->bits, uint64_t{1} << 63);
}

TEST(Literals, OperationsAreExact) {
  const LiteralValue third = *fold(BinaryOp::kDivide, literal("1"), literal("3"));
  EXPECT_EQ(to_constant(*fold(BinaryOp::kMultiply, third, literal("3")), ElementType::kI32)->bits, 1u);
  EXPECT_EQ(to_constant(*fold(BinaryOp::kDivide, literal("4"), literal("2")), ElementType::kI32)->bits, 2u);
  EXPECT_FALSE(
      to_constant(*fold(BinaryOp::kDivide, literal("7"), literal("2")), ElementType::kI32).has_value());
  EXPECT_EQ(to_constant(*fold(BinaryOp::kDivide, literal("7"), literal("2")), ElementType::kF32)->bits,
            0x40600000u);
  EXPECT_FALSE(fold(BinaryOp::kDivide, literal("1"), literal("0")).has_value());
  // 4.0 / 2 is a float, though a whole one.
  EXPECT_FALSE(
      to_constant(*fold(BinaryOp::kDivide, literal("4.0"), literal("2")), ElementType::kI32).has_value());
}

TEST(Literals, MinusZeroIsNegative) {
  EXPECT_EQ(to_constant(negate(literal("0")), ElementType::kF32)->bits, 0x80000000u);
  EXPECT_EQ(to_constant(negate(negate(literal("0.0"))), ElementType::kF32)->bits, 0u);
  const LiteralValue product = *fold(BinaryOp::kMultiply, negate(literal("2")), literal("0"));
  EXPECT_EQ(to_constant(product, ElementType::kF32)->bits, 0x80000000u);
  EXPECT_EQ(to_constant(negate(literal("0")), ElementType::kI32)->bits, 0u);
}

TEST(Literals, TakeTheTypeThatTheyMeetThroughChoices) {
  const Checked checked("kernel k(x: f16[N]) -> (y: f16[N]) { y[i] = x[i] > 0 ? -1 : (i < 3 ? 1/3 : inf) }");
  EXPECT_EQ(checked.ir(),
            R"(kernel @k<N>(%x: f16[N]) -> (%y: f16[N]) {
  %y: f16[N] = map [i: N] {
    %0 = read %x[i] : f16
    %1 = const 0x0p+0 : f16
    %2 = gt %0, %1 : bool
    %3 = index i : index
    %4 = index 3 : index
    %5 = lt %3, %4 : bool
    %6 = const -0x1p+0 : f16
    %7 = const 0x1.554p-2 : f16
    %8 = const inf : f16
    %9 = select %5, %7, %8 : f16
    %10 = select %2, %6, %9 : f16
    yield %10
  }
}
)");
}

TEST(Literals, DivisionByZeroIsDoneInTheTypeThatItMeets) {
  const Checked checked("kernel k(x: i32[N]) -> (y: i32[N]) { y[i] = x[i] + 1 / 0 }");
  EXPECT_NE(checked.ir().find("div"), std::string::npos);
}

}  // namespace
}  // namespace tenon::frontend
