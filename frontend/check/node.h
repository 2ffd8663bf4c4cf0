// Typed expressions: what a program's expressions mean once names are resolved, functions inlined and
// literals have a type. They stand between the syntax tree and the two consumers of an expression: the bounds
// prover (terms.h) and the bodies of tensor operations (lowering.h).
//
// Nodes form a DAG: the argument of an inlined function is one node, however often its parameter is used.
// Operands are made before their users and have smaller ids, so every walk is a loop over ids.
#pragma once

#include <array>
#include <cstdint>
#include <memory>
#include <optional>
#include <span>
#include <string>
#include <vector>

#include "ir/tensor.h"
#include "support/element_type.h"
#include "support/ids.h"
#include "support/source.h"

namespace tenon::frontend {

struct Node;
struct Guard;
// A number that has not met a type yet: exact.h, apart because of what exact numbers cost to include.
struct LiteralValue;
using NodeId = Id<Node>;
using GuardId = Id<Guard>;

// A condition under which something is evaluated, within the outer one.
struct Guard {
  GuardId outer;
  NodeId condition;
  bool negated = false;
};

// One side of a subscript's range that the prover could not show, so that the access has to test it.
struct BoundTest {
  uint32_t subscript = 0;
  bool upper = false;
};

struct Read {
  ir::TensorId tensor;
  std::vector<NodeId> subscripts;
  // The value where a test fails; invalid without `|`.
  NodeId fallback;
  std::vector<BoundTest> tests;
  // The access stands within bounds only where this holds; invalid where it always does.
  GuardId guard;
};

struct ReduceDetail {
  ir::MonoidKind kind = ir::MonoidKind::kSum;
  ir::AxisList axes;
  // Invalid: all elements count.
  NodeId predicate;
  NodeId body;
};

enum class NodeKind : uint8_t {
  // A reported mistake.
  kError,
  // Without a type: Nodes::literals.
  kLiteral,
  kConstant,
  // An index expression over symbols and axes.
  kIndex,
  kOp,
  kCast,
  // Operands: none; see Nodes::read.
  kRead,
  // See Nodes::reduction.
  kReduce,
};

struct Node {
  NodeKind kind = NodeKind::kError;
  // kOp.
  ir::Opcode op = ir::Opcode::kConst;
  // Empty: an error, or a literal or choice between literals that has not met a type.
  std::optional<ElementType> type;
  std::array<NodeId, 3> operands;
  // kIndex.
  ir::IndexId index;
  // kConstant.
  uint64_t bits = 0;
  // kLiteral, kRead, kReduce: the position in the side store.
  uint32_t detail = 0;
  Span span;

  bool is_error() const { return kind == NodeKind::kError; }
  bool untyped() const { return kind != NodeKind::kError && !type; }
  bool is_index() const { return type == ElementType::kIndex; }
  bool is_bool() const { return type == ElementType::kBool; }
};

class Nodes {
 public:
  NodeId error() const { return NodeId(0); }
  NodeId literal(const LiteralValue& value, Span span);
  NodeId constant(ir::Constant value, Span span);
  NodeId index(ir::IndexId index, Span span);
  // `type` is empty for an operation between literals that could not be done exactly.
  NodeId op(ir::Opcode op, std::optional<ElementType> type, std::initializer_list<NodeId> operands,
            Span span);
  NodeId cast(ElementType type, NodeId operand, Span span);
  NodeId read(Read read, ElementType type, Span span);
  NodeId reduce(ReduceDetail reduction, ElementType type, Span span);
  GuardId guard(Guard guard) { return guards_.add(guard); }

  const Node& operator[](NodeId id) const { return nodes_[id]; }
  const Guard& operator[](GuardId id) const { return guards_[id]; }
  const LiteralValue& literal_of(NodeId id) const { return *literals_[nodes_[id].detail]; }
  const Read& read_of(NodeId id) const { return reads_[nodes_[id].detail]; }
  Read& read_of(NodeId id) { return reads_[nodes_[id].detail]; }
  const ReduceDetail& reduction_of(NodeId id) const { return reductions_[nodes_[id].detail]; }
  size_t size() const { return nodes_.size(); }

  // Calls `visit` for every node that the value of `id` is computed from: operands, subscripts, guards,
  // defaults and, for a reduction, its predicate and body.
  template <class Visit>
  void for_each_operand(NodeId id, Visit&& visit) const {
    const Node& node = nodes_[id];
    for (NodeId operand : node.operands)
      if (operand.valid()) visit(operand);
    if (node.kind == NodeKind::kRead) {
      const Read& read = reads_[node.detail];
      for (NodeId subscript : read.subscripts) visit(subscript);
      if (read.fallback.valid()) visit(read.fallback);
      for (GuardId guard = read.guard; guard.valid(); guard = guards_[guard].outer)
        visit(guards_[guard].condition);
    }
    if (node.kind == NodeKind::kReduce) {
      const ReduceDetail& reduction = reductions_[node.detail];
      if (reduction.predicate.valid()) visit(reduction.predicate);
      visit(reduction.body);
    }
  }

  // All nodes that the roots are computed from, ascending, roots included; what is inside of reductions only
  // where `into_reductions`.
  std::vector<NodeId> reachable(std::span<const NodeId> roots, bool into_reductions) const;

  Nodes();

 private:
  NodeId add(Node node);

  Store<Node> nodes_;
  Store<Guard> guards_;
  std::vector<std::shared_ptr<const LiteralValue>> literals_;
  std::vector<Read> reads_;
  std::vector<ReduceDetail> reductions_;
};

}  // namespace tenon::frontend
