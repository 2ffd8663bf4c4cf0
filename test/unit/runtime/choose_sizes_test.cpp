#include "runtime/choose_sizes.h"

#include <gtest/gtest.h>

#include "programs.h"

namespace tenon::runtime {
namespace {

using Sizes = std::vector<int64_t>;

void require(Program& program, SizeOp op, SizeExpr a, SizeExpr b) {
  SizeExpr condition = SizeExpr::binary(op, std::move(a), b);
  std::string text = to_text(condition, symbol_names(program));
  program.clauses.push_back({std::move(condition), text, false, ""});
}

TEST(ChooseSizes, TakesTheFirstCandidateThatMeetsTheClauses) {
  EXPECT_EQ(choose_sizes(axpy_program()).value(), (Sizes{8}));
  EXPECT_EQ(choose_sizes(window_program()).value(), (Sizes{8, 8, 8}));
  Program program = axpy_program();
  require(program, SizeOp::kEqual, floor_mod(SizeExpr::symbol(SymbolId(0)), 128), 0);
  EXPECT_EQ(choose_sizes(program).value(), (Sizes{128}));
}

TEST(ChooseSizes, KeepsWhatIsKnown) {
  std::vector<std::optional<int64_t>> known = {{}, 9};
  EXPECT_EQ(choose_sizes(window_program(), known).value(), (Sizes{8, 9, 1}));
  Program program = window_program();
  program.symbols[SymbolId(1)].fixed = 9;
  EXPECT_EQ(choose_sizes(program).value(), (Sizes{8, 9, 1}));
}

TEST(ChooseSizes, NoTensorIsEmptyOrLarge) {
  Program program;
  program.name = "f";
  SizeExpr a = add_dimension(program, "A");
  SizeExpr b = add_dimension(program, "B");
  add_parameter(program, "x: f32[A - B]", ElementType::kF32, Role::kInput, {a - b});
  EXPECT_EQ(choose_sizes(program).value(), (Sizes{8, 4}));
  add_parameter(program, "y: f32[...]", ElementType::kF32, Role::kInput, std::vector<SizeExpr>(12, a));
  EXPECT_EQ(choose_sizes(program).value(), (Sizes{4, 2}));
}

TEST(ChooseSizes, GivesUpWithTheClauses) {
  Program program = axpy_program();
  require(program, SizeOp::kEqual, floor_mod(SizeExpr::symbol(SymbolId(0)), 7), 0);
  Error error = choose_sizes(program).error();
  EXPECT_EQ(error.kind, ErrorKind::kUsage);
  EXPECT_EQ(error.message, "no small sizes meet the conditions of kernel `axpy`: N % 7 == 0; give its sizes");
}

TEST(ChooseSizes, SearchIsBounded) {
  Program program;
  program.name = "f";
  SizeExpr sum = 0;
  for (int i = 0; i < 40; ++i) sum = sum + add_dimension(program, "D" + std::to_string(i));
  require(program, SizeOp::kEqual, sum, 1000003);
  EXPECT_FALSE(choose_sizes(program));
}

TEST(ChooseSizes, ScalarsKeepToTheirType) {
  Program program;
  program.name = "f";
  ParameterId flag = add_parameter(program, "b: bool", ElementType::kBool, Role::kInput, {});
  program.symbols.add({"b", SymbolKind::kScalar, flag, {}});
  EXPECT_EQ(choose_sizes(program).value(), (Sizes{1}));
}

}  // namespace
}  // namespace tenon::runtime
