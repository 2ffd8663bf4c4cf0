// How a group is run: one record that `plan` fills, a user may pin, and build-nest follows. Its text form is
// in passes/schedule_text.h.
#pragma once

#include <algorithm>
#include <cstdint>
#include <string>
#include <vector>

#include "ir/tensor.h"

namespace tenon::passes {

// Where the positions of a loop dimension that lie beyond one tile are run.
enum class Placement : uint8_t {
  kGrid,    // over blocks
  kSerial,  // by a loop of the block
  kShared,  // by loops of the block, which keep in shared memory what several of them read
  kFit,     // there are none: the variant's guard says that the extent is at most the tile
  kSplit,   // over blocks, a part each, whose states another launch merges
};

// A dimension of the loop nest: some axes of the group, flattened, the last fastest. One tile of it is
// vector * lane * warp * repeat positions, as in ir::Layout::Block.
struct LoopDim {
  ir::AxisList axes;
  Placement placement = Placement::kGrid;
  int32_t vector = 1;
  int32_t lane = 1;
  int32_t warp = 1;
  int32_t repeat = 1;
  // kShared: what is kept holds so many tiles, and the variant's guard says that there are no more.
  // kSplit: a part is at least so many tiles.
  int32_t tiles = 1;

  int64_t tile() const { return int64_t{vector} * lane * warp * repeat; }
  bool operator==(const LoopDim&) const = default;
};

// A tensor whose tile is brought to shared memory by a copy with a thread mapping of its own: the operands of
// a contraction, and reads that run across the order of the main mapping.
struct StagedRead {
  // The operation, and the body value that is staged (a read, or what is computed from one before the
  // product).
  ir::TensorOpId op;
  ir::ValueId value;
  // Thread mapping of the copy, in the order of lanes; `dim` indexes Schedule::dims.
  struct Factor {
    uint32_t dim = 0;
    int32_t vector = 1;
    int32_t lane = 1;
    int32_t warp = 1;
    int32_t repeat = 1;

    int64_t tile() const { return int64_t{vector} * lane * warp * repeat; }
    bool operator==(const Factor&) const = default;
  };
  std::vector<Factor> factors;
  // Dimensions of the shared buffer, outermost first, as indices of Schedule::dims.
  std::vector<uint32_t> buffer_order;

  bool operator==(const StagedRead&) const = default;
};

struct Schedule {
  // What proposed it, for explain.
  std::string family;
  int32_t warps = 1;
  // In the order in which they take lanes and warps: the first has the low bits.
  std::vector<LoopDim> dims;
  std::vector<StagedRead> staged;
  // A recognised contraction runs through `mma` on CUDA cores; the operation, and the factors of its terms.
  struct Contraction {
    ir::TensorOpId op;
    ir::ValueId a, b;

    bool operator==(const Contraction&) const = default;
  };
  std::vector<Contraction> contractions;
  // Blocks that a launch is brought to by splitting a dimension, where there are fewer; the number of parts
  // follows from the sizes.
  int32_t split = 1;

  // Slices of a contraction's operands that are in shared memory at once; 0 where plan-async decides.
  int32_t stages = 0;

  bool splits() const {
    return std::any_of(dims.begin(), dims.end(),
                       [](const LoopDim& dim) { return dim.placement == Placement::kSplit; });
  }
  bool operator==(const Schedule&) const = default;
};

}  // namespace tenon::passes
