#include "frontend/check/body_builder.h"

#include <algorithm>

#include "support/check.h"

namespace tenon::frontend {

using ir::Opcode;
using ir::ValueId;

void BodyBuilder::build(std::span<const NodeId> roots) {
  for (NodeId id : instance_.nodes.reachable(roots, false)) build_one(id);
}

ValueId BodyBuilder::value(NodeId node) {
  if (auto known = values_.find(node); known != values_.end()) return known->second;
  const auto index = indices_.find(node);
  TENON_CHECK(index != indices_.end(), "an expression is used before it is built");
  return values_[node] = index_value(index->second, instance_.nodes[node].span);
}

ir::IndexId BodyBuilder::index_of(NodeId node) {
  if (auto known = indices_.find(node); known != indices_.end()) return known->second;
  return indices_[node] = instance_.kernel.index.value(value(node));
}

ValueId BodyBuilder::index_value(ir::IndexId index, Span span) {
  const auto [entry, is_new] = index_values_.try_emplace(index);
  if (is_new) entry->second = body_.index(index, span);
  return entry->second;
}

ValueId BodyBuilder::both(ValueId a, ValueId b) {
  if (!a.valid()) return b;
  if (!b.valid()) return a;
  return body_.op(Opcode::kAnd, {a, b}, false, body_[b].span);
}

void BodyBuilder::build_one(NodeId id) {
  const Node node = instance_.nodes[id];
  switch (node.kind) {
    case NodeKind::kIndex:
      indices_[id] = node.index;
      return;
    case NodeKind::kConstant:
      values_[id] = body_.constant({*node.type, node.bits}, node.span);
      return;
    case NodeKind::kCast:
      values_[id] = body_.cast(*node.type, value(node.operands[0]), node.span);
      return;
    case NodeKind::kRead:
      values_[id] = read(id, node);
      return;
    case NodeKind::kReduce:
      values_[id] = read_hoisted(id, node);
      return;
    case NodeKind::kOp:
      return build_operation(id, node);
    case NodeKind::kError:
    case NodeKind::kLiteral:
      break;
  }
  TENON_UNREACHABLE("an expression without a type reached a body");
}

// Sums, products, quotients, minima and maxima of indices stay index expressions, so that subscripts keep
// their form.
ir::IndexId BodyBuilder::index_operation(const Node& node) {
  if (!node.is_index() || !node.operands[1].valid() || node.operands[2].valid()) return {};
  return instance_.index_op(node.op, index_of(node.operands[0]), index_of(node.operands[1]));
}

void BodyBuilder::build_operation(NodeId id, const Node& node) {
  const bool is_arithmetic = node.op == Opcode::kAdd || node.op == Opcode::kSub || node.op == Opcode::kMul ||
                             node.op == Opcode::kDiv || node.op == Opcode::kRem || node.op == Opcode::kMin ||
                             node.op == Opcode::kMax;
  if (is_arithmetic) {
    if (const ir::IndexId index = index_operation(node); index.valid()) {
      indices_[id] = index;
      return;
    }
  }
  const bool function = ir::row(node.op).rule == ir::TypeRule::kFunction;
  const bool quotient = node.op == Opcode::kDiv && node.type && is_float(*node.type);
  const bool approx = instance_.kernel.allows(ir::kApprox) && (function || quotient);
  auto operand = [&](size_t position) { return value(node.operands[position]); };
  if (!node.operands[1].valid()) {
    values_[id] = body_.op(node.op, {operand(0)}, approx, node.span);
  } else if (!node.operands[2].valid()) {
    const ValueId a = operand(0);
    const ValueId b = operand(1);
    values_[id] = body_.op(node.op, {a, b}, approx, node.span);
  } else {
    const ValueId a = operand(0);
    const ValueId b = operand(1);
    const ValueId c = operand(2);
    values_[id] = body_.op(node.op, {a, b, c}, approx, node.span);
  }
}

ValueId BodyBuilder::guard_value(GuardId guard) {
  std::vector<GuardId> chain;
  ValueId holds;
  for (; guard.valid(); guard = instance_.nodes[guard].outer) {
    if (auto known = guards_.find(guard); known != guards_.end()) {
      holds = known->second;
      break;
    }
    chain.push_back(guard);
  }
  for (GuardId id : chain | std::views::reverse) {
    const Guard& fact = instance_.nodes[id];
    ValueId condition = value(fact.condition);
    if (fact.negated) condition = body_.op(Opcode::kNot, {condition}, false, body_[condition].span);
    holds = both(holds, condition);
    guards_[id] = holds;
  }
  return holds;
}

ValueId BodyBuilder::predicate_of(const Read& read, const ir::Tensor& tensor, Span span) {
  ValueId predicate = guard_value(read.guard);
  for (const BoundTest& test : read.tests) {
    const ValueId subscript = value(read.subscripts[test.subscript]);
    const ir::IndexId bound = test.upper ? tensor.shape[test.subscript] : instance_.kernel.index.constant(0);
    const ValueId limit = index_value(bound, span);
    predicate =
        both(predicate, body_.op(test.upper ? Opcode::kLt : Opcode::kGe, {subscript, limit}, false, span));
  }
  return predicate;
}

ValueId BodyBuilder::read(NodeId id, const Node& node) {
  const Read& read = instance_.nodes.read_of(id);
  const ir::Tensor& tensor = instance_.kernel.tensors[read.tensor];
  ir::Instruction instruction;
  instruction.op = Opcode::kRead;
  instruction.type = tensor.element;
  instruction.tensor = read.tensor;
  instruction.span = node.span;
  for (NodeId subscript : read.subscripts) instruction.subscripts.push_back(index_of(subscript));
  if (const ValueId predicate = predicate_of(read, tensor, node.span); predicate.valid()) {
    instruction.operands[0] = predicate;
    instruction.operands[1] =
        read.fallback.valid() ? value(read.fallback) : body_.constant({tensor.element, 0}, node.span);
  }
  return body_.add(std::move(instruction));
}

ValueId BodyBuilder::read_hoisted(NodeId id, const Node& node) {
  const Lowering::Hoisted& hoisted = lowering_.hoist(id);
  ir::Instruction instruction;
  instruction.op = Opcode::kRead;
  instruction.type = *node.type;
  instruction.tensor = hoisted.tensor;
  instruction.span = node.span;
  for (ir::AxisId axis : hoisted.axes) instruction.subscripts.push_back(instance_.kernel.index.axis(axis));
  return body_.add(std::move(instruction));
}

}  // namespace tenon::frontend
