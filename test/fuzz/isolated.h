// A trial in a process of its own, so that a crash is a finding like others.
#pragma once

#include "program.h"
#include "trial.h"

namespace tenon::fuzz {

// More than so many seconds of processor time count as a hang.
Report try_isolated(const Program& program, const TrialOptions& options, unsigned seconds);

}  // namespace tenon::fuzz
