#include "frontend/check/clauses.h"

#include <map>
#include <set>

namespace tenon::frontend {
namespace {

using ir::IndexId;
using ir::IndexKind;
using ir::Opcode;

// What an index expression divides by, but for constants.
class Divisors {
 public:
  void collect(const ir::IndexPool& pool, IndexId index) {
    if (!seen_.insert(index).second) return;
    const ir::IndexNode& node = pool[index];
    for (const ir::Monomial& term : node.terms)
      for (IndexId factor : term.factors) collect(pool, factor);
    if (node.a.valid()) collect(pool, node.a);
    if (node.b.valid()) collect(pool, node.b);
    const bool divides = node.kind == IndexKind::kFloorDiv || node.kind == IndexKind::kFloorMod;
    if (divides && !pool.as_constant(node.b)) divisors_.insert(node.b);
  }

  // The condition, and that none of them is 0.
  IndexId guard(ir::IndexPool& pool, IndexId condition) const {
    for (IndexId divisor : divisors_)
      condition = pool.logical_and(condition, pool.logical_not(pool.equal(divisor, pool.constant(0))));
    return condition;
  }

 private:
  std::set<IndexId> seen_;
  std::set<IndexId> divisors_;
};

std::optional<IndexId> operation(ir::IndexPool& pool, Opcode op, IndexId a, IndexId b) {
  switch (op) {
    case Opcode::kAnd:
      return pool.logical_and(a, b);
    case Opcode::kOr:
      return pool.logical_or(a, b);
    case Opcode::kEq:
      return pool.equal(a, b);
    case Opcode::kNe:
      return pool.logical_not(pool.equal(a, b));
    case Opcode::kLt:
      return pool.less(a, b);
    case Opcode::kLe:
      return pool.less_equal(a, b);
    case Opcode::kGt:
      return pool.less(b, a);
    case Opcode::kGe:
      return pool.less_equal(b, a);
    default:
      return std::nullopt;
  }
}

}  // namespace

std::optional<IndexId> clause_condition(Instance& instance, NodeId condition) {
  ir::IndexPool& pool = instance.kernel.index;
  std::map<NodeId, IndexId> values;
  Divisors divisors;
  for (NodeId id : instance.nodes.reachable(std::span(&condition, 1), true)) {
    const Node node = instance.nodes[id];
    if (node.kind == NodeKind::kIndex) {
      values[id] = node.index;
      divisors.collect(pool, node.index);
    } else if (node.kind == NodeKind::kConstant && node.is_bool()) {
      values[id] = pool.constant(node.bits != 0 ? 1 : 0);
    } else if (node.kind == NodeKind::kOp && node.op == Opcode::kNot && node.is_bool()) {
      values[id] = pool.logical_not(values[node.operands[0]]);
    } else if (node.kind == NodeKind::kOp && node.is_bool() && node.operands[1].valid()) {
      const std::optional<IndexId> result =
          operation(pool, node.op, values[node.operands[0]], values[node.operands[1]]);
      if (!result) return std::nullopt;
      values[id] = *result;
    } else {
      return std::nullopt;
    }
  }
  return divisors.guard(pool, values[condition]);
}

IndexId with_divisors(Instance& instance, IndexId condition) {
  Divisors divisors;
  divisors.collect(instance.kernel.index, condition);
  return divisors.guard(instance.kernel.index, condition);
}

}  // namespace tenon::frontend
