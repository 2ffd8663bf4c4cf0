// Every kernel of the corpus and the examples that checks, before and after each pass of the pipeline.
#include <algorithm>
#include <filesystem>
#include <fstream>
#include <random>
#include <sstream>

#include "frontend/check/check.h"
#include "frontend/parse/parse.h"
#include "passed.h"
#include "passes/pipeline.h"

namespace tenon::passes {
namespace {

struct Program {
  std::string name;
  ir::Module module;
};

std::vector<Program> programs() {
  std::vector<std::filesystem::path> files;
  for (const char* folder : {TENON_TEST_CORPUS, TENON_EXAMPLES})
    for (const auto& entry : std::filesystem::directory_iterator(folder)) files.push_back(entry.path());
  std::ranges::sort(files);
  std::vector<Program> programs;
  for (const auto& path : files) {
    std::stringstream text;
    text << std::ifstream(path).rdbuf();
    SourceManager sources;
    Diagnostics diagnostics;
    FileId file = sources.add(path.filename().string(), text.str());
    frontend::Module module = frontend::parse(file, sources, diagnostics);
    // What these leave open makes a kernel uninstantiated, and it is not there.
    frontend::CheckOptions options;
    options.types = {{"T", ElementType::kF16}};
    options.sizes = {{"U", 2}, {"G", 2}, {"P", 1}};
    programs.push_back(
        {path.filename().string(), frontend::check(module, sources, options, diagnostics).module});
  }
  return programs;
}

// Sizes for which the `where` clauses hold and the parameters are small; the same on every run.
std::optional<std::map<std::string, int64_t>> small_sizes(const ir::Kernel& kernel) {
  std::mt19937 random(1);
  constexpr int64_t kCandidates[] = {1, 2, 3, 4, 5, 6, 7, 8, 16, 32, 64, 128};
  for (int attempt = 0; attempt < 5000; ++attempt) {
    size_t largest = 7 + static_cast<size_t>(attempt) / 1000;
    std::vector<int64_t> values;
    for (const ir::Symbol& symbol : kernel.symbols)
      values.push_back(
          symbol.fixed.value_or(kCandidates[random() % std::min(largest, std::size(kCandidates))]));
    auto value = [&](ir::IndexId index) {
      return kernel.index
          .evaluate(index,
                    [&](ir::IndexId atom) { return std::optional(values[kernel.index[atom].reference]); })
          .value_or(0);
    };
    bool fits =
        std::ranges::all_of(kernel.where, [&](const ir::WhereClause& w) { return value(w.condition) != 0; });
    for (const ir::Tensor& tensor : kernel.tensors) {
      int64_t count = 1;
      for (ir::IndexId extent : tensor.shape) {
        fits = fits && value(extent) > 0 && value(extent) < 20000;
        if (fits) count *= value(extent);
        fits = fits && count < 20000;
      }
    }
    if (!fits) continue;
    std::map<std::string, int64_t> sizes;
    for (uint32_t i = 0; i < kernel.symbols.size(); ++i)
      sizes[kernel.symbols[ir::SymbolId(i)].name] = values[i];
    return sizes;
  }
  return std::nullopt;
}

TEST(Corpus, EveryPassLeavesWhatAKernelComputes) {
  size_t kernels = 0;
  for (Program& program : programs()) {
    for (const ir::Kernel& checked : program.module.kernels) {
      SCOPED_TRACE(program.name + ": " + checked.name);
      auto sizes = small_sizes(checked);
      if (!sizes) continue;
      ++kernels;
      ir::Kernel kernel = checked;
      PassContext context;
      for (std::string_view flag : tensor_pipeline()) {
        SCOPED_TRACE(flag);
        pass_by_flag(flag)->tensor(kernel, context);
        ASSERT_EQ("", ir::to_text(ir::verify(kernel))) << ir::print(kernel);
        expect_same_results(checked, kernel, true, *sizes);
        if (HasFailure()) return;
      }
    }
  }
  RecordProperty("kernels", static_cast<int>(kernels));
  EXPECT_GE(kernels, 70u);
}

}  // namespace
}  // namespace tenon::passes
