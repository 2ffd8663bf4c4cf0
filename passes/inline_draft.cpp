#include "passes/inline_draft.h"

#include <algorithm>
#include <span>

#include "passes/analysis/body_edit.h"

namespace tenon::passes {

using ir::IndexId;
using ir::IndexKind;
using ir::Instruction;
using ir::Opcode;
using ir::ValueId;

Draft::Draft(ir::Kernel& kernel, BoundedRewriter& rewriter, ir::TensorOpId op)
    : kernel_(kernel), rewriter_(rewriter), op_(op) {
  const ir::Body& body = kernel.ops[op].body;
  values_.assign(body.begin(), body.end());
  replaced_.resize(values_.size());
}

ValueId Draft::add(Instruction instruction) {
  values_.push_back(std::move(instruction));
  replaced_.emplace_back();
  return ValueId(static_cast<uint32_t>(values_.size() - 1));
}

ValueId Draft::resolved(ValueId value) const {
  while (replaced_[value.index()].valid()) value = replaced_[value.index()];
  return value;
}

ValueId Draft::both(ValueId a, ValueId b) {
  if (!a.valid() || a == b) return b;
  if (!b.valid()) return a;
  auto [known, is_new] = conjunctions_.try_emplace({a, b});
  if (is_new) {
    Instruction conjunction;
    conjunction.op = Opcode::kAnd;
    conjunction.type = ElementType::kBool;
    conjunction.operands = {a, b, ValueId()};
    conjunction.span = values_[b.index()].span;
    known->second = add(std::move(conjunction));
  }
  return known->second;
}

bool Draft::copy(const ir::TensorOp& producer, std::span<const IndexId> subscripts, ValueId predicate,
                 std::vector<ValueId>& image) {
  ir::IndexPool& pool = kernel_.index;
  image.assign(producer.body.size(), ValueId());
  std::map<IndexId, IndexId> known;
  auto placed = [&](IndexId index) {
    auto [at, is_new] = known.try_emplace(index);
    if (is_new) {
      at->second = rewriter_.substitute(index, [&](IndexId atom) {
        const ir::IndexNode& node = pool[atom];
        if (node.kind == IndexKind::kValue) return pool.value(image[node.reference]);
        if (node.kind != IndexKind::kAxis) return IndexId();
        auto axis = std::ranges::find(producer.parallel, ir::AxisId(node.reference));
        return axis == producer.parallel.end() ? IndexId() : subscripts[axis - producer.parallel.begin()];
      });
    }
    return at->second;
  };
  for (uint32_t i = 0; i < producer.body.size(); ++i) {
    Instruction instruction = producer.body[ValueId(i)];
    for (ValueId& operand : instruction.operands)
      if (operand.valid()) operand = image[operand.index()];
    if (instruction.index.valid() && !(instruction.index = placed(instruction.index)).valid()) return false;
    for (IndexId& subscript : instruction.subscripts)
      if (!(subscript = placed(subscript)).valid()) return false;
    if (instruction.op == Opcode::kRead && predicate.valid()) {
      instruction.operands[0] = both(predicate, instruction.operands[0]);
      if (!instruction.operands[1].valid()) {
        Instruction zero;
        zero.type = instruction.type;
        zero.span = instruction.span;
        instruction.operands[1] = add(std::move(zero));
      }
    }
    image[i] = add(std::move(instruction));
  }
  return true;
}

void Draft::truncate(size_t size) {
  values_.resize(size);
  replaced_.resize(size);
  std::erase_if(conjunctions_, [&](const auto& entry) { return entry.second.index() >= size; });
}

void Draft::replace_read(ValueId read, ValueId value) {
  Instruction& instruction = values_[read.index()];
  if (!instruction.operands[0].valid()) {
    replaced_[read.index()] = value;
    return;
  }
  Instruction choice;
  choice.op = Opcode::kSelect;
  choice.type = instruction.type;
  choice.operands = {instruction.operands[0], value, instruction.operands[1]};
  choice.span = instruction.span;
  instruction = std::move(choice);
}

void Draft::finish() {
  ir::TensorOp& op = kernel_.ops[op_];
  ir::Body body;
  std::vector<ValueId> to(values_.size());
  ValueRenaming renaming(kernel_.index, to);
  // A value is met twice: first its operands are put before it, then it is placed itself.
  std::vector<bool> opened(values_.size(), false);
  std::vector<ValueId> work;
  auto place = [&](ValueId root) {
    work.push_back(root);
    while (!work.empty()) {
      ValueId value = work.back();
      if (to[value.index()].valid()) {
        work.pop_back();
        continue;
      }
      if (ValueId other = resolved(value); other != value) {
        to[value.index()] = to[other.index()];
        if (!to[other.index()].valid()) work.push_back(other);
        continue;
      }
      if (!opened[value.index()]) {
        opened[value.index()] = true;
        size_t before = work.size();
        for_each_used_value(kernel_.index, values_[value.index()], [&](ValueId used) {
          if (!to[used.index()].valid()) work.push_back(used);
        });
        std::reverse(work.begin() + static_cast<std::ptrdiff_t>(before), work.end());
        if (work.size() > before) continue;
      }
      work.pop_back();
      Instruction instruction = std::move(values_[value.index()]);
      renaming.apply(instruction);
      to[value.index()] = body.add(std::move(instruction));
    }
  };
  for_each_root(op, place);
  op.body = std::move(body);
  for_each_root(op, [&](ValueId& value) { value = to[value.index()]; });
}

}  // namespace tenon::passes
