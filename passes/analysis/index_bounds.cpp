#include "passes/analysis/index_bounds.h"

#include <algorithm>

namespace tenon::passes {
namespace {

using ir::IndexId;
using ir::IndexKind;
using ir::IndexNode;
using ir::Opcode;

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

// The term as a multiple of a division by a positive number.
std::optional<Division> single_division(const ir::TileModule& module, const ir::Monomial& term) {
  if (term.factors.size() != 1) return std::nullopt;
  const IndexNode& node = module.index[term.factors[0]];
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

}  // namespace

std::optional<int64_t> least_value(const ir::TileModule& module, IndexId expression,
                                   const AxisInterval& interval) {
  int64_t sum = 0;
  for (const ir::Monomial& term : module.index.terms(expression)) {
    std::optional<int64_t> least;
    int64_t factor = 1;
    if (term.factors.empty()) {
      least = term.coefficient;
    } else if (auto axis = single_axis(module, term)) {
      factor = term.coefficient;
      if (auto range = interval(*axis)) least = factor > 0 ? range->least : range->most;
    } else if (auto division = single_division(module, term); division && term.coefficient > 0) {
      factor = term.coefficient;
      least = least_value(module, division->dividend, interval);
      if (least) least = floor_div(*least, division->divisor);
    } else {
      least = least_product(module, term.coefficient, term.factors);
    }
    if (!least || !accumulate(sum, factor, *least)) return std::nullopt;
  }
  return sum;
}

std::optional<IndexId> margin(ir::IndexPool& pool, Opcode comparison, IndexId a, IndexId b) {
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
  auto division = [&](IndexId index) -> std::optional<Division> {
    std::vector<ir::Monomial> terms = module.index.terms(index);
    if (terms.size() != 1 || terms[0].coefficient != 1) return std::nullopt;
    return single_division(module, terms[0]);
  };
  std::optional<Division> of_a = division(a);
  std::optional<Division> of_b = division(b);
  return of_a && of_b && of_a->divisor == of_b->divisor &&
         never_above(module, of_a->dividend, of_b->dividend, interval);
}

}  // namespace tenon::passes
