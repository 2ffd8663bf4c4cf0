#include "ir/tile.h"

#include <algorithm>
#include <set>

namespace tenon::ir {

int64_t Buffer::element_count() const {
  int64_t last = 0;
  for (size_t i = 0; i < shape.size(); ++i) last += (shape[i] - 1) * strides[i];
  return last + 1;
}

size_t product_chains(size_t terms) { return std::clamp<size_t>(terms / 16, 1, 4); }

bool by_value(const TileModule& module, TensorId tensor) {
  return module.tensors[tensor].scalar_input() &&
         std::ranges::none_of(module.same_memory, [&](const auto& pair) { return pair.first == tensor; });
}

std::vector<TileOpId> reachable_ops(const TileModule& module, const TileKernel& kernel) {
  std::vector<TileOpId> ops;
  std::vector<RegionId> regions = {kernel.body};
  while (!regions.empty()) {
    RegionId region = regions.back();
    regions.pop_back();
    for (TileOpId id : module.regions[region].ops) {
      ops.push_back(id);
      regions.insert(regions.end(), module.ops[id].regions.begin(), module.ops[id].regions.end());
    }
  }
  return ops;
}

std::span<const Span> places(const TileModule& module, const TileOp& op) {
  return op.places.valid() ? std::span<const Span>(module.places[op.places]) : std::span<const Span>();
}

std::span<const Span> first_places(const TileModule& module, const TileKernel& kernel) {
  for (TileOpId id : module.regions[kernel.body].ops)
    if (module.ops[id].places.valid()) return module.places[module.ops[id].places];
  return {};
}

int64_t buffer_bytes(const TileModule& module, const TileKernel& kernel) {
  int64_t end = 0;
  for (TileOpId id : reachable_ops(module, kernel)) {
    BufferId buffer = module.ops[id].buffer;
    if (buffer.valid())
      end = std::max(end, module.buffers[buffer].offset + module.buffers[buffer].byte_count());
  }
  return end;
}

TileType accessed_type(const TileModule& module, const TileOp& op) {
  if (op.op == Opcode::kLoad) return module.values[op.results[0]].type;
  TileType type;
  if (op.op == Opcode::kStore) {
    type = module.values[op.operands[0]].type;
  } else {
    type.element = module.buffers[op.buffer].element;
  }
  std::set<AxisId> axes(type.axes.begin(), type.axes.end());
  for (IndexId subscript : op.subscripts) {
    module.index.for_each_atom(subscript, [&](IndexId atom) {
      const IndexNode& node = module.index[atom];
      if (node.kind == IndexKind::kAxis && module.axes[AxisId(node.reference)].kind == TileAxis::Kind::kTile)
        axes.insert(AxisId(node.reference));
      if (node.kind == IndexKind::kValue) {
        const TileType& own = module.values[TileValueId(node.reference)].type;
        axes.insert(own.axes.begin(), own.axes.end());
      }
    });
  }
  if (axes.size() == type.axes.size()) return type;
  type.axes.assign(axes.begin(), axes.end());
  type.layout.reset();
  for (const Layout& home : module.homes) {
    bool holds = std::all_of(axes.begin(), axes.end(), [&](AxisId axis) { return home.has(axis); });
    if (!holds) continue;
    type.layout = home.project(type.axes);
    break;
  }
  return type;
}

TileModule make_tile_module(const Kernel& kernel, std::string name) {
  TileModule module;
  module.name = std::move(name);
  module.index = kernel.index;
  module.symbols = kernel.symbols;
  module.tensors = kernel.tensors;
  for (const Axis& axis : kernel.axes) module.axes.add({axis.name, TileAxis::Kind::kDomain, 0, axis.extent});
  module.tensor_alignment = SideTable<Tensor, int64_t>(kernel.tensors.size(), 1);
  for (const Parameter& parameter : kernel.parameters)
    if (parameter.inout()) module.same_memory.push_back({parameter.input, parameter.output});
  return module;
}

}  // namespace tenon::ir
