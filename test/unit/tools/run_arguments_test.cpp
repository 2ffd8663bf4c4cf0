#include "tools/run_arguments.h"

#include <gtest/gtest.h>

#include <filesystem>

#include "support/array_text.h"
#include "support/npy.h"
#include "tools/default_sizes.h"

namespace tenon::tools {
namespace {

using runtime::Clause;
using runtime::Parameter;
using runtime::ParameterId;
using runtime::Program;
using runtime::Role;
using runtime::SizeExpr;
using runtime::SizeOp;
using runtime::SymbolId;
using runtime::SymbolKind;

SizeExpr symbol(uint32_t index) { return SizeExpr::symbol(SymbolId(index)); }

// kernel f(x: f32[M, N], n: i32, w: f16[N - 2]) -> (y: f32[M]) where N % 3 == 0
Program program() {
  Program program;
  program.name = "f";
  program.symbols.add({.name = "M"});
  program.symbols.add({.name = "N"});
  program.parameters.add({.name = "x", .shape = {symbol(0), symbol(1)}, .source = "x: f32[M, N]"});
  program.parameters.add({.name = "n", .type = ElementType::kI32, .source = "n: i32"});
  program.parameters.add(
      {.name = "w", .type = ElementType::kF16, .shape = {symbol(1) - 2}, .source = "w: f16[N - 2]"});
  program.parameters.add({.name = "y", .role = Role::kResult, .shape = {symbol(0)}, .source = "y: f32[M]"});
  program.clauses.push_back(
      {.condition = SizeExpr::binary(SizeOp::kEqual, floor_mod(symbol(1), 3), 0), .text = "N % 3 == 0"});
  return program;
}

// With M and N fixed when compiling.
Program program(int64_t m, int64_t n) {
  Program fixed = program();
  fixed.symbols[SymbolId(0)].fixed = m;
  fixed.symbols[SymbolId(1)].fixed = n;
  return fixed;
}

RunInputs inputs(const std::vector<std::string>& in) { return {.inputs = *parse_inputs(in)}; }

std::string message(const Program& program, const RunInputs& inputs) {
  Result<RunArguments> arguments = make_run_arguments(program, inputs);
  return arguments ? "no error" : arguments.error().message;
}

TEST(DefaultSizes, SatisfyClausesAndShapes) {
  std::vector<int64_t> sizes = *complete_sizes(program(), {std::nullopt, std::nullopt});
  EXPECT_EQ(sizes, (std::vector<int64_t>{4, 3}));
  EXPECT_EQ((*complete_sizes(program(), {7, std::nullopt})), (std::vector<int64_t>{7, 3}));
}

// The elements of a tensor that has all of them as its shape.
int64_t product_of_default_sizes(size_t dimensions) {
  Program program;
  program.name = "g";
  for (size_t i = 0; i < dimensions; ++i) program.symbols.add({.name = "D" + std::to_string(i)});
  int64_t product = 1;
  for (int64_t size : *complete_sizes(program, KnownSizes(dimensions))) product *= size;
  return product;
}

TEST(DefaultSizes, TheProductOfManyStaysSmall) {
  EXPECT_EQ(product_of_default_sizes(4), 4 * 8 * 16 * 32);
  for (size_t dimensions = 5; dimensions <= 12; ++dimensions)
    EXPECT_LE(product_of_default_sizes(dimensions), 50'000) << dimensions;
}

TEST(DefaultSizes, WhatCannotBeIsSaid) {
  Program impossible = program();
  impossible.clauses.push_back(
      {.condition = SizeExpr::binary(SizeOp::kLess, symbol(1), symbol(1)), .text = "N < N"});
  Result<std::vector<int64_t>> sizes = complete_sizes(impossible, {std::nullopt, std::nullopt});
  ASSERT_FALSE(sizes);
  EXPECT_EQ(sizes.error().kind, ErrorKind::kUsage);
  EXPECT_EQ(
      sizes.error().message,
      "found no sizes for M, N that fit f; give them by --set, as in --set M=64\n  N % 3 == 0\n  N < N");
  // What is known breaks a clause: the launch refuses it, with better words.
  EXPECT_TRUE(complete_sizes(program(), {std::nullopt, 4}));
}

TEST(DefaultSizes, ManySizesEndTheSearch) {
  Program many = program();
  for (int i = 0; i < 5000; ++i) many.symbols.add({.name = "S" + std::to_string(i)});
  many.clauses.push_back(
      {.condition = SizeExpr::binary(SizeOp::kLess, symbol(5001), -5), .text = "S4999 < -5"});
  EXPECT_FALSE(complete_sizes(many, KnownSizes(many.symbols.size())));
}

TEST(DefaultSizes, AreTheSameEveryTime) {
  Program scalar = program();
  SymbolId n = scalar.symbols.add({.name = "n", .kind = SymbolKind::kScalar, .parameter = ParameterId(1)});
  scalar.clauses.push_back(
      {.condition = SizeExpr::binary(SizeOp::kLess, 2, symbol(n.index())), .text = "2 < n"});
  RunArguments arguments = *make_run_arguments(scalar, inputs({}));
  EXPECT_EQ(arguments.arrays[1]->as_int64(0), 3);
  ASSERT_EQ(arguments.sizes.size(), 2u);
  EXPECT_EQ(to_text(*arguments.arrays[0]), to_text(*make_run_arguments(scalar, inputs({}))->arrays[0]));
}

TEST(RunArguments, FillWhatIsNotGiven) {
  RunArguments arguments = *make_run_arguments(program(2, 6), inputs({"x=iota", "n=7"}));
  EXPECT_EQ(to_text(*arguments.arrays[0]), "[[ 0.  1.  2.  3.  4.  5.]\n [ 6.  7.  8.  9. 10. 11.]]");
  EXPECT_EQ(to_text(*arguments.arrays[1]), "7");
  EXPECT_EQ(arguments.arrays[2]->shape(), std::vector<int64_t>{4});
  EXPECT_EQ(arguments.arrays[2]->type(), ElementType::kF16);
  EXPECT_FALSE(arguments.arrays[3]);
}

TEST(RunArguments, TakeSizesFromFiles) {
  std::string path = testing::TempDir() + "tenon_run_arguments_test.npy";
  ASSERT_TRUE(write_npy(path, *Array::zeros(ElementType::kF32, {5, 9})));
  RunArguments arguments = *make_run_arguments(program(), inputs({"x=" + path}));
  EXPECT_EQ(arguments.sizes[0].value, 5);
  EXPECT_EQ(arguments.sizes[1].value, 9);
  EXPECT_EQ(arguments.arrays[2]->shape(), std::vector<int64_t>{7});
  EXPECT_EQ(message(program(), inputs({"w=" + path})),
            "cannot read " + path + ": it holds f32, but f16 is expected");
  std::filesystem::remove(path);
}

TEST(RunArguments, UnknownNamesAreUsage) {
  EXPECT_EQ(message(program(), inputs({"z=ones"})), "kernel f has no input z; it has x, n, w");
  EXPECT_EQ(message(program(), inputs({"y=ones"})), "kernel f has no input y; it has x, n, w");
  EXPECT_EQ(find_output(program(), "x").error().message, "kernel f has no result x; it has y");
  EXPECT_EQ(message(program(), inputs({"n=1.5"})), "1.5 is no value of i32, the type of n");
  EXPECT_EQ(message(program(), inputs({"n=3000000000"})), "3000000000 is no value of i32, the type of n");
  EXPECT_EQ(message(program(), inputs({"w=1e9"})), "1e9 is no value of f16, the type of w");
  EXPECT_EQ(message(program(4, 0), inputs({})), "the shape [-2] of `w: f16[N - 2]` is negative");
}

}  // namespace
}  // namespace tenon::tools
