// Every kernel of the corpus: checked without a mistake, or refused by the one feature that is not built yet.
#include <filesystem>
#include <fstream>
#include <map>
#include <sstream>
#include <vector>

#include "test/unit/check/checked.h"

namespace tenon::frontend {
namespace {

struct Refused {
  std::string_view file;
  std::string_view kernel;
  std::string_view code;
};

constexpr Refused kRefused[] = {
    {"argmax_topk.tn", "topk", "E0601"},
    {"cache_write.tn", "cache_write", "E0601"},
    {"cache_write.tn", "cache_write2", "E0601"},
    {"dropout.tn", "dropout", "E0610"},
    {"embedding.tn", "embedding_grad", "E0601"},
    {"embedding.tn", "embedding_bag", "E0604"},
    {"gemm.tn", "gemm_accumulate", "E0602"},
    {"gemm.tn", "gemm_accumulate", "E0606"},
    {"gemm.tn", "gemm_splitk", "E0607"},
    {"gemm_f8.tn", "gemm_f8", "E0608"},
    {"histogram_compact.tn", "histogram", "E0602"},
    {"histogram_compact.tn", "cdf", "E0602"},
    {"histogram_compact.tn", "compact", "E0601"},
    {"kmeans.tn", "centroid_sums", "E0601"},
    {"mandelbrot.tn", "mandelbrot", "E0603"},
    {"scan.tn", "ssm", "E0603"},
    {"scan.tn", "iir2", "E0603"},
    {"scan.tn", "fibonacci", "E0603"},
    {"spec_examples.tn", "histogram", "E0601"},
    {"spmv_csr.tn", "spmv", "E0604"},
    {"spmv_csr.tn", "spmv_default", "E0604"},
};
// Schedules change no value: the kernel is there all the same.
constexpr std::string_view kOfSchedule = "E0607";

CheckOptions corpus_options(std::string_view file) {
  CheckOptions options;
  options.types = {{"T", ElementType::kF16}};
  options.sizes = {{"U", 2}, {"A", 1}};
  if (file == "conv2d.tn") options.sizes.insert({{"P", 1}, {"G", 2}});
  if (file == "pool.tn" || file == "argmax_topk.tn") options.sizes.insert({{"K", 3}});
  if (file == "cache_write.tn" || file == "paged_attention.tn") options.sizes.insert({{"P", 16}});
  if (file == "attention.tn" || file == "paged_attention.tn" || file == "spec_examples.tn")
    options.sizes.insert({{"D", 64}});
  if (file == "layout.tn") options.sizes.insert({{"H", 4}});
  if (file == "mandelbrot.tn") {
    options.types.clear();
    options.sizes.insert({{"T", 8}});
  }
  return options;
}

std::string kernel_at(const Module& module, const Diagnostic& diagnostic) {
  for (const Kernel& kernel : module.kernels)
    if (kernel.span.begin <= diagnostic.span.begin && diagnostic.span.end <= kernel.span.end)
      return std::string(kernel.signature.name.text);
  for (const Schedule& schedule : module.schedules)
    if (schedule.span == diagnostic.span) return std::string(schedule.kernel.text);
  return "";
}

// A mistake in a function belongs to the kernel that calls it.
std::string only_kernel(const Module& module) {
  return module.kernels.size() == 1 ? std::string(module.kernels.begin()->signature.name.text) : "";
}

TEST(Corpus, EveryKernelIsCheckedOrRefusedByItsFeature) {
  std::vector<std::filesystem::path> files;
  for (const auto& entry : std::filesystem::directory_iterator(TENON_CORPUS)) files.push_back(entry.path());
  std::ranges::sort(files);
  ASSERT_GE(files.size(), 31u);
  size_t kernels = 0;
  for (const auto& path : files) {
    SCOPED_TRACE(path.string());
    const std::string name = path.filename().string();
    std::ifstream input(path);
    std::stringstream text;
    text << input.rdbuf();
    const Checked checked(text.str(), corpus_options(name));
    std::map<std::string, std::set<std::string>> refused;
    for (const Diagnostic& d : checked.diagnostics.all()) {
      std::string kernel = kernel_at(checked.module, d);
      if (kernel.empty()) kernel = only_kernel(checked.module);
      refused[kernel].insert(std::string(row(d.id).code));
    }
    std::map<std::string, std::set<std::string>> expected;
    for (const Refused& each : kRefused)
      if (each.file == name) expected[std::string(each.kernel)].insert(std::string(each.code));
    EXPECT_EQ(refused, expected) << checked.rendered();
    std::set<std::string> present;
    for (const ir::Kernel& kernel : checked.result.module.kernels) present.insert(kernel.name);
    for (const Kernel& kernel : checked.module.kernels) {
      const std::string kernel_name(kernel.signature.name.text);
      const auto codes = expected.find(kernel_name);
      const bool stays = codes == expected.end() || codes->second == std::set{std::string(kOfSchedule)};
      EXPECT_EQ(present.contains(kernel_name), stays) << kernel_name;
      ++kernels;
    }
    EXPECT_TRUE(checked.result.uninstantiated.empty());
  }
  EXPECT_GE(kernels, 90u);
}

}  // namespace
}  // namespace tenon::frontend
