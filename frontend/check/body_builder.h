// One scalar body in the making: typed expressions as instructions, each made once.
#pragma once

#include <map>
#include <span>
#include <vector>

#include "frontend/check/instance.h"
#include "frontend/check/lowering.h"

namespace tenon::frontend {

class BodyBuilder {
 public:
  BodyBuilder(Instance& instance, Lowering& lowering, ir::Body& body)
      : instance_(instance), lowering_(lowering), body_(body) {}

  // Makes everything that the roots need, reductions as reads of their tensors.
  void build(std::span<const NodeId> roots);
  // The value of a node that was built.
  ir::ValueId value(NodeId node);
  // The value of an index expression.
  ir::ValueId index_value(ir::IndexId index, Span span);

 private:
  void build_one(NodeId id);
  void build_operation(NodeId id, const Node& node);
  ir::IndexId index_operation(const Node& node);
  ir::ValueId read(NodeId id, const Node& node);
  ir::ValueId read_hoisted(NodeId id, const Node& node);
  ir::ValueId predicate_of(const Read& read, const ir::Tensor& tensor, Span span);
  ir::ValueId guard_value(GuardId guard);
  ir::ValueId both(ir::ValueId a, ir::ValueId b);
  // The index expression for a node of type index.
  ir::IndexId index_of(NodeId node);

  Instance& instance_;
  Lowering& lowering_;
  ir::Body& body_;
  // What a node has become: its value, its index expression, or both.
  struct Built {
    NodeId node;
    ir::ValueId value;
    ir::IndexId index;
  };
  Built& built(NodeId node);

  // Ascending by node.
  std::vector<Built> built_;
  std::map<ir::IndexId, ir::ValueId> index_values_;
  std::map<GuardId, ir::ValueId> guards_;
};

}  // namespace tenon::frontend
