#include "passes/allocate_shared.h"

#include <algorithm>
#include <bit>
#include <optional>
#include <vector>

#include "passes/analysis/bank_conflicts.h"

namespace tenon::passes {
namespace {

constexpr int64_t kBufferAlignment = 128;

std::optional<int64_t> cost(const ir::TileModule& module, const std::vector<const ir::TileOp*>& accesses,
                            const ir::Buffer& buffer) {
  int64_t sum = 0;
  for (const ir::TileOp* op : accesses) {
    auto passes = wavefronts(module, *op, buffer);
    if (!passes) return std::nullopt;
    sum += *passes;
  }
  return sum;
}

// The swizzle with the fewest passes; the plain layout where none is better or the accesses are not known.
ir::Buffer best_swizzle(const ir::TileModule& module, const std::vector<const ir::TileOp*>& accesses,
                        ir::Buffer plain) {
  auto least = cost(module, accesses, plain);
  ir::Buffer best = plain;
  if (!least) return best;
  // Elements that stay together: the widest vector. The exclusive or must not leave a row of the buffer.
  int32_t vector = 1;
  for (const ir::TileOp* op : accesses) vector = std::max(vector, op->vector);
  int64_t row = plain.strides.size() > 1 ? plain.strides[plain.strides.size() - 2] : 0;
  if (row == 0 || !std::has_single_bit(static_cast<uint64_t>(row))) return best;
  int row_bits = std::countr_zero(static_cast<uint64_t>(row));
  int size_bits = std::bit_width(static_cast<uint64_t>(plain.element_count() - 1));
  int vector_bits = std::countr_zero(static_cast<uint32_t>(vector));
  for (int bits = 1; bits <= 5; ++bits) {
    for (int to = vector_bits; to + bits <= row_bits; ++to) {
      for (int from = row_bits; from + bits <= size_bits; ++from) {
        ir::Buffer candidate = plain;
        candidate.swizzle_bits = static_cast<uint8_t>(bits);
        candidate.swizzle_from = static_cast<uint8_t>(from);
        candidate.swizzle_to = static_cast<uint8_t>(to);
        auto passes = cost(module, accesses, candidate);
        if (passes && *passes < *least) {
          least = passes;
          best = candidate;
        }
      }
    }
  }
  return best;
}

}  // namespace

void allocate_shared(ir::TileModule& module) {
  int64_t offset = 0;
  for (uint32_t i = 0; i < module.buffers.size(); ++i) {
    ir::BufferId id(i);
    std::vector<const ir::TileOp*> accesses;
    for (const ir::TileOp& op : module.ops)
      if (op.buffer == id && (op.op == ir::Opcode::kLoad || op.op == ir::Opcode::kStore))
        accesses.push_back(&op);
    ir::Buffer& buffer = module.buffers[id];
    buffer = best_swizzle(module, accesses, buffer);
    buffer.offset = offset;
    offset += (buffer.byte_count() + kBufferAlignment - 1) / kBufferAlignment * kBufferAlignment;
  }
  module.shared_bytes = offset;
}

}  // namespace tenon::passes
