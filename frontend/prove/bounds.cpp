// What single atoms are bounded by, and the one inference step of the prover: to use a bound against an atom.
#include <algorithm>
#include <utility>

#include "frontend/prove/facts.h"

namespace tenon::prove {
namespace {

constexpr uint32_t kMaxRangeDepth = 3;
constexpr int kRangeSteps = 10;
// Larger polynomials have not led to proofs, and cost time.
constexpr size_t kMaxSearchMonomials = 24;
constexpr uint32_t kMaxSearchDegree = 5;

bool all_non_negative(const Polynomial& p) {
  return std::ranges::all_of(p.monomials, [](const Monomial& m) { return m.coefficient >= 0; });
}

// Whether some negative monomial divides no positive one: it stays negative whatever lower bounds its atoms
// have.
bool has_loose_negative(const Polynomial& p) {
  return std::ranges::any_of(p.monomials, [&](const Monomial& negative) {
    return negative.coefficient < 0 && std::ranges::none_of(
                                           p.monomials,
                                           [&](const Monomial& positive) {
                                             return positive.coefficient > 0 &&
                                                    std::ranges::includes(positive.atoms(), negative.atoms());
                                           });
  });
}

bool too_large(const Polynomial& p) {
  return p.monomials.size() > kMaxSearchMonomials ||
         std::ranges::any_of(p.monomials, [](const Monomial& m) { return m.degree > kMaxSearchDegree; });
}

}  // namespace

std::vector<AtomId> Facts::atoms_by_rank(const Polynomial& p) const {
  std::vector<AtomId> atoms;
  for (const Monomial& monomial : p.monomials) {
    atoms.insert(atoms.end(), monomial.atoms().begin(), monomial.atoms().end());
  }
  std::ranges::sort(atoms, [&](AtomId a, AtomId b) {
    return std::pair(store_->atom(b).rank, a) < std::pair(store_->atom(a).rank, b);
  });
  const auto repeated = std::ranges::unique(atoms);
  atoms.erase(repeated.begin(), repeated.end());
  return atoms;
}

std::optional<int64_t> Facts::lower_bound(AtomId id, int depth) {
  if (depth != kLowerBoundDepth) return compute_lower_bound(id, depth);
  if (cache_version_ != version_) changed();
  if (auto found = known_lower_bounds_.find(id); found != known_lower_bounds_.end()) return found->second;
  const std::optional<int64_t> bound = compute_lower_bound(id, depth);
  known_lower_bounds_.emplace(id, bound);
  return bound;
}

std::optional<int64_t> Facts::compute_lower_bound(AtomId id, int depth) {
  std::optional<int64_t> best;
  if (auto found = lower_bounds_.find(id); found != lower_bounds_.end()) best = found->second;
  const Atom& atom = store_->atom(id);
  auto offer = [&best](std::optional<int64_t> bound) {
    if (bound && (!best || *bound > *best)) best = bound;
  };
  if (atom.kind == AtomKind::kSymbol && atom.symbol_kind == SymbolKind::kDimension) offer(0);
  if (atom.range.lo) {
    const TermId lo = atom.range.lo;
    offer(store_->constant_value(lo));
    if (!best && depth > 0 && clearly_non_negative(store_->polynomial(lo), depth - 1)) offer(0);
  }
  if (depth > 0) offer(lower_bound_of_operation(Atom(store_->atom(id)), depth));
  return best;
}

// Holds for x / 0, which is 0, too.
std::optional<int64_t> Facts::lower_bound_of_operation(const Atom& atom, int depth) {
  auto non_negative = [&](size_t operand) {
    return clearly_non_negative(store_->polynomial(atom.operands[operand]), depth - 1);
  };
  switch (atom.kind) {
    case AtomKind::kDiv:
    case AtomKind::kMin:
    case AtomKind::kSelect:
      if (non_negative(0) && non_negative(1)) return 0;
      return std::nullopt;
    case AtomKind::kMax: {
      std::optional<int64_t> best;
      for (TermId operand : atom.operands) {
        const std::optional<int64_t> value = store_->constant_value(operand);
        if (value && (!best || *value > *best)) best = value;
      }
      if ((!best || *best < 0) && (non_negative(0) || non_negative(1))) best = 0;
      return best;
    }
    case AtomKind::kSymbol:
    case AtomKind::kOpaque:
    case AtomKind::kLarge:
      return std::nullopt;
  }
  return std::nullopt;
}

bool Facts::clearly_non_negative(const Polynomial& p, int depth) {
  if (std::optional<int64_t> value = p.constant_value()) return *value >= 0;
  if (has_loose_negative(p)) return false;
  std::map<AtomId, int64_t> bounds;
  bool shifted = false;
  for (const Monomial& monomial : p.monomials) {
    for (AtomId atom : monomial.atoms()) {
      if (bounds.contains(atom)) continue;
      const std::optional<int64_t> bound = lower_bound(atom, depth);
      if (!bound) return false;
      bounds.emplace(atom, *bound);
      shifted |= *bound != 0;
    }
  }
  if (!shifted) return all_non_negative(p);
  // With every atom as its bound plus something that is not negative.
  Polynomial sum;
  for (const Monomial& monomial : p.monomials) {
    std::optional<Polynomial> product = constant_polynomial(monomial.coefficient);
    for (AtomId atom : monomial.atoms()) {
      const std::optional<Polynomial> factor = add(atom_polynomial(atom), constant_polynomial(bounds[atom]));
      if (product && factor) product = multiply(*product, *factor);
    }
    std::optional<Polynomial> next = product ? add(sum, *product) : std::nullopt;
    if (!next) return false;
    sum = *std::move(next);
  }
  return all_non_negative(sum);
}

bool Facts::clearly_positive(TermId term) {
  const std::optional<Polynomial> less = add(store_->polynomial(term), constant_polynomial(-1));
  return less && clearly_non_negative(*less);
}

Facts::Sign Facts::sign_of(const Polynomial& p) {
  if (clearly_non_negative(p)) return Sign::kNonNegative;
  const std::optional<Polynomial> negated = scale(p, -1);
  return negated && clearly_non_negative(*negated) ? Sign::kNonPositive : Sign::kUnknown;
}

std::optional<Polynomial> Facts::replace_by_range(const Polynomial& p, AtomId atom) {
  const Range range = store_->atom(atom).range;
  if (!range.lo && !range.hi) return std::nullopt;
  const std::optional<View> from = view(p, atom);
  if (!from) return std::nullopt;
  const TermId bound = from->non_negative ? range.lo : range.hi;
  if (!bound) return std::nullopt;
  const Polynomial end = store_->polynomial(rewrite(bound));
  std::optional<Polynomial> fact;
  if (from->non_negative) {
    fact = add(atom_polynomial(atom), end, -1);
  } else if (std::optional<Polynomial> last = add(end, constant_polynomial(-1))) {
    fact = add(*last, atom_polynomial(atom), -1);
  }
  return fact ? eliminate(*from, *fact) : std::nullopt;
}

bool Facts::non_negative_by_ranges(Polynomial p) {
  if (range_depth_ >= kMaxRangeDepth) return clearly_non_negative(p);
  ++range_depth_;
  bool proved = clearly_non_negative(p);
  for (int step = 0; step < kRangeSteps && !proved; ++step) {
    std::optional<Polynomial> next;
    for (AtomId atom : atoms_by_rank(p)) {
      next = replace_by_range(p, atom);
      if (next) break;
    }
    if (!next) break;
    p = *std::move(next);
    proved = clearly_non_negative(p);
  }
  --range_depth_;
  return proved;
}

const std::vector<Polynomial>& Facts::bounds(AtomId atom) {
  if (cache_version_ != version_) changed();
  if (auto found = bounds_.find(atom); found != bounds_.end()) return found->second;
  std::vector<Polynomial> out;
  collect_bounds(atom, out);
  return bounds_.emplace(atom, std::move(out)).first->second;
}

void Facts::collect_bounds(AtomId id, std::vector<Polynomial>& out) {
  const Atom atom = store_->atom(id);
  const Polynomial self = atom_polynomial(id);
  auto push = [&out](std::optional<Polynomial> p) {
    if (p) out.push_back(*std::move(p));
  };
  auto at_least = [&](const Polynomial& bound) { push(add(self, bound, -1)); };
  auto at_most = [&](const Polynomial& bound) { push(add(bound, self, -1)); };
  if (atom.range.hi) at_most(store_->polynomial(rewrite(store_->sub(atom.range.hi, store_->constant(1)))));
  if (atom.range.lo) at_least(store_->polynomial(rewrite(atom.range.lo)));
  if (std::optional<int64_t> low = lower_bound(id)) at_least(constant_polynomial(*low));
  switch (atom.kind) {
    case AtomKind::kDiv: {
      const Polynomial x = store_->polynomial(atom.operands[0]);
      const Polynomial d = store_->polynomial(atom.operands[1]);
      if (clearly_positive(atom.operands[1])) {
        // x - d + 1 <= d * self <= x.
        const std::optional<Polynomial> product = multiply(d, self);
        if (!product) return;
        push(add(x, *product, -1));
        if (std::optional<Polynomial> excess = add(*product, x, -1)) {
          if ((excess = add(*excess, d))) push(add(*excess, constant_polynomial(-1)));
        }
      } else if (clearly_non_negative(x) && clearly_non_negative(d)) {
        at_most(x);
      }
      return;
    }
    case AtomKind::kMin:
      for (TermId operand : atom.operands) at_most(store_->polynomial(operand));
      return;
    case AtomKind::kMax:
      for (TermId operand : atom.operands) at_least(store_->polynomial(operand));
      return;
    case AtomKind::kSymbol:
    case AtomKind::kOpaque:
    case AtomKind::kSelect:
    case AtomKind::kLarge:
      return;
  }
}

std::optional<Facts::View> Facts::view(const Polynomial& p, AtomId atom) {
  View result{&p, atom, split_by(p, atom).coefficient, true};
  const Sign sign = sign_of(result.coefficient);
  if (sign == Sign::kUnknown) return std::nullopt;
  result.non_negative = sign == Sign::kNonNegative;
  return result;
}

// With p = k * atom + r and fact = c * atom + g, k and c of one sign, a = |c| / m and b = |k| / m for a
// common factor m: a * p - b * fact is free of the atom's linear part. If a * p + (a - 1) - b * fact >= 0
// then a * p > -a, so p > -1.
std::optional<Polynomial> Facts::eliminate(const View& view, const Polynomial& fact) {
  if (!fact.contains(view.atom)) return std::nullopt;
  const AtomSplit in_fact = split_by(fact, view.atom);
  if (in_fact.coefficient.contains(view.atom)) return std::nullopt;
  const Sign wanted = view.non_negative ? Sign::kNonNegative : Sign::kNonPositive;
  if (sign_of(in_fact.coefficient) != wanted) return std::nullopt;
  Monomial common = common_factor(common_factor(view.coefficient), common_factor(in_fact.coefficient));
  Polynomial factors = monomial_polynomial(common);
  // An atom of unknown sign must not be divided out: a and b would not have the sign that they need.
  if (!clearly_non_negative(factors)) {
    common = Monomial{};
    common.coefficient = 1;
  }
  if (!view.non_negative) common.coefficient = -common.coefficient;
  const std::optional<Polynomial> a = divide(in_fact.coefficient, common);
  const std::optional<Polynomial> b = divide(view.coefficient, common);
  if (!a || !b) return std::nullopt;
  const std::optional<Polynomial> slack = add(*a, constant_polynomial(-1));
  if (!slack || !clearly_non_negative(*slack) || !clearly_non_negative(*b)) return std::nullopt;
  const std::optional<Polynomial> scaled = multiply(*a, *view.p);
  const std::optional<Polynomial> used = multiply(*b, fact);
  if (!scaled || !used) return std::nullopt;
  const std::optional<Polynomial> difference = add(*scaled, *used, -1);
  std::optional<Polynomial> result = difference ? add(*difference, *slack) : std::nullopt;
  return result && !too_large(*result) ? result : std::nullopt;
}

}  // namespace tenon::prove
