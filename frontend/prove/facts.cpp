#include "frontend/prove/facts.h"

#include <algorithm>
#include <numeric>

#include "support/check.h"

namespace tenon::prove {
namespace {

// Beyond these, facts are left out: fewer facts prove less, never something false.
constexpr size_t kMaxInequalities = 160;
constexpr size_t kMaxEquations = 32;
constexpr size_t kMaxAlternatives = 32;
constexpr size_t kMaxDefinitions = 64;
constexpr size_t kMaxRangeAtoms = 64;
constexpr int kMaxSettling = 8;
constexpr int kMaxNamedDivisors = 6;
}  // namespace

void Facts::changed() {
  cache_version_ = version_;
  rewritten_.clear();
  bounds_.clear();
  known_lower_bounds_.clear();
}

void Facts::assume(ConditionId fact, FactKind kind) {
  if (kind == FactKind::kClause) take_divisors(fact);
  take(fact);
}

void Facts::take(ConditionId fact) {
  const Condition condition = store_->condition(fact);
  switch (condition.kind) {
    case ConditionKind::kTrue:
    case ConditionKind::kLarge:
    case ConditionKind::kNotLarge:
      return;
    case ConditionKind::kFalse:
      contradictory_ = true;
      return;
    case ConditionKind::kAnd:
      for (ConditionId operand : condition.operands) take(operand);
      return;
    case ConditionKind::kNonNegative:
      take_inequality(store_->polynomial(rewrite(condition.term)));
      return;
    case ConditionKind::kZero:
      if (equations_.size() < kMaxEquations) equations_.push_back(condition.term);
      ++version_;
      return;
    case ConditionKind::kNonZero:
    case ConditionKind::kOr:
      if (std::ranges::find(alternatives_, fact) != alternatives_.end()) return;
      if (alternatives_.size() < kMaxAlternatives) alternatives_.push_back(fact);
      ++version_;
      return;
    case ConditionKind::kOpaque:
    case ConditionKind::kNotOpaque:
      if (truths_.contains(store_->logical_not(fact))) contradictory_ = true;
      if (truths_.insert(fact).second) ++version_;
      return;
  }
}

// A clause that divides by zero does not hold. Only divisions that are made whatever the values count: none
// below
// `||` or a choice.
void Facts::take_divisors(ConditionId fact) {
  const Condition condition = store_->condition(fact);
  if (condition.kind == ConditionKind::kAnd) {
    for (ConditionId operand : condition.operands) take_divisors(operand);
    return;
  }
  if (!condition.term) return;
  std::vector<TermId> work = {condition.term};
  std::set<TermId> seen;
  while (!work.empty()) {
    const TermId term = work.back();
    work.pop_back();
    if (!seen.insert(term).second) continue;
    const Polynomial p = store_->polynomial(term);
    for (const Monomial& monomial : p.monomials) {
      for (AtomId id : monomial.atoms()) {
        const Atom atom = store_->atom(id);
        if (atom.kind != AtomKind::kDiv && atom.kind != AtomKind::kMin && atom.kind != AtomKind::kMax)
          continue;
        work.insert(work.end(), atom.operands.begin(), atom.operands.end());
        if (atom.kind == AtomKind::kDiv) take(store_->logical_not(store_->zero(atom.operands[1])));
      }
    }
  }
}

void Facts::raise_lower_bound(AtomId id, int64_t bound) {
  const std::optional<int64_t> known = lower_bound(id);
  if (known && *known >= bound) return;
  lower_bounds_[id] = bound;
  ++progress_;
  ++version_;
  const Atom atom = store_->atom(id);
  if (atom.kind == AtomKind::kMin) {
    for (TermId operand : atom.operands) take(store_->ge(operand, store_->constant(bound)));
  }
  if (atom.kind != AtomKind::kDiv || bound < 1) return;
  // x / d >= 1, where d is not negative, needs d >= 1, and x >= d * (x / d).
  const TermId d = atom.operands[1];
  if (!clearly_non_negative(store_->polynomial(d))) return;
  take(store_->ge(d, store_->constant(1)));
  take(store_->ge(atom.operands[0], store_->scale(d, bound)));
}

// Kept divided by its content. A bound of one atom goes to the lower bounds. From m * q >= c with m >= 0: if
// c >= 1 then m >= 1 and q >= 1, and if m >= 1 then q >= 0.
void Facts::take_inequality(Polynomial p) {
  if (std::optional<int64_t> value = p.constant_value()) {
    if (*value < 0) contradictory_ = true;
    return;
  }
  const int64_t content = content_without_constant(p);
  for (Monomial& monomial : p.monomials) monomial.coefficient = floor_divide(monomial.coefficient, content);
  std::erase_if(p.monomials, [](const Monomial& m) { return m.coefficient == 0; });
  const int64_t constant = p.constant_part();
  Polynomial product = p;
  std::erase_if(product.monomials, [](const Monomial& m) { return m.degree == 0; });
  const Monomial common = common_factor(product);
  if (product.monomials.size() == 1 && common.degree == 1 && product.monomials[0].coefficient > 0) {
    raise_lower_bound(common.factors[0], -constant);
    return;
  }
  if (common.degree > 0 && constant <= 0) {
    for (AtomId factor : common.atoms()) {
      const std::optional<int64_t> low = lower_bound(factor);
      if (!low || *low < 0) continue;
      if (constant < 0 && *low < 1) raise_lower_bound(factor, 1);
      if (constant == 0 && *low < 1) continue;
      std::optional<Polynomial> quotient = divide(product, atom_polynomial(factor).monomials[0]);
      if (!quotient) continue;
      if (constant < 0) quotient = add(*quotient, constant_polynomial(-1));
      if (quotient && !(*quotient == p)) take_inequality(*std::move(quotient));
      if (constant == 0) return;
      break;
    }
  }
  raise_what_exceeds(p);
  if (std::ranges::find(inequalities_, p) != inequalities_.end()) return;
  if (inequalities_.size() >= kMaxInequalities) return;
  inequalities_.push_back(std::move(p));
  ++version_;
}

// From c * a >= r, with c >= 1, a quotient a and an r that is clearly positive: a >= 1.
void Facts::raise_what_exceeds(const Polynomial& p) {
  for (const Monomial& monomial : p.monomials) {
    if (monomial.degree != 1 || monomial.coefficient < 1) continue;
    const AtomId atom = monomial.factors[0];
    if (store_->atom(atom).kind != AtomKind::kDiv || lower_bound(atom).value_or(0) >= 1) continue;
    Polynomial rest = p;
    std::erase(rest.monomials, monomial);
    std::optional<Polynomial> excess = scale(rest, -1);
    if (excess) excess = add(*excess, constant_polynomial(-1));
    if (excess && clearly_non_negative(*excess)) raise_lower_bound(atom, 1);
  }
}

void Facts::define(AtomId atom, TermId term) {
  if (definitions_.size() >= kMaxDefinitions) return;
  const Substitution replacement = {{atom, term}};
  for (auto& [defined, value] : definitions_) value = store_->substitute(value, replacement);
  definitions_.emplace(atom, term);
  ++progress_;
  ++version_;
  const Atom what = store_->atom(atom);
  if (what.kind != AtomKind::kSymbol && what.kind != AtomKind::kOpaque) return;
  if (what.kind == AtomKind::kSymbol && what.symbol_kind == SymbolKind::kDimension) {
    take(store_->non_negative(term));
  }
  if (auto low = lower_bounds_.find(atom); low != lower_bounds_.end()) {
    take(store_->ge(term, store_->constant(low->second)));
  }
  if (what.range.lo) take(store_->ge(term, what.range.lo));
  if (what.range.hi) take(store_->lt(term, what.range.hi));
}

void Facts::settle() {
  for (int round = 0; round < kMaxSettling && !contradictory_; ++round) {
    if (!settle_once()) return;
  }
}

bool Facts::settle_once() {
  const uint32_t before = progress_;
  const std::vector<TermId> equations = std::exchange(equations_, {});
  for (TermId equation : equations) {
    const TermId rewritten = rewrite(equation);
    const Condition reduced = store_->condition(store_->zero(rewritten));
    if (reduced.kind == ConditionKind::kTrue) continue;
    if (reduced.kind == ConditionKind::kFalse) contradictory_ = true;
    if (contradictory_) return false;
    if (!solve(reduced.term)) equations_.push_back(reduced.term);
  }
  for (TermId equation : equations_) {
    take_inequality(store_->polynomial(equation));
    if (auto negated = scale(store_->polynomial(equation), -1)) take_inequality(*std::move(negated));
  }
  const std::vector<Polynomial> inequalities = std::exchange(inequalities_, {});
  for (const Polynomial& p : inequalities) {
    take_inequality(store_->polynomial(rewrite(store_->intern(p))));
  }
  for (const auto& [atom, bound] : std::map<AtomId, int64_t>(lower_bounds_)) {
    const TermId self = store_->term_of(atom);
    const TermId rewritten = rewrite(self);
    if (rewritten != self)
      take_inequality(store_->polynomial(store_->sub(rewritten, store_->constant(bound))));
  }
  const std::vector<ConditionId> alternatives = std::exchange(alternatives_, {});
  for (ConditionId alternative : alternatives) {
    const Condition condition = store_->condition(rewrite(alternative));
    if (condition.kind != ConditionKind::kNonZero) {
      take(rewrite(alternative));
      continue;
    }
    const Polynomial p = store_->polynomial(condition.term);
    const std::optional<Polynomial> negated = scale(p, -1);
    if (non_negative_by_ranges(p)) {
      take(store_->ge(condition.term, store_->constant(1)));
    } else if (negated && non_negative_by_ranges(*negated)) {
      take(store_->le(condition.term, store_->constant(-1)));
    } else {
      take(rewrite(alternative));
    }
  }
  return progress_ != before || inequalities != inequalities_ || alternatives != alternatives_;
}

bool Facts::solve(TermId equation) {
  const std::vector<AtomId> atoms = atoms_by_rank(store_->polynomial(equation));
  for (AtomId atom : atoms) {
    const AtomKind kind = store_->atom(atom).kind;
    if ((kind == AtomKind::kSymbol || kind == AtomKind::kOpaque) && solve_for(atom, equation)) return true;
  }
  for (AtomId atom : atoms) {
    if (store_->atom(atom).kind == AtomKind::kDiv && solve_division(atom, equation)) return true;
  }
  return false;
}

// Only where the coefficient is 1 or -1 and the rest does not depend on the atom.
bool Facts::solve_for(AtomId atom, TermId equation) {
  if (definitions_.size() >= kMaxDefinitions) return false;
  const std::optional<TermStore::Linear> linear = store_->linear_in(equation, atom);
  if (!linear) return false;
  const std::optional<int64_t> coefficient = store_->constant_value(linear->coefficient);
  if (!coefficient || (*coefficient != 1 && *coefficient != -1)) return false;
  define(atom, *coefficient == 1 ? store_->negate(linear->rest) : linear->rest);
  return true;
}

// E == 0 where E holds a quotient f: with a new symbol q for f, solve for another symbol. So K % 128 == 0,
// which is K - 128 * (K / 128) == 0, gives K := 128 * q, whatever sign K has.
bool Facts::solve_division(AtomId quotient, TermId equation) {
  const AtomSplit split = split_by(store_->polynomial(equation), quotient);
  if (split.coefficient.contains(quotient) || definitions_.size() >= kMaxDefinitions) return false;
  const TermId coefficient = store_->intern(split.coefficient);
  const TermId rest = store_->intern(split.rest);
  for (AtomId atom : atoms_by_rank(split.rest)) {
    if (store_->atom(atom).kind != AtomKind::kSymbol || store_->mentions(coefficient, atom)) continue;
    const std::optional<TermStore::Linear> linear = store_->linear_in(rest, atom);
    if (!linear) continue;
    const std::optional<int64_t> a = store_->constant_value(linear->coefficient);
    if (!a) continue;
    const std::string name = "(" + store_->text(quotient) + ")";
    if (*a == 1 || *a == -1) {
      const TermId q = introduce(name, store_->term_of(quotient));
      const TermId other = store_->add(linear->rest, store_->mul(coefficient, q));
      define(atom, store_->scale(other, -*a));
      return true;
    }
    // a * x + b * f + c == 0 with constants, a and b without common factor: x = r + |b| * t.
    const std::optional<int64_t> b = store_->constant_value(coefficient);
    const std::optional<int64_t> c = store_->constant_value(linear->rest);
    if (!b || !c || *b == 0 || *b < -4096 || *b > 4096 || std::gcd(*a, *b) != 1) continue;
    const int64_t modulus = std::abs(*b);
    for (int64_t r = 0; r < modulus; ++r) {
      const __int128 value = static_cast<__int128>(*a) * r + *c;
      if (value % modulus != 0) continue;
      const TermId t = introduce(name, {});
      define(atom, store_->add(store_->constant(r), store_->scale(t, modulus)));
      return true;
    }
  }
  return false;
}

TermId Facts::introduce(std::string_view name, TermId meaning) {
  const TermId symbol = store_->symbol(name, SymbolKind::kScalar);
  introduced_.emplace(*store_->single_atom(symbol), meaning);
  return symbol;
}

void Facts::assume_nonempty_ranges(std::span<const AtomId> atoms) {
  std::vector<AtomId> work(atoms.begin(), atoms.end());
  std::set<AtomId> seen;
  while (!work.empty() && seen.size() < kMaxRangeAtoms) {
    const AtomId id = work.back();
    work.pop_back();
    if (!seen.insert(id).second) continue;
    const Range range = store_->atom(id).range;
    for (TermId bound : {range.lo, range.hi}) {
      if (!bound) continue;
      for (AtomId atom : store_->atoms_of(bound)) work.push_back(atom);
    }
    if (range.lo && range.hi) take(store_->lt(range.lo, range.hi));
    // What is known of the value beyond its range.
    const auto low = lower_bounds_.find(id);
    if (range.hi && low != lower_bounds_.end()) take(store_->lt(store_->constant(low->second), range.hi));
  }
}

std::optional<AtomId> Facts::symbol_for(TermId divisor, std::span<const TermId> divisors) {
  std::optional<AtomId> best;
  size_t best_uses = 0;
  for (AtomId atom : atoms_by_rank(store_->polynomial(divisor))) {
    const Atom& what = store_->atom(atom);
    if (what.kind != AtomKind::kSymbol) continue;
    const std::optional<TermStore::Linear> linear = store_->linear_in(divisor, atom);
    if (!linear) continue;
    const std::optional<int64_t> coefficient = store_->constant_value(linear->coefficient);
    if (!coefficient || (*coefficient != 1 && *coefficient != -1)) continue;
    const size_t uses = static_cast<size_t>(
        std::ranges::count_if(divisors, [&](TermId other) { return store_->mentions(other, atom); }));
    // A positive coefficient leaves the other symbols positive: W := v + S - 1.
    const size_t cost = 2 * uses + (*coefficient == 1 ? 0 : 1);
    if (!best || cost < best_uses) {
      best = atom;
      best_uses = cost;
    }
  }
  return best;
}

void Facts::name_divisors(ConditionId goal) {
  for (int round = 0; round < kMaxNamedDivisors && !contradictory_; ++round) {
    std::set<AtomId> atoms;
    auto visit = [&](TermId term) {
      for (AtomId atom : store_->atoms_of(rewrite(term))) atoms.insert(atom);
    };
    for (AtomId atom : store_->atoms_of(rewrite(goal))) {
      atoms.insert(atom);
      const Range range = store_->atom(atom).range;
      if (range.lo) visit(range.lo);
      if (range.hi) visit(range.hi);
    }
    for (const Polynomial& p : std::vector<Polynomial>(inequalities_)) visit(store_->intern(p));
    std::vector<TermId> divisors;
    for (AtomId id : atoms) {
      const Atom& atom = store_->atom(id);
      if (atom.kind == AtomKind::kDiv && std::ranges::find(divisors, atom.operands[1]) == divisors.end()) {
        divisors.push_back(atom.operands[1]);
      }
    }
    const auto sum = std::ranges::find_if(divisors, [&](TermId d) {
      return store_->polynomial(d).monomials.size() > 1 && symbol_for(d, divisors);
    });
    if (sum == divisors.end()) return;
    const AtomId symbol = *symbol_for(*sum, divisors);
    const TermStore::Linear linear = *store_->linear_in(*sum, symbol);
    const TermId variable = introduce("(" + store_->text(*sum) + ")", *sum);
    const TermId other = store_->sub(variable, linear.rest);
    define(symbol, store_->scale(other, *store_->constant_value(linear.coefficient)));
    settle();
  }
}

}  // namespace tenon::prove
