// The search for a proof that a condition follows from facts.
#pragma once

#include <cstdint>
#include <optional>
#include <unordered_set>
#include <utility>
#include <vector>

#include "frontend/prove/facts.h"

namespace tenon::prove {

// Shared by a search and the searches for its cases.
struct Budget {
  uint32_t steps = 0;
  uint32_t limit = 0;

  bool spent() const { return steps >= limit; }
};

class Search {
 public:
  // The facts are settled.
  Search(Facts facts, Budget& budget) : facts_(std::move(facts)), budget_(budget) {}

  // Sound: true only if the goal follows. `cases` bounds how often facts are split into cases, one inside the
  // other.
  bool prove(ConditionId goal, int cases);
  // Goals, free of everything but dimensions and scalars, at which the search ended: any one of them would
  // have done. First come first.
  const std::vector<Polynomial>& leaves() const { return leaves_; }

 private:
  bool prove_non_negative(TermId term, int cases);
  bool prove_any(const std::vector<ConditionId>& goals, int cases);
  bool prove_by_cases(ConditionId goal, int cases);
  // The search over eliminations: `local_limit` is the count of steps at which to stop.
  bool derive(Polynomial p, int depth, uint32_t local_limit);
  bool derive_by(const Facts::View& view, const std::vector<Polynomial>& facts, int depth,
                 uint32_t local_limit);
  bool derive_contradiction();
  Polynomial reduced(Polynomial p);
  bool case_holds(ConditionId goal, ConditionId fact, int cases,
                  std::optional<std::pair<AtomId, TermId>> definition = {});
  void charge_for_case();
  void note_leaf(const Polynomial& p);

  Facts facts_;
  Budget& budget_;
  // Hashes of what did not lead to a proof; a collision costs a proof, never soundness.
  std::unordered_set<uint64_t> failed_;
  std::vector<Polynomial> leaves_;
};

}  // namespace tenon::prove
