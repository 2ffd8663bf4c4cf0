#include "runtime/selection.h"

#include <gtest/gtest.h>

#include "programs.h"

namespace tenon::runtime {
namespace {

Result<uint32_t> select(int64_t n, CUdeviceptr x, std::optional<uint32_t> forced = {},
                        const Program& program = axpy_program()) {
  std::vector<LaunchArgument> arguments = {LaunchArgument::scalar_value(ElementType::kF32, 1.0f),
                                           LaunchArgument::buffer(x, ElementType::kF32, {n}),
                                           LaunchArgument::buffer(x + 4096, ElementType::kF32, {n}),
                                           LaunchArgument::buffer(x + 8192, ElementType::kF32, {n})};
  Binding binding = bind_arguments(program, arguments, {}).value();
  return select_variant(program, 0, binding, arguments, forced);
}

TEST(Selection, TakesTheFirstVariantThatAccepts) {
  EXPECT_EQ(select(8, 1024).value(), 0u);
  EXPECT_EQ(select(7, 1024).value(), 1u);
  EXPECT_EQ(select(8, 1028).value(), 1u);
  EXPECT_EQ(select(0, 1024).value(), 0u);
}

TEST(Selection, ForcedVariantMustAccept) {
  EXPECT_EQ(select(8, 1024, 1).value(), 1u);
  EXPECT_EQ(select(7, 1024, 0).error().message,
            "kernel `axpy` refuses this launch: variant 0 (vector) of step z needs N % 4 == 0 with N = 7");
  EXPECT_EQ(select(8, 1028, 0).error().message,
            "kernel `axpy` refuses this launch: variant 0 (vector) of step z needs x on 16 bytes");
  EXPECT_EQ(select(8, 1024, 2).error().kind, ErrorKind::kUsage);
}

TEST(Selection, NoVariantAccepts) {
  Program program = axpy_program();
  program.steps[0].variants.pop_back();
  EXPECT_EQ(select(7, 1024, {}, program).error().message,
            "kernel `axpy` refuses this launch: no variant of step z accepts it; the last one needs N % 4 == "
            "0 with "
            "N = 7");
}

TEST(Selection, FindsByNameOrIndex) {
  Program program = axpy_program();
  EXPECT_EQ(find_variant(program.steps[0], "any").value(), 1u);
  EXPECT_EQ(find_variant(program.steps[0], "0").value(), 0u);
  EXPECT_EQ(find_variant(program.steps[0], "2").error().message,
            "step z has no variant '2'; it has vector, any");
  EXPECT_EQ(find_variant(program.steps[0], "1x").error().kind, ErrorKind::kUsage);
}

}  // namespace
}  // namespace tenon::runtime
