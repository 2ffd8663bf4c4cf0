// A few of the programs that `program_fuzz` makes, with the seeds that it would give them.
#include <fmt/format.h>
#include <gtest/gtest.h>

#include "generator.h"
#include "isolated.h"

namespace tenon::fuzz {
namespace {

constexpr uint64_t kProgramsPerCase = 6;
constexpr unsigned kMostSeconds = 120;

class ProgramFuzzTest : public testing::TestWithParam<uint64_t> {};

TEST_P(ProgramFuzzTest, AllStagesAgree) {
  int64_t launches = 0;
  for (uint64_t i = 0; i < kProgramsPerCase; ++i) {
    const uint64_t seed = GetParam() * kProgramsPerCase + i;
    const Program program = Generator(seed).generate();
    const Report report = try_isolated(program, {seed, 1, 5e4}, kMostSeconds);
    launches += report.launches;
    EXPECT_NE(report.verdict, Report::Verdict::kFinding)
        << "seed " << seed << ": " << report.kind << "\n"
        << program.to_text() << program.settings_text() << "\n"
        << report.text;
  }
  EXPECT_GT(launches, 0);
}

INSTANTIATE_TEST_SUITE_P(All, ProgramFuzzTest, testing::Range(uint64_t{0}, uint64_t{10}));

TEST(ProgramFuzz, ASeedGivesOneProgram) {
  for (uint64_t seed = 0; seed < 50; ++seed)
    EXPECT_EQ(Generator(seed).generate().to_text(), Generator(seed).generate().to_text());
}

}  // namespace
}  // namespace tenon::fuzz
