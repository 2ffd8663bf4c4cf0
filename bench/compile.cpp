// CPU time from source text to PTX text, both in memory and with nothing kept between runs, beside NVRTC on
// hand-written CUDA C++ of the same operations in the same process.
#include <fmt/format.h>

#include <cstdio>
#include <limits>
#include <string>
#include <utility>

#include "bench/common/clock.h"
#include "bench/common/emulation.h"
#include "bench/common/kernel.h"
#include "bench/common/nvrtc.h"
#include "bench/common/peer.h"
#include "bench/common/process.h"
#include "bench/common/table.h"
#include "bench/common/workload.h"

namespace tenon::bench {
namespace {

constexpr int kRuns = 20;
constexpr int kProcessRuns = 20;

// Compiles what a launch of `sizes` takes, every step of it. Gives the bytes of PTX.
Result<size_t> compile_kernel(const std::string& source, const Sizes& fixed, const Sizes& sizes) {
  TENON_TRY_ASSIGN(CompiledSource compiled, compile_source(source, fixed));
  TENON_TRY_ASSIGN(std::vector<uint32_t> variants, selected_variants(compiled.program(), sizes));
  size_t bytes = 0;
  for (uint32_t step = 0; step < variants.size(); ++step) {
    TENON_TRY_ASSIGN(runtime::LoweredVariant code, compiled.kernel->lower(step, variants[step]));
    bytes += code.ptx.size();
  }
  return bytes;
}

// The least CPU time of `call`, which gives a Result, in milliseconds.
template <class Call>
Result<double> least_time(Call&& call) {
  // The first run warms up and tells whether it works at all.
  if (auto first = call(); !first) return std::unexpected(first.error());
  return least_cpu_ms(kRuns, [&] { static_cast<void>(call()); });
}

struct Times {
  double symbolic = 0;
  double fixed = 0;
  // 0 without NVRTC.
  double peer = 0;
};

// Runs alternate in short rounds, so that a change in the machine's speed meets all.
Result<Times> measure(const Workload& workload, const Result<Nvrtc>& nvrtc) {
  TENON_TRY_ASSIGN(std::string source, workload.kernel_source());
  TENON_TRY_ASSIGN(std::string peer, workload.peer_source());
  Times times;
  TENON_TRY_ASSIGN(times.symbolic, least_time([&] { return compile_kernel(source, {}, workload.sizes); }));
  TENON_TRY_ASSIGN(times.fixed,
                   least_time([&] { return compile_kernel(source, workload.sizes, workload.sizes); }));
  if (nvrtc) {
    TENON_TRY_ASSIGN(times.peer, least_time([&] { return nvrtc->compile(peer, workload.peer_defines()); }));
  }
  return times;
}

Result<PeerVerdict> judge(const Workload& workload, const Nvrtc& nvrtc) {
  TENON_TRY_ASSIGN(std::string source, workload.kernel_source());
  TENON_TRY_ASSIGN(std::string peer, workload.peer_source());
  TENON_TRY_ASSIGN(CompiledSource compiled, compile_source(source, {}));
  TENON_TRY_ASSIGN(std::string ptx, nvrtc.compile(peer, workload.peer_defines()));
  TENON_TRY_ASSIGN(Emulation emulation, Emulation::open());
  return judge_peer(emulation, compiled, workload, ptx);
}

// The least CPU time of a process, in milliseconds.
Result<double> process_time(const std::vector<std::string>& arguments) {
  double least = std::numeric_limits<double>::infinity();
  for (int run = 0; run < kProcessRuns; ++run) {
    TENON_TRY_ASSIGN(ProcessResult result, run_process(arguments));
    if (result.status != 0)
      return fail(ErrorKind::kMachine, fmt::format("{} fails:\n{}", arguments[0], result.output));
    least = std::min(least, result.cpu_ms);
  }
  return least;
}

void print_processes(bool has_nvrtc) {
  Result<double> ours = process_time(
      {sibling_path("../bin/tenon"), "compile", project_path("examples/softmax.tn"), "--set", "N=4096"});
  if (!ours) {
    fmt::print("process: {}\n", ours.error().message);
    return;
  }
  fmt::print("\nprocess, softmax with N = 4096: tenon {:.1f} ms", *ours);
  Result<double> peer = has_nvrtc ? process_time({sibling_path("nvrtc_process"),
                                                  project_path("bench/peers/softmax.cu"), "M=256", "N=4096"})
                                  : fail(ErrorKind::kMachine, "skipped");
  if (peer)
    fmt::print(", NVRTC {:.1f} ms, {:.2f}\n", *peer, *peer / *ours);
  else
    fmt::print(", NVRTC {}\n", peer.error().message);
}

int run(const std::string& only) {
  Result<Nvrtc> nvrtc = Nvrtc::open();
  fmt::print("CPU ms from source to PTX, sm_80, warm, least of {}; NVRTC {}\n", kRuns,
             nvrtc ? nvrtc->version() : "skipped: " + nvrtc.error().message);
  Table table(
      {"kernel", "symbolic", "fixed", "NVRTC", "NVRTC/symbolic", "NVRTC/fixed", "peer/published", "peer"});
  double least = std::numeric_limits<double>::infinity();
  std::string slowest = "none";
  for (const Workload& workload : workloads()) {
    if (!only.empty() && workload.name != only) continue;
    Result<Times> times = measure(workload, nvrtc);
    if (!times) {
      fmt::print(stderr, "{}: {}\n", workload.name, times.error().message);
      return 1;
    }
    std::vector<std::string> row = {workload.name, fmt::format("{:.2f}", times->symbolic),
                                    fmt::format("{:.2f}", times->fixed)};
    if (nvrtc) {
      Result<PeerVerdict> verdict = judge(workload, *nvrtc);
      for (double value : {times->peer, times->peer / times->symbolic, times->peer / times->fixed})
        row.push_back(fmt::format("{:.2f}", value));
      row.push_back(verdict && verdict->against_published > 0
                        ? fmt::format("{:.2f}", verdict->against_published)
                        : "-");
      row.push_back(verdict ? verdict->text() : verdict.error().message);
      double ratio = times->peer / std::max(times->symbolic, times->fixed);
      if (ratio < least) {
        least = ratio;
        slowest = workload.name;
      }
    }
    table.add(std::move(row));
  }
  table.print();
  if (only.empty()) print_processes(nvrtc.has_value());
  if (nvrtc) fmt::print("least ratio over NVRTC: {:.2f} ({})\n", least, slowest);
  return 0;
}

}  // namespace
}  // namespace tenon::bench

int main(int count, char** arguments) { return tenon::bench::run(count > 1 ? arguments[1] : ""); }
