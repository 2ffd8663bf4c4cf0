// The same source gives the same PTX, each time and on every thread.
#include <gtest/gtest.h>

#include <string>
#include <thread>
#include <vector>

#include "examples.h"

namespace tenon::conformance {
namespace {

// All variants of the example, compiled from the source text on.
std::string compile(const Example& example) {
  SourceProgram program = load(example);
  const ir::Kernel* kernel = program.kernel(example.kernel);
  if (kernel == nullptr) return program.complaints();
  api::CompilerOptions options;
  options.target = target_by_name("sm_80");
  api::CompiledKernel compiled(*kernel, options, &program.sources());
  Result<runtime::Program> lowered = compiled.lower_all();
  return lowered ? runtime::to_json(*lowered) : lowered.error().message;
}

class DeterminismTest : public testing::TestWithParam<Example> {};

TEST_P(DeterminismTest, EveryCompilationGivesTheSamePtx) {
  const Example& example = GetParam();
  const std::string first = compile(example);
  ASSERT_NE(first.find(".entry"), std::string::npos) << first.substr(0, 1000);
  EXPECT_EQ(compile(example), first);
  constexpr size_t kThreads = 8;
  std::vector<std::string> results(kThreads);
  std::vector<std::thread> threads;
  for (std::string& result : results) threads.emplace_back([&] { result = compile(example); });
  for (std::thread& thread : threads) thread.join();
  for (const std::string& result : results) EXPECT_TRUE(result == first);
}

INSTANTIATE_TEST_SUITE_P(All, DeterminismTest, testing::ValuesIn(examples()),
                         [](const auto& info) { return std::string(info.param.name); });

}  // namespace
}  // namespace tenon::conformance
