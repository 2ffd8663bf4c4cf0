// Values for which the facts hold and a goal does not, found by trying small ones.
#pragma once

#include <optional>
#include <span>
#include <string>

#include "frontend/prove/evaluate.h"
#include "frontend/prove/term.h"

namespace tenon::prove {

struct Counterexample {
  Assignment values;
  // "N = 1, i = 0", sizes first.
  std::string text;
};

// Deterministic; tries a bounded number of assignments. `facts` are conditions, the ranges of all symbols and
// opaque values involved are facts too.
std::optional<Counterexample> find_counterexample(const TermStore& store, std::span<const ConditionId> facts,
                                                  std::span<const ConditionId> clauses, ConditionId goal);

}  // namespace tenon::prove
