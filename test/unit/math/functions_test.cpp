#include "support/functions.h"

#include <gtest/gtest.h>

#include <set>

namespace tenon {
namespace {

TEST(Functions, NamesAreFoundAndUnique) {
  std::set<std::string_view> seen;
  for (size_t i = 0; i < function_count(); ++i) {
    auto id = static_cast<FunctionId>(i);
    EXPECT_EQ(function_by_name(name(id)), id);
    EXPECT_TRUE(seen.insert(name(id)).second);
    EXPECT_GE(row(id).arity, 1u);
    EXPECT_LE(row(id).arity, 3u);
    EXPECT_LE(row(id).ulp, 2);
    EXPECT_GE(row(id).approx_ulp + row(id).approx_absolute, row(id).ulp == 2 ? 0 : row(id).ulp);
  }
  EXPECT_EQ(function_by_name("cbrt"), std::nullopt);
  EXPECT_EQ(function_by_name("max"), std::nullopt);
}

TEST(Functions, OperandTypes) {
  EXPECT_TRUE(accepts(FunctionId::kExp, ElementType::kBF16));
  EXPECT_FALSE(accepts(FunctionId::kExp, ElementType::kI32));
  EXPECT_FALSE(accepts(FunctionId::kAbs, ElementType::kF8E4M3));
  EXPECT_FALSE(accepts(FunctionId::kAbs, ElementType::kBool));
  EXPECT_TRUE(accepts(FunctionId::kAbs, ElementType::kIndex));
  EXPECT_TRUE(accepts(FunctionId::kPopcount, ElementType::kU8));
  EXPECT_FALSE(accepts(FunctionId::kClz, ElementType::kF32));
  EXPECT_FALSE(accepts(FunctionId::kPopcount, ElementType::kBool));
}

}  // namespace
}  // namespace tenon
