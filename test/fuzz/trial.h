// One program through everything that we have: checker, passes, both interpreters, code generation and the
// emulated device, which have to agree.
#pragma once

#include <cstdint>
#include <string>

#include "frontend/check/check.h"

namespace tenon::fuzz {

struct Report {
  enum class Verdict {
    kPassed,
    // By a diagnostic that names a limit, or what is not built yet.
    kRefused,
    kFinding,
  };
  Verdict verdict = Verdict::kPassed;
  // What kind of finding: two programs of one kind may have one cause. A word.
  std::string kind;
  std::string text;
  int64_t launches = 0;
  int64_t elements = 0;
  // Elements of which the reference promises nothing.
  int64_t ambiguous = 0;
};

struct TrialOptions {
  // Sizes, values and target follow from it.
  uint64_t seed = 1;
  // Sizes that are tried.
  int rounds = 3;
  // Scalar operations of a launch, about; sizes are chosen to stay below.
  double most_work = 1e6;
};

// An internal error or a crash ends the process.
Report try_program(const std::string& source, const frontend::CheckOptions& settings,
                   const TrialOptions& options);

}  // namespace tenon::fuzz
