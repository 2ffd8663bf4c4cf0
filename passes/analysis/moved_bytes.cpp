#include "passes/analysis/moved_bytes.h"

#include <algorithm>
#include <set>
#include <utility>
#include <vector>

#include "passes/analysis/access.h"
#include "passes/analysis/masks.h"

namespace tenon::passes {
namespace {

using ir::AxisId;
using ir::IndexId;
using ir::IndexKind;
using ir::Opcode;
using ir::TileAxis;
using ir::TileOp;
using ir::TileOpId;

bool has_predicates(const ir::Kernel& kernel, const ir::Group& group) {
  return std::any_of(group.ops.begin(), group.ops.end(), [&](ir::TensorOpId id) {
    const ir::TensorOp& op = kernel.ops[id];
    return op.predicate.valid() || std::any_of(op.body.begin(), op.body.end(), [](const auto& instruction) {
             return instruction.op == Opcode::kRead && instruction.operands[0].valid();
           });
  });
}

class Counter {
 public:
  explicit Counter(ir::TileModule& module)
      : module_(module), pool_(module.index), moved_{pool_.constant(0), pool_.constant(0)} {}

  std::optional<MovedBytes> run() {
    for (const ir::TileKernel& launch : module_.kernels)
      if (!add_region(launch.body, {launch.grid.begin(), launch.grid.end()})) return std::nullopt;
    if (pool_.overflowed()) return std::nullopt;
    return moved_;
  }

 private:
  // `around`: the axes of the grid and of the loops that run the region.
  bool add_region(ir::RegionId region, const std::set<AxisId>& around) {
    for (TileOpId id : module_.regions[region].ops) {
      const TileOp& op = module_.ops[id];
      bool in_memory = op.tensor.valid() && !by_value(module_, op.tensor);
      if (in_memory && !add_access(op, around)) return false;
      if (op.regions.empty()) continue;
      if (op.op != Opcode::kLoop) return false;
      std::set<AxisId> inside = around;
      inside.insert(op.axis);
      for (ir::RegionId inner : op.regions)
        if (!add_region(inner, inside)) return false;
    }
    return true;
  }

  bool add_access(const TileOp& op, std::set<AxisId> axes) {
    for (AxisId axis : ir::accessed_type(module_, op).axes) axes.insert(axis);
    std::optional<IndexId> elements = count(axes, mask_of(op));
    if (!elements) return false;
    IndexId bytes = pool_.scale(*elements, byte_size(module_.tensors[op.tensor].element));
    IndexId& sum = op.op == Opcode::kStore ? moved_.written : moved_.read;
    sum = pool_.add(sum, bytes);
    return true;
  }

  // At how many of the positions of all axes together the mask is true.
  std::optional<IndexId> count(std::set<AxisId> axes, ir::TileValueId mask) {
    IndexId product = pool_.constant(1);
    if (mask.valid()) {
      for (ir::TileValueId condition : conjuncts(module_, mask)) {
        std::optional<IndexId> inside = margin(module_, condition);
        std::optional<IndexId> positions = inside ? take_dimension(*inside, axes) : std::nullopt;
        if (!positions) return std::nullopt;
        product = pool_.mul(product, *positions);
      }
    }
    for (AxisId axis : axes) {
      std::optional<IndexId> positions = values_of(axis);
      if (!positions) return std::nullopt;
      product = pool_.mul(product, *positions);
    }
    return product;
  }

  // For the margin `extent - 1 - position` of a dimension's mask: its extent, which the tiles of all blocks
  // and iterations cover. The axes of which the position is made are taken from `axes`; each position must be
  // met once, so the step of each axis is the number of positions of the faster ones.
  std::optional<IndexId> take_dimension(IndexId margin, std::set<AxisId>& axes) {
    IndexId rest = margin;
    // Step and number of values; an axis with one value makes no step.
    std::vector<std::pair<IndexId, IndexId>> steps;
    for (AxisId axis : axes_in(margin)) {
      std::optional<IndexId> step = coefficient(pool_, margin, axis);
      std::optional<IndexId> values = values_of(axis);
      if (!step || !values || axes.erase(axis) == 0) return std::nullopt;
      rest = pool_.sub(rest, pool_.mul(*step, pool_.axis(axis)));
      if (!pool_.is_constant(*values, 1)) steps.emplace_back(pool_.scale(*step, -1), *values);
    }
    IndexId positions = pool_.constant(1);
    while (!steps.empty()) {
      auto next =
          std::find_if(steps.begin(), steps.end(), [&](const auto& step) { return step.first == positions; });
      if (next == steps.end()) return std::nullopt;
      positions = pool_.mul(positions, next->second);
      steps.erase(next);
    }
    return over_symbols(pool_.add(rest, pool_.constant(1)));
  }

  std::vector<AxisId> axes_in(IndexId index) const {
    std::vector<AxisId> axes;
    pool_.for_each_atom(index, [&](IndexId atom) {
      if (pool_[atom].kind == IndexKind::kAxis) axes.emplace_back(pool_[atom].reference);
    });
    return axes;
  }

  std::optional<IndexId> values_of(AxisId axis) {
    const TileAxis& row = module_.axes[axis];
    return row.kind == TileAxis::Kind::kTile ? pool_.constant(row.extent) : over_symbols(row.count);
  }

  std::optional<IndexId> over_symbols(IndexId index) const {
    bool varies =
        pool_.mentions(index, [](const ir::IndexNode& atom) { return atom.kind != IndexKind::kSymbol; });
    return varies ? std::nullopt : std::optional(index);
  }

  ir::TileModule& module_;
  ir::IndexPool& pool_;
  MovedBytes moved_;
};

}  // namespace

std::optional<MovedBytes> moved_bytes(const ir::Kernel& kernel, const ir::Group& group,
                                      ir::TileModule& module) {
  if (has_predicates(kernel, group)) return std::nullopt;
  return Counter(module).run();
}

}  // namespace tenon::passes
