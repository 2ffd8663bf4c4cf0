// One block of a launch at a time, for the tile interpreter.
#pragma once

#include <array>
#include <atomic>
#include <cstddef>
#include <cstdint>
#include <deque>
#include <map>
#include <memory>
#include <optional>
#include <span>
#include <string>
#include <string_view>
#include <vector>

#include "ir/tile_access.h"
#include "ir/tile_reduction.h"

namespace tenon::ir {

// What the blocks of a launch have in common.
struct TileLaunch {
  const TileModule& module;
  const TileKernel& kernel;
  std::span<const int64_t> symbols;
  const DeviceFunctions& device;
  // By tensor; without data for those that the module does not touch.
  std::span<const AccessedMemory> tensors;
  // Elements that may still be computed.
  std::atomic<int64_t>& elements_left;
};

class BlockRunner {
 public:
  explicit BlockRunner(const TileLaunch& launch);
  BlockRunner(const BlockRunner&) = delete;
  BlockRunner& operator=(const BlockRunner&) = delete;

  // Bytes of the tiles of one block.
  static int64_t byte_count(const TileModule& module, const TileKernel& kernel);

  // What went wrong, if something did.
  std::optional<Error> run(int64_t block);

 private:
  using Bytes = std::vector<std::byte>;

  // Where an operand lies, and how it meets the positions of a shape.
  struct Operand {
    TileValueId value;
    ElementType type = ElementType::kF32;
    std::vector<int64_t> strides;
    bool whole = false;
    // The operand at all positions, where it has fewer.
    Bytes expanded;
  };
  // What an operation needs beside its operands; made once.
  struct Plan {
    TileShape shape;
    std::vector<Operand> operands;
    std::unique_ptr<TileAccess> access;
    // kCopyAsync: where it writes.
    std::unique_ptr<TileAccess> target;
    std::unique_ptr<TileIndex> index;
    std::unique_ptr<TileReduction> reduction;
    // kMma: the offsets of positions summed over, in each factor; the factors in the sum's type.
    std::vector<std::pair<int64_t, int64_t>> terms;
    Bytes factors[2];
    Bytes product;
  };

  // An element of an asynchronous copy that has not arrived.
  struct Arrival {
    std::byte* to = nullptr;
    std::array<std::byte, 8> bytes{};
    size_t width = 0;
  };

  void prepare(TileOpId id);
  void prepare_mma(const TileOp& op, Plan& plan);
  Operand operand(TileValueId value, const TileShape& at) const;
  const std::byte* at_shape(Operand& operand, const TileShape& shape);
  TileShape shape_of(TileValueId value) const;
  std::byte* data(TileValueId value) { return values_[value.index()].data(); }

  bool run_region(RegionId region);
  bool run_op(TileOpId id);
  bool run_loop(const TileOp& op, Plan& plan);
  void run_index(const TileOp& op, Plan& plan);
  bool run_load(TileOpId id, const TileOp& op, Plan& plan);
  bool run_store(TileOpId id, const TileOp& op, Plan& plan);
  bool run_copy(TileOpId id, const TileOp& op, Plan& plan);
  void run_wait(uint64_t groups_under_way);
  void run_mma(const TileOp& op, Plan& plan);
  void run_elementwise(const TileOp& op, Plan& plan);
  // Whether the block may go on; counts what it computes.
  bool count(int64_t elements);
  // Whether so many copied elements and groups more may be under way.
  bool count_under_way(size_t more);
  bool fail_access(TileOpId id, TileAccess& access, const AccessedMemory& memory, std::string_view what,
                   int64_t position);
  // What a load or store accesses.
  const AccessedMemory& memory_of(const TileOp& op) const;
  const std::string& name_of(const TileOp& op) const;
  std::string block_text() const;

  const TileLaunch& launch_;
  const TileModule& module_;
  std::vector<int64_t> counters_;
  TileIndexContext context_;
  // By value, of the kernel's.
  std::vector<Bytes> values_;
  std::map<TileOpId, Plan> plans_;
  Bytes shared_;
  std::vector<AccessedMemory> buffers_;
  std::vector<int64_t> offsets_;
  std::vector<int64_t> target_offsets_;
  // Copies by group, from the oldest that is under way to the one that is open.
  std::deque<std::vector<Arrival>> copies_;
  size_t under_way_ = 0;
  int64_t block_ = 0;
  std::optional<Error> error_;
};

}  // namespace tenon::ir
