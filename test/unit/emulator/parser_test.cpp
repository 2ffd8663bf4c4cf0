#include "emulator/parser.h"

#include <fmt/format.h>
#include <gtest/gtest.h>

#include "test/unit/emulator/harness.h"

namespace tenon::emulator::test {
namespace {

std::string load_error(const std::string& ptx) {
  Device device;
  const auto module = device.load_module(ptx);
  return module ? "" : module.error().message;
}

TEST(Parser, ReadsTheParts) {
  const auto module = parse_ptx(module_text(R"(
.extern .shared .align 16 .b8 pool[];
.visible .const .align 4 .f32 table[2][2] = {{0f3F800000, 2.5}, {-1.0, 0f00000000}};
.visible .entry k(.param .u64 .ptr .global .align 4 a, .param .align 8 .b8 s[12])
.reqntid 64, 2
{
  .reg .b32 %r<3>; .reg .pred %p;
  .loc 1 7 3
  mov.u32 %r1, %tid.x;
  @!%p bra $L; // a comment
$L: /* another */
  ret;
})"));
  ASSERT_TRUE(module.has_value()) << module.error().message;
  EXPECT_EQ(module->version_major, 8u);
  EXPECT_EQ(module->target_sm, 80u);
  ASSERT_EQ(module->variables.size(), 2u);
  EXPECT_TRUE(module->variables[0].external);
  EXPECT_EQ(module->variables[1].bytes(), 16u);
  EXPECT_EQ(module->variables[1].initialiser.size(), 4u);
  const Function& function = module->functions.at(0);
  EXPECT_EQ(function.parameters.size(), 2u);
  EXPECT_EQ(function.required_threads[1], 2u);
  ASSERT_EQ(function.instructions.size(), 3u);
  EXPECT_EQ(function.instructions[0].source_line, 7u);
  EXPECT_EQ(function.instructions[0].operands[1].name, "%tid.x");
  EXPECT_TRUE(function.instructions[1].guard_negated);
  EXPECT_EQ(function.labels.at(0).target, 2u);
}

TEST(Parser, ParametersHaveTheRoomOfTheirVersion) {
  const auto module = [](const char* version, int count) {
    std::string text = fmt::format(".version {}\n.target sm_80\n.address_size 64\n.entry k(", version);
    for (int i = 0; i < count; ++i) text += fmt::format("{}.param .b64 p{}", i == 0 ? "" : ", ", i);
    return text + ") {\n ret;\n}";
  };
  EXPECT_EQ(load_error(module("7.0", 544)), "");
  EXPECT_NE(
      load_error(module("7.0", 545)).find("parameters take more than the 4352 bytes of this PTX version"),
      std::string::npos);
  EXPECT_EQ(load_error(module("8.1", 4095)), "");
  EXPECT_NE(load_error(module("8.1", 4096)).find("the 32764 bytes"), std::string::npos);
}

TEST(Parser, UnknownInstructionsFailAtLoad) {
  const std::string head = ".version 8.0\n.target sm_80\n.address_size 64\n";
  EXPECT_EQ(load_error(head + ".entry k() {\n .reg .b32 %r<2>;\n  frob.b32 %r1, 1;\n}"),
            "PTX line 6, column 3: unknown instruction 'frob.b32 %r1, 1'");
  EXPECT_EQ(
      load_error(head + ".entry k() {\n .reg .b32 %r<2>;\n  add.odd.u32 %r1, 1, 2;\n}"),
      "PTX line 6, column 3: unknown instruction 'add.odd.u32 %r1, 1, 2': '.odd' is not supported here");
  EXPECT_EQ(load_error(head + ".entry k() {\n  bra nowhere;\n}"),
            "PTX line 5, column 7: unknown label 'nowhere'");
  EXPECT_EQ(load_error(head + ".entry k() {\n  ret\n}"),
            "PTX line 6, column 1: expected an operand, not '}'");
  EXPECT_EQ(load_error(".version 8.0\n.target sm_90a\n.address_size 64\n"),
            "the module is for sm_90a, the emulated device is sm_80");
}

}  // namespace
}  // namespace tenon::emulator::test
