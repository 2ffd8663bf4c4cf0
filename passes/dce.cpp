// Needs: tensor IR.
// Gives: no operation without a use, no result of an operation that nothing reads, no unused body value.
// Why here: inlining leaves what it took apart; grouping would run it.
#include <algorithm>

#include "passes/analysis/body_edit.h"
#include "passes/pass.h"

namespace tenon::passes {

void dce(ir::Kernel& kernel, PassContext&) {
  std::vector<bool> read(kernel.tensors.size(), false);
  for (uint32_t i = static_cast<uint32_t>(kernel.ops.size()); i-- > 0;) {
    ir::TensorOp& op = kernel.ops[ir::TensorOpId(i)];
    if (op.outputs.empty()) continue;
    std::erase_if(op.outputs, [&](const ir::OpOutput& output) {
      return kernel.tensors[output.tensor].role == ir::Tensor::Role::kLocal && !read[output.tensor.index()];
    });
    if (op.outputs.empty()) {
      remove_op(op);
      continue;
    }
    remove_unused_values(kernel.index, op);
    for (const ir::Instruction& instruction : op.body)
      if (instruction.tensor.valid()) read[instruction.tensor.index()] = true;
  }
  for (ir::Group& group : kernel.groups)
    std::erase_if(group.ops, [&](ir::TensorOpId id) { return kernel.ops[id].outputs.empty(); });
  std::erase_if(kernel.groups, [](const ir::Group& group) { return group.ops.empty(); });
}

}  // namespace tenon::passes
