// CPU time from source text to PTX text, both in memory and with nothing kept between runs, beside NVRTC on
// hand-written CUDA C++ of the same operations in the same process.
#include <fmt/format.h>

#include <algorithm>
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

struct Times {
  double symbolic = std::numeric_limits<double>::infinity();
  double fixed = std::numeric_limits<double>::infinity();
  // 0 without NVRTC.
  double peer = 0;
};

// Adds a run to the least time so far.
template <class Call>
Result<void> time_once(double& least, Call&& call) {
  double start = cpu_ms();
  auto result = call();
  double time = cpu_ms() - start;
  if (!result) return std::unexpected(result.error());
  least = std::min(least, time);
  return {};
}

// The three take turns, so that a change in the machine's speed meets all. The first round warms up.
Result<Times> measure(const Workload& workload, const Result<Nvrtc>& nvrtc) {
  TENON_TRY_ASSIGN(std::string source, workload.kernel_source());
  TENON_TRY_ASSIGN(std::string peer, workload.peer_source());
  Times times;
  if (nvrtc) times.peer = std::numeric_limits<double>::infinity();
  for (int run = 0; run <= kRuns; ++run) {
    TENON_TRY(time_once(times.symbolic, [&] { return compile_for_launch(source, {}, workload.sizes); }));
    TENON_TRY(
        time_once(times.fixed, [&] { return compile_for_launch(source, workload.sizes, workload.sizes); }));
    if (!nvrtc) continue;
    TENON_TRY(time_once(times.peer, [&] { return nvrtc->compile(peer, workload.peer_defines()); }));
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

// The least of ratios, and which kernel has it.
struct Least {
  double ratio = std::numeric_limits<double>::infinity();
  std::string kernel = "none";

  void add(double value, const std::string& name) {
    if (value < ratio) *this = {value, name};
  }
  std::string text() const { return fmt::format("{:.2f} ({})", ratio, kernel); }
};

int run(const std::string& only) {
  Result<Nvrtc> nvrtc = Nvrtc::open();
  fmt::print("CPU ms from source to PTX, sm_80, warm, least of {}; NVRTC {}\n", kRuns,
             nvrtc ? nvrtc->version() : "skipped: " + nvrtc.error().message);
  Table table(
      {"kernel", "symbolic", "fixed", "NVRTC", "NVRTC/symbolic", "NVRTC/fixed", "peer/published", "peer"});
  Least symbolic;
  Least fixed;
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
      bool has_figure = verdict && verdict->against_published > 0;
      row.push_back(has_figure ? fmt::format("{:.2f}", verdict->against_published) : "-");
      row.push_back(verdict ? verdict->text() : verdict.error().message);
      if (verdict && verdict->counts()) {
        symbolic.add(times->peer / times->symbolic, workload.name);
        fixed.add(times->peer / times->fixed, workload.name);
      }
    }
    table.add(std::move(row));
  }
  table.print();
  if (only.empty()) print_processes(nvrtc.has_value());
  if (!nvrtc) return 0;
  fmt::print("least with symbolic sizes: {}; with fixed sizes: {}\n", symbolic.text(), fixed.text());
  fmt::print("least ratio over NVRTC: {}\n", (symbolic.ratio < fixed.ratio ? symbolic : fixed).text());
  return 0;
}

}  // namespace
}  // namespace tenon::bench

int main(int count, char** arguments) { return tenon::bench::run(count > 1 ? arguments[1] : ""); }
