// Rewriting terms by what is known: definitions replaced, divisions done where the divisor is known to be
// positive, min, max and choices resolved where the facts decide them.
#include <algorithm>

#include "frontend/prove/facts.h"
#include "frontend/prove/term_map.h"

namespace tenon::prove {
namespace {

// How often the leading monomial of a divisor is taken out of a numerator.
constexpr int kDivisionSteps = 8;

}  // namespace

class Rewriter : public TermMap {
 public:
  explicit Rewriter(Facts& facts) : TermMap(facts.store()), facts_(facts) {}

 protected:
  TermId map_atom(AtomId id) override {
    if (auto found = facts_.definitions_.find(id); found != facts_.definitions_.end()) return found->second;
    const TermId mapped = rebuild(id);
    if (std::optional<AtomId> atom = store_.single_atom(mapped); atom && *atom != id) {
      if (auto found = facts_.definitions_.find(*atom); found != facts_.definitions_.end())
        return found->second;
    }
    return mapped;
  }

 private:
  TermId rebuild(AtomId id) {
    const Atom atom = store_.atom(id);
    switch (atom.kind) {
      case AtomKind::kDiv:
        return divide(map(atom.operands[0]), map(atom.operands[1]));
      case AtomKind::kMin:
        return pick(map(atom.operands[0]), map(atom.operands[1]), /*smaller=*/true);
      case AtomKind::kMax:
        return pick(map(atom.operands[0]), map(atom.operands[1]), /*smaller=*/false);
      case AtomKind::kSelect:
        return choose(map(atom.condition), map(atom.operands[0]), map(atom.operands[1]));
      default:
        return map_operands(id);
    }
  }

  // numerator = quotient * divisor + rest, the quotient grown as long as the rest gets shorter.
  TermId divide(TermId numerator, TermId divisor) {
    if (store_.constant_value(divisor) || !facts_.clearly_positive(divisor)) {
      return store_.floor_div(numerator, divisor);
    }
    const Polynomial d = store_.polynomial(divisor);
    Polynomial rest = store_.polynomial(numerator);
    Polynomial quotient;
    for (int step = 0; step < kDivisionSteps && take_out(rest, d, quotient); ++step) {
    }
    const TermId whole = store_.intern(std::move(quotient));
    const std::optional<Polynomial> room =
        add(add(d, rest, -1).value_or(constant_polynomial(-1)), constant_polynomial(-1));
    if (room && facts_.non_negative_by_ranges(rest) && facts_.non_negative_by_ranges(*room)) return whole;
    return store_.add(whole, divide_by_common_factor(rest, d));
  }

  bool take_out(Polynomial& rest, const Polynomial& d, Polynomial& quotient) {
    const Monomial& lead = d.monomials.back();
    for (const Monomial& monomial : rest.monomials) {
      const std::optional<Monomial> part = prove::divide(monomial, lead);
      if (!part) continue;
      const Polynomial factor = monomial_polynomial(*part);
      const std::optional<Polynomial> product = multiply(factor, d);
      if (!product) continue;
      std::optional<Polynomial> shorter = add(rest, *product, -1);
      std::optional<Polynomial> longer = add(quotient, factor);
      if (!shorter || !longer || shorter->monomials.size() >= rest.monomials.size()) continue;
      rest = *std::move(shorter);
      quotient = *std::move(longer);
      return true;
    }
    return false;
  }

  // (m * x) / (m * y) = x / y for m >= 1; m * y is known to be positive, so m is if it is not negative.
  TermId divide_by_common_factor(const Polynomial& rest, const Polynomial& d) {
    Polynomial x = rest;
    Polynomial y = d;
    if (!rest.is_zero()) {
      Monomial common = common_factor(common_factor(rest), common_factor(d));
      common.coefficient = 1;
      if (facts_.clearly_non_negative(monomial_polynomial(common))) {
        x = prove::divide(rest, common).value_or(rest);
        y = prove::divide(d, common).value_or(d);
        if (x == rest || y == d) {
          x = rest;
          y = d;
        }
      }
    }
    return store_.floor_div(store_.intern(std::move(x)), store_.intern(std::move(y)));
  }

  TermId pick(TermId a, TermId b, bool smaller) {
    const Polynomial difference = store_.polynomial(store_.sub(b, a));
    if (facts_.non_negative_by_ranges(difference)) return smaller ? a : b;
    if (std::optional<Polynomial> negated = scale(difference, -1)) {
      if (facts_.non_negative_by_ranges(*negated)) return smaller ? b : a;
    }
    return smaller ? store_.min(a, b) : store_.max(a, b);
  }

  TermId choose(ConditionId condition, TermId then, TermId otherwise) {
    return store_.select(condition, then, otherwise);
  }

  ConditionId map_condition(ConditionId id) override {
    const ConditionId mapped = TermMap::map_condition(id);
    const Condition condition = store_.condition(mapped);
    switch (condition.kind) {
      case ConditionKind::kNonNegative:
        if (facts_.non_negative_by_ranges(store_.polynomial(condition.term))) return store_.boolean(true);
        if (facts_.non_negative_by_ranges(
                store_.polynomial(store_.sub(store_.negate(condition.term), store_.constant(1))))) {
          return store_.boolean(false);
        }
        return mapped;
      case ConditionKind::kOpaque:
      case ConditionKind::kNotOpaque:
        if (facts_.is_true(mapped)) return store_.boolean(true);
        if (facts_.is_true(store_.logical_not(mapped))) return store_.boolean(false);
        return mapped;
      default:
        return mapped;
    }
  }

  Facts& facts_;
};

// Puts back what the introduced symbols stand for. With K := 128 * q, 128 * q is K again; q alone is K / 128.
class Restorer : public TermMap {
 public:
  Restorer(TermStore& store, const Substitution& meanings, const Substitution& definitions)
      : TermMap(store), meanings_(meanings), definitions_(definitions) {}

  bool complete() const { return complete_; }

 protected:
  TermId prepare(TermId term) override {
    Polynomial p = store_.polynomial(term);
    for (const auto& [symbol, meaning] : meanings_) {
      if (!p.contains(symbol)) continue;
      for (const auto& [defined, value] : definitions_)
        put_back(p, symbol, defined, store_.polynomial(value));
    }
    return store_.intern(std::move(p));
  }

  TermId map_atom(AtomId atom) override {
    const auto meaning = meanings_.find(atom);
    if (meaning == meanings_.end()) return map_operands(atom);
    complete_ = complete_ && meaning->second;
    return meaning->second ? meaning->second : store_.term_of(atom);
  }

 private:
  // With defined = c * symbol + rest: every k * c * symbol becomes k * (defined - rest).
  void put_back(Polynomial& p, AtomId symbol, AtomId defined, const Polynomial& value) {
    const Polynomial coefficient = split_by(value, symbol).coefficient;
    if (coefficient.monomials.size() != 1 || coefficient.contains(symbol)) return;
    const std::optional<Monomial> unit =
        multiply(coefficient.monomials[0], atom_polynomial(symbol).monomials[0]);
    const std::optional<Polynomial> difference = add(atom_polynomial(defined), value, -1);
    if (!unit || !difference) return;
    const std::vector<Monomial> monomials = p.monomials;
    for (const Monomial& monomial : monomials) {
      const std::optional<Monomial> factor = divide(monomial, *unit);
      if (!factor) continue;
      const std::optional<Polynomial> change = multiply(*difference, monomial_polynomial(*factor));
      std::optional<Polynomial> changed = change ? add(p, *change) : std::nullopt;
      if (changed && changed->monomials.size() <= p.monomials.size()) p = *std::move(changed);
    }
  }

  const Substitution& meanings_;
  const Substitution& definitions_;
  bool complete_ = true;
};

std::optional<TermId> Facts::in_source_symbols(TermId term) {
  // A meaning can hold symbols that were introduced before it.
  for (size_t round = 0; round <= introduced_.size(); ++round) {
    Restorer restorer(*store_, introduced_, definitions_);
    const TermId restored = restorer.map(term);
    if (!restorer.complete()) return std::nullopt;
    if (restored == term) return term;
    term = restored;
  }
  return std::nullopt;
}

TermId Facts::rewrite(TermId term) {
  if (cache_version_ != version_) changed();
  if (auto found = rewritten_.find(term); found != rewritten_.end()) return found->second;
  const TermId result = Rewriter(*this).map(term);
  rewritten_.emplace(term, result);
  return result;
}

ConditionId Facts::rewrite(ConditionId condition) { return Rewriter(*this).map(condition); }

}  // namespace tenon::prove
