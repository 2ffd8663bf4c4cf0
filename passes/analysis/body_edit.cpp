#include "passes/analysis/body_edit.h"

#include <algorithm>
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

namespace {

bool computes_same(const ir::Instruction& a, const ir::Instruction& b) {
  if (a.op != b.op || a.type != b.type || a.approx != b.approx || a.bits != b.bits || a.index != b.index ||
      a.tensor != b.tensor || a.subscripts != b.subscripts)
    return false;
  const std::array<ValueId, 3> swapped{b.operands[1], b.operands[0], b.operands[2]};
  return a.operands == b.operands || (ir::is_commutative(a.op) && a.operands == swapped);
}

}  // namespace

DistinctValues::DistinctValues(ir::Body& body) : body_(body) {
  for (uint32_t i = 0; i < body.size(); ++i) find_or_note(body[ValueId(i)], ValueId(i));
}

ValueId DistinctValues::add(ir::Instruction instruction) {
  ValueId next(static_cast<uint32_t>(body_.size()));
  ValueId value = find_or_note(instruction, next);
  if (value == next) body_.add(std::move(instruction));
  return value;
}

ValueId DistinctValues::find_or_note(const ir::Instruction& instruction, ValueId id) {
  size_t hash = 0;
  for_each_value_word(
      instruction, [&](uint64_t word) { hash = hash_combine(hash, word); },
      [](IndexId index) { return index; });
  return known_.find_or_add(hash, id,
                            [&](ValueId other) { return computes_same(body_[other], instruction); });
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
  if (std::find(used.begin(), used.end(), false) == used.end()) return false;
  std::vector<ValueId> to(op.body.size());
  ir::Body kept;
  ValueRenaming renaming(pool, to);
  for (size_t i = 0; i < used.size(); ++i) {
    if (!used[i]) continue;
    ir::Instruction instruction = std::move(op.body[ValueId(static_cast<uint32_t>(i))]);
    renaming.apply(instruction);
    to[i] = kept.add(std::move(instruction));
  }
  op.body = std::move(kept);
  for_each_root(op, [&](ValueId& value) { value = to[value.index()]; });
  return true;
}

void remove_op(ir::TensorOp& op) {
  op.outputs.clear();
  op.body = ir::Body();
  op.predicate = ValueId();
}

}  // namespace tenon::passes
