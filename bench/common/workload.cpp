#include "bench/common/workload.h"

#include <fmt/format.h>

#include "support/file.h"

namespace tenon::bench {
namespace {

constexpr int64_t kRows = 256;
constexpr int64_t kColumns = 4096;
constexpr int64_t kSide = 1024;
constexpr int64_t kLong = int64_t{1} << 24;
constexpr uint64_t kMostSourceBytes = uint64_t{1} << 20;

Workload row_workload(std::string name, std::string kernel, std::string peer, uint32_t parameters,
                      double published, Reference* check) {
  Workload workload;
  workload.name = std::move(name);
  workload.kernel = "kernels/" + kernel + ".tn";
  workload.peer = "peers/" + peer + ".cu";
  workload.sizes = {{"M", kRows}, {"N", kColumns}};
  workload.units = kRows * kColumns;
  workload.published = published;
  workload.check = check;
  workload.launches = {{peer, kRows, 256, {}}};
  for (uint32_t i = 0; i < parameters; ++i) workload.launches[0].arguments.push_back(i);
  return workload;
}

Workload bias_gelu() {
  Workload workload = row_workload("bias_gelu", "bias_gelu", "bias_gelu", 3, 36.0, check_bias_gelu);
  workload.launches[0].grid = workload.units / (4 * 4 * 256);
  return workload;
}

Workload softmax_approx() {
  Workload workload =
      row_workload("softmax, approximate", "softmax_approx", "softmax", 2, 11.2, check_softmax_approx);
  workload.defines = {"EXP=__expf"};
  return workload;
}

Workload transpose() {
  Workload workload = row_workload("transpose", "transpose", "transpose", 2, 4.3, check_transpose);
  workload.sizes = {{"M", kSide}, {"N", kSide}};
  workload.units = kSide * kSide;
  workload.launches[0].grid = workload.units / (128 * 32);
  return workload;
}

Workload sum() {
  constexpr int64_t kBlocks = 1024;
  Workload workload = row_workload("sum", "sum", "sum", 0, 3.1, check_sum);
  workload.sizes = {{"N", kLong}};
  workload.units = kLong;
  workload.launches = {{"sum_partials", kBlocks, 256, {0, kScratch}}, {"sum_total", 1, 256, {kScratch, 1}}};
  workload.scratch_bytes = kBlocks * 4;
  return workload;
}

// Large enough that tiles of 128 x 128 fill a GPU.
Workload matmul() {
  constexpr int64_t kLargeSide = 2048;
  constexpr int64_t kDepth = 256;
  Workload workload = row_workload("matmul", "matmul", "matmul", 3, 1.11, check_matmul);
  workload.sizes = {{"M", kLargeSide}, {"N", kLargeSide}, {"K", kDepth}};
  workload.units = kLargeSide * kLargeSide * kDepth;
  workload.launches[0].grid = (kLargeSide / 128) * (kLargeSide / 128);
  return workload;
}

}  // namespace

const std::vector<Workload>& workloads() {
  static const std::vector<Workload> all = {
      bias_gelu(),
      row_workload("softmax", "softmax", "softmax", 2, 0, check_softmax),
      softmax_approx(),
      row_workload("layernorm", "layernorm", "layernorm", 5, 11.4, check_layernorm),
      row_workload("rmsnorm", "rmsnorm", "rmsnorm", 4, 7.3, check_rmsnorm),
      transpose(),
      sum(),
      matmul(),
  };
  return all;
}

std::vector<std::string> Workload::peer_defines() const {
  std::vector<std::string> all = defines;
  for (const auto& [name, value] : sizes) all.push_back(fmt::format("{}={}", name, value));
  return all;
}

Result<std::string> Workload::kernel_source() const { return bench_file(kernel); }
Result<std::string> Workload::peer_source() const { return bench_file(peer); }

std::string project_path(const std::string& path) { return std::string(TENON_PROJECT_FOLDER) + "/" + path; }
Result<std::string> bench_file(const std::string& path) {
  return read_file(project_path("bench/" + path), kMostSourceBytes);
}

}  // namespace tenon::bench
