#include "frontend/check/node.h"

#include <algorithm>
#include <queue>

#include "frontend/check/exact.h"

namespace tenon::frontend {

Nodes::Nodes() { nodes_.add(Node{}); }

NodeId Nodes::add(Node node) { return nodes_.add(std::move(node)); }

NodeId Nodes::literal(const LiteralValue& value, Span span) {
  literals_.push_back(std::make_shared<const LiteralValue>(value));
  Node node;
  node.kind = NodeKind::kLiteral;
  node.detail = static_cast<uint32_t>(literals_.size() - 1);
  node.span = span;
  return add(node);
}

NodeId Nodes::constant(ir::Constant value, Span span) {
  Node node;
  node.kind = NodeKind::kConstant;
  node.type = value.type;
  node.bits = value.bits;
  node.span = span;
  return add(node);
}

NodeId Nodes::index(ir::IndexId index, Span span) {
  Node node;
  node.kind = NodeKind::kIndex;
  node.type = ElementType::kIndex;
  node.index = index;
  node.span = span;
  return add(node);
}

NodeId Nodes::op(ir::Opcode op, std::optional<ElementType> type, std::initializer_list<NodeId> operands,
                 Span span) {
  Node node;
  node.kind = NodeKind::kOp;
  node.op = op;
  node.type = type;
  std::copy(operands.begin(), operands.end(), node.operands.begin());
  node.span = span;
  return add(node);
}

NodeId Nodes::cast(ElementType type, NodeId operand, Span span) {
  Node node;
  node.kind = NodeKind::kCast;
  node.type = type;
  node.operands[0] = operand;
  node.span = span;
  return add(node);
}

NodeId Nodes::read(Read read, ElementType type, Span span) {
  reads_.push_back(std::move(read));
  Node node;
  node.kind = NodeKind::kRead;
  node.type = type;
  node.detail = static_cast<uint32_t>(reads_.size() - 1);
  node.span = span;
  return add(node);
}

NodeId Nodes::reduce(ReduceDetail reduction, ElementType type, Span span) {
  reductions_.push_back(std::move(reduction));
  Node node;
  node.kind = NodeKind::kReduce;
  node.type = type;
  node.detail = static_cast<uint32_t>(reductions_.size() - 1);
  node.span = span;
  return add(node);
}

std::vector<NodeId> Nodes::reachable(std::span<const NodeId> roots, bool into_reductions) const {
  // Operands have smaller ids: the greatest id that is left has been met by all of its users.
  std::vector<NodeId> found;
  std::priority_queue<NodeId> work;
  for (NodeId root : roots) work.push(root);
  while (!work.empty()) {
    const NodeId id = work.top();
    while (!work.empty() && work.top() == id) work.pop();
    found.push_back(id);
    if (nodes_[id].kind == NodeKind::kReduce && !into_reductions) continue;
    for_each_operand(id, [&](NodeId operand) { work.push(operand); });
  }
  std::ranges::reverse(found);
  return found;
}

}  // namespace tenon::frontend
