// How kernels go about memory, on the emulated device's counters: what global memory moves over the least
// possible, how often the inputs are read, how wide, and what shared memory takes over the ideal.
#include <fmt/format.h>

#include <cstdio>
#include <string>
#include <vector>

#include "bench/common/emulation.h"
#include "bench/common/kernel.h"
#include "bench/common/table.h"
#include "bench/common/workload.h"

namespace tenon::bench {
namespace {

constexpr uint64_t kWideBytes = 16;
// For ratios of whole counts that should be 1.
constexpr double kExact = 1.005;

struct Case {
  std::string name;
  // Below bench/kernels, without its ending.
  std::string kernel;
  Sizes sizes;
  // What is wanted; 0 where nothing is.
  // Sectors over the least.
  double sectors = 0;
  // Bytes read over those of the largest input: broadcast ones are read again for every row.
  double reads = 0;
  // The share of bytes that is moved 16 at a time by a lane.
  double wide = 0;
  // Passes over shared memory over the ideal.
  double wavefronts = 0;
  // The share of lanes that work where global memory is read and written.
  double lanes = 0;
};

const std::vector<Case>& cases() {
  static const std::vector<Case> all = {
      {"bias_gelu", "bias_gelu", {{"M", 256}, {"N", 4096}}, 1, 2, 1, 0, 0},
      {"add", "add", {{"M", 1024}, {"N", 1024}}, 1, 2, 1, 0, 0},
      {"add [1000, 1023]", "add", {{"M", 1000}, {"N", 1023}}, 1, 2, 0.99, 0, 0},
      {"softmax", "softmax", {{"M", 256}, {"N", 4096}}, 1, 1, 1, 0, 0},
      {"softmax, N = 256", "softmax", {{"M", 1024}, {"N", 256}}, 1, 1, 1, 0, 0},
      {"softmax, N = 20000", "softmax", {{"M", 64}, {"N", 20000}}, 1, 1, 1, 0, 0},
      {"softmax, approximate", "softmax_approx", {{"M", 256}, {"N", 4096}}, 1, 1, 1, 0, 0},
      {"layernorm", "layernorm", {{"M", 256}, {"N", 4096}}, 1, 3, 1, 0, 0},
      {"rmsnorm", "rmsnorm", {{"M", 256}, {"N", 4096}}, 1, 2, 1, 0, 0},
      {"sum", "sum", {{"N", 1 << 22}}, 1, 1.01, 0.99, 0, 0},
      {"transpose", "transpose", {{"M", 1024}, {"N", 1024}}, 1, 1, 1, 1, 0},
      {"transpose [1024, 992]", "transpose", {{"M", 1024}, {"N", 992}}, 1, 1, 1, 1, 0},
      {"matmul", "matmul", {{"M", 2048}, {"N", 2048}, {"K", 64}}, 1, 0, 0, 1, 0},
      {"matmul, small", "matmul", {{"M", 256}, {"N", 256}, {"K", 256}}, 1, 0, 0, 1, 0},
      {"[1, 4096] by [4096, 4096]", "matmul", {{"M", 1}, {"N", 4096}, {"K", 4096}}, 1, 1.1, 0, 0, 0.99},
  };
  return all;
}

double over(uint64_t a, uint64_t b) { return b == 0 ? 1 : static_cast<double>(a) / static_cast<double>(b); }

uint64_t largest_input_bytes(const RunResult& run, const runtime::Program& program) {
  uint64_t largest = 0;
  for (size_t i = 0; i < run.arrays.size(); ++i)
    if (program.parameters[runtime::ParameterId(static_cast<uint32_t>(i))].role != runtime::Role::kResult)
      largest = std::max<uint64_t>(largest, std::as_const(*run.arrays[i]).bytes().size());
  return largest;
}

// What the instructions that access global memory did.
struct GlobalAccesses {
  uint64_t bytes = 0;
  // Of these, what a lane moved 16 at a time.
  uint64_t wide_bytes = 0;
  // By loads and asynchronous copies, in whole sectors.
  uint64_t fetched_bytes = 0;
  // The share of lanes that worked, the sum over all bytes.
  double busy = 0;

  double wide_share() const { return over(wide_bytes, bytes); }
  double busy_share() const { return bytes == 0 ? 1 : busy / static_cast<double>(bytes); }
};

GlobalAccesses global_accesses(const RunResult& run) {
  constexpr uint64_t kSectorBytes = 32;
  GlobalAccesses all;
  for (const emulator::LaunchReport& report : run.reports) {
    for (const emulator::InstructionReport& instruction : report.instructions) {
      const emulator::Counters& counters = instruction.counters;
      uint64_t bytes = counters.global_bytes_read + counters.global_bytes_written;
      all.bytes += bytes;
      if (bytes == counters.enabled_lanes * kWideBytes) all.wide_bytes += bytes;
      if (counters.global_bytes_read > 0) all.fetched_bytes += counters.global_sectors * kSectorBytes;
      all.busy +=
          static_cast<double>(bytes) * over(counters.enabled_lanes, counters.warps * emulator::kLanes);
    }
  }
  return all;
}

class Judge {
 public:
  // A measured value as text, marked where it misses what is wanted.
  std::string at_most(double value, double wanted) {
    return mark(value, wanted > 0 && value > wanted * kExact);
  }
  std::string at_least(double value, double wanted) { return mark(value, value < wanted); }
  int misses() const { return misses_; }

 private:
  std::string mark(double value, bool misses) {
    misses_ += misses;
    return fmt::format("{}{:.3f}", misses ? "*" : "", value);
  }

  int misses_ = 0;
};

int run(const std::string& only) {
  Table table({"kernel", "sectors/least", "reads", "16-byte share", "wavefronts/ideal", "lanes", "launches",
               "variants"});
  Judge judge;
  for (const Case& c : cases()) {
    if (!only.empty() && c.name != only) continue;
    Result<Emulation> emulation = Emulation::open();
    Result<std::string> source = bench_file("kernels/" + c.kernel + ".tn");
    if (!emulation || !source) return 3;
    Result<CompiledSource> compiled = compile_source(*source, {});
    Result<RunResult> run = compiled ? emulation->run(*compiled, c.sizes) : std::unexpected(compiled.error());
    if (!run) {
      fmt::print(stderr, "{}: {}\n", c.name, run.error().message);
      return 1;
    }
    emulator::Counters total = run->total();
    GlobalAccesses global = global_accesses(*run);
    std::string variants;
    for (const std::string& variant : run->variants) variants += (variants.empty() ? "" : " ") + variant;
    table.add(
        {c.name, judge.at_most(over(total.global_sectors, total.least_global_sectors), c.sectors),
         judge.at_most(over(global.fetched_bytes, largest_input_bytes(*run, compiled->program())), c.reads),
         judge.at_least(global.wide_share(), c.wide),
         judge.at_most(over(total.shared_wavefronts, total.ideal_shared_wavefronts), c.wavefronts),
         judge.at_least(global.busy_share(), c.lanes), fmt::format("{}", run->reports.size()), variants});
  }
  table.print();
  fmt::print("misses: {}\n", judge.misses());
  return 0;
}

}  // namespace
}  // namespace tenon::bench

int main(int count, char** arguments) { return tenon::bench::run(count > 1 ? arguments[1] : ""); }
