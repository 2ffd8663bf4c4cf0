// Edits of bodies that keep their order: values renamed, unused ones removed.
#pragma once

#include <cstdint>
#include <functional>
#include <string_view>
#include <unordered_map>
#include <vector>

#include "ir/tensor.h"

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

// What an instruction computes: instructions of one body with equal keys have equal values.
using Key = std::vector<uint64_t>;
Key value_key(const ir::Instruction& instruction);

struct KeyHash {
  size_t operator()(const Key& key) const {
    return std::hash<std::string_view>()(
        {reinterpret_cast<const char*>(key.data()), key.size() * sizeof(uint64_t)});
  }
};
template <class T>
using KeyMap = std::unordered_map<Key, T, KeyHash>;

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
