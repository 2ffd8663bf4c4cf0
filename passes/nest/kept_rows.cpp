// Rows in shared memory: what several loops over a row read, the first of them brings there.
#include <algorithm>

#include "passes/nest/nest.h"

namespace tenon::passes {

using ir::IndexId;
using ir::TileValueId;

std::optional<uint32_t> Nest::kept_dim() const {
  for (uint32_t d = 0; d < schedule_.dims.size(); ++d)
    if (schedule_.dims[d].placement == Placement::kShared) return d;
  return std::nullopt;
}

TileValueId Nest::load_kept(Context& context, const ir::Instruction& read) {
  auto kept = kept_buffers_.find({read.tensor, read.subscripts});
  if (kept == kept_buffers_.end()) return {};
  return context.builder->load(kept->second, {*dim_position(context, *kept_dim())}, read.type);
}

void Nest::keep(Context& context, const ir::Instruction& read, TileValueId value) {
  RowRead row{read.tensor, read.subscripts};
  if (std::find(kept_reads_.begin(), kept_reads_.end(), row) == kept_reads_.end()) return;
  const LoopDim& dim = schedule_.dims[*kept_dim()];
  ir::Buffer buffer;
  buffer.name = "row_" + module_.tensors[read.tensor].name;
  buffer.element = read.type;
  buffer.shape = {dim.tile() * dim.tiles};
  buffer.strides = {1};
  ir::BufferId id = module_.buffers.add(std::move(buffer));
  kept_buffers_[{read.tensor, read.subscripts}] = id;
  // Positions beyond the row too: the loops that follow load whole tiles.
  context.builder->store(id, {*dim_position(context, *kept_dim())}, value);
}

}  // namespace tenon::passes
