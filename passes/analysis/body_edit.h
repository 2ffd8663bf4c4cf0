// Edits of bodies that keep their order: values renamed, unused ones removed.
#pragma once

#include <cstdint>
#include <functional>
#include <span>
#include <unordered_map>
#include <utility>
#include <vector>

#include "ir/tensor.h"
#include "support/id_set.h"

namespace tenon::passes {

// Calls `visit` for every value that the instruction uses: its operands, and those that its index expressions
// mention.
void for_each_used_value(const ir::IndexPool& pool, const ir::Instruction& instruction,
                         const std::function<void(ir::ValueId)>& visit);

// Calls `visit` for every value that an operation uses from outside its body: results and predicate.
template <class Op, class Visit>
void for_each_root(Op& op, Visit&& visit) {
  for (auto& output : op.outputs)
    for (auto& value : output.values) visit(value);
  if (op.predicate.valid()) visit(op.predicate);
}

// How often each value is used, by instructions and from outside.
std::vector<uint32_t> use_counts(const ir::IndexPool& pool, const ir::TensorOp& op);

// What an instruction computes, as numbers: instructions of one body with equal numbers have equal values.
// Calls `word` for each of them, those of index expressions as `mapped` gives them.
template <class Word, class Mapped>
void for_each_value_word(const ir::Instruction& instruction, Word&& word, Mapped&& mapped) {
  word(static_cast<uint64_t>(instruction.op) | static_cast<uint64_t>(instruction.type) << 16 |
       static_cast<uint64_t>(instruction.approx) << 32);
  auto [a, b, c] = instruction.operands;
  if (ir::is_commutative(instruction.op) && b < a) std::swap(a, b);
  for (ir::ValueId operand : {a, b, c}) word(operand.index());
  word(instruction.bits);
  word(instruction.index.valid() ? mapped(instruction.index).index() : instruction.index.index());
  word(instruction.tensor.index());
  for (ir::IndexId subscript : instruction.subscripts) word(mapped(subscript).index());
}

// The values of a body that is being made, each once. The body is changed through it alone.
class DistinctValues {
 public:
  explicit DistinctValues(ir::Body& body);
  // The value of an equal instruction, if there is one, else of this one, which is added.
  ir::ValueId add(ir::Instruction instruction);

 private:
  ir::ValueId find_or_note(const ir::Instruction& instruction, ir::ValueId id);

  ir::Body& body_;
  IdSet<ir::Instruction> known_;
};

// Gives the values of a body new ids, in operands and in index expressions.
class ValueRenaming {
 public:
  // `to` has the new id of each value that is used; it may grow while the renaming is in use.
  ValueRenaming(ir::IndexPool& pool, const std::vector<ir::ValueId>& to) : pool_(pool), to_(to) {}

  void apply(ir::Instruction& instruction);
  ir::IndexId apply(ir::IndexId index);

 private:
  ir::IndexPool& pool_;
  const std::vector<ir::ValueId>& to_;
  std::unordered_map<ir::IndexId, ir::IndexId> known_;
};

// Removes the values that no result needs and renumbers the rest. Returns whether there were any.
bool remove_unused_values(ir::IndexPool& pool, ir::TensorOp& op);

// Marks an operation as deleted.
void remove_op(ir::TensorOp& op);

}  // namespace tenon::passes
