#include "passed.h"

namespace tenon::passes {
namespace {

std::string kernel(const std::string& ops, const std::string& results = "") {
  return "kernel @k<N>(%c: inout f32[N] as %c.new)" + (results.empty() ? "" : " -> (" + results + ")") +
         " {\n" + ops + "}\n";
}
constexpr const char* kInPlace =
    "  %c.new: f32[N] = map [i: N] {\n    %0 = read %c[i] : f32\n    %1 = neg %0 : f32\n    yield %1\n  }\n";
constexpr const char* kReversed =
    "  %c.new: f32[N] = map [i: N] {\n    %0 = read %c[N - 1 - i] : f32\n    yield %0\n  }\n";
constexpr const char* kReader =
    "  %s: f32 = reduce<sum> [| k: N] {\n    %0 = read %c[k] : f32\n    yield %0\n  }\n";

TEST(InoutCopies, InPlaceNeedsNone) { EXPECT_EQ(1u, Passed(kernel(kInPlace), "inout-copies").op_count()); }

TEST(InoutCopies, OtherElementsNeedOne) {
  Passed passed(kernel(kReversed), "inout-copies,group");
  EXPECT_EQ(2u, passed.op_count());
  EXPECT_EQ(2u, passed.kernel().groups.size());
  EXPECT_EQ(1u, passed.run.context.remarks.size());
  expect_same_after(kernel(kReversed), "inout-copies,group", {{"N", 9}});
}

TEST(InoutCopies, ALaterReaderNeedsOne) {
  Passed passed(kernel(std::string(kInPlace) + kReader, "%s: f32"), "inout-copies");
  EXPECT_EQ(3u, passed.op_count());
  expect_same_after(kernel(std::string(kInPlace) + kReader, "%s: f32"), "inout-copies,group", {{"N", 9}});
}

TEST(InoutCopies, AnEarlierReaderDoesNot) {
  EXPECT_EQ(2u, Passed(kernel(std::string(kReader) + kInPlace, "%s: f32"), "inout-copies").op_count());
}

TEST(InoutCopies, WhoReadsTheNewValueReadsTheLocal) {
  std::string text =
      kernel(std::string(kReversed) +
                 "  %z: f32[N] = map [i: N] {\n    %0 = read %c.new[i] : f32\n    yield %0\n  }\n",
             "%z: f32[N]");
  Passed passed(text, "inout-copies");
  EXPECT_TRUE(passed.has("read %c.copy[i]"));
  EXPECT_FALSE(passed.has("read %c.new"));
  expect_same_after(text, "inout-copies,group", {{"N", 9}});
}

}  // namespace
}  // namespace tenon::passes
