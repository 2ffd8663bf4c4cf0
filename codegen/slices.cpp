// The end of a launch that holds many values: what it reads beside them, computes and stores.
#include <algorithm>
#include <set>

#include "codegen/emitter.h"
#include "passes/analysis/held_registers.h"

namespace tenon::codegen {

using ir::Opcode;
using ir::TileOp;
using ir::TileOpId;

namespace {

// The most registers of a slice, and the least: four vectors of 16 bytes, and one.
constexpr int32_t kSlice = 16;
constexpr int32_t kLeastSlice = 4;

int32_t slice_size(int32_t registers) {
  for (int32_t size = kSlice; size >= kLeastSlice; size /= 2)
    if (registers % size == 0) return size;
  return 0;
}

}  // namespace

int32_t Emitter::sliced_registers(const TileOp& op) const {
  if (op.buffer.valid()) return 0;
  switch (op.op) {
    case Opcode::kStore: {
      ir::TileType type = ir::accessed_type(module_, op);
      return type.layout ? type.layout->register_count() : 1;
    }
    case Opcode::kLoad:
      return written_.contains(op.tensor) ? 0 : register_count(op.results[0]);
    case Opcode::kConst:
    case Opcode::kIndex:
      return register_count(op.results[0]);
    default:
      bool elementwise = ir::row(op.op).stage == ir::Stage::kBody && op.results.size() == 1;
      return elementwise ? register_count(op.results[0]) : 0;
  }
}

// Up to the last store of a run of operations over the same registers, or fewer than a slice, that reads and
// stores many beside as many that are held already.
Emitter::Run Emitter::sliced_run(std::span<const TileOpId> ops) const {
  int32_t registers = 0;
  bool reads = false;
  bool uses_held = false;
  std::set<ir::TileValueId> own_values;
  Run run;
  for (; run.scanned < ops.size(); ++run.scanned) {
    const TileOp& op = module_.ops[ops[run.scanned]];
    int32_t own = sliced_registers(op);
    if (own == 0) break;
    if (own <= kSlice / 2) continue;
    if (registers == 0) registers = own;
    if (own != registers || slice_size(own) == 0) break;
    reads = reads || op.op == Opcode::kLoad;
    for (ir::TileValueId operand : op.operands)
      uses_held = uses_held || (passes::takes_registers(module_, operand) && register_count(operand) == own &&
                                !own_values.contains(operand));
    own_values.insert(op.results.begin(), op.results.end());
    if (op.op == Opcode::kStore && reads && uses_held) run.length = run.scanned + 1;
  }
  return run;
}

void Emitter::emit_slices(std::span<const TileOpId> ops) {
  int32_t registers = 0;
  for (TileOpId id : ops) registers = std::max(registers, sliced_registers(module_.ops[id]));
  int32_t size = slice_size(registers);
  for (int32_t index = 0; index < registers / size; ++index) {
    slice_ = {registers, size, index};
    for (TileOpId id : ops)
      if (index == 0 || sliced_registers(module_.ops[id]) == registers) emit_op(id);
  }
  slice_ = {};
}

std::pair<int32_t, int32_t> Emitter::emitted_now(int32_t registers) const {
  if (slice_.registers == 0 || registers != slice_.registers) return {0, registers};
  return {slice_.index * slice_.size, (slice_.index + 1) * slice_.size};
}

}  // namespace tenon::codegen
