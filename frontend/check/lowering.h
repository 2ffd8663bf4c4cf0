// From typed expressions to tensor operations. Each reduction becomes an operation of its own over the outer
// axes that it uses, before the operation that reads it.
#pragma once

#include <map>
#include <span>
#include <unordered_map>
#include <vector>

#include "frontend/check/instance.h"

namespace tenon::frontend {

class Lowering {
 public:
  explicit Lowering(Instance& instance) : instance_(instance) {}

  // Adds the operations that define `target`, the element at `axes` being `value`, which has the target's
  // type.
  void define(ir::TensorId target, std::span<const ir::AxisId> axes, NodeId value, Span span);

 private:
  friend class BodyBuilder;

  struct Hoisted {
    ir::TensorId tensor;
    ir::AxisList axes;
  };
  // The tensor that holds the reduction's value.
  const Hoisted& hoist(NodeId reduction);
  std::vector<ir::AxisId> outer_axes(NodeId reduction) const;
  void add_reduce(NodeId reduction, ir::TensorId target, std::span<const ir::AxisId> axes, Span span);
  void add_op(ir::TensorOp op);

  Instance& instance_;
  // Of the statement in work.
  std::map<NodeId, Hoisted> hoisted_;
  std::map<ir::MonoidKind, unsigned> counts_;
};

}  // namespace tenon::frontend
