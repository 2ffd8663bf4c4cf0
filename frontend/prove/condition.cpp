// Construction of conditions and walks over whole terms.
#include <algorithm>
#include <functional>

#include "frontend/prove/term.h"
#include "support/check.h"

namespace tenon::prove {
namespace {

uint64_t mix(uint64_t hash, uint64_t value) {
  return (hash ^ value) * 0xFF51AFD7ED558CCD + (value >> 29) + 1;
}

uint64_t hash_of(const Condition& condition) {
  uint64_t hash = mix(static_cast<uint64_t>(condition.kind), condition.term.index());
  hash = mix(hash, std::hash<std::string>()(condition.name));
  for (ConditionId operand : condition.operands) hash = mix(hash, operand.index());
  for (TermId argument : condition.arguments) hash = mix(hash, argument.index());
  return hash;
}

bool same_value(const Condition& a, const Condition& b) {
  return a.kind == b.kind && a.term == b.term && a.operands == b.operands && a.name == b.name &&
         a.arguments == b.arguments;
}

}  // namespace

ConditionId TermStore::intern_condition(Condition condition) {
  if (condition.term) {
    condition.depth = measures_[condition.term.index()].depth;
    condition.rank = measures_[condition.term.index()].rank;
  }
  for (ConditionId operand : condition.operands) {
    condition.depth = std::max(condition.depth, conditions_[operand].depth);
    condition.rank = std::max(condition.rank, conditions_[operand].rank);
  }
  for (TermId argument : condition.arguments) {
    condition.depth = std::max(condition.depth, measures_[argument.index()].depth);
    condition.rank = std::max(condition.rank, measures_[argument.index()].rank);
  }
  if (++condition.depth > kMaxDepth) return large_condition();
  const uint64_t hash = hash_of(condition);
  auto [begin, end] = interned_.conditions.equal_range(hash);
  for (auto it = begin; it != end; ++it) {
    if (same_value(conditions_[it->second], condition)) return it->second;
  }
  ConditionId id = conditions_.add(std::move(condition));
  interned_.conditions.emplace(hash, id);
  return id;
}

ConditionId TermStore::large_condition() {
  return conditions_.add({.kind = ConditionKind::kLarge, .name = "..."});
}

ConditionId TermStore::boolean(bool value) {
  return intern_condition({.kind = value ? ConditionKind::kTrue : ConditionKind::kFalse});
}

ConditionId TermStore::opaque_condition(std::string_view name, std::span<const TermId> arguments,
                                        OpaqueStyle style) {
  return intern_condition({.kind = ConditionKind::kOpaque,
                           .name = std::string(name),
                           .arguments = {arguments.begin(), arguments.end()},
                           .style = style});
}

// Divided by what the coefficients have in common, the constant rounded down: an integer is at least -c / g
// exactly if it is at least -floor(c / g).
ConditionId TermStore::non_negative(TermId term) {
  if (std::optional<int64_t> value = constant_value(term)) return boolean(*value >= 0);
  const int64_t content = content_without_constant(polynomials_[term]);
  if (content > 1) {
    Polynomial reduced = polynomials_[term];
    for (Monomial& monomial : reduced.monomials) {
      monomial.coefficient = floor_divide(monomial.coefficient, content);
    }
    std::erase_if(reduced.monomials, [](const Monomial& m) { return m.coefficient == 0; });
    term = intern(std::move(reduced));
  }
  return intern_condition({.kind = ConditionKind::kNonNegative, .term = term});
}

ConditionId TermStore::zero(TermId term) {
  if (std::optional<int64_t> value = constant_value(term)) return boolean(*value == 0);
  const int64_t content = content_without_constant(polynomials_[term]);
  if (polynomials_[term].constant_part() % content != 0) return boolean(false);
  Monomial divisor;
  divisor.coefficient = polynomials_[term].monomials.back().coefficient < 0 ? -content : content;
  if (std::optional<Polynomial> reduced = divide(polynomials_[term], divisor))
    term = intern(*std::move(reduced));
  return intern_condition({.kind = ConditionKind::kZero, .term = term});
}

ConditionId TermStore::junction(ConditionKind kind, ConditionId a, ConditionId b) {
  std::vector<ConditionId> operands;
  for (ConditionId side : {a, b}) {
    const Condition& condition = conditions_[side];
    if (condition.kind == kind && condition.operands.size() < kMaxJunction) {
      operands.insert(operands.end(), condition.operands.begin(), condition.operands.end());
    } else {
      operands.push_back(side);
    }
  }
  std::vector<ConditionId> distinct;
  for (ConditionId operand : operands) {
    if (std::ranges::find(distinct, operand) == distinct.end()) distinct.push_back(operand);
  }
  if (distinct.size() == 1) return distinct[0];
  return intern_condition({.kind = kind, .operands = std::move(distinct)});
}

ConditionId TermStore::logical_and(ConditionId a, ConditionId b) {
  if (conditions_[a].kind == ConditionKind::kTrue || conditions_[b].kind == ConditionKind::kFalse) return b;
  if (conditions_[b].kind == ConditionKind::kTrue || conditions_[a].kind == ConditionKind::kFalse) return a;
  return junction(ConditionKind::kAnd, a, b);
}

ConditionId TermStore::logical_or(ConditionId a, ConditionId b) {
  if (conditions_[a].kind == ConditionKind::kFalse || conditions_[b].kind == ConditionKind::kTrue) return b;
  if (conditions_[b].kind == ConditionKind::kFalse || conditions_[a].kind == ConditionKind::kTrue) return a;
  return junction(ConditionKind::kOr, a, b);
}

ConditionId TermStore::negate_leaf(const Condition& condition) {
  switch (condition.kind) {
    case ConditionKind::kTrue:
      return boolean(false);
    case ConditionKind::kFalse:
      return boolean(true);
    case ConditionKind::kNonNegative:
      return non_negative(sub(negate(condition.term), constant(1)));
    case ConditionKind::kZero:
    case ConditionKind::kNonZero:
    case ConditionKind::kOpaque:
    case ConditionKind::kNotOpaque:
    case ConditionKind::kLarge:
    case ConditionKind::kNotLarge: {
      Condition negated = condition;
      negated.negation = {};
      switch (condition.kind) {
        case ConditionKind::kZero:
          negated.kind = ConditionKind::kNonZero;
          break;
        case ConditionKind::kNonZero:
          negated.kind = ConditionKind::kZero;
          break;
        case ConditionKind::kOpaque:
          negated.kind = ConditionKind::kNotOpaque;
          break;
        case ConditionKind::kNotOpaque:
          negated.kind = ConditionKind::kOpaque;
          break;
        default:
          negated.kind =
              condition.kind == ConditionKind::kLarge ? ConditionKind::kNotLarge : ConditionKind::kLarge;
          return conditions_.add(std::move(negated));
      }
      --negated.depth;
      return intern_condition(std::move(negated));
    }
    case ConditionKind::kAnd:
    case ConditionKind::kOr:
      break;
  }
  TENON_UNREACHABLE("a junction is no leaf");
}

ConditionId TermStore::logical_not(ConditionId a) {
  if (conditions_[a].negation) return conditions_[a].negation;
  // By value: the store grows below.
  const Condition condition = conditions_[a];
  ConditionId result;
  if (condition.kind == ConditionKind::kAnd || condition.kind == ConditionKind::kOr) {
    result = boolean(condition.kind == ConditionKind::kOr);
    for (ConditionId operand : condition.operands) {
      const ConditionId negated = logical_not(operand);
      result =
          condition.kind == ConditionKind::kOr ? logical_and(result, negated) : logical_or(result, negated);
    }
  } else {
    result = negate_leaf(condition);
  }
  conditions_[a].negation = result;
  if (!conditions_[result].negation) conditions_[result].negation = a;
  return result;
}

}  // namespace tenon::prove
