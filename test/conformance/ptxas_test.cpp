// The PTX of the examples through NVIDIA's assembler, where the machine has it: nothing is spilled, nothing
// lies in local memory, and the assembler has nothing to remark.
#include "tools/ptxas.h"

#include <fmt/format.h>
#include <gtest/gtest.h>

#include <tuple>

#include "api/ptx_module.h"
#include "examples.h"
#include "test/thinning.h"

namespace tenon::conformance {
namespace {

// Assembling takes its time: the first target of each instruction path gets every variant, the others every
// third one, each target other ones.
constexpr size_t kSpread = 3;

bool leads_its_family(size_t target) {
  for (size_t before = 0; before < target; ++before)
    if (targets()[before].codegen_family == targets()[target].codegen_family) return false;
  return true;
}

// The record with the chosen variants alone, with their code.
Result<runtime::Program> lower_some(const api::CompiledKernel& compiled, size_t target) {
  runtime::Program program = compiled.program();
  const bool all = leads_its_family(target);
  for (uint32_t s = 0; s < program.steps.size(); ++s) {
    std::vector<runtime::Variant> chosen;
    const size_t spread = all ? 1 : std::min(kSpread, program.steps[s].variants.size());
    for (uint32_t v = 0; v < program.steps[s].variants.size(); ++v) {
      if (v % spread != target % spread) continue;
      chosen.push_back(program.steps[s].variants[v]);
      TENON_TRY_ASSIGN(chosen.back().code, compiled.lower(s, v));
    }
    program.steps[s].variants = std::move(chosen);
  }
  return program;
}

class PtxasTest : public testing::TestWithParam<std::tuple<Example, size_t>> {};

TEST_P(PtxasTest, NothingIsSpilled) {
  if (kThin) GTEST_SKIP() << "the assembler sees the same text without a sanitizer";
  if (!tools::has_ptxas()) GTEST_SKIP() << "ptxas is not in the search path";
  const auto& [example, target] = GetParam();
  SourceProgram source = load(example);
  const ir::Kernel* kernel = source.kernel(example.kernel);
  ASSERT_NE(kernel, nullptr) << source.complaints();
  api::CompiledKernel compiled(*kernel, {.target = &targets()[target]}, nullptr);
  Result<runtime::Program> program = lower_some(compiled, target);
  ASSERT_TRUE(program.has_value()) << program.error().message;
  Result<tools::Assembled> assembled = tools::assemble(api::ptx_module({*program}), program->target);
  ASSERT_TRUE(assembled.has_value()) << assembled.error().message;
  for (const runtime::Step& step : program->steps) {
    for (const runtime::Variant& variant : step.variants) {
      for (const runtime::Launch& launch : variant.code->launches) {
        ASSERT_TRUE(assembled->entries.contains(launch.entry)) << launch.entry;
        const tools::EntryResources& entry = assembled->entries[launch.entry];
        EXPECT_EQ(entry.stack + entry.spill_stores + entry.spill_loads, 0U) << fmt::format(
            "{}: {} registers, {} bytes of stack, {} spilled, {} loaded; schedule {}", launch.entry,
            entry.registers, entry.stack, entry.spill_stores, entry.spill_loads, variant.schedule);
      }
    }
  }
  EXPECT_EQ(assembled->remarks, "");
}

INSTANTIATE_TEST_SUITE_P(All, PtxasTest,
                         testing::Combine(testing::ValuesIn(examples()),
                                          testing::Range<size_t>(0, targets().size())),
                         [](const auto& info) {
                           return fmt::format("{}_{}", std::get<0>(info.param).name,
                                              targets()[std::get<1>(info.param)].name);
                         });

}  // namespace
}  // namespace tenon::conformance
