// Mutated examples and corpus files through the whole compiler: diagnostics or PTX, soon, whatever they are.
#include <fmt/format.h>
#include <gtest/gtest.h>

#include <ctime>
#include <filesystem>

#include "examples.h"
#include "test/thinning.h"
#include "test/unit/frontend/mutator.h"

namespace tenon::conformance {
namespace {

constexpr int kMutations = thinned(200, 20);
constexpr double kMostSeconds = 10;

// All .tn files, by their paths from the root.
std::vector<std::string> files() {
  std::vector<std::string> paths;
  for (const char* folder : {"examples", "test/corpus"})
    for (const auto& entry : std::filesystem::directory_iterator(fmt::format("{}/{}", TENON_ROOT, folder)))
      if (entry.path().extension() == ".tn")
        paths.push_back(fmt::format("{}/{}", folder, entry.path().filename().string()));
  std::ranges::sort(paths);
  return paths;
}

class MutationTest : public testing::TestWithParam<std::string> {
 protected:
  // Code for the first variant of each step, which is the most particular, and for the last, which takes
  // everything.
  static void lower(const ir::Kernel& kernel, const Target& target) {
    api::CompiledKernel compiled(kernel, {.target = &target, .verify_each = true}, nullptr);
    for (uint32_t s = 0; s < compiled.program().steps.size(); ++s) {
      const auto last = static_cast<uint32_t>(compiled.program().steps[s].variants.size()) - 1;
      for (uint32_t v : {uint32_t{0}, last}) {
        Result<runtime::LoweredVariant> code = compiled.lower(s, v);
        ASSERT_TRUE(code.has_value()) << code.error().message;
        EXPECT_NE(code->ptx.find(".entry"), std::string::npos);
      }
    }
  }
};

TEST_P(MutationTest, EndsInDiagnosticsOrCode) {
  const std::string original = read_text(GetParam());
  const frontend::CheckOptions options = check_options("T=f16 P=1 U=2 A=1 G=2 K=3 D=16 H=4", "");
  frontend::Mutator mutator(static_cast<unsigned>(original.size()));
  int seen = 0;
  for (int i = 0; i < kMutations; ++i) {
    std::string text = original;
    for (size_t changes = 1 + mutator.below(3); changes > 0; --changes) mutator.mutate(text);
    SCOPED_TRACE(text);
    const std::clock_t start = std::clock();
    SourceProgram program("mutated.tn", text, options);
    for (const ir::Kernel& kernel : program.kernels()) {
      // Most kernels are as they were: every fourth is enough.
      if (seen++ % 4 != 0) continue;
      lower(kernel, targets()[static_cast<size_t>(i) % targets().size()]);
    }
    EXPECT_LT(static_cast<double>(std::clock() - start) / CLOCKS_PER_SEC, kMostSeconds);
    if (HasFailure()) return;
  }
}

INSTANTIATE_TEST_SUITE_P(All, MutationTest, testing::ValuesIn(files()), [](const auto& info) {
  std::string name = std::filesystem::path(info.param).parent_path().filename().string() + "_" +
                     std::filesystem::path(info.param).stem().string();
  return name;
});

}  // namespace
}  // namespace tenon::conformance
