// A `tile.reduce` in the order in which the device merges.
#pragma once

#include <cstddef>
#include <cstdint>
#include <span>
#include <vector>

#include "ir/tile_lanes.h"

namespace tenon::ir {

class TileReduction {
 public:
  TileReduction(const TileModule& module, const TileOp& op, const DeviceFunctions& device);

  // Operands and results as tiles, each of its own axes.
  void run(std::span<const std::byte* const> operands, std::span<std::byte* const> results);

 private:
  // States of one register in all threads, or of one position: an array a slot.
  using State = std::vector<std::vector<std::byte>>;

  void plan_threads(const Layout& layout);
  void run_by_threads(std::span<std::byte* const> results);
  void run_in_order(std::span<std::byte* const> results);
  State gathered(std::span<const int64_t> offsets) const;
  State products(const std::vector<State>& factors);
  State tree(std::vector<State> level);
  void merge(State& left, State& right, State& result);
  void multiply(const State& factors, State* sum, State& result);
  void merge_lanes(State& state);
  State merge_warps(State& state);
  // `from[to_lane ^ ...]`: lane i of the result is lane `source(i)`.
  template <class Source>
  State permuted(const State& state, Source source) const;
  void scatter(const State& state, std::span<const int64_t> offsets,
               std::span<std::byte* const> results) const;

  const TileModule& module_;
  const TileOp& op_;
  const DeviceFunctions& device_;
  TileShape whole_, kept_;
  // Of the operands, and of the state.
  std::vector<ElementType> operand_types_, slot_types_;
  // The operands over all axes.
  std::vector<std::vector<std::byte>> expanded_;
  // With a layout. Threads of the block; by register of the whole tile (and of the result): the offset of
  // each thread's position.
  bool by_threads_ = false;
  size_t threads_ = 0;
  std::vector<std::vector<int64_t>> sources_, targets_;
  // By register of the result: those of the whole tile that it takes, ascending.
  std::vector<std::vector<int32_t>> groups_;
  std::vector<unsigned> lane_bits_, warp_bits_;
  // Without: by position along the reduced axes, the offset of each kept position.
  std::vector<int64_t> kept_offsets_, reduced_offsets_;
  MonoidRunner runner_;
};

}  // namespace tenon::ir
