// The mechanics of inline: bodies into which others are put.
#pragma once

#include <map>
#include <span>
#include <utility>
#include <vector>

#include "ir/tensor.h"
#include "passes/analysis/index_limits.h"

namespace tenon::passes {

// The body of an operation while producers take the place of reads. Values stand in any order until `finish`;
// ids are those of the draft.
class Draft {
 public:
  Draft(ir::Kernel& kernel, BoundedRewriter& rewriter, ir::TensorOpId op);

  const ir::Instruction& operator[](ir::ValueId value) const { return values_[value.index()]; }
  size_t size() const { return values_.size(); }

  // Copies the body of a map with `subscripts` in the place of its parallel axes; `image` has the copies. Its
  // reads are made only where `predicate` holds (invalid: always). False where an index expression would
  // become too large; the caller then takes back what was copied.
  bool copy(const ir::TensorOp& producer, std::span<const ir::IndexId> subscripts, ir::ValueId predicate,
            std::vector<ir::ValueId>& image);
  // Takes back everything from the `size`th value on, which nothing may use.
  void truncate(size_t size);

  // Puts `value` in the place of a read, which gives its default where its predicate fails.
  void replace_read(ir::ValueId read, ir::ValueId value);

  // Writes the draft into the operation, operands before their uses and without what nothing needs.
  void finish();

 private:
  ir::ValueId add(ir::Instruction instruction);
  ir::ValueId resolved(ir::ValueId value) const;
  ir::ValueId both(ir::ValueId a, ir::ValueId b);

  ir::Kernel& kernel_;
  BoundedRewriter& rewriter_;
  ir::TensorOpId op_;
  std::vector<ir::Instruction> values_;
  // What stands in a value's place; invalid where it stands for itself.
  std::vector<ir::ValueId> replaced_;
  std::map<std::pair<ir::ValueId, ir::ValueId>, ir::ValueId> conjunctions_;
};

}  // namespace tenon::passes
