#include "passes/analysis/index_limits.h"

#include <algorithm>
#include <vector>

namespace tenon::passes {

using ir::IndexId;
using ir::IndexKind;
using ir::IndexNode;

namespace {

constexpr uint64_t kMaxTerms = 64;
constexpr uint64_t kMaxWeight = uint64_t{1} << 40;
constexpr uint64_t kMaxDegree = 16;
constexpr uint32_t kMaxDepth = 24;
constexpr uint64_t kMaxLength = 256;

uint64_t magnitude(int64_t value) {
  return value < 0 ? 0 - static_cast<uint64_t>(value) : static_cast<uint64_t>(value);
}

bool is_leaf(IndexKind kind) {
  return kind == IndexKind::kSymbol || kind == IndexKind::kAxis || kind == IndexKind::kValue;
}

}  // namespace

BoundedRewriter::Size BoundedRewriter::size(IndexId root) {
  if (auto known = sizes_.find(root); known != sizes_.end()) return known->second;
  std::vector<IndexId> work{root};
  while (!work.empty()) {
    IndexId id = work.back();
    const IndexNode& node = pool_[id];
    Size size{1, 1, 1, 0, 1};
    bool ready = true;
    auto part = [&](IndexId of) {
      auto known = sizes_.find(of);
      if (known == sizes_.end()) {
        ready = false;
        work.push_back(of);
        return;
      }
      size.length = std::min(size.length + known->second.length, 2 * kMaxLength);
      size.depth = std::max(size.depth, known->second.depth + (node.kind == IndexKind::kPolynomial ? 0 : 1));
    };
    if (node.kind == IndexKind::kPolynomial) {
      size = {node.terms.size(), 0, 0, 0, 1};
      for (const ir::Monomial& term : node.terms) {
        size.weight =
            std::min(size.weight + std::min(magnitude(term.coefficient), 2 * kMaxWeight), 2 * kMaxWeight);
        size.degree = std::max<uint64_t>(size.degree, term.factors.size());
        for (IndexId factor : term.factors) part(factor);
      }
    } else {
      if (node.a.valid()) part(node.a);
      if (node.b.valid()) part(node.b);
    }
    if (!ready) continue;
    sizes_[id] = size;
    work.pop_back();
  }
  return sizes_.at(root);
}

bool BoundedRewriter::fits(const Size& size) {
  return size.terms <= kMaxTerms && size.weight <= kMaxWeight && size.degree <= kMaxDegree &&
         size.depth <= kMaxDepth && size.length <= kMaxLength;
}

bool BoundedRewriter::sum_fits(IndexId a, IndexId b) {
  Size x = size(a);
  Size y = size(b);
  return fits(x) && fits(y) && fits({x.terms + y.terms, x.weight + y.weight, 0, 0, x.length + y.length});
}

IndexId BoundedRewriter::add(IndexId a, IndexId b) { return sum_fits(a, b) ? pool_.add(a, b) : IndexId(); }

IndexId BoundedRewriter::sub(IndexId a, IndexId b) { return sum_fits(a, b) ? pool_.sub(a, b) : IndexId(); }

IndexId BoundedRewriter::mul(IndexId a, IndexId b) {
  Size x = size(a);
  Size y = size(b);
  if (!fits(x) || !fits(y)) return {};
  if (y.weight != 0 && x.weight > kMaxWeight / y.weight) return {};
  if (!fits({x.terms * y.terms, x.weight * y.weight, x.degree + y.degree, 0,
             x.length * y.terms + y.length * x.terms}))
    return {};
  return pool_.mul(a, b);
}

IndexId BoundedRewriter::combine(IndexKind kind, IndexId a, IndexId b) {
  Size x = size(a);
  Size y = b.valid() ? size(b) : Size();
  // Comparisons, minima and maxima look at the difference.
  if (!fits(x) || !fits(y) ||
      !fits({x.terms + y.terms, x.weight + y.weight, 0, std::max(x.depth, y.depth) + 1, x.length + y.length}))
    return {};
  return pool_.build(kind, a, b);
}

IndexId BoundedRewriter::substitute(IndexId root, const ir::IndexPool::AtomMap& map) {
  if (const IndexNode& node = pool_[root]; is_leaf(node.kind)) {
    IndexId to = map(root);
    return to.valid() ? to : root;
  }
  std::unordered_map<IndexId, IndexId> image;
  for (IndexId id : pool_.parts(root)) {
    const IndexNode node = pool_[id];
    IndexId result = id;
    if (is_leaf(node.kind)) {
      if (IndexId to = map(id); to.valid()) result = to;
    } else if (node.kind == IndexKind::kPolynomial) {
      bool changed = false;
      for (const ir::Monomial& term : node.terms)
        for (IndexId factor : term.factors) changed = changed || image[factor] != factor;
      if (changed) {
        result = pool_.constant(0);
        for (const ir::Monomial& term : node.terms) {
          IndexId product = pool_.constant(term.coefficient);
          for (IndexId factor : term.factors)
            if (product.valid()) product = mul(product, image[factor]);
          if (!product.valid()) return {};
          result = add(result, product);
          if (!result.valid()) return {};
        }
      }
    } else if (image[node.a] != node.a || (node.b.valid() && image[node.b] != node.b)) {
      result = combine(node.kind, image[node.a], node.b.valid() ? image[node.b] : IndexId());
    }
    if (!result.valid()) return {};
    image[id] = result;
  }
  return image[root];
}

}  // namespace tenon::passes
