#include "ir/lane_index.h"

#include "ir/index_apply.h"
#include "support/integer_math.h"

namespace tenon::ir {
namespace {

void list(LaneInteger& x, size_t lanes) {
  if (x.listed) return;
  x.values.resize(lanes);
  for (size_t i = 0; i < lanes; ++i) x.values[i] = x.base + x.step * static_cast<int64_t>(i);
  x.listed = true;
}

void multiply(LaneInteger& x, const LaneInteger& by, size_t lanes) {
  if (by.uniform() && !x.listed) {
    x.set_affine(wrapping_mul(x.base, by.base), wrapping_mul(x.step, by.base));
  } else if (x.uniform() && !by.listed) {
    x.set_affine(wrapping_mul(x.base, by.base), wrapping_mul(x.base, by.step));
  } else {
    list(x, lanes);
    for (size_t i = 0; i < lanes; ++i) x.values[i] = wrapping_mul(x.values[i], by[i]);
  }
}

void increase(LaneInteger& x, const LaneInteger& by, size_t lanes) {
  if (!x.listed && !by.listed) {
    x.set_affine(wrapping_add(x.base, by.base), wrapping_add(x.step, by.step));
  } else {
    list(x, lanes);
    for (size_t i = 0; i < lanes; ++i) x.values[i] = wrapping_add(x.values[i], by[i]);
  }
}

}  // namespace

std::vector<IndexId> LaneIndexEvaluator::require(IndexId root) {
  std::vector<IndexId> found;
  std::vector<IndexId> stack = {root};
  while (!stack.empty()) {
    IndexId id = stack.back();
    stack.pop_back();
    if (!slot_.emplace(id.index(), values_.size()).second) continue;
    values_.emplace_back();
    found.push_back(id);
    const IndexNode& node = (*pool_)[id];
    for (const Monomial& term : node.terms)
      stack.insert(stack.end(), term.factors.begin(), term.factors.end());
    if (node.a.valid()) stack.push_back(node.a);
    if (node.b.valid()) stack.push_back(node.b);
  }
  // Operands have smaller ids than what they are part of.
  std::sort(found.begin(), found.end());
  std::vector<IndexId> computed;
  for (IndexId id : found) {
    const IndexNode& node = (*pool_)[id];
    if (node.kind == IndexKind::kSymbol) {
      at(id).set_affine(symbols_[node.reference], 0);
    } else if (node.kind == IndexKind::kAxis) {
      axes_.push_back(id);
    } else {
      computed.push_back(id);
    }
  }
  return computed;
}

void LaneIndexEvaluator::evaluate(std::span<const IndexId> nodes, size_t lanes) {
  for (IndexId id : nodes) evaluate_node(id, lanes);
}

void LaneIndexEvaluator::evaluate_node(IndexId id, size_t lanes) {
  const IndexNode& node = (*pool_)[id];
  LaneInteger& result = at(id);
  if (node.kind == IndexKind::kValue) return;
  if (node.kind == IndexKind::kPolynomial) return evaluate_polynomial(node, result, lanes);
  static const LaneInteger kNone;
  const LaneInteger& a = at(node.a);
  const LaneInteger& b = node.b.valid() ? at(node.b) : kNone;
  if (a.uniform() && b.uniform()) {
    result.set_affine(apply_index(node.kind, a.base, b.base), 0);
    return;
  }
  result.listed = true;
  result.values.resize(lanes);
  for (size_t i = 0; i < lanes; ++i) result.values[i] = apply_index(node.kind, a[i], b[i]);
}

void LaneIndexEvaluator::evaluate_polynomial(const IndexNode& node, LaneInteger& result, size_t lanes) {
  sum_.set_affine(0, 0);
  for (const Monomial& term : node.terms) {
    product_.set_affine(term.coefficient, 0);
    for (IndexId factor : term.factors) multiply(product_, at(factor), lanes);
    increase(sum_, product_, lanes);
  }
  std::swap(result.values, sum_.values);
  result.base = sum_.base;
  result.step = sum_.step;
  result.listed = sum_.listed;
}

}  // namespace tenon::ir
