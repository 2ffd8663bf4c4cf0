// The code that comes out, against hand-written CUDA C++: PTX instructions that a unit of work executes (mov
// left out, which assemblers remove), counted by the emulated device on both sides, and registers by ptxas.
#include <fmt/format.h>

#include <cstdio>
#include <optional>
#include <string>

#include "bench/common/emulation.h"
#include "bench/common/kernel.h"
#include "bench/common/nvrtc.h"
#include "bench/common/peer.h"
#include "bench/common/ptxas.h"
#include "bench/common/table.h"
#include "bench/common/workload.h"

namespace tenon::bench {
namespace {

struct Code {
  double instructions = 0;
  std::string registers = "-";
  std::string note;
};

// The most registers of any module; "+N" tells bytes of spills.
Result<std::string> registers_of(const std::optional<Ptxas>& ptxas, const std::vector<std::string>& modules) {
  if (!ptxas) return "-";
  Assembly most;
  for (const std::string& ptx : modules) {
    TENON_TRY_ASSIGN(Assembly assembly, ptxas->assemble(ptx));
    most.registers = std::max(most.registers, assembly.registers);
    most.spill_bytes += assembly.spill_bytes;
  }
  return most.spill_bytes == 0 ? fmt::format("{}", most.registers)
                               : fmt::format("{}+{}", most.registers, most.spill_bytes);
}

Result<Code> measure(const Workload& workload, const std::optional<Ptxas>& ptxas, const Sizes& fixed) {
  TENON_TRY_ASSIGN(std::string source, workload.kernel_source());
  TENON_TRY_ASSIGN(CompiledSource compiled, compile_source(source, fixed));
  TENON_TRY_ASSIGN(Emulation emulation, Emulation::open());
  TENON_TRY_ASSIGN(RunResult run, emulation.run(compiled, workload.sizes));
  Code code;
  code.instructions =
      static_cast<double>(run.instructions_without_mov()) / static_cast<double>(workload.units);
  TENON_TRY_ASSIGN(code.registers, registers_of(ptxas, run.ptx));
  code.note = workload.check(run.arrays);
  for (const std::string& variant : run.variants) code.note += (code.note.empty() ? "" : " ") + variant;
  return code;
}

Result<Code> measure_peer(const Nvrtc& nvrtc, const Workload& workload, const std::optional<Ptxas>& ptxas) {
  TENON_TRY_ASSIGN(std::string kernel_source, workload.kernel_source());
  TENON_TRY_ASSIGN(CompiledSource compiled, compile_source(kernel_source, {}));
  TENON_TRY_ASSIGN(std::string source, workload.peer_source());
  TENON_TRY_ASSIGN(std::string ptx, nvrtc.compile(source, workload.peer_defines()));
  TENON_TRY_ASSIGN(Emulation emulation, Emulation::open());
  TENON_TRY_ASSIGN(PeerVerdict verdict, judge_peer(emulation, compiled, workload, ptx));
  Code code{.instructions = verdict.instructions, .registers = "-", .note = verdict.text()};
  TENON_TRY_ASSIGN(code.registers, registers_of(ptxas, {ptx}));
  if (verdict.against_published > 0)
    code.note += fmt::format(" ({:.2f} of published)", verdict.against_published);
  return code;
}

std::string number(const Result<Code>& code) {
  return code ? fmt::format("{:.2f}", code->instructions) : "failed";
}
std::string registers(const Result<Code>& code) { return code ? code->registers : "-"; }
std::string ratio(const Result<Code>& code, const Result<Code>& peer) {
  return code && peer ? fmt::format("{:.2f}", code->instructions / peer->instructions) : "-";
}

int run(const std::string& only) {
  Result<Nvrtc> nvrtc = Nvrtc::open();
  std::optional<Ptxas> ptxas = Ptxas::find();
  if (!nvrtc) fmt::print("peers skipped: {}\n", nvrtc.error().message);
  if (!ptxas) fmt::print("registers skipped: this machine has no ptxas\n");
  Table table({"kernel", "symbolic", "fixed", "peer", "symbolic/peer", "fixed/peer", "registers", "fixed",
               "peer", "variants", "peer"});
  for (const Workload& workload : workloads()) {
    if (!only.empty() && workload.name != only) continue;
    Result<Code> symbolic = measure(workload, ptxas, {});
    Result<Code> fixed = measure(workload, ptxas, workload.sizes);
    Result<Code> peer = nvrtc ? measure_peer(*nvrtc, workload, ptxas) : std::unexpected(nvrtc.error());
    for (const Result<Code>* code : {&symbolic, &fixed, &peer})
      if (!*code) fmt::print(stderr, "{}: {}\n", workload.name, code->error().message);
    table.add({workload.name, number(symbolic), number(fixed), number(peer), ratio(symbolic, peer),
               ratio(fixed, peer), registers(symbolic), registers(fixed), registers(peer),
               fixed ? fixed->note : "-", peer ? peer->note : "-"});
  }
  table.print();
  return 0;
}

}  // namespace
}  // namespace tenon::bench

int main(int count, char** arguments) { return tenon::bench::run(count > 1 ? arguments[1] : ""); }
