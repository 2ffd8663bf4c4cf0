#include "frontend/prove/context.h"

#include <algorithm>
#include <limits>

#include "frontend/prove/counterexample.h"
#include "frontend/prove/facts.h"
#include "frontend/prove/search.h"
#include "support/check.h"

namespace tenon::prove {
namespace {

// Facts split into cases inside each other.
constexpr int kMaxCases = 6;
// The newest facts count; a program with more open guards than this proves less.
constexpr size_t kMaxFacts = 200;
// The steps of the first attempt at a goal.
constexpr uint32_t kFirstSteps = 300;
// A program that has cost this many steps gets few for each further goal, so that its whole compilation stays
// bounded.
constexpr uint64_t kTotalSteps = 100'000;
constexpr uint32_t kStepsWhenSpent = 60;

bool launch_known(const TermStore& store, const std::vector<AtomId>& atoms) {
  return std::ranges::all_of(atoms, [&](AtomId id) {
    const Atom& atom = store.atom(id);
    if (atom.kind == AtomKind::kSymbol) return atom.symbol_kind != SymbolKind::kIndex;
    return atom.kind != AtomKind::kOpaque && atom.kind != AtomKind::kLarge;
  });
}

}  // namespace

Context::Context() = default;
Context::~Context() = default;

void Context::assume(ConditionId fact, FactKind kind) {
  facts_.push_back({fact, kind});
  base_.reset();
}

void Context::pop() {
  TENON_CHECK(!scopes_.empty(), "pop without push");
  if (facts_.size() != scopes_.back()) base_.reset();
  facts_.resize(scopes_.back());
  scopes_.pop_back();
}

Facts& Context::base() {
  if (base_) return *base_;
  base_ = std::make_unique<Facts>(terms_);
  const size_t first = facts_.size() > kMaxFacts ? facts_.size() - kMaxFacts : 0;
  std::vector<AtomId> atoms;
  for (size_t i = first; i < facts_.size(); ++i) {
    base_->assume(facts_[i].condition, facts_[i].kind);
    const std::vector<AtomId> mentioned = terms_.atoms_of(facts_[i].condition);
    atoms.insert(atoms.end(), mentioned.begin(), mentioned.end());
  }
  base_->assume_nonempty_ranges(atoms);
  base_->settle();
  return *base_;
}

Facts Context::problem(ConditionId goal) {
  Facts facts = base();
  facts.assume_nonempty_ranges(terms_.atoms_of(goal));
  facts.settle();
  facts.name_divisors(goal);
  return facts;
}

bool Context::holds_at_once(ConditionId goal) {
  Facts& facts = base();
  return facts.contradictory() || terms_.condition(facts.rewrite(goal)).kind == ConditionKind::kTrue;
}

bool Context::holds(ConditionId goal) { return holds_within(goal, kStepBudget); }

bool Context::holds_within(ConditionId goal, uint32_t steps) {
  if (holds_at_once(goal)) return true;
  Budget budget{.limit = steps_for(steps)};
  const bool proved = Search(problem(goal), budget).prove(goal, kMaxCases);
  spent_ += budget.steps;
  return proved;
}

// First with few steps: most goals need few, and most others have a counterexample, which is quicker to find
// than that there is no proof.
Verdict Context::prove(ConditionId goal) {
  Verdict verdict;
  if (holds_at_once(goal)) {
    verdict.outcome = Outcome::kProved;
    return verdict;
  }
  if (attempt(goal, kFirstSteps, verdict)) return verdict;
  if (launch_known(terms_, terms_.atoms_of(goal))) verdict.launch_check = goal;
  if (std::optional<std::string> values = counterexample(goal)) {
    verdict.outcome = Outcome::kDisproved;
    verdict.counterexample = *std::move(values);
  } else if (verdict.out_of_budget) {
    attempt(goal, kStepBudget, verdict);
  }
  return verdict;
}

bool Context::attempt(ConditionId goal, uint32_t steps, Verdict& verdict) {
  const Condition condition = terms_.condition(goal);
  std::vector<ConditionId> parts = {goal};
  if (condition.kind == ConditionKind::kAnd) parts = condition.operands;
  Budget budget{.limit = steps_for(steps)};
  ConditionId open = terms_.boolean(true);
  ConditionId suggested = open;
  bool can_suggest = true;
  for (ConditionId part : parts) {
    Facts facts = problem(part);
    Search search(facts, budget);
    if (search.prove(part, kMaxCases)) continue;
    open = terms_.logical_and(open, part);
    const ConditionId clause = can_suggest ? suggestion(part, facts, search.leaves()) : ConditionId();
    can_suggest = clause.valid();
    if (can_suggest) suggested = terms_.logical_and(suggested, clause);
  }
  spent_ += budget.steps;
  verdict.steps += budget.steps;
  verdict.out_of_budget = budget.spent();
  if (terms_.condition(open).kind == ConditionKind::kTrue) {
    verdict = {.outcome = Outcome::kProved, .steps = verdict.steps};
    return true;
  }
  // Clauses that make a part hold each may contradict one another.
  if (can_suggest && contradicts(suggested)) can_suggest = false;
  verdict.suggested_clause = can_suggest ? suggested : ConditionId();
  verdict.remaining = terms_.text(open);
  return false;
}

uint32_t Context::steps_for(uint32_t wanted) const {
  return spent_ < kTotalSteps ? wanted : std::min(wanted, kStepsWhenSpent);
}

bool Context::contradicts(ConditionId clause) {
  FactScope scope(*this);
  assume(clause);
  return holds_within(terms_.boolean(false), kFirstSteps);
}

// A goal at which the search ended, if it does not contradict the facts and does make the condition hold.
ConditionId Context::suggestion(ConditionId goal, Facts& facts, const std::vector<Polynomial>& leaves) {
  for (const Polynomial& leaf : leaves) {
    const std::optional<TermId> term = facts.in_source_symbols(terms_.intern(leaf));
    if (!term) continue;
    const ConditionId clause = terms_.non_negative(*term);
    if (!launch_known(terms_, terms_.atoms_of(clause)) || clause == goal) continue;
    if (contradicts(clause)) continue;
    FactScope scope(*this);
    assume(clause);
    if (holds_within(goal, kFirstSteps)) return clause;
  }
  return {};
}

std::optional<std::string> Context::counterexample(ConditionId goal) const {
  if (spent_ >= kTotalSteps) return std::nullopt;
  std::vector<ConditionId> facts;
  std::vector<ConditionId> clauses;
  for (const Fact& fact : facts_) {
    facts.push_back(fact.condition);
    if (fact.kind == FactKind::kClause) clauses.push_back(fact.condition);
  }
  std::optional<Counterexample> found = find_counterexample(terms_, facts, clauses, goal);
  if (!found) return std::nullopt;
  return std::move(found->text);
}

bool Context::divisible(TermId term, int64_t n) {
  TENON_CHECK(n >= 1, "divisible by a number below 1");
  Polynomial rest = terms_.polynomial(simplify(term));
  std::erase_if(rest.monomials, [&](const Monomial& m) { return m.coefficient % n == 0; });
  if (rest.is_zero()) return true;
  if (rest.constant_value()) return false;
  const TermId remaining = terms_.intern(std::move(rest));
  return holds_within(terms_.zero(terms_.floor_mod(remaining, terms_.constant(n))), kFirstSteps);
}

TermId Context::simplify(TermId term) {
  const std::vector<AtomId> atoms = terms_.atoms_of(term);
  const bool has_operations = std::ranges::any_of(atoms, [&](AtomId id) {
    const AtomKind kind = terms_.atom(id).kind;
    return kind != AtomKind::kSymbol && kind != AtomKind::kOpaque;
  });
  if (!has_operations) return base().in_source_symbols(base().rewrite(term)).value_or(term);
  Facts facts = base();
  facts.assume_nonempty_ranges(atoms);
  facts.settle();
  return facts.in_source_symbols(facts.rewrite(term)).value_or(term);
}

Range type_range(TermStore& terms, ElementType type) {
  if (type == ElementType::kBool) return {terms.constant(0), terms.constant(2)};
  if (!is_integer(type)) return {};
  const unsigned bits = bit_width(type);
  if (is_unsigned(type)) {
    return {terms.constant(0), bits < 63 ? terms.constant(int64_t{1} << bits) : TermId()};
  }
  // 2^63, the end of i64, is no 64-bit constant.
  if (bits == 64) return {terms.constant(std::numeric_limits<int64_t>::min()), {}};
  return {terms.constant(-(int64_t{1} << (bits - 1))), terms.constant(int64_t{1} << (bits - 1))};
}

Range argmax_range(Context& context, TermId extent, bool unrestricted) {
  TermStore& terms = context.terms();
  const bool never_empty = unrestricted && context.holds(terms.ge(extent, terms.constant(1)));
  return {terms.constant(never_empty ? 0 : -1), extent};
}

}  // namespace tenon::prove
