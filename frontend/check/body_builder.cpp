#include "frontend/check/body_builder.h"

#include <algorithm>

#include "support/check.h"

namespace tenon::frontend {

using ir::Opcode;
using ir::ValueId;

void BodyBuilder::build(std::span<const NodeId> roots) {
  const std::vector<NodeId> nodes = instance_.nodes.reachable(roots, false);
  built_.reserve(nodes.size());
  body_.reserve(nodes.size());
  for (NodeId id : nodes) built_.push_back({id, {}, {}});
  for (NodeId id : nodes) build_one(id);
}

BodyBuilder::Built& BodyBuilder::built(NodeId node) {
  auto found = std::ranges::lower_bound(built_, node, {}, &Built::node);
  TENON_CHECK(found != built_.end() && found->node == node, "an expression is not part of the body");
  return *found;
}

ValueId BodyBuilder::value(NodeId node) {
  Built& known = built(node);
  if (!known.value.valid()) {
    TENON_CHECK(known.index.valid(), "an expression is used before it is built");
    known.value = index_value(known.index, instance_.nodes[node].span);
  }
  return known.value;
}

ir::IndexId BodyBuilder::index_of(NodeId node) {
  Built& known = built(node);
  if (!known.index.valid()) known.index = instance_.kernel.index.value(value(node));
  return known.index;
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
      built(id).index = node.index;
      return;
    case NodeKind::kConstant:
      built(id).value = body_.constant({*node.type, node.bits}, node.span);
      return;
    case NodeKind::kCast:
      built(id).value = body_.cast(*node.type, value(node.operands[0]), node.span);
      return;
    case NodeKind::kRead:
      built(id).value = read(id, node);
      return;
    case NodeKind::kReduce:
      built(id).value = read_hoisted(id, node);
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
      built(id).index = index;
      return;
    }
  }
  const bool function = ir::row(node.op).rule == ir::TypeRule::kFunction;
  const bool quotient = node.op == Opcode::kDiv && node.type && is_float(*node.type);
  const bool approx = instance_.kernel.allows(ir::kApprox) && (function || quotient);
  auto operand = [&](size_t position) { return value(node.operands[position]); };
  if (!node.operands[1].valid()) {
    built(id).value = body_.op(node.op, {operand(0)}, approx, node.span);
  } else if (!node.operands[2].valid()) {
    const ValueId a = operand(0);
    const ValueId b = operand(1);
    built(id).value = body_.op(node.op, {a, b}, approx, node.span);
  } else {
    const ValueId a = operand(0);
    const ValueId b = operand(1);
    const ValueId c = operand(2);
    built(id).value = body_.op(node.op, {a, b, c}, approx, node.span);
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
