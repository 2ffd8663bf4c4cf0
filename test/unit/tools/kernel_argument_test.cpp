#include "tools/kernel_argument.h"

#include <gtest/gtest.h>

#include "support/array_text.h"

namespace tenon::tools {
namespace {

KernelArgument argument(const std::string& text) {
  Result<KernelArgument> made = make_kernel_argument(text, 0, 0);
  EXPECT_TRUE(made) << made.error().message;
  return made ? std::move(*made) : KernelArgument();
}

std::string message(const std::string& text) {
  Result<KernelArgument> made = make_kernel_argument(text, 0, 0);
  return made ? "no error" : made.error().message;
}

TEST(KernelArgument, Values) {
  EXPECT_TRUE(argument("i32:5").by_value);
  EXPECT_EQ(argument("u64:0x10").array.as_int64(0), 16);
  EXPECT_EQ(argument("bf16:-inf").array.type(), ElementType::kBF16);
  EXPECT_EQ(message("i32:1.5"), "--arg i32:1.5: 1.5 is no value of i32");
  EXPECT_EQ(message("u8:-1"), "--arg u8:-1: -1 is no value of u8");
  EXPECT_EQ(message("i32"), "--arg i32: expected TYPE:VALUE, as in i32:5");
  EXPECT_EQ(message("i32:x"), "--arg i32:x: x is no number");
}

TEST(KernelArgument, Buffers) {
  KernelArgument iota = argument("iota:i32:2x3:out.npy");
  EXPECT_FALSE(iota.by_value);
  EXPECT_EQ(to_text(iota.array), "[[0 1 2]\n [3 4 5]]");
  EXPECT_EQ(iota.output, "out.npy");
  EXPECT_EQ(argument("zeros:f32:4").output, "");
  EXPECT_EQ(
      message("zeros:f32"),
      "--arg zeros:f32: expected FILL:TYPE:SHAPE or FILL:TYPE:SHAPE:FILE, as in zeros:f32:1024:out.npy");
  EXPECT_EQ(message("zeros:float:4"), "--arg zeros:float:4: float is no element type");
  EXPECT_EQ(message("zeros:f32:-4"), "--arg zeros:f32:-4: -4 is no shape, as 1024 or 32x64 are");
  EXPECT_EQ(message("zeros:f32:9223372036854775807"),
            "--arg zeros:f32:9223372036854775807: a tensor f32[9223372036854775807] has too many bytes");
}

TEST(KernelArgument, Files) {
  EXPECT_EQ(message("/nonexistent/in.npy"), "cannot read /nonexistent/in.npy: No such file or directory");
  EXPECT_EQ(message("what"),
            "--arg what: expected a file, FILE:FILE, FILL:TYPE:SHAPE[:FILE] or TYPE:VALUE, where FILL is "
            "zeros, ones, "
            "iota, random or integers");
}

}  // namespace
}  // namespace tenon::tools
