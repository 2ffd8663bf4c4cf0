// How fast the emulated device runs, with every check on: lane instructions a second over the examples at
// large sizes.
#include <fmt/format.h>

#include <cstdio>
#include <string>
#include <thread>
#include <vector>

#include "bench/common/clock.h"
#include "bench/common/emulation.h"
#include "bench/common/kernel.h"
#include "bench/common/table.h"
#include "bench/common/workload.h"
#include "support/file.h"

namespace tenon::bench {
namespace {

constexpr uint64_t kMostSourceBytes = uint64_t{1} << 20;

struct Case {
  // Below examples/, without its ending.
  std::string example;
  // Sizes that must be known when compiling.
  Sizes fixed;
  Sizes sizes;
};

const std::vector<Case>& cases() {
  static const std::vector<Case> all = {
      {"axpy", {}, {{"N", 1 << 23}}},
      {"bias_gelu", {}, {{"M", 1024}, {"N", 4096}}},
      {"softmax", {}, {{"M", 1024}, {"N", 4096}}},
      {"log_softmax", {}, {{"M", 1024}, {"N", 4096}}},
      {"layernorm", {}, {{"M", 1024}, {"N", 4096}}},
      {"rmsnorm", {}, {{"M", 1024}, {"N", 4096}}},
      {"cross_entropy", {}, {{"N", 512}, {"C", 4096}}},
      {"transpose", {}, {{"M", 2048}, {"N", 2048}}},
      {"permute", {}, {{"B", 8}, {"S", 512}, {"H", 16}, {"D", 64}}},
      {"sum", {}, {{"N", 1 << 24}}},
      {"variance", {}, {{"M", 1024}, {"N", 4096}}},
      {"argmax", {}, {{"M", 1024}, {"N", 4096}}},
      {"matmul", {}, {{"M", 2048}, {"N", 2048}, {"K", 128}}},
      {"batched_matmul", {}, {{"B", 8}, {"M", 256}, {"N", 256}, {"K", 256}}},
      {"linear_gelu_residual", {}, {{"M", 512}, {"N", 512}, {"K", 512}}},
      {"conv2d",
       {{"P", 1}, {"U", 1}, {"A", 1}, {"G", 1}},
       {{"B", 4}, {"C", 32}, {"H", 32}, {"W", 32}, {"F", 32}, {"R", 3}, {"S", 3}}},
      {"max_pool", {}, {{"B", 8}, {"C", 16}, {"H", 128}, {"W", 128}}},
      {"heat", {}, {{"H", 1024}, {"W", 2048}}},
      {"attention", {{"D", 64}}, {{"B", 1}, {"H", 4}, {"G", 2}, {"S", 256}, {"C", 256}}},
  };
  return all;
}

struct Speed {
  uint64_t lane_instructions = 0;
  // Wall-clock time in launches, and the CPU time of the whole run with its copies.
  double seconds = 0;
  double cpu_seconds = 0;

  double billions_a_second() const { return static_cast<double>(lane_instructions) / seconds * 1e-9; }
  double billions_a_cpu_second() const { return static_cast<double>(lane_instructions) / cpu_seconds * 1e-9; }
};

Result<Speed> measure(Emulation& emulation, const Case& c) {
  TENON_TRY_ASSIGN(std::string source,
                   read_file(project_path("examples/" + c.example + ".tn"), kMostSourceBytes));
  TENON_TRY_ASSIGN(CompiledSource compiled, compile_source(source, c.fixed));
  Sizes sizes = c.sizes;
  sizes.insert(c.fixed.begin(), c.fixed.end());
  double start = cpu_ms();
  TENON_TRY_ASSIGN(RunResult run, emulation.run(compiled, sizes));
  Speed speed;
  speed.cpu_seconds = (cpu_ms() - start) / 1e3;
  for (const emulator::LaunchReport& report : run.reports) {
    speed.lane_instructions += report.lane_instructions();
    speed.seconds += report.seconds;
  }
  return speed;
}

int run(const std::string& only) {
  Result<Emulation> emulation = Emulation::open();
  if (!emulation) return 3;
  fmt::print("{} cores, billions of lane instructions\n", std::thread::hardware_concurrency());
  Table table({"example", "executed", "a second", "a CPU second"});
  Speed total;
  for (const Case& c : cases()) {
    if (!only.empty() && c.example != only) continue;
    Result<Speed> speed = measure(*emulation, c);
    if (!speed) {
      fmt::print(stderr, "{}: {}\n", c.example, speed.error().message);
      continue;
    }
    total.lane_instructions += speed->lane_instructions;
    total.seconds += speed->seconds;
    total.cpu_seconds += speed->cpu_seconds;
    table.add({c.example, fmt::format("{:.3f}", static_cast<double>(speed->lane_instructions) * 1e-9),
               fmt::format("{:.3f}", speed->billions_a_second()),
               fmt::format("{:.3f}", speed->billions_a_cpu_second())});
  }
  table.print();
  fmt::print("all: {:.3f} G lane instructions a second, {:.3f} a CPU second\n", total.billions_a_second(),
             total.billions_a_cpu_second());
  return 0;
}

}  // namespace
}  // namespace tenon::bench

int main(int count, char** arguments) { return tenon::bench::run(count > 1 ? arguments[1] : ""); }
