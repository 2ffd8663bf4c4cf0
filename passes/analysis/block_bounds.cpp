#include "passes/analysis/block_bounds.h"

#include <cstdlib>

namespace tenon::passes {
namespace {

using ir::AxisId;
using ir::IndexId;
using ir::IndexKind;
using ir::TileAxis;

// Products of two such, and sums of many of those, stay within 64 bits.
constexpr int64_t kLargest = int64_t{1} << 26;

// The axis that a term is a multiple of, and nothing else.
std::optional<AxisId> only_axis(const ir::IndexPool& pool, const ir::Monomial& term) {
  if (term.factors.size() != 1 || pool[term.factors[0]].kind != IndexKind::kAxis) return std::nullopt;
  return AxisId(pool[term.factors[0]].reference);
}

// Whether an expression may differ within a block, or between iterations of other loops than those `around`.
bool varies(const ir::TileModule& module, IndexId expression, const std::set<AxisId>& around) {
  return module.index.mentions(expression, [&](const ir::IndexNode& node) {
    if (node.kind == IndexKind::kValue) return true;
    if (node.kind != IndexKind::kAxis) return false;
    AxisId axis(node.reference);
    TileAxis::Kind kind = module.axes[axis].kind;
    return kind == TileAxis::Kind::kTile || (kind == TileAxis::Kind::kLoop && !around.contains(axis));
  });
}

}  // namespace

std::optional<int64_t> last_position(const ir::TileModule& module, AxisId axis) {
  const TileAxis& row = module.axes[axis];
  if (row.kind == TileAxis::Kind::kTile) return row.extent - 1;
  auto count = module.index.as_constant(row.count);
  return count && *count > 0 ? std::optional(*count - 1) : std::nullopt;
}

std::optional<IndexId> least_in_block(ir::TileModule& module, IndexId expression,
                                      const std::set<AxisId>& around) {
  ir::IndexPool& pool = module.index;
  IndexId sum = pool.constant(0);
  for (const ir::Monomial& term : pool.terms(expression)) {
    if (std::abs(term.coefficient) > kLargest && !term.factors.empty()) return std::nullopt;
    IndexId product = pool.from_terms({term});
    if (!varies(module, product, around)) {
      sum = pool.add(sum, product);
      continue;
    }
    auto axis = only_axis(pool, term);
    auto last = axis ? last_position(module, *axis) : std::nullopt;
    if (!last || *last > kLargest) return std::nullopt;
    if (term.coefficient < 0) sum = pool.add(sum, pool.constant(term.coefficient * *last));
  }
  return sum;
}

std::optional<Affine> affine(ir::IndexPool& pool, IndexId expression, AxisId counter) {
  Affine result{0, pool.constant(0)};
  for (const ir::Monomial& term : pool.terms(expression)) {
    if (only_axis(pool, term) == counter) {
      result.coefficient = term.coefficient;
      continue;
    }
    IndexId product = pool.from_terms({term});
    bool mentioned = pool.mentions(product, [&](const ir::IndexNode& node) {
      return node.kind == IndexKind::kAxis && AxisId(node.reference) == counter;
    });
    if (mentioned) return std::nullopt;
    result.rest = pool.add(result.rest, product);
  }
  return result.coefficient == 0 ? std::nullopt : std::optional(result);
}

}  // namespace tenon::passes
