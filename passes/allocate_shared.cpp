#include "passes/allocate_shared.h"

#include <algorithm>
#include <bit>
#include <utility>
#include <vector>

#include "passes/analysis/bank_conflicts.h"

namespace tenon::passes {
namespace {

constexpr int64_t kBufferAlignment = 128;

int64_t cost(const std::vector<SharedPattern>& patterns, const ir::Buffer& buffer) {
  int64_t sum = 0;
  for (const SharedPattern& pattern : patterns) sum += wavefronts(pattern, buffer);
  return sum;
}

// The fewest passes that any place of the elements could need: a warp's bytes over those of all banks.
int64_t least_cost(const std::vector<SharedPattern>& patterns) {
  int64_t sum = 0;
  for (const SharedPattern& pattern : patterns)
    sum += static_cast<int64_t>(pattern.instructions.size()) * std::max<int64_t>(1, pattern.bytes / 4);
  return sum;
}

// The swizzle with the fewest passes; the plain layout where none is better or the accesses are not known.
ir::Buffer best_swizzle(const ir::TileModule& module, const std::vector<const ir::TileOp*>& accesses,
                        const ir::Buffer& plain) {
  std::vector<SharedPattern> patterns;
  for (const ir::TileOp* op : accesses) {
    auto pattern = shared_pattern(module, *op, plain);
    if (!pattern) return plain;
    patterns.push_back(std::move(*pattern));
  }
  ir::Buffer best = plain;
  int64_t least = cost(patterns, plain);
  // Elements that stay together: the widest vector. The exclusive or must not leave a row of the buffer.
  int32_t vector = 1;
  for (const ir::TileOp* op : accesses) vector = std::max(vector, op->vector);
  int64_t row = plain.strides.size() > 1 ? plain.strides[plain.strides.size() - 2] : 0;
  if (row == 0 || !std::has_single_bit(static_cast<uint64_t>(row))) return best;
  int row_bits = std::countr_zero(static_cast<uint64_t>(row));
  int size_bits = std::bit_width(static_cast<uint64_t>(plain.element_count() - 1));
  int vector_bits = std::countr_zero(static_cast<uint32_t>(vector));
  int64_t enough = least_cost(patterns);
  for (int bits = 1; bits <= 5; ++bits) {
    for (int to = vector_bits; to + bits <= row_bits; ++to) {
      for (int from = row_bits; from + bits <= size_bits; ++from) {
        if (least <= enough) return best;
        ir::Buffer candidate = plain;
        candidate.swizzle_bits = static_cast<uint8_t>(bits);
        candidate.swizzle_from = static_cast<uint8_t>(from);
        candidate.swizzle_to = static_cast<uint8_t>(to);
        int64_t passes = cost(patterns, candidate);
        if (passes >= least) continue;
        least = passes;
        best = candidate;
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
