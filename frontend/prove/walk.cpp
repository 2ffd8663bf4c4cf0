// Walks over terms: which atoms there are, and replacing them. The recursion is bounded by kMaxDepth, and
// every node is visited once.
#include <algorithm>
#include <set>

#include "frontend/prove/term.h"
#include "frontend/prove/term_map.h"
#include "support/check.h"

namespace tenon::prove {
namespace {

class Collector {
 public:
  explicit Collector(const TermStore& store) : store_(store) {}

  void visit(TermId term) {
    if (!terms_.insert(term).second) return;
    for (const Monomial& monomial : store_.polynomial(term).monomials) {
      for (AtomId atom : monomial.atoms()) visit(atom);
    }
  }

  void visit(ConditionId id) {
    if (!conditions_.insert(id).second) return;
    const Condition& condition = store_.condition(id);
    if (condition.term) visit(condition.term);
    for (ConditionId operand : condition.operands) visit(operand);
    for (TermId argument : condition.arguments) visit(argument);
    if (condition.kind == ConditionKind::kLarge || condition.kind == ConditionKind::kNotLarge) large_ = true;
  }

  std::vector<AtomId> atoms() const { return {atoms_.begin(), atoms_.end()}; }
  bool found(AtomId atom) const { return large_ || atoms_.contains(atom); }

 private:
  void visit(AtomId id) {
    if (!atoms_.insert(id).second) return;
    const Atom& atom = store_.atom(id);
    if (atom.kind == AtomKind::kLarge) large_ = true;
    for (TermId operand : atom.operands) visit(operand);
    if (atom.condition) visit(atom.condition);
  }

  const TermStore& store_;
  std::set<TermId> terms_;
  std::set<AtomId> atoms_;
  std::set<ConditionId> conditions_;
  bool large_ = false;
};

}  // namespace

bool TermStore::mentions(TermId term, AtomId atom) const {
  Collector collector(*this);
  collector.visit(term);
  return collector.found(atom);
}

std::vector<AtomId> TermStore::atoms_of(TermId term) const {
  Collector collector(*this);
  collector.visit(term);
  return collector.atoms();
}

std::vector<AtomId> TermStore::atoms_of(ConditionId condition) const {
  Collector collector(*this);
  collector.visit(condition);
  return collector.atoms();
}

TermId TermMap::map(TermId term) {
  if (auto found = terms_.find(term); found != terms_.end()) return found->second;
  const TermId result = map_polynomial(prepare(term));
  terms_.emplace(term, result);
  return result;
}

TermId TermMap::map_polynomial(TermId term) {
  // By value: the store grows below.
  const Polynomial polynomial = store_.polynomial(term);
  bool changed = false;
  for (const Monomial& monomial : polynomial.monomials) {
    for (AtomId atom : monomial.atoms()) changed |= map(atom) != store_.term_of(atom);
  }
  if (!changed) return term;
  std::optional<Polynomial> sum = Polynomial{};
  for (const Monomial& monomial : polynomial.monomials) {
    std::optional<Polynomial> product = constant_polynomial(monomial.coefficient);
    for (AtomId atom : monomial.atoms()) {
      if (product) product = multiply(*product, store_.polynomial(map(atom)));
    }
    if (product && sum) sum = add(*sum, *product);
    if (!product || !sum) return store_.large();
  }
  return store_.intern(*std::move(sum));
}

TermId TermMap::map(AtomId atom) {
  if (auto found = atoms_.find(atom); found != atoms_.end()) return found->second;
  const TermId result = map_atom(atom);
  atoms_.emplace(atom, result);
  return result;
}

ConditionId TermMap::map(ConditionId id) {
  if (auto found = conditions_.find(id); found != conditions_.end()) return found->second;
  const ConditionId result = map_condition(id);
  conditions_.emplace(id, result);
  return result;
}

TermId TermMap::map_operands(AtomId id) {
  const Atom atom = store_.atom(id);
  std::vector<TermId> operands;
  for (TermId operand : atom.operands) operands.push_back(map(operand));
  switch (atom.kind) {
    case AtomKind::kSymbol:
    case AtomKind::kLarge:
      return store_.term_of(id);
    case AtomKind::kOpaque: {
      Range range = atom.range;
      for (TermId* bound : {&range.lo, &range.hi}) {
        if (*bound) *bound = map(*bound);
      }
      return store_.opaque(atom.name, operands, range, atom.style);
    }
    case AtomKind::kDiv:
      return store_.floor_div(operands[0], operands[1]);
    case AtomKind::kMin:
      return store_.min(operands[0], operands[1]);
    case AtomKind::kMax:
      return store_.max(operands[0], operands[1]);
    case AtomKind::kSelect:
      return store_.select(map(atom.condition), operands[0], operands[1]);
  }
  TENON_UNREACHABLE("unknown kind of atom");
}

ConditionId TermMap::map_condition(ConditionId id) {
  const Condition condition = store_.condition(id);
  switch (condition.kind) {
    case ConditionKind::kTrue:
    case ConditionKind::kFalse:
    case ConditionKind::kLarge:
    case ConditionKind::kNotLarge:
      return id;
    case ConditionKind::kNonNegative:
      return store_.non_negative(map(condition.term));
    case ConditionKind::kZero:
      return store_.zero(map(condition.term));
    case ConditionKind::kNonZero:
      return store_.logical_not(store_.zero(map(condition.term)));
    case ConditionKind::kAnd:
    case ConditionKind::kOr: {
      const bool is_and = condition.kind == ConditionKind::kAnd;
      ConditionId result = store_.boolean(is_and);
      for (ConditionId operand : condition.operands) {
        const ConditionId mapped = map(operand);
        result = is_and ? store_.logical_and(result, mapped) : store_.logical_or(result, mapped);
      }
      return result;
    }
    case ConditionKind::kOpaque:
    case ConditionKind::kNotOpaque: {
      std::vector<TermId> arguments;
      for (TermId argument : condition.arguments) arguments.push_back(map(argument));
      const ConditionId opaque = store_.opaque_condition(condition.name, arguments, condition.style);
      return condition.kind == ConditionKind::kOpaque ? opaque : store_.logical_not(opaque);
    }
  }
  TENON_UNREACHABLE("unknown kind of condition");
}

namespace {

class Substituter : public TermMap {
 public:
  Substituter(TermStore& store, const Substitution& replacements)
      : TermMap(store), replacements_(replacements) {}

 protected:
  TermId map_atom(AtomId atom) override {
    if (auto found = replacements_.find(atom); found != replacements_.end()) return found->second;
    // What a large atom depends on is forgotten, so its value after a replacement is another.
    if (store_.atom(atom).kind == AtomKind::kLarge) return store_.large();
    return map_operands(atom);
  }
  ConditionId map_condition(ConditionId id) override {
    const ConditionKind kind = store_.condition(id).kind;
    if (kind == ConditionKind::kLarge || kind == ConditionKind::kNotLarge) return store_.large_condition();
    return TermMap::map_condition(id);
  }

 private:
  const Substitution& replacements_;
};

}  // namespace

TermId TermStore::substitute(TermId term, const Substitution& replacements) {
  return Substituter(*this, replacements).map(term);
}

ConditionId TermStore::substitute(ConditionId condition, const Substitution& replacements) {
  return Substituter(*this, replacements).map(condition);
}

}  // namespace tenon::prove
