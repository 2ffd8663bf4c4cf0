#include "frontend/prove/search.h"

#include <algorithm>
#include <ranges>

namespace tenon::prove {
namespace {

constexpr int kMaxEliminations = 16;
// Steps before a goal is split into cases, and for the search for a contradiction in the facts.
constexpr uint32_t kStepsBeforeCases = 250;
constexpr uint32_t kStepsForContradiction = 200;
constexpr size_t kMaxLeaves = 8;

bool may_be_split(AtomKind kind) {
  return kind == AtomKind::kMin || kind == AtomKind::kMax || kind == AtomKind::kSelect;
}

}  // namespace

bool Search::prove(ConditionId goal, int cases) {
  if (facts_.contradictory()) return true;
  const ConditionId rewritten = facts_.rewrite(goal);
  const Condition condition = facts_.store().condition(rewritten);
  switch (condition.kind) {
    case ConditionKind::kTrue:
      return true;
    case ConditionKind::kNonNegative:
      return prove_non_negative(condition.term, cases);
    case ConditionKind::kZero: {
      TermStore& store = facts_.store();
      return prove_non_negative(condition.term, cases) &&
             prove_non_negative(store.negate(condition.term), cases);
    }
    case ConditionKind::kNonZero: {
      TermStore& store = facts_.store();
      return prove_any(
          {store.ge(condition.term, store.constant(1)), store.le(condition.term, store.constant(-1))}, cases);
    }
    case ConditionKind::kAnd:
      return std::ranges::all_of(condition.operands,
                                 [&](ConditionId operand) { return prove(operand, cases); });
    case ConditionKind::kOr:
      return prove_any(condition.operands, cases);
    case ConditionKind::kOpaque:
    case ConditionKind::kNotOpaque:
      return facts_.is_true(rewritten) || prove_by_cases(rewritten, cases);
    case ConditionKind::kFalse:
    case ConditionKind::kLarge:
    case ConditionKind::kNotLarge:
      return prove_by_cases(rewritten, cases);
  }
  return false;
}

// One of them alone, or the last where none of the others holds.
bool Search::prove_any(const std::vector<ConditionId>& goals, int cases) {
  for (ConditionId goal : goals) {
    if (budget_.spent()) return false;
    const Condition condition = facts_.store().condition(facts_.rewrite(goal));
    if (condition.kind == ConditionKind::kTrue) return true;
    if (condition.kind == ConditionKind::kNonNegative &&
        derive(facts_.store().polynomial(condition.term), kMaxEliminations,
               budget_.steps + kStepsBeforeCases)) {
      return true;
    }
  }
  if (cases <= 0 || budget_.spent()) return false;
  charge_for_case();
  Facts facts = facts_;
  for (size_t i = 0; i + 1 < goals.size(); ++i)
    facts.assume(facts.store().logical_not(goals[i]), FactKind::kGuard);
  facts.settle();
  return Search(std::move(facts), budget_).prove(goals.back(), cases - 1);
}

bool Search::prove_non_negative(TermId term, int cases) {
  const Polynomial p = facts_.store().polynomial(term);
  if (derive(p, kMaxEliminations, std::min(budget_.limit, budget_.steps + kStepsBeforeCases))) return true;
  if (prove_by_cases(facts_.store().non_negative(term), cases)) return true;
  if (budget_.spent()) return false;
  failed_.clear();
  return derive(p, kMaxEliminations, budget_.limit);
}

bool Search::case_holds(ConditionId goal, ConditionId fact, int cases,
                        std::optional<std::pair<AtomId, TermId>> definition) {
  charge_for_case();
  Facts facts = facts_;
  if (definition) facts.define(definition->first, definition->second);
  facts.assume(fact, FactKind::kGuard);
  facts.settle();
  return Search(std::move(facts), budget_).prove(goal, cases - 1);
}

// A case rewrites every fact.
void Search::charge_for_case() { budget_.steps += 2 + static_cast<uint32_t>(facts_.inequalities().size()); }

bool Search::prove_by_cases(ConditionId goal, int cases) {
  TermStore& store = facts_.store();
  if (cases > 0 && !budget_.spent()) {
    for (AtomId id : store.atoms_of(goal)) {
      const Atom atom = store.atom(id);
      if (!may_be_split(atom.kind)) continue;
      ConditionId first = atom.condition;
      if (atom.kind == AtomKind::kMin) first = store.le(atom.operands[0], atom.operands[1]);
      if (atom.kind == AtomKind::kMax) first = store.ge(atom.operands[0], atom.operands[1]);
      return case_holds(goal, first, cases, std::pair(id, atom.operands[0])) &&
             case_holds(goal, store.logical_not(first), cases, std::pair(id, atom.operands[1]));
    }
    for (ConditionId alternative : std::vector<ConditionId>(facts_.alternatives())) {
      if (budget_.spent()) break;
      const Condition condition = store.condition(alternative);
      std::vector<ConditionId> options = condition.operands;
      if (condition.kind == ConditionKind::kNonZero) {
        options = {store.ge(condition.term, store.constant(1)), store.le(condition.term, store.constant(-1))};
      }
      if (std::ranges::all_of(options, [&](ConditionId option) { return case_holds(goal, option, cases); }))
        return true;
    }
  }
  return derive_contradiction();
}

bool Search::derive_contradiction() {
  const uint32_t limit = std::min(budget_.limit, budget_.steps + kStepsForContradiction);
  std::vector<Polynomial> facts = facts_.inequalities();
  for (const auto& [atom, bound] : facts_.lower_bounds()) {
    if (auto fact = add(atom_polynomial(atom), constant_polynomial(bound), -1))
      facts.push_back(*std::move(fact));
  }
  for (const Polynomial& fact : facts) {
    if (budget_.steps >= limit) return false;
    std::optional<Polynomial> opposite = scale(fact, -1);
    if (opposite) opposite = add(*opposite, constant_polynomial(-1));
    if (opposite && derive(*std::move(opposite), kMaxEliminations / 2, limit)) return true;
  }
  return false;
}

// Divided by what the coefficients have in common, the constant rounded down, and by factors that are not
// negative. A factor whose negative is all that is left stays: it may be 0. That is the last by rank, of
// which most is known.
Polynomial Search::reduced(Polynomial p) {
  const int64_t content = content_without_constant(p);
  if (content > 1) {
    for (Monomial& monomial : p.monomials) monomial.coefficient = floor_divide(monomial.coefficient, content);
    std::erase_if(p.monomials, [](const Monomial& m) { return m.coefficient == 0; });
  }
  const std::vector<AtomId> common = facts_.atoms_by_rank(monomial_polynomial(common_factor(p)));
  for (AtomId factor : std::views::reverse(common)) {
    const std::optional<int64_t> low = facts_.lower_bound(factor);
    if (!low || *low < 0) continue;
    while (std::optional<Polynomial> quotient = divide(p, atom_polynomial(factor).monomials[0])) {
      if (quotient->constant_value().value_or(0) < 0) break;
      p = *std::move(quotient);
    }
  }
  return p;
}

void Search::note_leaf(const Polynomial& p) {
  if (leaves_.size() >= kMaxLeaves || p.constant_value()) return;
  // That a size is 0 is nothing to suggest.
  const std::optional<Polynomial> negated = scale(p, -1);
  if (p.monomials.size() == 1 && negated && facts_.clearly_non_negative(*negated)) return;
  const bool launch_known = std::ranges::all_of(facts_.atoms_by_rank(p), [&](AtomId id) {
    const Atom& atom = facts_.store().atom(id);
    return atom.kind == AtomKind::kSymbol && atom.symbol_kind != SymbolKind::kIndex;
  });
  if (launch_known) leaves_.push_back(p);
}

bool Search::derive(Polynomial p, int depth, uint32_t local_limit) {
  ++budget_.steps;
  p = reduced(std::move(p));
  if (facts_.clearly_non_negative(p)) return true;
  if (p.constant_value()) return false;
  if (depth == 0 || budget_.steps >= local_limit) return false;
  if (!failed_.insert(hash_value(p)).second) return false;
  note_leaf(p);
  const std::vector<AtomId> atoms = facts_.atoms_by_rank(p);
  // The bounds of an atom itself, the assumed facts, the laws of other atoms that it is in.
  for (AtomId atom : atoms) {
    const std::optional<Facts::View> view = facts_.view(p, atom);
    if (!view) continue;
    if (derive_by(*view, facts_.bounds(atom), depth, local_limit)) return true;
    if (derive_by(*view, facts_.inequalities(), depth, local_limit)) return true;
    for (AtomId other : atoms) {
      if (other == atom || facts_.store().atom(other).kind == AtomKind::kSymbol) continue;
      if (derive_by(*view, facts_.bounds(other), depth, local_limit)) return true;
    }
  }
  return false;
}

bool Search::derive_by(const Facts::View& view, const std::vector<Polynomial>& facts, int depth,
                       uint32_t local_limit) {
  for (const Polynomial& fact : facts) {
    if (budget_.steps >= local_limit) return false;
    std::optional<Polynomial> next = facts_.eliminate(view, fact);
    if (next && derive(*std::move(next), depth - 1, local_limit)) return true;
  }
  return false;
}

}  // namespace tenon::prove
