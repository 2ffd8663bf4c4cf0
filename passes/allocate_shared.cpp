// Needs: vector widths, and all dimensions of buffers.
// Gives: every shared buffer its strides, a swizzle and a place, and the module the size of its shared
// memory. Why here: strides and swizzle depend on all accesses to a buffer with their widths and layouts.
//
// Where accesses conflict, rows become longer by one vector, if that leaves no conflict. Else the swizzle is
// searched for: among the few that keep the widest vector whole, the one with which the accesses of a warp,
// counted bank by bank, need the fewest passes.
#include <algorithm>
#include <bit>
#include <utility>
#include <vector>

#include "passes/analysis/bank_conflicts.h"
#include "passes/pass.h"

namespace tenon::passes {
namespace {

constexpr int64_t kBufferAlignment = 128;
constexpr int64_t kWidestAccess = 16;

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

using Accesses = std::vector<const ir::TileOp*>;

// Elements that stay together: the widest vector.
int32_t widest_vector(const Accesses& accesses) {
  int32_t vector = 1;
  for (const ir::TileOp* op : accesses) vector = std::max(vector, op->vector);
  return vector;
}

// What the accesses ask of a buffer; empty where they are not known.
std::vector<SharedPattern> patterns_of(const ir::TileModule& module, const Accesses& accesses,
                                       const ir::Buffer& buffer) {
  std::vector<SharedPattern> patterns;
  for (const ir::TileOp* op : accesses) {
    auto pattern = shared_pattern(module, *op, buffer);
    if (!pattern) return {};
    patterns.push_back(std::move(*pattern));
  }
  return patterns;
}

// Each row longer by a vector, so that what lies below each other starts in other banks.
ir::Buffer padded(const ir::Buffer& plain, int32_t vector) {
  ir::Buffer buffer = plain;
  size_t row = buffer.strides.size() - 2;
  int64_t unit = std::max<int64_t>(1, kWidestAccess / byte_size(plain.element));
  buffer.strides[row] += vector;
  for (size_t d = row; d-- > 0;)
    buffer.strides[d] = (buffer.shape[d + 1] * buffer.strides[d + 1] + unit - 1) / unit * unit;
  return buffer;
}

// The swizzle with the fewest passes; the plain layout where none is better.
ir::Buffer best_swizzle(const std::vector<SharedPattern>& patterns, const ir::Buffer& plain, int32_t vector) {
  ir::Buffer best = plain;
  int64_t least = cost(patterns, plain);
  // The exclusive or must not leave a row of the buffer.
  int64_t row = plain.strides[plain.strides.size() - 2];
  if (!std::has_single_bit(static_cast<uint64_t>(row))) return best;
  int row_bits = std::countr_zero(static_cast<uint64_t>(row));
  int size_bits = std::bit_width(static_cast<uint64_t>(plain.element_count() - 1));
  // The slices of a ring are swizzled alike, so that an address is a slice's start and a place in it.
  if (plain.strides.size() > 2) size_bits = std::countr_zero(static_cast<uint64_t>(plain.strides[0]));
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

// Padding where it leaves no conflict: places are then sums, with constants in the instructions, while a
// swizzle takes an exclusive or for each row. Else the best swizzle.
ir::Buffer best_layout(const ir::TileModule& module, const Accesses& accesses, const ir::Buffer& plain) {
  if (plain.strides.size() < 2) return plain;
  std::vector<SharedPattern> patterns = patterns_of(module, accesses, plain);
  int64_t enough = least_cost(patterns);
  if (cost(patterns, plain) <= enough) return plain;
  int32_t vector = widest_vector(accesses);
  ir::Buffer longer = padded(plain, vector);
  if (cost(patterns_of(module, accesses, longer), longer) <= enough) return longer;
  return best_swizzle(patterns, plain, vector);
}

}  // namespace

void allocate_shared(ir::TileModule& module, PassContext&) {
  // Where the buffers of each launch end: launches do not share them.
  std::vector<int64_t> ends(module.kernels.size(), 0);
  for (uint32_t i = 0; i < module.buffers.size(); ++i) {
    ir::BufferId id(i);
    Accesses accesses;
    std::vector<size_t> users;
    for (size_t k = 0; k < module.kernels.size(); ++k) {
      size_t before = accesses.size();
      for (ir::TileOpId access : ir::reachable_ops(module, module.kernels[k]))
        if (module.ops[access].buffer == id) accesses.push_back(&module.ops[access]);
      if (accesses.size() > before) users.push_back(k);
    }
    ir::Buffer& buffer = module.buffers[id];
    buffer = best_layout(module, accesses, buffer);
    buffer.offset = 0;
    for (size_t user : users) buffer.offset = std::max(buffer.offset, ends[user]);
    int64_t bytes = (buffer.byte_count() + kBufferAlignment - 1) / kBufferAlignment * kBufferAlignment;
    for (size_t user : users) ends[user] = buffer.offset + bytes;
    module.shared_bytes = std::max(module.shared_bytes, buffer.offset + bytes);
  }
}

}  // namespace tenon::passes
