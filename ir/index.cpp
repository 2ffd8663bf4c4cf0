#include "ir/index.h"

#include <algorithm>
#include <limits>
#include <queue>
#include <utility>

#include "ir/index_apply.h"
#include "support/check.h"

namespace tenon::ir {
namespace {

size_t hash_of(const IndexNode& node) {
  size_t h = static_cast<size_t>(node.kind);
  h = hash_combine(h, node.reference);
  h = hash_combine(h, node.a.index());
  h = hash_combine(h, node.b.index());
  for (const Monomial& term : node.terms) {
    h = hash_combine(h, static_cast<size_t>(term.coefficient));
    for (IndexId factor : term.factors) h = hash_combine(h, factor.index());
  }
  return h;
}

bool is_leaf(IndexKind kind) {
  return kind == IndexKind::kSymbol || kind == IndexKind::kAxis || kind == IndexKind::kValue;
}

// Divides every coefficient by d > 0 where it goes without remainder.
struct DivisionSplit {
  std::vector<Monomial> quotient;
  std::vector<Monomial> rest;
};

DivisionSplit split_by_constant(const std::vector<Monomial>& terms, int64_t d) {
  DivisionSplit split;
  for (const Monomial& term : terms) {
    if (term.coefficient % d == 0) {
      split.quotient.push_back({term.coefficient / d, term.factors});
    } else {
      split.rest.push_back(term);
    }
  }
  return split;
}

// Separates the terms that hold `atom` as a factor, one power of it removed.
DivisionSplit split_by_atom(const std::vector<Monomial>& terms, IndexId atom) {
  DivisionSplit split;
  for (const Monomial& term : terms) {
    auto at = std::find(term.factors.begin(), term.factors.end(), atom);
    if (at == term.factors.end()) {
      split.rest.push_back(term);
      continue;
    }
    Monomial quotient = term;
    quotient.factors.erase(quotient.factors.begin() + (at - term.factors.begin()));
    split.quotient.push_back(std::move(quotient));
  }
  return split;
}

// Longer lists of minima or maxima stay as they are nested, which bounds the time to look through them.
constexpr size_t kMostExtremes = 16;

// Adds what an expression is the minimum or maximum of; false where that is too much.
bool add_extremes(const IndexPool& pool, IndexKind kind, IndexId id, std::vector<IndexId>& operands) {
  std::vector<IndexId> pending{id};
  while (!pending.empty()) {
    const IndexId at = pending.back();
    pending.pop_back();
    if (pool[at].kind == kind) {
      pending.push_back(pool[at].a);
      pending.push_back(pool[at].b);
    } else if (operands.size() == kMostExtremes) {
      return false;
    } else {
      operands.push_back(at);
    }
  }
  return true;
}

// What the minimum or maximum of two expressions is made of, nested ones as one list in the order of ids, so
// that every list has one expression; none makes another one superfluous.
std::vector<IndexId> extremes(IndexPool& pool, IndexKind kind, IndexId a, IndexId b) {
  std::vector<IndexId> operands;
  if (!add_extremes(pool, kind, a, operands) || !add_extremes(pool, kind, b, operands))
    return a == b ? std::vector{a} : std::vector{std::min(a, b), std::max(a, b)};
  std::vector<IndexId> kept;
  for (IndexId operand : operands) {
    bool superfluous = false;
    for (IndexId& other : kept) {
      const auto difference = pool.as_constant(pool.sub(operand, other));
      if (!difference) continue;
      if (kind == IndexKind::kMin ? *difference < 0 : *difference > 0) other = operand;
      superfluous = true;
    }
    if (!superfluous) kept.push_back(operand);
  }
  std::sort(kept.begin(), kept.end());
  return kept;
}

}  // namespace

IndexPool::IndexPool() { intern(IndexNode{}); }

IndexId IndexPool::intern(IndexNode node) {
  IndexId next(static_cast<uint32_t>(nodes_.size()));
  IndexId id = known_.find_or_add(hash_of(node), next, [&](IndexId other) { return (*this)[other] == node; });
  if (id == next) nodes_.push_back(std::move(node));
  return id;
}

IndexId IndexPool::from_terms(std::vector<Monomial> terms) {
  std::sort(terms.begin(), terms.end(),
            [](const Monomial& a, const Monomial& b) { return a.factors < b.factors; });
  std::vector<Monomial> merged;
  for (Monomial& term : terms) {
    if (!merged.empty() && merged.back().factors == term.factors) {
      if (__builtin_add_overflow(merged.back().coefficient, term.coefficient, &merged.back().coefficient))
        overflowed_ = true;
    } else {
      merged.push_back(std::move(term));
    }
  }
  std::erase_if(merged, [](const Monomial& term) { return term.coefficient == 0; });
  // d*(e/d) + e%d is e: look for a remainder with the matching quotient.
  for (size_t i = 0; i < merged.size(); ++i) {
    if (merged[i].factors.empty()) continue;
    for (IndexId atom : merged[i].factors) {
      if (nodes_[atom.index()].kind != IndexKind::kFloorMod) continue;
      auto [e, d] = std::pair(nodes_[atom.index()].a, nodes_[atom.index()].b);
      const Monomial remainder = merged[i];
      Monomial rest = remainder;
      rest.factors.erase(std::find(rest.factors.begin(), rest.factors.end(), atom));
      IndexId quotient = floor_div(e, d);
      std::vector<Monomial> wanted = this->terms(mul(mul(from_terms({rest}), quotient), d));
      bool all = !wanted.empty();
      for (const Monomial& term : wanted)
        all = all && std::find(merged.begin(), merged.end(), term) != merged.end();
      if (!all) continue;
      std::erase_if(merged, [&](const Monomial& term) {
        return std::find(wanted.begin(), wanted.end(), term) != wanted.end();
      });
      merged.erase(std::find(merged.begin(), merged.end(), remainder));
      for (const Monomial& term : this->terms(mul(from_terms({rest}), e))) merged.push_back(term);
      return from_terms(std::move(merged));
    }
  }
  // A single atom with coefficient 1 is that atom itself, so that every expression has one id.
  if (merged.size() == 1 && merged[0].coefficient == 1 && merged[0].factors.size() == 1)
    return merged[0].factors[0];
  IndexNode node;
  node.terms = std::move(merged);
  return intern(std::move(node));
}

std::vector<Monomial> IndexPool::terms(IndexId id) const {
  const IndexNode& node = nodes_[id.index()];
  if (node.kind == IndexKind::kPolynomial) return node.terms;
  return {Monomial{1, {id}}};
}

std::optional<int64_t> IndexPool::as_constant(IndexId id) const {
  const IndexNode& node = nodes_[id.index()];
  if (node.kind != IndexKind::kPolynomial) return std::nullopt;
  if (node.terms.empty()) return 0;
  if (node.terms.size() == 1 && node.terms[0].factors.empty()) return node.terms[0].coefficient;
  return std::nullopt;
}

IndexId IndexPool::constant(int64_t value) {
  IndexNode node;
  if (value != 0) node.terms.push_back({value, {}});
  return intern(std::move(node));
}

IndexId IndexPool::symbol(SymbolId symbol) {
  return intern({IndexKind::kSymbol, {}, symbol.index(), {}, {}});
}
IndexId IndexPool::axis(AxisId axis) { return intern({IndexKind::kAxis, {}, axis.index(), {}, {}}); }
IndexId IndexPool::value(ValueId value) { return intern({IndexKind::kValue, {}, value.index(), {}, {}}); }

IndexId IndexPool::add(IndexId a, IndexId b) {
  std::vector<Monomial> sum = terms(a);
  std::vector<Monomial> more = terms(b);
  sum.insert(sum.end(), more.begin(), more.end());
  return from_terms(std::move(sum));
}

IndexId IndexPool::scale(IndexId a, int64_t factor) {
  std::vector<Monomial> scaled = terms(a);
  for (Monomial& term : scaled)
    if (__builtin_mul_overflow(term.coefficient, factor, &term.coefficient)) overflowed_ = true;
  return from_terms(std::move(scaled));
}

IndexId IndexPool::sub(IndexId a, IndexId b) { return add(a, scale(b, -1)); }

IndexId IndexPool::mul(IndexId a, IndexId b) {
  std::vector<Monomial> product;
  for (const Monomial& x : terms(a)) {
    for (const Monomial& y : terms(b)) {
      Monomial term;
      if (__builtin_mul_overflow(x.coefficient, y.coefficient, &term.coefficient)) overflowed_ = true;
      std::merge(x.factors.begin(), x.factors.end(), y.factors.begin(), y.factors.end(),
                 std::back_inserter(term.factors));
      product.push_back(std::move(term));
    }
  }
  return from_terms(std::move(product));
}

std::optional<int64_t> IndexPool::fold(IndexKind kind, int64_t a, int64_t b) const {
  // The one quotient that leaves 64 bits.
  if (kind == IndexKind::kFloorDiv && a == std::numeric_limits<int64_t>::min() && b == -1)
    return std::nullopt;
  return apply_index(kind, a, b);
}

IndexId IndexPool::binary_atom(IndexKind kind, IndexId a, IndexId b) {
  auto x = as_constant(a);
  auto y = b.valid() ? as_constant(b) : std::optional<int64_t>(0);
  if (x && y) {
    if (auto value = fold(kind, *x, *y)) return constant(*value);
  }
  return intern({kind, {}, 0, a, b});
}

IndexId IndexPool::floor_div(IndexId a, IndexId b) {
  if (is_constant(b, 1)) return a;
  if (auto d = as_constant(b); d && *d > 1) {
    DivisionSplit split = split_by_constant(terms(a), *d);
    if (!split.quotient.empty()) {
      IndexId rest = from_terms(std::move(split.rest));
      return add(from_terms(std::move(split.quotient)), floor_div(rest, b));
    }
    // (e/c)/d is e/(c*d) for positive c and d.
    const IndexNode node = nodes_[a.index()];
    if (node.kind == IndexKind::kFloorDiv) {
      auto c = as_constant(node.b);
      if (c && *c > 1 && *c < (int64_t{1} << 31) && *d < (int64_t{1} << 31))
        return floor_div(node.a, constant(*c * *d));
    }
  }
  // A symbol as divisor may be 0, where (q*N)/N is not q; only constants divide out here. The checker's facts
  // about `where` clauses are used where they are known.
  return binary_atom(IndexKind::kFloorDiv, a, b);
}

IndexId IndexPool::floor_mod(IndexId a, IndexId b) {
  if (is_constant(b, 1)) return constant(0);
  if (auto d = as_constant(b); d && *d > 1) {
    DivisionSplit split = split_by_constant(terms(a), *d);
    if (!split.quotient.empty()) return floor_mod(from_terms(std::move(split.rest)), b);
  }
  // (e + q*N) % N is e % N for every N, zero included, only if q*N counts as a multiple: at N = 0 it is e as
  // well.
  if (is_leaf(nodes_[b.index()].kind)) {
    DivisionSplit split = split_by_atom(terms(a), b);
    if (!split.quotient.empty()) return floor_mod(from_terms(std::move(split.rest)), b);
  }
  return binary_atom(IndexKind::kFloorMod, a, b);
}

IndexId IndexPool::min(IndexId a, IndexId b) {
  IndexId result;
  for (IndexId operand : extremes(*this, IndexKind::kMin, a, b))
    result = result.valid() ? binary_atom(IndexKind::kMin, result, operand) : operand;
  return result;
}

IndexId IndexPool::max(IndexId a, IndexId b) {
  IndexId result;
  for (IndexId operand : extremes(*this, IndexKind::kMax, a, b))
    result = result.valid() ? binary_atom(IndexKind::kMax, result, operand) : operand;
  return result;
}

IndexId IndexPool::less(IndexId a, IndexId b) {
  if (auto difference = as_constant(sub(a, b))) return constant(*difference < 0);
  return binary_atom(IndexKind::kLess, a, b);
}

IndexId IndexPool::less_equal(IndexId a, IndexId b) { return logical_not(less(b, a)); }

IndexId IndexPool::equal(IndexId a, IndexId b) {
  if (b < a) std::swap(a, b);
  if (auto difference = as_constant(sub(a, b))) return constant(*difference == 0);
  return binary_atom(IndexKind::kEqual, a, b);
}

IndexId IndexPool::logical_and(IndexId a, IndexId b) {
  if (auto x = as_constant(a)) return *x != 0 ? b : constant(0);
  if (auto y = as_constant(b)) return *y != 0 ? a : constant(0);
  return a == b ? a : binary_atom(IndexKind::kAnd, a, b);
}

IndexId IndexPool::logical_or(IndexId a, IndexId b) {
  if (auto x = as_constant(a)) return *x == 0 ? b : constant(1);
  if (auto y = as_constant(b)) return *y == 0 ? a : constant(1);
  return a == b ? a : binary_atom(IndexKind::kOr, a, b);
}

IndexId IndexPool::logical_not(IndexId a) {
  if (nodes_[a.index()].kind == IndexKind::kNot) return nodes_[a.index()].a;
  return binary_atom(IndexKind::kNot, a, {});
}

IndexId IndexPool::ceil_div(IndexId a, int64_t b) {
  TENON_CHECK(b > 0, "ceil_div by a number that is not positive");
  return floor_div(add(a, constant(b - 1)), constant(b));
}

IndexId IndexPool::build(IndexKind kind, IndexId a, IndexId b) {
  switch (kind) {
    case IndexKind::kFloorDiv:
      return floor_div(a, b);
    case IndexKind::kFloorMod:
      return floor_mod(a, b);
    case IndexKind::kMin:
      return min(a, b);
    case IndexKind::kMax:
      return max(a, b);
    case IndexKind::kLess:
      return less(a, b);
    case IndexKind::kEqual:
      return equal(a, b);
    case IndexKind::kAnd:
      return logical_and(a, b);
    case IndexKind::kOr:
      return logical_or(a, b);
    case IndexKind::kNot:
      return logical_not(a);
    case IndexKind::kPolynomial:
    case IndexKind::kSymbol:
    case IndexKind::kAxis:
    case IndexKind::kValue:
      break;
  }
  TENON_UNREACHABLE("a leaf is not built of operands");
}

std::vector<IndexId> IndexPool::parts(IndexId root) const {
  // Operands have smaller ids than what they are part of: the greatest id that is left has been met by all
  // that it is part of.
  std::vector<IndexId> found;
  std::priority_queue<IndexId> work;
  work.push(root);
  while (!work.empty()) {
    IndexId id = work.top();
    while (!work.empty() && work.top() == id) work.pop();
    found.push_back(id);
    const IndexNode& node = nodes_[id.index()];
    for (const Monomial& term : node.terms)
      for (IndexId factor : term.factors) work.push(factor);
    if (node.a.valid()) work.push(node.a);
    if (node.b.valid()) work.push(node.b);
  }
  std::reverse(found.begin(), found.end());
  return found;
}

IndexId IndexPool::substitute(IndexId root, const AtomMap& map) {
  auto mapped = [&](IndexId leaf) {
    IndexId to = map(leaf);
    return to.valid() ? to : leaf;
  };
  if (is_leaf(nodes_[root.index()].kind)) return mapped(root);
  const std::vector<IndexId> ids = parts(root);
  std::vector<IndexId> images;
  auto image = [&](IndexId part) {
    return images[static_cast<size_t>(std::ranges::lower_bound(ids, part) - ids.begin())];
  };
  for (IndexId id : ids) {
    const IndexNode node = nodes_[id.index()];
    IndexId result = id;
    if (is_leaf(node.kind)) {
      result = mapped(id);
    } else if (node.kind == IndexKind::kPolynomial) {
      bool changed = false;
      for (const Monomial& term : node.terms)
        for (IndexId factor : term.factors) changed = changed || image(factor) != factor;
      if (changed) {
        result = constant(0);
        for (const Monomial& term : node.terms) {
          IndexId product = constant(term.coefficient);
          for (IndexId factor : term.factors) product = mul(product, image(factor));
          result = add(result, product);
        }
      }
    } else {
      IndexId a = image(node.a);
      IndexId b = node.b.valid() ? image(node.b) : IndexId();
      if (a != node.a || b != node.b) result = build(node.kind, a, b);
    }
    images.push_back(result);
  }
  return images.back();
}

void IndexPool::for_each_atom(IndexId root, const std::function<void(IndexId)>& visit) const {
  if (is_leaf(nodes_[root.index()].kind)) return visit(root);
  for (IndexId id : parts(root))
    if (is_leaf(nodes_[id.index()].kind)) visit(id);
}

bool IndexPool::mentions(IndexId root, const std::function<bool(const IndexNode&)>& predicate) const {
  bool found = false;
  for_each_atom(root, [&](IndexId atom) { found = found || predicate(nodes_[atom.index()]); });
  return found;
}

std::optional<int64_t> IndexPool::evaluate(IndexId id, const AtomValue& value) const {
  const IndexNode& node = nodes_[id.index()];
  if (is_leaf(node.kind)) return value(id);
  if (node.kind == IndexKind::kPolynomial) {
    int64_t sum = 0;
    for (const Monomial& term : node.terms) {
      int64_t product = term.coefficient;
      for (IndexId factor : term.factors) {
        auto x = evaluate(factor, value);
        if (!x || __builtin_mul_overflow(product, *x, &product)) return std::nullopt;
      }
      if (__builtin_add_overflow(sum, product, &sum)) return std::nullopt;
    }
    return sum;
  }
  auto a = evaluate(node.a, value);
  auto b = node.b.valid() ? evaluate(node.b, value) : std::optional<int64_t>(0);
  if (!a || !b) return std::nullopt;
  return fold(node.kind, *a, *b);
}

int64_t IndexPool::known_divisor(IndexId id, int64_t limit,
                                 const std::function<int64_t(IndexId)>& divisor) const {
  int64_t common = limit;
  auto power_of_two_in = [&](int64_t n) { return n == 0 ? limit : std::min<int64_t>(limit, n & -n); };
  for (const Monomial& term : terms(id)) {
    int64_t known = power_of_two_in(term.coefficient);
    for (IndexId factor : term.factors) {
      const IndexNode& node = nodes_[factor.index()];
      int64_t of_factor = 1;
      if (is_leaf(node.kind)) {
        of_factor = divisor(factor);
      } else if (node.kind == IndexKind::kMin || node.kind == IndexKind::kMax) {
        of_factor = std::min(known_divisor(node.a, limit, divisor), known_divisor(node.b, limit, divisor));
      } else if (node.kind == IndexKind::kFloorMod) {
        of_factor = std::min(known_divisor(node.a, limit, divisor), known_divisor(node.b, limit, divisor));
      } else {
        of_factor = divisor(factor);
      }
      known = std::min(limit, known * of_factor);
    }
    common = std::min(common, known);
  }
  return common;
}

}  // namespace tenon::ir
