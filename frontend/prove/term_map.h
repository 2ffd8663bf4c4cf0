// A rebuilding walk over terms: derived classes say what becomes of an atom.
#pragma once

#include <map>

#include "frontend/prove/term.h"

namespace tenon::prove {

// The recursion is bounded by kMaxDepth and every node is mapped once, so results for a node must not depend
// on where it stands.
class TermMap {
 public:
  explicit TermMap(TermStore& store) : store_(store) {}
  virtual ~TermMap() = default;

  TermId map(TermId term);
  TermId map(AtomId atom);
  ConditionId map(ConditionId id);

 protected:
  virtual TermId map_atom(AtomId atom) = 0;
  // What to map instead of the term: an equal one.
  virtual TermId prepare(TermId term) { return term; }
  virtual ConditionId map_condition(ConditionId id);
  // The same operation on mapped operands.
  TermId map_operands(AtomId id);

  TermStore& store_;

 private:
  TermId map_polynomial(TermId term);

  std::map<TermId, TermId> terms_;
  std::map<AtomId, TermId> atoms_;
  std::map<ConditionId, ConditionId> conditions_;
};

}  // namespace tenon::prove
