// The value of terms and conditions for given values of their atoms.
#pragma once

#include <cstdint>
#include <map>
#include <optional>

#include "frontend/prove/term.h"

namespace tenon::prove {

// Values of symbols and opaque values.
using Assignment = std::map<AtomId, int64_t>;
// Truth of opaque conditions, by the id of the one that is not negated.
using TruthAssignment = std::map<ConditionId, bool>;

// Keeps what it computed, so the assignments must not change while it lives; they are not copied.
class Evaluator {
 public:
  Evaluator(const TermStore& store, const Assignment& values, const TruthAssignment& truths)
      : store_(store), values_(values), truths_(truths) {}

  // Nothing where a value is not given, leaves 64 bits or lies in an atom that is too large to look into.
  std::optional<int64_t> value(TermId term);
  std::optional<bool> holds(ConditionId condition);

 private:
  std::optional<int64_t> value(AtomId atom);
  std::optional<int64_t> compute(AtomId atom);
  std::optional<bool> compute(ConditionId condition);

  const TermStore& store_;
  const Assignment& values_;
  const TruthAssignment& truths_;
  std::map<AtomId, std::optional<int64_t>> known_;
  std::map<ConditionId, std::optional<bool>> conditions_;
};

// Floor division as the language has it: x / 0 is 0. Nothing where the quotient leaves 64 bits.
std::optional<int64_t> evaluate_floor_div(int64_t a, int64_t b);

}  // namespace tenon::prove
