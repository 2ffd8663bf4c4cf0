#include "frontend/check/ranges.h"

#include <algorithm>

namespace tenon::frontend {
namespace {

using ir::IndexId;
using ir::IndexKind;
using ir::Opcode;

// Subscripts before `...` count from the front, those after it from the back.
size_t dimension_of(size_t position, size_t count, std::optional<size_t> ellipsis, size_t rank) {
  return ellipsis && position > *ellipsis ? rank - (count - position) : position;
}

bool is_dimension(const Instance& instance, IndexId atom) {
  const ir::IndexNode& node = instance.kernel.index[atom];
  return node.kind == IndexKind::kSymbol &&
         instance.kernel.symbols[ir::SymbolId(node.reference)].kind == ir::Symbol::Kind::kDimension;
}

std::optional<Extremes> extremes_of_monomial(Instance& instance, const ir::Monomial& monomial) {
  ir::IndexPool& pool = instance.kernel.index;
  IndexId factor = pool.constant(monomial.coefficient);
  std::optional<Extremes> varying;
  for (IndexId atom : monomial.factors) {
    if (mentions_axes(instance, atom)) {
      if (varying) return std::nullopt;
      varying = extremes(instance, atom);
      if (!varying) return std::nullopt;
    } else {
      factor = instance.index_op(Opcode::kMul, factor, atom);
      if (!factor.valid()) return std::nullopt;
    }
  }
  if (!varying) return Extremes{factor, factor};
  const bool known_sign = std::ranges::all_of(monomial.factors, [&](IndexId atom) {
    return mentions_axes(instance, atom) || is_dimension(instance, atom);
  });
  if (!known_sign) return std::nullopt;
  Extremes scaled{instance.index_op(Opcode::kMul, factor, varying->low),
                  instance.index_op(Opcode::kMul, factor, varying->high)};
  if (!scaled.low.valid() || !scaled.high.valid()) return std::nullopt;
  if (monomial.coefficient < 0) std::swap(scaled.low, scaled.high);
  return scaled;
}

std::optional<Extremes> extremes_of_operation(Instance& instance, const ir::IndexNode& node) {
  ir::IndexPool& pool = instance.kernel.index;
  if (node.kind == IndexKind::kMin || node.kind == IndexKind::kMax) {
    const std::optional<Extremes> a = extremes(instance, node.a);
    const std::optional<Extremes> b = extremes(instance, node.b);
    if (!a || !b) return std::nullopt;
    const Opcode op = node.kind == IndexKind::kMin ? Opcode::kMin : Opcode::kMax;
    return Extremes{instance.index_op(op, a->low, b->low), instance.index_op(op, a->high, b->high)};
  }
  const std::optional<int64_t> divisor = pool.as_constant(node.b);
  if (!divisor || *divisor <= 0) return std::nullopt;
  if (node.kind == IndexKind::kFloorMod) return Extremes{pool.constant(0), pool.constant(*divisor - 1)};
  const std::optional<Extremes> a = extremes(instance, node.a);
  if (!a) return std::nullopt;
  return Extremes{instance.index_op(Opcode::kDiv, a->low, node.b),
                  instance.index_op(Opcode::kDiv, a->high, node.b)};
}

}  // namespace

RangeScan::RangeScan(const Instance& instance, const Module& module, const Scope& scope, ExprId root) {
  for (ExprId id : module.subtree(root)) {
    const Access* access = module.get_if<Access>(id);
    if (access == nullptr || access->fallback.valid()) continue;
    const Entity* entity = scope.find(access->tensor.text);
    const bool known = entity != nullptr && entity->kind == EntityKind::kVariable &&
                       !instance.variables[entity->variable].poisoned;
    if (!known) {
      meets_mistake_ = true;
      continue;
    }
    const Variable& variable = instance.variables[entity->variable];
    const std::span<const ExprId> subscripts = module.exprs(access->subscripts);
    std::optional<size_t> ellipsis;
    for (size_t i = 0; i < subscripts.size(); ++i)
      if (module.get_if<Ellipsis>(subscripts[i]) != nullptr) ellipsis = i;
    const size_t rank = variable.shape.size();
    if (ellipsis ? subscripts.size() - 1 > rank : subscripts.size() != rank) {
      meets_mistake_ = true;
      continue;
    }
    for (size_t i = 0; i < subscripts.size(); ++i) {
      const NameRef* name = module.get_if<NameRef>(subscripts[i]);
      if (name == nullptr) continue;
      const size_t dimension = dimension_of(i, subscripts.size(), ellipsis, rank);
      places_[name->name].push_back(
          {id, variable.shape[dimension], module[subscripts[i]].span, entity->variable});
    }
  }
}

std::vector<RangeScan::Place> RangeScan::places(std::string_view name, ExprId first, ExprId last) const {
  auto found = places_.find(name);
  if (found == places_.end()) return {};
  const auto by_access = [](const Place& place, ExprId id) { return place.access < id; };
  const auto begin = std::lower_bound(found->second.begin(), found->second.end(), first, by_access);
  const auto end =
      std::find_if(begin, found->second.end(), [&](const Place& place) { return place.access > last; });
  return {begin, end};
}

std::optional<IndexId> common_range(Instance& instance, Terms& terms, const Name& name, const RangeScan* scan,
                                    ExprId first_expr, ExprId last_expr) {
  std::vector<RangeScan::Place> places;
  if (scan != nullptr) places = scan->places(name.text, first_expr, last_expr);
  if (places.empty()) {
    if (instance.incomplete || (scan != nullptr && scan->meets_mistake())) return std::nullopt;
    Diagnostic& d = instance.report(DiagnosticId::kRangeUnknown, name.span, name.text);
    d.note(fmt::format(
        "write `{} in 0..n` in a reduction, declare the type of what is defined, or let `{}` stand alone "
        "as a subscript of an access without default",
        name.text, name.text));
    return std::nullopt;
  }
  const RangeScan::Place& first = places.front();
  for (const RangeScan::Place& place : places) {
    if (terms.equal(first.dimension, place.dimension)) continue;
    const std::string a = instance.text(first.dimension);
    const std::string b = instance.text(place.dimension);
    Diagnostic& d = instance.report(DiagnosticId::kRangesDiffer, place.subscript, name.text, a, b);
    d.label(first.subscript,
            fmt::format("up to {}, a dimension of `{}`", a, instance.variables[first.variable].name));
    d.label(place.subscript,
            fmt::format("up to {}, a dimension of `{}`", b, instance.variables[place.variable].name));
    d.note(fmt::format("if the sizes are always equal, say so: `where {} == {}`", a, b));
    return std::nullopt;
  }
  return first.dimension;
}

bool mentions_axes(const Instance& instance, IndexId index) {
  return instance.kernel.index.mentions(
      index, [](const ir::IndexNode& atom) { return atom.kind == IndexKind::kAxis; });
}

std::optional<Extremes> extremes(Instance& instance, IndexId index) {
  if (!mentions_axes(instance, index)) return Extremes{index, index};
  ir::IndexPool& pool = instance.kernel.index;
  const ir::IndexNode node = pool[index];
  if (node.kind == IndexKind::kAxis) {
    const IndexId extent = instance.kernel.axes[ir::AxisId(node.reference)].extent;
    return Extremes{pool.constant(0), pool.sub(extent, pool.constant(1))};
  }
  std::optional<Extremes> result;
  if (node.kind == IndexKind::kPolynomial) {
    result = Extremes{pool.constant(0), pool.constant(0)};
    for (const ir::Monomial& monomial : node.terms) {
      const std::optional<Extremes> part = extremes_of_monomial(instance, monomial);
      if (!part) return std::nullopt;
      result->low = instance.index_op(Opcode::kAdd, result->low, part->low);
      result->high = instance.index_op(Opcode::kAdd, result->high, part->high);
      if (!result->low.valid() || !result->high.valid()) return std::nullopt;
    }
  } else {
    result = extremes_of_operation(instance, node);
  }
  if (result && (!result->low.valid() || !result->high.valid())) return std::nullopt;
  return result;
}

}  // namespace tenon::frontend
