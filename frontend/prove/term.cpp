#include "frontend/prove/term.h"

#include <algorithm>
#include <functional>
#include <limits>

#include "support/check.h"

namespace tenon::prove {
namespace {

uint64_t mix(uint64_t hash, uint64_t value) {
  return (hash ^ value) * 0xFF51AFD7ED558CCD + (value >> 29) + 1;
}

uint64_t hash_of(const Atom& atom) {
  uint64_t hash = mix(static_cast<uint64_t>(atom.kind), atom.condition.index());
  hash = mix(hash, std::hash<std::string>()(atom.name));
  for (TermId operand : atom.operands) hash = mix(hash, operand.index());
  return hash;
}

bool same_value(const Atom& a, const Atom& b) {
  return a.kind == b.kind && a.name == b.name && a.operands == b.operands && a.condition == b.condition;
}

// The term divided by what all its coefficients have in common with `other`'s.
int64_t common_content(const Polynomial& a, const Polynomial& b) {
  Monomial common = a.monomials[0];
  for (const Polynomial* p : {&a, &b}) {
    for (const Monomial& monomial : p->monomials) common = common_factor(common, monomial);
  }
  return common.coefficient;
}

}  // namespace

TermStore::TermStore() {
  intern(Polynomial{});
  intern(constant_polynomial(1));
}

TermId TermStore::constant(int64_t value) { return intern(constant_polynomial(value)); }

TermId TermStore::symbol(std::string_view name, SymbolKind kind, Range range) {
  Atom atom{.kind = AtomKind::kSymbol, .symbol_kind = kind, .name = std::string(name), .range = range};
  atom.rank = range_rank(range);
  return intern(atom_polynomial(atoms_.add(std::move(atom))));
}

TermId TermStore::opaque(std::string_view name, std::span<const TermId> arguments, Range range,
                         OpaqueStyle style) {
  return atom_term({.kind = AtomKind::kOpaque,
                    .style = style,
                    .name = std::string(name),
                    .operands = {arguments.begin(), arguments.end()},
                    .range = range});
}

TermId TermStore::large() {
  Atom atom{.kind = AtomKind::kLarge, .name = "..."};
  return intern(atom_polynomial(atoms_.add(std::move(atom))));
}

TermId TermStore::term_of(AtomId atom) { return intern(atom_polynomial(atom)); }

TermId TermStore::atom_term(Atom atom) {
  std::optional<AtomId> id = intern_atom(std::move(atom));
  return id ? term_of(*id) : large();
}

uint32_t TermStore::range_rank(const Range& range) const {
  uint32_t rank = 0;
  for (TermId bound : {range.lo, range.hi}) {
    if (bound) rank = std::max(rank, measures_[bound.index()].rank + 1);
  }
  return rank;
}

std::optional<AtomId> TermStore::intern_atom(Atom atom) {
  atom.rank = range_rank(atom.range);
  if (atom.condition) {
    atom.depth = conditions_[atom.condition].depth;
    atom.rank = std::max(atom.rank, conditions_[atom.condition].rank);
  }
  for (TermId operand : atom.operands) {
    atom.depth = std::max(atom.depth, measures_[operand.index()].depth);
    atom.rank = std::max(atom.rank, measures_[operand.index()].rank);
  }
  for (TermId bound : {atom.range.lo, atom.range.hi}) {
    if (bound) atom.depth = std::max(atom.depth, measures_[bound.index()].depth);
  }
  ++atom.depth;
  ++atom.rank;
  if (atom.depth > kMaxDepth) return std::nullopt;
  const uint64_t hash = hash_of(atom);
  auto [begin, end] = interned_.atoms.equal_range(hash);
  for (auto it = begin; it != end; ++it) {
    if (same_value(atoms_[it->second], atom)) return it->second;
  }
  AtomId id = atoms_.add(std::move(atom));
  interned_.atoms.emplace(hash, id);
  return id;
}

TermId TermStore::intern(Polynomial polynomial) {
  const uint64_t hash = hash_value(polynomial);
  auto [begin, end] = interned_.terms.equal_range(hash);
  for (auto it = begin; it != end; ++it) {
    if (polynomials_[it->second] == polynomial) return it->second;
  }
  Measure measure;
  for (const Monomial& monomial : polynomial.monomials) {
    for (AtomId atom : monomial.atoms()) {
      measure.depth = std::max(measure.depth, atoms_[atom].depth);
      measure.rank = std::max(measure.rank, atoms_[atom].rank);
    }
  }
  measures_.push_back(measure);
  TermId id = polynomials_.add(std::move(polynomial));
  interned_.terms.emplace(hash, id);
  return id;
}

TermId TermStore::intern_or_large(std::optional<Polynomial> polynomial) {
  return polynomial ? intern(*std::move(polynomial)) : large();
}

TermId TermStore::add(TermId a, TermId b) {
  return intern_or_large(prove::add(polynomials_[a], polynomials_[b]));
}

TermId TermStore::sub(TermId a, TermId b) {
  return intern_or_large(prove::add(polynomials_[a], polynomials_[b], -1));
}

TermId TermStore::mul(TermId a, TermId b) {
  return intern_or_large(multiply(polynomials_[a], polynomials_[b]));
}

TermId TermStore::scale(TermId a, int64_t factor) {
  return intern_or_large(prove::scale(polynomials_[a], factor));
}

// (divisor * q + r) / divisor = q + r / divisor; then numerator and divisor by what they have in common,
// which the numerator's constant need not be a multiple of: floor((g * p + c) / (g * d)) = floor((p + floor(c
// / g)) / d).
TermId TermStore::divide_by_constant(TermId a, int64_t divisor) {
  Polynomial quotient;
  Polynomial rest;
  for (const Monomial& monomial : polynomials_[a].monomials) {
    // The remainder of such a constant could not be computed.
    if (monomial.coefficient < std::numeric_limits<int64_t>::min() / 2) return large();
    const int64_t whole = floor_divide(monomial.coefficient, divisor);
    const bool takes_all = monomial.degree == 0 || monomial.coefficient % divisor == 0;
    Monomial part = monomial;
    part.coefficient = takes_all ? whole : 0;
    if (part.coefficient != 0) quotient.monomials.push_back(part);
    part.coefficient = monomial.coefficient - part.coefficient * divisor;
    if (part.coefficient != 0) rest.monomials.push_back(part);
  }
  Monomial common;
  common.coefficient = divisor;
  for (const Monomial& monomial : rest.monomials) {
    if (monomial.degree > 0) common = common_factor(common, monomial);
  }
  for (Monomial& monomial : rest.monomials) {
    monomial.coefficient = floor_divide(monomial.coefficient, common.coefficient);
  }
  std::erase_if(rest.monomials, [](const Monomial& m) { return m.coefficient == 0; });
  divisor /= common.coefficient;
  TermId whole = intern(std::move(quotient));
  if (divisor == 1) return add(whole, intern(std::move(rest)));
  if (rest.constant_value()) return add(whole, constant(floor_divide(*rest.constant_value(), divisor)));
  const TermId numerator = intern(std::move(rest));
  return add(whole, atom_term({.kind = AtomKind::kDiv, .operands = {numerator, constant(divisor)}}));
}

TermId TermStore::floor_div(TermId a, TermId b) {
  if (std::optional<int64_t> divisor = constant_value(b)) {
    if (*divisor == 0) return constant(0);
    if (*divisor == std::numeric_limits<int64_t>::min()) return large();
    return *divisor > 0 ? divide_by_constant(a, *divisor) : divide_by_constant(negate(a), -*divisor);
  }
  if (polynomials_[a].is_zero()) return a;
  const int64_t common = common_content(polynomials_[a], polynomials_[b]);
  Monomial divisor;
  divisor.coefficient = common;
  if (common > 1) {
    a = intern_or_large(divide(polynomials_[a], divisor));
    b = intern_or_large(divide(polynomials_[b], divisor));
  }
  return atom_term({.kind = AtomKind::kDiv, .operands = {a, b}});
}

TermId TermStore::floor_mod(TermId a, TermId b) { return sub(a, mul(b, floor_div(a, b))); }

TermId TermStore::min(TermId a, TermId b) {
  if (std::optional<int64_t> difference = constant_value(sub(a, b))) return *difference <= 0 ? a : b;
  if (b < a) std::swap(a, b);
  return atom_term({.kind = AtomKind::kMin, .operands = {a, b}});
}

TermId TermStore::max(TermId a, TermId b) {
  if (std::optional<int64_t> difference = constant_value(sub(a, b))) return *difference >= 0 ? a : b;
  if (b < a) std::swap(a, b);
  return atom_term({.kind = AtomKind::kMax, .operands = {a, b}});
}

TermId TermStore::select(ConditionId condition, TermId then, TermId otherwise) {
  const ConditionKind kind = conditions_[condition].kind;
  if (kind == ConditionKind::kTrue || then == otherwise) return then;
  if (kind == ConditionKind::kFalse) return otherwise;
  return atom_term({.kind = AtomKind::kSelect, .operands = {then, otherwise}, .condition = condition});
}

std::optional<int64_t> TermStore::constant_value(TermId term) const {
  return polynomials_[term].constant_value();
}

std::optional<AtomId> TermStore::single_atom(TermId term) const {
  const std::vector<Monomial>& monomials = polynomials_[term].monomials;
  if (monomials.size() != 1 || monomials[0].degree != 1 || monomials[0].coefficient != 1) return std::nullopt;
  return monomials[0].factors[0];
}

int64_t TermStore::content(TermId term) const {
  const Polynomial& p = polynomials_[term];
  return p.is_zero() ? 0 : common_factor(p).coefficient;
}

std::optional<TermStore::Linear> TermStore::linear_in(TermId term, AtomId atom) {
  AtomSplit split = split_by(polynomials_[term], atom);
  Linear linear{intern(std::move(split.coefficient)), intern(std::move(split.rest))};
  if (mentions(linear.coefficient, atom) || mentions(linear.rest, atom)) return std::nullopt;
  return linear;
}

}  // namespace tenon::prove
