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
#include <map>
#include <utility>

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
  KeyMap<ValueId> known;
  known.reserve(old.size());
  for (uint32_t i = 0; i < old.size(); ++i) {
    ir::Instruction instruction = std::move(old[ValueId(i)]);
    renaming.apply(instruction);
    auto [at, is_new] = known.try_emplace(value_key(instruction));
    if (is_new) at->second = op.body.add(std::move(instruction));
    image[i] = at->second;
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
    auto [at, is_new] = known_.try_emplace(key(kernel_.ops[id]), id);
    return is_new ? ir::TensorOpId() : at->second;
  }

 private:
  Key key(const TensorOp& op) {
    Key key{static_cast<uint64_t>(op.op), op.parallel.size(), op.reduction.size(), op.outputs.size()};
    std::map<ir::AxisId, size_t> position;
    for (const auto* axes : {&op.parallel, &op.reduction}) {
      for (ir::AxisId axis : *axes) {
        position.emplace(axis, position.size());
        key.push_back(kernel_.axes[axis].extent.index());
      }
    }
    for (const ir::OpOutput& output : op.outputs) {
      key.push_back(output.monoid ? static_cast<uint64_t>(output.monoid->kind) + 1 : 0);
      for (ValueId value : output.values) key.push_back(value.index());
    }
    key.push_back(op.predicate.index());
    auto shared = [&](IndexId index) {
      return kernel_.index.substitute(index, [&](IndexId atom) {
        const ir::IndexNode& node = kernel_.index[atom];
        return node.kind == ir::IndexKind::kAxis ? shared_axis(position.at(ir::AxisId(node.reference)))
                                                 : IndexId();
      });
    };
    for (ir::Instruction instruction : op.body) {
      if (instruction.index.valid()) instruction.index = shared(instruction.index);
      for (IndexId& subscript : instruction.subscripts) subscript = shared(subscript);
      Key value = value_key(instruction);
      key.insert(key.end(), value.begin(), value.end());
    }
    return key;
  }

  // Axes that no operation has: their ids lie beyond the kernel's.
  IndexId shared_axis(size_t position) {
    return kernel_.index.axis(ir::AxisId(static_cast<uint32_t>(kernel_.axes.size() + position)));
  }

  ir::Kernel& kernel_;
  KeyMap<ir::TensorOpId> known_;
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
