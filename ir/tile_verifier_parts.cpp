// Index expressions and layouts as parts of tile operations.
#include <fmt/format.h>

#include <algorithm>
#include <bit>
#include <set>
#include <utility>

#include "ir/tile_verifier_ops.h"

namespace tenon::ir {
namespace {

// The rank over GF(2) of vectors of bits.
size_t rank_of(std::vector<uint64_t> vectors) {
  size_t rank = 0;
  for (size_t i = 0; i < vectors.size(); ++i) {
    if (vectors[i] == 0) continue;
    ++rank;
    uint64_t low = vectors[i] & -vectors[i];
    for (size_t k = i + 1; k < vectors.size(); ++k)
      if ((vectors[k] & low) != 0) vectors[k] ^= vectors[i];
  }
  return rank;
}

std::optional<IndexRange> range_of(const TileModule& module, AxisId axis) {
  const TileAxis& declared = module.axes[axis];
  if (declared.kind == TileAxis::Kind::kTile) return IndexRange{0, declared.extent - 1};
  auto count = module.index.as_constant(declared.count);
  if (!count || *count < 1) return std::nullopt;
  return IndexRange{0, *count - 1};
}

}  // namespace

std::string tile_index_error(const TileModule& module, IndexId id, const std::function<bool(AxisId)>& axis,
                             const std::function<bool(TileValueId)>& value) {
  if (!id.valid() || id.index() >= module.index.size()) return "has no index expression";
  std::string error;
  module.index.for_each_atom(id, [&](IndexId atom) {
    if (!error.empty()) return;
    const IndexNode& node = module.index[atom];
    if (node.kind == IndexKind::kSymbol) {
      if (node.reference >= module.symbols.size()) {
        error = "mentions a symbol that there is not";
      } else if (const Symbol& symbol = module.symbols[SymbolId(node.reference)]; symbol.fixed) {
        error = fmt::format("mentions {}, which is fixed to {}", symbol.name, *symbol.fixed);
      }
    } else if (node.kind == IndexKind::kAxis) {
      AxisId id(node.reference);
      if (id.index() >= module.axes.size()) {
        error = "mentions an axis that there is not";
      } else if (module.axes[id].kind == TileAxis::Kind::kDomain) {
        error = fmt::format("mentions {}, an axis of the kernel's domain", module.axes[id].name);
      } else if (!axis || !axis(id)) {
        error = fmt::format("mentions {}, which has no value here", module.axes[id].name);
      }
    } else {
      TileValueId id(node.reference);
      if (!value || id.index() >= module.values.size() || !value(id)) {
        error = fmt::format("mentions %{}, which is not defined before it", id.index());
      } else if (module.values[id].type.element != ElementType::kIndex) {
        error = fmt::format("mentions %{}, which is {} and not index", id.index(),
                            name(module.values[id].type.element));
      }
    }
  });
  return error;
}

std::optional<IndexRange> index_range(const TileModule& module, IndexId id) {
  IndexRange sum;
  std::set<IndexId> seen;
  for (const Monomial& term : module.index.terms(id)) {
    IndexRange part{term.coefficient, term.coefficient};
    if (term.factors.size() > 1) return std::nullopt;
    if (!term.factors.empty()) {
      const IndexNode& node = module.index[term.factors[0]];
      if (node.kind != IndexKind::kAxis || !seen.insert(term.factors[0]).second) return std::nullopt;
      auto range = range_of(module, AxisId(node.reference));
      if (!range || __builtin_mul_overflow(range->most, term.coefficient, &part.most)) return std::nullopt;
      part = {std::min<int64_t>(0, part.most), std::max<int64_t>(0, part.most)};
    }
    if (__builtin_add_overflow(sum.least, part.least, &sum.least) ||
        __builtin_add_overflow(sum.most, part.most, &sum.most))
      return std::nullopt;
  }
  return sum;
}

std::string layout_error(const TileModule& module, const Layout& layout, int32_t warps) {
  size_t bits = 0;
  std::vector<unsigned> first_bit;
  for (AxisId axis : layout.axes()) {
    if (!axis.valid() || axis.index() >= module.axes.size() ||
        module.axes[axis].kind != TileAxis::Kind::kTile)
      return "has an axis that is no tile axis";
    int64_t extent = layout.extent(axis);
    if (extent != module.axes[axis].extent)
      return fmt::format("has {} positions on axis {}, not {}", extent, module.axes[axis].name,
                         module.axes[axis].extent);
    first_bit.push_back(static_cast<unsigned>(bits));
    bits += std::countr_zero(static_cast<uint64_t>(extent));
  }
  if (layout.warp_count() != warps) return fmt::format("is for {} warps, not {}", layout.warp_count(), warps);
  if (bits > 63) return "has too many positions";
  Layout::Bases bases = layout.bases();
  std::vector<uint64_t> vectors;
  for (const auto* list : {&bases.registers, &bases.lanes, &bases.warps}) {
    for (const Layout::Position& position : *list) {
      uint64_t vector = 0;
      for (size_t i = 0; i < position.size(); ++i) vector |= uint64_t(position[i]) << first_bit[i];
      vectors.push_back(vector);
    }
  }
  return rank_of(vectors) == bits ? "" : "does not reach all positions";
}

}  // namespace tenon::ir
