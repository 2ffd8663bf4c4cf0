#include "passes/analysis/index_bounds.h"

#include <algorithm>
#include <span>

namespace tenon::passes {
namespace {

using ir::IndexId;
using ir::IndexKind;
using ir::IndexNode;
using ir::Opcode;

// Quotients and minima within each other that are followed.
constexpr int kDeepest = 6;
// Differences of smaller ones stay within 64 bits.
constexpr int64_t kLargestCoefficient = int64_t{1} << 60;

// factor * value is added to a sum; false where it leaves 64 bits.
bool accumulate(int64_t& sum, int64_t factor, int64_t value) {
  int64_t product = 0;
  return !__builtin_mul_overflow(factor, value, &product) && !__builtin_add_overflow(sum, product, &sum);
}

int64_t floor_div(int64_t a, int64_t b) { return a / b - (a % b < 0 ? 1 : 0); }

std::optional<ir::AxisId> single_axis(const ir::TileModule& module, const ir::Monomial& term) {
  if (term.factors.size() != 1 || module.index[term.factors[0]].kind != IndexKind::kAxis) return std::nullopt;
  return ir::AxisId(module.index[term.factors[0]].reference);
}

struct Division {
  IndexId dividend;
  int64_t divisor;
};

// A division by a positive number.
std::optional<Division> division(const ir::TileModule& module, IndexId atom) {
  const IndexNode& node = module.index[atom];
  if (node.kind != IndexKind::kFloorDiv) return std::nullopt;
  auto divisor = module.index.as_constant(node.b);
  return divisor && *divisor > 0 ? std::optional(Division{node.a, *divisor}) : std::nullopt;
}

// The least value of a product of atoms: what is promised of it, or 0 if all of them are sizes.
std::optional<int64_t> least_product(const ir::TileModule& module, int64_t coefficient,
                                     const std::vector<IndexId>& factors) {
  for (const auto& [expression, least] : module.bounded) {
    std::vector<ir::Monomial> terms = module.index.terms(expression);
    if (terms.size() != 1 || terms[0].factors != factors || coefficient % terms[0].coefficient != 0) continue;
    int64_t times = coefficient / terms[0].coefficient;
    int64_t product = 0;
    if (times > 0 && accumulate(product, times, least)) return product;
  }
  bool sizes = coefficient > 0 && std::all_of(factors.begin(), factors.end(), [&](IndexId factor) {
                 const IndexNode& node = module.index[factor];
                 return node.kind == IndexKind::kSymbol &&
                        module.symbols[ir::SymbolId(node.reference)].kind == ir::Symbol::Kind::kDimension;
               });
  return sizes ? std::optional<int64_t>(0) : std::nullopt;
}

std::optional<int64_t> least(const ir::TileModule& module, IndexId expression, const AxisInterval& interval,
                             int depth);

// The least value of a quotient, a minimum or a maximum.
std::optional<int64_t> least_atom(const ir::TileModule& module, IndexId atom, const AxisInterval& interval,
                                  int depth) {
  if (depth == kDeepest) return std::nullopt;
  if (auto quotient = division(module, atom)) {
    auto dividend = least(module, quotient->dividend, interval, depth + 1);
    return dividend ? std::optional(floor_div(*dividend, quotient->divisor)) : std::nullopt;
  }
  const IndexNode& node = module.index[atom];
  if (node.kind != IndexKind::kMin && node.kind != IndexKind::kMax) return std::nullopt;
  auto a = least(module, node.a, interval, depth + 1);
  auto b = least(module, node.b, interval, depth + 1);
  if (node.kind == IndexKind::kMax) return !a ? b : !b ? a : std::max(*a, *b);
  return a && b ? std::optional(std::min(*a, *b)) : std::nullopt;
}

std::optional<int64_t> least(const ir::TileModule& module, IndexId expression, const AxisInterval& interval,
                             int depth) {
  int64_t sum = 0;
  for (const ir::Monomial& term : module.index.terms(expression)) {
    std::optional<int64_t> value = term.coefficient;
    int64_t factor = 1;
    if (auto axis = single_axis(module, term)) {
      factor = term.coefficient;
      auto range = interval(*axis);
      value = !range ? std::nullopt : std::optional(factor > 0 ? range->least : range->most);
    } else if (!term.factors.empty()) {
      value = least_product(module, term.coefficient, term.factors);
      if (!value && term.factors.size() == 1 && term.coefficient > 0) {
        factor = term.coefficient;
        value = least_atom(module, term.factors[0], interval, depth);
      }
    }
    if (!value || !accumulate(sum, factor, *value)) return std::nullopt;
  }
  return sum;
}

bool is_small(const ir::IndexPool& pool, IndexId expression) {
  std::vector<ir::Monomial> terms = pool.terms(expression);
  return std::all_of(terms.begin(), terms.end(), [](const ir::Monomial& term) {
    return term.coefficient > -kLargestCoefficient && term.coefficient < kLargestCoefficient;
  });
}

}  // namespace

std::optional<int64_t> least_value(const ir::TileModule& module, IndexId expression,
                                   const AxisInterval& interval) {
  return least(module, expression, interval, 0);
}

std::optional<IndexId> margin(ir::IndexPool& pool, Opcode comparison, IndexId a, IndexId b) {
  if (!is_small(pool, a) || !is_small(pool, b)) return std::nullopt;
  switch (comparison) {
    case Opcode::kLt:
      return pool.sub(pool.sub(b, a), pool.constant(1));
    case Opcode::kLe:
      return pool.sub(b, a);
    case Opcode::kGt:
      return pool.sub(pool.sub(a, b), pool.constant(1));
    case Opcode::kGe:
      return pool.sub(a, b);
    default:
      return std::nullopt;
  }
}

bool never_above(ir::TileModule& module, IndexId a, IndexId b, const AxisInterval& interval) {
  IndexId difference = module.index.sub(b, a);
  if (auto least = least_value(module, difference, interval); least && *least >= 0) return true;
  std::optional<Division> of_a = division(module, a);
  std::optional<Division> of_b = division(module, b);
  return of_a && of_b && of_a->divisor == of_b->divisor &&
         never_above(module, of_a->dividend, of_b->dividend, interval);
}

}  // namespace tenon::passes
