#include "frontend/prove/evaluate.h"

#include <algorithm>
#include <limits>

namespace tenon::prove {

std::optional<int64_t> evaluate_floor_div(int64_t a, int64_t b) {
  if (b == 0) return 0;
  if (b == -1) return a == std::numeric_limits<int64_t>::min() ? std::nullopt : std::optional(-a);
  const int64_t quotient = a / b;
  return a % b != 0 && (a < 0) != (b < 0) ? quotient - 1 : quotient;
}

std::optional<int64_t> Evaluator::value(TermId term) {
  int64_t sum = 0;
  for (const Monomial& monomial : store_.polynomial(term).monomials) {
    int64_t product = monomial.coefficient;
    for (AtomId atom : monomial.atoms()) {
      const std::optional<int64_t> factor = value(atom);
      if (!factor || __builtin_mul_overflow(product, *factor, &product)) return std::nullopt;
    }
    if (__builtin_add_overflow(sum, product, &sum)) return std::nullopt;
  }
  return sum;
}

std::optional<int64_t> Evaluator::value(AtomId atom) {
  if (auto found = known_.find(atom); found != known_.end()) return found->second;
  const std::optional<int64_t> result = compute(atom);
  known_.emplace(atom, result);
  return result;
}

std::optional<int64_t> Evaluator::compute(AtomId id) {
  if (auto given = values_.find(id); given != values_.end()) return given->second;
  const Atom& atom = store_.atom(id);
  switch (atom.kind) {
    case AtomKind::kSymbol:
    case AtomKind::kOpaque:
    case AtomKind::kLarge:
      return std::nullopt;
    case AtomKind::kSelect: {
      const std::optional<bool> chosen = holds(atom.condition);
      return chosen ? value(atom.operands[*chosen ? 0 : 1]) : std::nullopt;
    }
    case AtomKind::kDiv:
    case AtomKind::kMin:
    case AtomKind::kMax:
      break;
  }
  const std::optional<int64_t> a = value(atom.operands[0]);
  const std::optional<int64_t> b = value(atom.operands[1]);
  if (!a || !b) return std::nullopt;
  if (atom.kind == AtomKind::kDiv) return evaluate_floor_div(*a, *b);
  return atom.kind == AtomKind::kMin ? std::min(*a, *b) : std::max(*a, *b);
}

std::optional<bool> Evaluator::holds(ConditionId condition) {
  if (auto found = conditions_.find(condition); found != conditions_.end()) return found->second;
  const std::optional<bool> result = compute(condition);
  conditions_.emplace(condition, result);
  return result;
}

std::optional<bool> Evaluator::compute(ConditionId id) {
  const Condition& condition = store_.condition(id);
  switch (condition.kind) {
    case ConditionKind::kTrue:
    case ConditionKind::kFalse:
      return condition.kind == ConditionKind::kTrue;
    case ConditionKind::kLarge:
    case ConditionKind::kNotLarge:
      return std::nullopt;
    case ConditionKind::kNonNegative:
    case ConditionKind::kZero:
    case ConditionKind::kNonZero: {
      const std::optional<int64_t> term = value(condition.term);
      if (!term) return std::nullopt;
      if (condition.kind == ConditionKind::kNonNegative) return *term >= 0;
      return (*term == 0) == (condition.kind == ConditionKind::kZero);
    }
    case ConditionKind::kAnd:
    case ConditionKind::kOr: {
      const bool is_and = condition.kind == ConditionKind::kAnd;
      for (ConditionId operand : condition.operands) {
        const std::optional<bool> side = holds(operand);
        if (!side) return std::nullopt;
        if (*side != is_and) return !is_and;
      }
      return is_and;
    }
    case ConditionKind::kOpaque: {
      auto given = truths_.find(id);
      return given == truths_.end() ? std::nullopt : std::optional(given->second);
    }
    case ConditionKind::kNotOpaque: {
      auto given = truths_.find(condition.negation);
      return given == truths_.end() ? std::nullopt : std::optional(!given->second);
    }
  }
  return std::nullopt;
}

}  // namespace tenon::prove
