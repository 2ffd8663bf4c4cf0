#include "ir/tile.h"

#include <algorithm>

namespace tenon::ir {

int64_t Buffer::element_count() const {
  int64_t last = 0;
  for (size_t i = 0; i < shape.size(); ++i) last += (shape[i] - 1) * strides[i];
  return last + 1;
}

size_t product_chains(size_t terms) { return std::clamp<size_t>(terms / 16, 1, 4); }

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
