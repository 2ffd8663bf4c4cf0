// Whether a peer is one to be compared with: right, and as good as what others have measured.
#pragma once

#include <string>

#include "bench/common/emulation.h"
#include "bench/common/workload.h"
#include "support/result.h"

namespace tenon::bench {

struct PeerVerdict {
  RunResult run;
  // PTX instructions a unit of work, without mov.
  double instructions = 0;
  // What is wrong with its values; empty if nothing is.
  std::string wrong_values;
  // Its instructions against the published figure, 1 being equal; 0 where there is none.
  double against_published = 0;

  // It counts: right values, and at most a tenth more instructions than published.
  bool counts() const { return wrong_values.empty() && against_published <= 1.1; }
  // "counts", or why it does not.
  std::string text() const;
};

Result<PeerVerdict> judge_peer(Emulation& emulation, const CompiledSource& compiled, const Workload& workload,
                               const std::string& ptx);

}  // namespace tenon::bench
