// Every example at many sizes, in every variant that takes them.
#include "examples.h"

#include <gtest/gtest.h>

#include "sweep.h"
#include "test/thinning.h"

namespace tenon::conformance {
namespace {

class ExamplesTest : public testing::TestWithParam<Example> {};

TEST_P(ExamplesTest, GiveTheValuesOfTheLanguage) {
  const Example& example = GetParam();
  SourceProgram program = load(example);
  const ir::Kernel* kernel = program.kernel(example.kernel);
  ASSERT_NE(kernel, nullptr) << program.complaints();
  Machine machine;
  Subject subject(program, *kernel, machine);
  SweepOptions options;
  options.long_symbol = example.long_symbol;
  if (!options.long_symbol.empty()) options.long_sizes = {4096, 8192, 20000, 30000};
  options.most_points = example.most_points;
  // A launch of several steps takes its time at any size.
  if (subject.program().steps.size() > 1) options.sizes_around_bounds = 0;
  SweepResult result = sweep(subject, sweep_sizes(subject, options));
  EXPECT_EQ(result.failed, 0) << result.text();
  EXPECT_GE(result.cases, thinned(20, 5)) << result.text();
  EXPECT_LE(result.ambiguous * 100, result.elements);
  for (const std::string& variant : result.never_run) RecordProperty("never_run", variant);
  if (testing::Test::HasFailure()) return;
  RecordProperty("launches", static_cast<int>(result.launches));
}

INSTANTIATE_TEST_SUITE_P(All, ExamplesTest, testing::ValuesIn(examples()),
                         [](const auto& info) { return std::string(info.param.name); });

}  // namespace
}  // namespace tenon::conformance
