// The bounds prover: does a condition over index terms hold for all integer values that the assumed facts
// allow?
//
//   Context context;
//   TermStore& t = context.terms();
//   TermId n = t.symbol("N", SymbolKind::kDimension);
//   TermId i = t.symbol("i", SymbolKind::kIndex, {t.constant(0), n});
//   Verdict v = context.prove(t.in_range(i, t.constant(0), n));   // kProved
//
// `kProved` is a promise: the condition holds for every value of the symbols within their ranges and under
// the facts. `kUnknown` promises nothing. `kDisproved` comes with values that satisfy the facts and break the
// condition.
#pragma once

#include <cstdint>
#include <memory>
#include <optional>
#include <string>
#include <vector>

#include "frontend/prove/term.h"
#include "support/element_type.h"

namespace tenon::prove {

class Facts;

enum class Outcome : uint8_t { kProved, kUnknown, kDisproved };

struct Verdict {
  Outcome outcome = Outcome::kUnknown;
  // What is left to show, in the program's names: "H - 1 >= h + 1". Empty if proved.
  std::string remaining;
  // "N = 1, i = 0", for kDisproved; only symbols and opaque values that matter.
  std::string counterexample;
  // Valid if the whole condition only involves dimensions and scalars: it may be checked at launch instead.
  ConditionId launch_check;
  // Valid if `remaining` only involves dimensions and scalars and is not always false: as a `where` clause it
  // makes the condition hold. Not necessarily the weakest such clause.
  ConditionId suggested_clause;
  bool out_of_budget = false;
  uint32_t steps = 0;

  bool proved() const { return outcome == Outcome::kProved; }
};

// Where a fact comes from decides what a division in it tells: a `where` clause that divides by zero does not
// hold, so its divisors are not 0; a guard's division by zero has a value.
enum class FactKind : uint8_t { kGuard, kClause };

class Context {
 public:
  Context();
  ~Context();
  Context(const Context&) = delete;
  Context& operator=(const Context&) = delete;

  TermStore& terms() { return terms_; }
  const TermStore& terms() const { return terms_; }

  // Facts hold from `assume` to the `pop` of the innermost `push`.
  void assume(ConditionId fact, FactKind kind = FactKind::kGuard);
  void push() { scopes_.push_back(facts_.size()); }
  void pop();

  Verdict prove(ConditionId goal);
  Verdict prove_in_range(TermId value, TermId lo, TermId hi) { return prove(terms_.in_range(value, lo, hi)); }
  Verdict prove_equal(TermId a, TermId b) { return prove(terms_.eq(a, b)); }
  // Whether the goal is proved; cheaper than `prove`, which also looks for a counterexample.
  bool holds(ConditionId goal);
  bool equal(TermId a, TermId b) { return a == b || holds(terms_.eq(a, b)); }
  // Whether the term is a multiple of n (n >= 1) for all values.
  bool divisible(TermId term, int64_t n);
  // The term rewritten by the facts: known divisions done, equations applied, settled min, max and choices
  // resolved.
  TermId simplify(TermId term);
  // Whether the facts contradict each other, as far as the prover sees: the code under them is dead.
  bool contradictory() { return holds(terms_.boolean(false)); }

  // Steps that one `prove` may take.
  static constexpr uint32_t kStepBudget = 4000;

 private:
  struct Fact {
    ConditionId condition;
    FactKind kind;
  };

  Facts& base();
  Facts problem(ConditionId goal);
  bool holds_at_once(ConditionId goal);
  bool holds_within(ConditionId goal, uint32_t steps);
  // Whether the clause cannot hold, by what is assumed.
  bool contradicts(ConditionId clause);
  ConditionId suggestion(ConditionId goal, Facts& facts, const std::vector<Polynomial>& leaves);
  std::optional<std::string> counterexample(ConditionId goal) const;
  bool attempt(ConditionId goal, uint32_t steps, Verdict& verdict);
  uint32_t steps_for(uint32_t wanted) const;

  TermStore terms_;
  std::vector<Fact> facts_;
  std::vector<size_t> scopes_;
  // What follows from facts_ alone; made when needed.
  std::unique_ptr<Facts> base_;
  // Steps of all searches so far.
  uint64_t spent_ = 0;
};

// Facts for the life of the object.
class FactScope {
 public:
  explicit FactScope(Context& context) : context_(context) { context_.push(); }
  ~FactScope() { context_.pop(); }
  FactScope(const FactScope&) = delete;
  FactScope& operator=(const FactScope&) = delete;

 private:
  Context& context_;
};

// The range of a value of a machine integer type, as far as 64-bit terms can say it: u64 has no upper bound.
Range type_range(TermStore& terms, ElementType type);
// The range of argmax or argmin over `extent` values: -1 up to extent - 1, from 0 where the domain is
// unrestricted and the context shows extent >= 1.
Range argmax_range(Context& context, TermId extent, bool unrestricted);

}  // namespace tenon::prove
