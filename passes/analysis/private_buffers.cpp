#include "passes/analysis/private_buffers.h"

#include <algorithm>
#include <map>
#include <optional>
#include <vector>

namespace tenon::passes {
namespace {

using ir::AxisId;
using ir::IndexKind;

// How far each bit of a thread's number, those of the lane and of the warp, moves along the axis.
std::vector<int32_t> thread_steps(const ir::Layout& layout, AxisId axis) {
  std::vector<int32_t> steps;
  for (unsigned bit = 0; bit < ir::kLaneBits; ++bit) steps.push_back(layout.lane_basis(bit, axis));
  for (unsigned bit = 0; (1 << bit) < layout.warp_count(); ++bit)
    steps.push_back(layout.warp_basis(bit, axis));
  return steps;
}

bool tells_threads_apart(const ir::Layout& layout, AxisId axis) {
  return std::ranges::any_of(thread_steps(layout, axis), [](int32_t step) { return step != 0; });
}

// Whether each position belongs to one thread.
bool is_spread(const ir::Layout& layout, AxisId axis) {
  return std::ranges::all_of(thread_steps(layout, axis), [](int32_t step) { return step != 0; });
}

// The tile axis t of a subscript t + n * extent(t) + ..., the rest of which is the same for all threads.
std::optional<AxisId> place_in_tile(const ir::TileModule& module, ir::IndexId subscript,
                                    const ir::Layout& layout) {
  AxisId axis;
  bool one = true;
  module.index.for_each_atom(subscript, [&](ir::IndexId atom) {
    const ir::IndexNode& node = module.index[atom];
    if (node.kind == IndexKind::kValue) one = false;
    if (node.kind != IndexKind::kAxis) return;
    if (module.axes[AxisId(node.reference)].kind != ir::TileAxis::Kind::kTile) return;
    if (!tells_threads_apart(layout, AxisId(node.reference))) return;
    one = one && !axis.valid();
    axis = AxisId(node.reference);
  });
  if (!one || !axis.valid()) return std::nullopt;
  bool found = false;
  for (const ir::Monomial& term : module.index.terms(subscript)) {
    if (term.factors.size() == 1) {
      const ir::IndexNode& node = module.index[term.factors[0]];
      if (node.kind == IndexKind::kAxis && AxisId(node.reference) == axis) {
        if (term.coefficient != 1) return std::nullopt;
        found = true;
        continue;
      }
    }
    if (term.coefficient % module.axes[axis].extent != 0) return std::nullopt;
  }
  return found ? std::optional(axis) : std::nullopt;
}

}  // namespace

std::set<ir::BufferId> private_buffers(const ir::TileModule& module) {
  std::map<ir::BufferId, AxisId> axes;
  std::set<ir::BufferId> shared;
  for (const ir::TileOp& op : module.ops) {
    if (!op.buffer.valid()) continue;
    bool access = op.op == ir::Opcode::kLoad || op.op == ir::Opcode::kStore;
    ir::TileType type = ir::accessed_type(module, op);
    std::optional<AxisId> axis;
    if (access && op.subscripts.size() == 1 && type.layout)
      axis = place_in_tile(module, op.subscripts[0], *type.layout);
    if (!axis || !is_spread(*type.layout, *axis) || axes.emplace(op.buffer, *axis).first->second != *axis)
      shared.insert(op.buffer);
  }
  std::set<ir::BufferId> result;
  for (auto [buffer, axis] : axes)
    if (!shared.contains(buffer)) result.insert(buffer);
  return result;
}

}  // namespace tenon::passes
