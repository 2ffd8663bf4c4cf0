// The same source gives the same PTX, each time and on every thread.
#include <gtest/gtest.h>

#include <span>
#include <string>
#include <thread>
#include <vector>

#include "examples.h"
#include "test/thinning.h"

namespace tenon::conformance {
namespace {

// All variants of the example for one target, compiled from the source text on.
std::string compile(const Example& example, const Target& target) {
  SourceProgram program = load(example);
  const ir::Kernel* kernel = program.kernel(example.kernel);
  if (kernel == nullptr) return program.complaints();
  api::CompiledKernel compiled(*kernel, {.target = &target}, &program.sources());
  Result<runtime::Program> lowered = compiled.lower_all();
  return lowered ? runtime::to_json(*lowered) : lowered.error().message;
}

class DeterminismTest : public testing::TestWithParam<Example> {};

TEST_P(DeterminismTest, EveryCompilationGivesTheSamePtx) {
  constexpr size_t kThreads = thinned(8, 3);
  const std::span<const Target> some = targets().first(kThin ? 1 : targets().size());
  const Example& example = GetParam();
  std::vector<std::string> alone;
  for (const Target& target : some) {
    alone.push_back(compile(example, target));
    ASSERT_NE(alone.back().find(".entry"), std::string::npos) << alone.back().substr(0, 1000);
  }
  // Each target on at least one of the threads, the first ones on two.
  ASSERT_LE(some.size(), kThreads);
  std::vector<std::string> together(kThreads);
  std::vector<std::thread> threads;
  for (size_t t = 0; t < kThreads; ++t)
    threads.emplace_back([&, t] { together[t] = compile(example, some[t % some.size()]); });
  for (std::thread& thread : threads) thread.join();
  for (size_t t = 0; t < kThreads; ++t)
    EXPECT_TRUE(together[t] == alone[t % some.size()]) << some[t % some.size()].name;
}

INSTANTIATE_TEST_SUITE_P(All, DeterminismTest, testing::ValuesIn(examples()),
                         [](const auto& info) { return std::string(info.param.name); });

}  // namespace
}  // namespace tenon::conformance
