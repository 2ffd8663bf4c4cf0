// Needs: tensor IR without groups.
// Gives: within a body, every value is computed once; of equal operations, all but the first are gone where
// they
//        define locals only.
// Why here: after fold, so that what is equal looks equal; before inline, which counts uses; and behind it
// again,
//        since inlined bodies have much in common.
//
//   %0 = read %x[i]            %0 = read %x[i]
//   %1 = read %x[i]            %1 = mul %0, %0
//   %2 = mul %0, %1
#include <algorithm>
#include <utility>
#include <vector>

#include "passes/analysis/body_edit.h"
#include "passes/pass.h"

namespace tenon::passes {
namespace {

using ir::IndexId;
using ir::TensorOp;
using ir::ValueId;

void merge_values(ir::IndexPool& pool, TensorOp& op) {
  ir::Body old = std::exchange(op.body, ir::Body());
  std::vector<ValueId> image(old.size());
  ValueRenaming renaming(pool, image);
  op.body.reserve(old.size());
  DistinctValues values(op.body);
  for (uint32_t i = 0; i < old.size(); ++i) {
    ir::Instruction instruction = std::move(old[ValueId(i)]);
    renaming.apply(instruction);
    image[i] = values.add(std::move(instruction));
  }
  for_each_root(op, [&](ValueId& value) { value = image[value.index()]; });
}

// The index expressions of equal operations differ in their axes. They are compared in axes that all
// operations of a pass share: the first, second, ... of their domain.
class EqualOps {
 public:
  explicit EqualOps(ir::Kernel& kernel) : kernel_(kernel) {}

  // The earlier operation that is equal to this one; invalid if there is none.
  ir::TensorOpId find_or_add(ir::TensorOpId id) {
    describe(kernel_.ops[id], words_);
    size_t hash = 0;
    for (uint64_t word : words_) hash = hash_combine(hash, word);
    ir::TensorOpId first = known_.find_or_add(hash, id, [&](ir::TensorOpId other) {
      describe(kernel_.ops[other], words_of_other_);
      return words_ == words_of_other_;
    });
    return first == id ? ir::TensorOpId() : first;
  }

 private:
  // What an operation computes: equal ones have equal words.
  void describe(const TensorOp& op, std::vector<uint64_t>& words) {
    words.assign({static_cast<uint64_t>(op.op), op.parallel.size(), op.reduction.size(), op.outputs.size()});
    for (const auto* axes : {&op.parallel, &op.reduction})
      for (ir::AxisId axis : *axes) words.push_back(kernel_.axes[axis].extent.index());
    for (const ir::OpOutput& output : op.outputs) {
      words.push_back(output.monoid ? static_cast<uint64_t>(output.monoid->kind) + 1 : 0);
      for (ValueId value : output.values) words.push_back(value.index());
    }
    words.push_back(op.predicate.index());
    auto shared = [&](IndexId index) {
      return kernel_.index.substitute(index, [&](IndexId atom) {
        const ir::IndexNode& node = kernel_.index[atom];
        return node.kind == ir::IndexKind::kAxis ? shared_axis(position(op, ir::AxisId(node.reference)))
                                                 : IndexId();
      });
    };
    for (const ir::Instruction& instruction : op.body)
      for_each_value_word(instruction, [&](uint64_t word) { words.push_back(word); }, shared);
  }

  static size_t position(const TensorOp& op, ir::AxisId axis) {
    auto parallel = std::ranges::find(op.parallel, axis);
    if (parallel != op.parallel.end()) return static_cast<size_t>(parallel - op.parallel.begin());
    auto reduction = std::ranges::find(op.reduction, axis);
    return op.parallel.size() + static_cast<size_t>(reduction - op.reduction.begin());
  }

  // Axes that no operation has: their ids lie beyond the kernel's.
  IndexId shared_axis(size_t position) {
    return kernel_.index.axis(ir::AxisId(static_cast<uint32_t>(kernel_.axes.size() + position)));
  }

  ir::Kernel& kernel_;
  IdSet<TensorOp> known_;
  std::vector<uint64_t> words_;
  std::vector<uint64_t> words_of_other_;
};

bool defines_locals_only(const ir::Kernel& kernel, const TensorOp& op) {
  for (const ir::OpOutput& output : op.outputs)
    if (kernel.tensors[output.tensor].role != ir::Tensor::Role::kLocal) return false;
  return true;
}

}  // namespace

void cse(ir::Kernel& kernel, PassContext&) {
  SideTable<ir::Tensor, ir::TensorId> replaced(kernel.tensors.size());
  EqualOps equal(kernel);
  for (uint32_t i = 0; i < kernel.ops.size(); ++i) {
    TensorOp& op = kernel.ops[ir::TensorOpId(i)];
    if (op.outputs.empty()) continue;
    for (ir::Instruction& read : op.body)
      if (read.tensor.valid() && replaced[read.tensor].valid()) read.tensor = replaced[read.tensor];
    merge_values(kernel.index, op);
    ir::TensorOpId earlier = equal.find_or_add(ir::TensorOpId(i));
    if (!earlier.valid() || !defines_locals_only(kernel, op)) continue;
    for (size_t k = 0; k < op.outputs.size(); ++k)
      replaced[op.outputs[k].tensor] = kernel.ops[earlier].outputs[k].tensor;
    remove_op(op);
  }
}

}  // namespace tenon::passes
