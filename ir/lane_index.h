// Index expressions over strips of lanes, for the tensor interpreter.
#pragma once

#include <cstdint>
#include <functional>
#include <span>
#include <unordered_map>
#include <vector>

#include "ir/index.h"

namespace tenon::ir {

// An integer for each lane: base + step * lane, or one by one.
struct LaneInteger {
  int64_t base = 0;
  int64_t step = 0;
  bool listed = false;
  // Where `listed`.
  std::vector<int64_t> values;

  int64_t operator[](size_t lane) const {
    return listed ? values[lane] : base + step * static_cast<int64_t>(lane);
  }
  bool uniform() const { return !listed && step == 0; }
  void set_affine(int64_t new_base, int64_t new_step) {
    base = new_base;
    step = new_step;
    listed = false;
  }
};

// The nodes that some expressions of a pool need, and their values on the strip at hand. Symbols are numbers.
class LaneIndexEvaluator {
 public:
  LaneIndexEvaluator(const IndexPool& pool, std::span<const int64_t> symbols)
      : pool_(&pool), symbols_(symbols) {}

  // Makes `id` and all it needs known. Returns the nodes that were not before, operands first, without axes:
  // those that `evaluate` has to visit on every strip.
  std::vector<IndexId> require(IndexId id);

  // Atoms are set from outside before what needs them is evaluated.
  LaneInteger& at(IndexId id) { return values_[slot_.find(id.index())->second]; }
  // The axes that something required.
  std::span<const IndexId> axes() const { return axes_; }
  void evaluate(std::span<const IndexId> nodes, size_t lanes);

 private:
  void evaluate_node(IndexId id, size_t lanes);
  void evaluate_polynomial(const IndexNode& node, LaneInteger& result, size_t lanes);

  const IndexPool* pool_;
  std::span<const int64_t> symbols_;
  // By node; an operation needs few of the pool's.
  std::unordered_map<uint32_t, size_t> slot_;
  std::vector<IndexId> axes_;
  std::vector<LaneInteger> values_;
  LaneInteger product_, sum_;
};

}  // namespace tenon::ir
