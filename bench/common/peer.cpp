#include "bench/common/peer.h"

#include <fmt/format.h>

namespace tenon::bench {

std::string PeerVerdict::text() const {
  if (!wrong_values.empty()) return "wrong: " + wrong_values;
  return counts() ? "counts" : "too slow";
}

Result<PeerVerdict> judge_peer(Emulation& emulation, const CompiledSource& compiled, const Workload& workload,
                               const std::string& ptx) {
  PeerVerdict verdict;
  TENON_TRY_ASSIGN(verdict.run, emulation.run_peer(compiled, workload, ptx));
  verdict.instructions =
      static_cast<double>(verdict.run.instructions_without_mov()) / static_cast<double>(workload.units);
  verdict.wrong_values = workload.check(verdict.run.arrays);
  if (workload.published > 0) verdict.against_published = verdict.instructions / workload.published;
  return verdict;
}

}  // namespace tenon::bench
