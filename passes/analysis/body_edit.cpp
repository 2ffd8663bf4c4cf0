#include "passes/analysis/body_edit.h"

#include <array>
#include <utility>

namespace tenon::passes {

using ir::IndexId;
using ir::IndexKind;
using ir::ValueId;

namespace {

void for_each_mentioned_value(const ir::IndexPool& pool, IndexId index,
                              const std::function<void(ValueId)>& visit) {
  auto visit_atom = [&](const ir::IndexNode& node) {
    if (node.kind == IndexKind::kValue) visit(ValueId(node.reference));
  };
  const ir::IndexNode& root = pool[index];
  if (root.kind == IndexKind::kAxis || root.kind == IndexKind::kSymbol || root.kind == IndexKind::kValue)
    return visit_atom(root);
  pool.for_each_atom(index, [&](IndexId atom) { visit_atom(pool[atom]); });
}

}  // namespace

void for_each_used_value(const ir::IndexPool& pool, const ir::Instruction& instruction,
                         const std::function<void(ValueId)>& visit) {
  for (ValueId operand : instruction.operands)
    if (operand.valid()) visit(operand);
  if (instruction.index.valid()) for_each_mentioned_value(pool, instruction.index, visit);
  for (IndexId subscript : instruction.subscripts) for_each_mentioned_value(pool, subscript, visit);
}

std::vector<uint32_t> use_counts(const ir::IndexPool& pool, const ir::TensorOp& op) {
  std::vector<uint32_t> counts(op.body.size(), 0);
  auto count = [&](ValueId value) { ++counts[value.index()]; };
  for (const ir::Instruction& instruction : op.body) for_each_used_value(pool, instruction, count);
  for_each_root(op, count);
  return counts;
}

Key value_key(const ir::Instruction& instruction) {
  std::array<ValueId, 3> operands = instruction.operands;
  if (ir::is_commutative(instruction.op) && operands[1] < operands[0]) std::swap(operands[0], operands[1]);
  Key key;
  key.reserve(instruction.operands.size() + 4 + instruction.subscripts.size());
  key.push_back(static_cast<uint64_t>(instruction.op) | static_cast<uint64_t>(instruction.type) << 16 |
                static_cast<uint64_t>(instruction.approx) << 32);
  for (ValueId operand : operands) key.push_back(operand.index());
  key.push_back(instruction.bits);
  key.push_back(instruction.index.index());
  key.push_back(instruction.tensor.index());
  for (IndexId subscript : instruction.subscripts) key.push_back(subscript.index());
  return key;
}

void ValueRenaming::apply(ir::Instruction& instruction) {
  for (ValueId& operand : instruction.operands)
    if (operand.valid()) operand = to_[operand.index()];
  if (instruction.index.valid()) instruction.index = apply(instruction.index);
  for (IndexId& subscript : instruction.subscripts) subscript = apply(subscript);
}

IndexId ValueRenaming::apply(IndexId index) {
  const ir::IndexNode& root = pool_[index];
  if (root.kind == IndexKind::kAxis || root.kind == IndexKind::kSymbol) return index;
  auto [known, is_new] = known_.try_emplace(index);
  if (is_new) {
    IndexId renamed = pool_.substitute(index, [&](IndexId atom) {
      const ir::IndexNode& node = pool_[atom];
      return node.kind == IndexKind::kValue ? pool_.value(to_[node.reference]) : IndexId();
    });
    known->second = renamed;
  }
  return known->second;
}

bool remove_unused_values(ir::IndexPool& pool, ir::TensorOp& op) {
  std::vector<bool> used(op.body.size(), false);
  auto mark = [&](ValueId value) { used[value.index()] = true; };
  for_each_root(op, mark);
  for (size_t i = op.body.size(); i-- > 0;)
    if (used[i]) for_each_used_value(pool, op.body[ValueId(static_cast<uint32_t>(i))], mark);
  std::vector<ValueId> to(op.body.size());
  ir::Body kept;
  ValueRenaming renaming(pool, to);
  for (size_t i = 0; i < used.size(); ++i) {
    if (!used[i]) continue;
    ir::Instruction instruction = std::move(op.body[ValueId(static_cast<uint32_t>(i))]);
    renaming.apply(instruction);
    to[i] = kept.add(std::move(instruction));
  }
  bool removed = kept.size() != used.size();
  op.body = std::move(kept);
  for_each_root(op, [&](ValueId& value) { value = to[value.index()]; });
  return removed;
}

void remove_op(ir::TensorOp& op) {
  op.outputs.clear();
  op.body = ir::Body();
  op.predicate = ValueId();
}

}  // namespace tenon::passes
