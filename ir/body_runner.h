// Runs scalar bodies on strips of lanes for the tensor interpreter: an operation at a time over all lanes,
// values and, where they are not all 0, bounds.
#pragma once

#include <cstdint>
#include <memory>
#include <span>
#include <vector>

#include "ir/error_bounds.h"
#include "ir/lane_index.h"
#include "ir/tensor.h"
#include "support/array.h"

namespace tenon::ir {

inline constexpr size_t kStripLanes = 512;

// The lanes of one value. They are the vector's own, or somebody else's that outlive their use.
class LaneVector {
 public:
  explicit LaneVector(ElementType type) : type_(type) {}
  LaneVector(LaneVector&&) noexcept = default;
  LaneVector& operator=(LaneVector&&) noexcept = default;

  ElementType type() const { return type_; }
  LaneView view() const { return {type_, data_}; }
  const std::byte* data() const { return static_cast<const std::byte*>(data_); }
  template <class T>
  const T* as() const {
    return static_cast<const T*>(data_);
  }
  // Null where all bounds are 0.
  const double* bounds() const { return bounds_; }
  double bound(size_t lane) const { return bounds_ == nullptr ? 0 : bounds_[lane]; }
  // The values as doubles.
  const double* doubles(size_t lanes);

  // Room of its own, exact until bounds are set.
  void* own();
  template <class T>
  T* own_as() {
    return static_cast<T*>(own());
  }
  // The room that `own` gave.
  std::byte* bytes() { return reinterpret_cast<std::byte*>(storage_.data()); }
  double* own_bounds();
  // Forgets bounds that are all 0.
  void drop_zero_bounds(size_t lanes);
  void alias(const void* data, const double* bounds);
  void fill(uint64_t bits);

 private:
  ElementType type_;
  const void* data_ = nullptr;
  const double* bounds_ = nullptr;
  bool has_doubles_ = false;
  std::vector<uint64_t> storage_;
  std::vector<double> bound_storage_, doubles_;
};

// A tensor while the interpreter runs.
struct TensorValue {
  Array array;
  // One an element; empty where all are 0.
  std::vector<double> bounds;
  std::vector<int64_t> strides;
  bool present = false;
};

struct BodyRules {
  BoundRules bounds;
  // A product that is used once, by an addition or subtraction, may be fused with it.
  bool contraction = false;
};

class BodyRunner {
 public:
  // `extra_uses` are values used from outside the body. Without an evaluator the body has neither reads nor
  // indices.
  BodyRunner(const Body& body, const BodyRules& rules, std::span<const ValueId> extra_uses,
             LaneIndexEvaluator* indices = nullptr, const Kernel* kernel = nullptr,
             const std::vector<TensorValue>* tensors = nullptr);

  // What `arg` instructions give.
  void set_argument(unsigned position, const void* data, const double* bounds);
  // Axes are set in the evaluator, arguments here.
  void run(size_t lanes);
  LaneVector& value(ValueId id) { return values_[id.index()]; }
  // Of a term of a sum: where it is a product that overflows, nothing is promised, since a multiply-add keeps
  // it from that.
  void open_overflows(ValueId term, size_t lanes);

 private:
  struct Step {
    // Index nodes that this instruction is the first to need.
    std::vector<IndexId> nodes;
    // Index values that its subscripts mention.
    std::vector<ValueId> mentioned;
    // The atom that stands for its value in index expressions.
    IndexId atom;
    bool single_product[3] = {false, false, false};
  };
  struct Argument {
    const void* data = nullptr;
    const double* bounds = nullptr;
  };

  void plan_indices(const Instruction& instruction, Step& step);
  void plan_contraction(std::span<const ValueId> extra_uses);
  void run_index(const Instruction& instruction, const Step& step, LaneVector& result, size_t lanes);
  void run_read(const Instruction& instruction, const Step& step, LaneVector& result, size_t lanes);
  void add_mentioned_bounds(const Step& step, LaneVector& result, size_t lanes);
  void read_guarded(const Instruction& instruction, LaneVector& result, size_t lanes);
  void run_scalar(const Instruction& instruction, const Step& step, LaneVector& result, size_t lanes);
  const double* with_product_error(const Instruction& product, const double* bounds,
                                   std::vector<double>& storage, size_t lanes);
  void publish_atom(const Step& step, const LaneVector& result, size_t lanes);
  // The offset of each element, checked; only lanes where `active` is not 0, or all.
  void offsets(const Instruction& instruction, const uint8_t* active, size_t lanes);

  const Body& body_;
  BodyRules rules_;
  LaneIndexEvaluator* indices_;
  const Kernel* kernel_;
  const std::vector<TensorValue>* tensors_;
  std::vector<Step> steps_;
  std::vector<LaneVector> values_;
  std::vector<Argument> arguments_;
  LaneInteger offsets_;
  std::vector<double> product_bounds_[3];
};

}  // namespace tenon::ir
