// Needs: layouts.
// Gives: every load and store the number of elements that one instruction moves, up to 16 bytes; every
//        comparison the number of consecutive elements that are proved to compare alike.
// Why here: after layouts, since a vector is consecutive registers of one thread; before shared memory is
// laid
//        out, since a swizzle must not tear vectors.
//
// A vector needs consecutive addresses, an aligned start, and one mask for all its elements. All three are
// proved from the index expressions and from what the variant's guard promises; nothing is assumed.
#include <algorithm>

#include "passes/analysis/access.h"
#include "passes/analysis/vectors.h"
#include "passes/pass.h"

namespace tenon::passes {
namespace {

using ir::AxisId;
using ir::IndexId;
using ir::Opcode;
using ir::TileModule;
using ir::TileOp;

constexpr int64_t kWidestAccess = 16;

IndexId offset_of(TileModule& module, const TileOp& op) {
  if (op.tensor.valid()) return linear_offset(module.index, module.tensors[op.tensor].shape, op.subscripts);
  const ir::Buffer& buffer = module.buffers[op.buffer];
  IndexId offset = module.index.constant(0);
  for (size_t i = 0; i < op.subscripts.size(); ++i)
    offset = module.index.add(offset, module.index.scale(op.subscripts[i], buffer.strides[i]));
  return offset;
}

// The axis whose consecutive positions are consecutive registers; invalid where no vector of two registers
// is.
AxisId vector_axis(const ir::TileType& type) {
  if (!type.layout) return {};
  for (AxisId axis : type.axes)
    if (type.layout->contiguous_registers(axis) > 1) return axis;
  return {};
}

int32_t widest(TileModule& module, const TileOp& op) {
  bool load = op.op == Opcode::kLoad;
  const ir::TileType& type = module.values[load ? op.results[0] : op.operands[0]].type;
  AxisId axis = vector_axis(type);
  if (!axis.valid()) return 1;
  ElementType element =
      op.tensor.valid() ? module.tensors[op.tensor].element : module.buffers[op.buffer].element;
  // A buffer starts on a multiple of the widest access; a tensor where the guard says.
  int64_t alignment = op.tensor.valid() ? module.tensor_alignment[op.tensor] : kWidestAccess;
  int64_t most =
      std::min<int64_t>(type.layout->contiguous_registers(axis), kWidestAccess / byte_size(element));
  IndexId offset = offset_of(module, op);
  for (int64_t width = most; width > 1; width /= 2) {
    VectorAnalysis vectors(module, axis, width);
    bool whole = width * byte_size(element) <= alignment &&
                 vectors.step(offset) == VectorAnalysis::Step::kUnit && vectors.aligned(offset);
    if (!whole) continue;
    bool masked = op.operands.size() > (load ? 0 : 1);
    if (masked && !vectors.uniform(op.operands[load ? 0 : 1])) continue;
    return static_cast<int32_t>(width);
  }
  return 1;
}

// The width of the groups in which a comparison has one result, so that it is made once for each.
int32_t uniform_width(TileModule& module, const TileOp& op) {
  const ir::TileType& type = module.values[op.results[0]].type;
  AxisId axis = vector_axis(type);
  if (!axis.valid()) return 1;
  for (int32_t width = type.layout->contiguous_registers(axis); width > 1; width /= 2)
    if (VectorAnalysis(module, axis, width).uniform(op.results[0])) return width;
  return 1;
}

}  // namespace

void vectorize(TileModule& module, PassContext&) {
  for (TileOp& op : module.ops) {
    if (op.op == Opcode::kLoad || op.op == Opcode::kStore) op.vector = widest(module, op);
    if (ir::row(op.op).rule == ir::TypeRule::kCompare) op.vector = uniform_width(module, op);
  }
}

}  // namespace tenon::passes
