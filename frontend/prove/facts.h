// What is known at one point of a program, in the form that the search works with: definitions that rewrite
// atoms, constant lower bounds of atoms, polynomials that are not negative, and the rest (alternatives) for
// case splits.
#pragma once

#include <cstdint>
#include <map>
#include <optional>
#include <set>
#include <span>
#include <vector>

#include "frontend/prove/context.h"
#include "frontend/prove/term.h"

namespace tenon::prove {

class Facts {
 public:
  // How many operations and ranges deep a constant lower bound is looked for.
  static constexpr int kLowerBoundDepth = 3;

  explicit Facts(TermStore& store) : store_(&store) {}

  // Takes effect with the next `settle`.
  void assume(ConditionId fact, FactKind kind);
  // Rewrites all facts by each other until nothing changes.
  void settle();
  // In the rest of the problem, the atom is the term, which does not mention it; both have been rewritten.
  void define(AtomId atom, TermId term);
  // That these symbols have values: their ranges, and those of the symbols in the ranges, are not empty.
  void assume_nonempty_ranges(std::span<const AtomId> atoms);
  // Gives every sum that something in the goal, the facts or the ranges of the goal's symbols is divided by a
  // name.
  void name_divisors(ConditionId goal);
  // Whether the facts were found to contradict each other; everything holds then.
  bool contradictory() const { return contradictory_; }

  TermId rewrite(TermId term);
  // The term without the symbols that stand here for a quotient or a divisor; nothing if one stands for
  // neither.
  std::optional<TermId> in_source_symbols(TermId term);
  ConditionId rewrite(ConditionId condition);
  bool is_true(ConditionId opaque) const { return truths_.contains(opaque); }

  // Whether p >= 0 follows from constant lower bounds of its atoms alone.
  bool clearly_non_negative(const Polynomial& p, int depth = kLowerBoundDepth);
  // As above, after replacing symbols by the ends of their ranges.
  bool non_negative_by_ranges(Polynomial p);
  bool clearly_positive(TermId term);
  std::optional<int64_t> lower_bound(AtomId atom, int depth = kLowerBoundDepth);

  // Polynomials that are not negative because of what the atom is: its range, or the law of its operation.
  const std::vector<Polynomial>& bounds(AtomId atom);
  // Polynomials that are not negative by the assumed facts.
  const std::vector<Polynomial>& inequalities() const { return inequalities_; }
  // Assumed bounds of single atoms: atom >= bound.
  const std::map<AtomId, int64_t>& lower_bounds() const { return lower_bounds_; }
  // Facts that the search may split on: disjunctions, and terms that are not 0.
  const std::vector<ConditionId>& alternatives() const { return alternatives_; }

  // A polynomial seen from one of its atoms: p = coefficient * atom + rest, the coefficient's sign known.
  struct View {
    const Polynomial* p;
    AtomId atom;
    Polynomial coefficient;
    bool non_negative;
  };
  // Nothing where the sign is not known. The polynomial must outlive the view.
  std::optional<View> view(const Polynomial& p, AtomId atom);
  // Another polynomial, got by using `fact` (not negative) against the atom: if it is not negative, neither
  // is p. Nothing if the fact does not help, or the result would be too large to be worth a step.
  std::optional<Polynomial> eliminate(const View& view, const Polynomial& fact);
  // The atoms of the monomials (not of operands), those that depend on most others first.
  std::vector<AtomId> atoms_by_rank(const Polynomial& p) const;

  TermStore& store() { return *store_; }

 private:
  friend class Rewriter;
  enum class Sign : int8_t { kUnknown, kNonNegative, kNonPositive };

  void take(ConditionId fact);
  void take_divisors(ConditionId fact);
  void take_inequality(Polynomial p);
  void raise_lower_bound(AtomId id, int64_t bound);
  void raise_what_exceeds(const Polynomial& p);
  bool solve(TermId equation);
  bool solve_for(AtomId atom, TermId equation);
  bool solve_division(AtomId quotient, TermId equation);
  bool settle_once();
  void changed();
  Sign sign_of(const Polynomial& p);
  std::optional<int64_t> compute_lower_bound(AtomId id, int depth);
  std::optional<int64_t> lower_bound_of_operation(const Atom& atom, int depth);
  void collect_bounds(AtomId id, std::vector<Polynomial>& out);
  std::optional<Polynomial> replace_by_range(const Polynomial& p, AtomId atom);
  TermId introduce(std::string_view name, TermId meaning);
  std::optional<AtomId> symbol_for(TermId divisor, std::span<const TermId> divisors);

  TermStore* store_;
  Substitution definitions_;
  // What the symbols that were made here stand for; invalid for those without a name of their own.
  Substitution introduced_;
  std::map<AtomId, int64_t> lower_bounds_;
  std::vector<Polynomial> inequalities_;
  std::vector<TermId> equations_;
  std::vector<ConditionId> alternatives_;
  std::set<ConditionId> truths_;
  bool contradictory_ = false;
  // Grows with everything that a rewriting may depend on.
  uint32_t version_ = 0;
  // Grows with every definition and every better lower bound.
  uint32_t progress_ = 0;
  uint32_t range_depth_ = 0;

  // Caches, valid for cache_version_.
  uint32_t cache_version_ = 0;
  std::map<TermId, TermId> rewritten_;
  std::map<AtomId, std::vector<Polynomial>> bounds_;
  std::map<AtomId, std::optional<int64_t>> known_lower_bounds_;
};

}  // namespace tenon::prove
