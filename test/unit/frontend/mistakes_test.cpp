// Every diagnostic of lexing and parsing: its text, its place, its fix, and that it comes alone.
#include <gtest/gtest.h>

#include <array>
#include <set>

#include "frontend/lex/limits.h"
#include "parsed.h"

namespace tenon::frontend {
namespace {

enum Place { kFile, kBody };

struct Mistake {
  Place place;
  std::string_view source;
  std::string_view expected;
};

constexpr Mistake kMistakes[] = {
#define MISTAKE(place, source, diagnostics) {place, source, diagnostics},
#include "mistakes.def"
};

std::string whole(const Mistake& mistake) {
  return mistake.place == kBody ? in_kernel(mistake.source) : std::string(mistake.source);
}

TEST(Mistakes, AreReportedAsTheTableSays) {
  for (const Mistake& mistake : kMistakes)
    EXPECT_EQ(Parsed(whole(mistake)).summary(), mistake.expected) << mistake.source;
}

std::string repeat(std::string_view text, size_t count) {
  std::string out;
  for (size_t i = 0; i < count; ++i) out += text;
  return out;
}

// Sources beyond a limit, with the code that says so. All of them end in one diagnostic but the last.
struct Excess {
  std::string source;
  std::string_view expected;
};

std::vector<Excess> excesses() {
  return {
      {std::string(kMaxSourceBytes + 1, ' '),
       "1:1-1 E0701 the file has 16777217 bytes; at most 16777216 are read"},
      {repeat("a ", kMaxTokens + 1), "1:4000002-4000002 E0702 the file has more than 2000000 tokens"},
      {in_kernel(std::string(10'000, 'a') + " = 1"),
       "2:3-10003 E0703 this name has 10000 characters; at most 1000 are allowed"},
      {in_kernel("a = " + std::string(100'000, '1')),
       "2:7-100007 E0704 this number has 100000 digits; at most 1000 are allowed"},
      {in_kernel("a = 0x" + std::string(1'001, 'f')),
       "2:7-1010 E0704 this number has 1001 digits; at most 1000 are allowed"},
      {in_kernel("a = 0." + std::string(1'000, '1')),
       "2:7-1009 E0704 this number has 1001 digits; at most 1000 are allowed"},
      {in_kernel("a = 1e-99999999999999999999"), "2:7-30 E0705 the exponent of a number is at most 1000"},
      {in_kernel("a = " + repeat("(", 200'000)), "2:264-265 E0706 nested more than 256 levels deep"},
      {in_kernel("a = " + repeat("-", 200'000)), "2:264-265 E0706 nested more than 256 levels deep"},
      {in_kernel("a = " + repeat("b ? c : ", 200'000)), "2:2059-2060 E0706 nested more than 256 levels deep"},
      {in_kernel("a = " + repeat("x[", 200'000)), "2:521-522 E0706 nested more than 256 levels deep"},
      {in_kernel("a = " + repeat("f(", 200'000)), "2:520-521 E0706 nested more than 256 levels deep"},
      {in_kernel("a = x[" + repeat("1, ", 1'999) + "1]"),
       "2:7-6007 E0707 2000 subscripts; at most 64 are allowed"},
      {in_kernel("a: f32[" + repeat("1, ", 64) + "1]"),
       "2:6-203 E0707 65 dimensions; at most 64 are allowed"},
      {in_kernel("a = sum[" + repeat("i, ", 64) + "i](x)"),
       "2:10-204 E0707 65 indices; at most 64 are allowed"},
  };
}

TEST(Mistakes, LimitsHaveDiagnostics) {
  for (const Excess& excess : excesses()) EXPECT_EQ(Parsed(excess.source).summary(), excess.expected);
}

TEST(Mistakes, AtALimitNothingIsWrong) {
  EXPECT_EQ(Parsed(in_kernel("a = " + repeat("(", kMaxNesting) + "b" + repeat(")", kMaxNesting))).summary(),
            "");
  EXPECT_EQ(Parsed(in_kernel("a = " + repeat("-", kMaxNesting) + "b")).summary(), "");
  EXPECT_EQ(Parsed(in_kernel("a = x[" + repeat("1, ", kMaxRank - 1) + "1]")).summary(), "");
  EXPECT_EQ(Parsed(in_kernel(std::string(kMaxNameLength, 'a') + " = " + std::string(kMaxNumberDigits, '1')))
                .summary(),
            "");
  EXPECT_EQ(Parsed(in_kernel("a = 1e1000 * 1e-1000")).summary(), "");
}

TEST(Mistakes, ReadingStopsAfterTooMany) {
  Parsed parsed("kernel k() {\n" + repeat("a = )\n", 1'000) + "}\n");
  EXPECT_EQ(parsed.diagnostics.error_count(), kMaxSyntaxErrors + 1);
  EXPECT_EQ(parsed.diagnostics.all().back().message,
            "more than 100 errors; the rest of the file was not looked at");
  Parsed characters(repeat("$ @ ", 1'000));
  EXPECT_EQ(characters.diagnostics.error_count(), kMaxSyntaxErrors + 1);
}

TEST(Mistakes, EachDiagnosticHasACase) {
  std::set<DiagnosticId> seen{DiagnosticId::kTooManyErrors};
  auto see = [&](const Parsed& parsed) {
    for (const Diagnostic& diagnostic : parsed.diagnostics.all()) seen.insert(diagnostic.id);
  };
  for (const Mistake& mistake : kMistakes) see(Parsed(whole(mistake)));
  for (const Excess& excess : excesses()) see(Parsed(excess.source));
  for (size_t i = 0; i < diagnostic_count(); ++i) {
    const DiagnosticId id = static_cast<DiagnosticId>(i);
    const std::string_view code = row(id).code;
    const bool ours =
        code.starts_with("E01") || code.starts_with("E02") || (code >= "E0701" && code <= "E0708");
    if (ours) EXPECT_TRUE(seen.contains(id)) << code << " " << row(id).name;
  }
}

TEST(Mistakes, CodesAreUnique) {
  std::set<std::string_view> codes;
  for (size_t i = 0; i < diagnostic_count(); ++i)
    EXPECT_TRUE(codes.insert(row(static_cast<DiagnosticId>(i)).code).second)
        << row(static_cast<DiagnosticId>(i)).code;
}

// A mistake in one declaration leaves the others whole.
TEST(Mistakes, RecoveryKeepsTheRest) {
  Parsed parsed(
      "kernel a(x: f32[N] -> (y: f32[N]) { y[i] = x[i] }\n"
      "kernel b() { c = ) }\n"
      "kernel d(x: f32) { a = 1 b = (2 c = 3 }\n"
      "kernel e(x: f32) { a = 1 b = 2 }\n");
  EXPECT_EQ(parsed.diagnostics.error_count(), 3u);
  ASSERT_EQ(parsed.module.kernels.size(), 4u);
  std::vector<bool> complete;
  for (const Kernel& kernel : parsed.module.kernels) complete.push_back(kernel.complete);
  EXPECT_EQ(complete, (std::vector<bool>{false, false, false, true}));
}

}  // namespace
}  // namespace tenon::frontend
