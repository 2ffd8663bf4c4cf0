// Needs: tensor IR without groups.
// Gives: the operation that defines the new value of an inout parameter is the last to use its value at
// launch,
//        and uses it at the element that it writes; so that writing it in place does no harm, as long as the
//        operations before it have read what they need. (group sees to that.)
// Why here: before group, which decides what runs together.
//
//   %c.new: f32[N] = map [i: N] { yield %c[N - 1 - i] }
// becomes
//   %c.copy: f32[N] = map [i: N] { yield %c[N - 1 - i] }
//   %c.new: f32[N] = map [i: N] { yield %c.copy[i] }
#include <algorithm>

#include "passes/pass.h"

namespace tenon::passes {
namespace {

using ir::TensorId;
using ir::TensorOp;
using ir::TensorOpId;

bool reads(const TensorOp& op, TensorId tensor) {
  return std::any_of(op.body.begin(), op.body.end(),
                     [&](const ir::Instruction& read) { return read.tensor == tensor; });
}

// Whether an operation reads the tensor at nothing but the element that it defines.
bool reads_in_place(const ir::Kernel& kernel, const TensorOp& op, TensorId tensor) {
  return std::all_of(op.body.begin(), op.body.end(), [&](const ir::Instruction& read) {
    if (read.tensor != tensor) return true;
    for (size_t i = 0; i < op.parallel.size(); ++i) {
      const ir::IndexNode& node = kernel.index[read.subscripts[i]];
      if (node.kind != ir::IndexKind::kAxis || ir::AxisId(node.reference) != op.parallel[i]) return false;
    }
    return true;
  });
}

bool needs_copy(const ir::Kernel& kernel, const ir::Parameter& parameter, TensorOpId writer) {
  if (!reads_in_place(kernel, kernel.ops[writer], parameter.input)) return true;
  for (uint32_t i = writer.index() + 1; i < kernel.ops.size(); ++i)
    if (reads(kernel.ops[TensorOpId(i)], parameter.input)) return true;
  return false;
}

// Lets the operation define a local, which a last operation copies.
void add_copy(ir::Kernel& kernel, const ir::Parameter& parameter, TensorOpId writer) {
  ir::Tensor local = kernel.tensors[parameter.output];
  local.name = parameter.name + ".copy";
  local.role = ir::Tensor::Role::kLocal;
  TensorId copied = kernel.tensors.add(std::move(local));
  for (TensorOp& op : kernel.ops) {
    for (ir::OpOutput& output : op.outputs)
      if (output.tensor == parameter.output) output.tensor = copied;
    for (ir::Instruction& read : op.body)
      if (read.tensor == parameter.output) read.tensor = copied;
  }
  TensorOp copy;
  copy.spans = kernel.ops[writer].spans;
  ir::Instruction read;
  read.op = ir::Opcode::kRead;
  read.type = kernel.tensors[copied].element;
  read.tensor = copied;
  for (ir::AxisId axis : kernel.ops[writer].parallel) {
    ir::AxisId own = kernel.axes.add(ir::Axis(kernel.axes[axis]));
    copy.parallel.push_back(own);
    read.subscripts.push_back(kernel.index.axis(own));
  }
  ir::OpOutput output;
  output.tensor = parameter.output;
  output.values = {copy.body.add(std::move(read))};
  copy.outputs.push_back(std::move(output));
  kernel.ops.add(std::move(copy));
}

}  // namespace

void inout_copies(ir::Kernel& kernel, PassContext& context) {
  SideTable<ir::Tensor, TensorOpId> defined_by = ir::defining_ops(kernel);
  for (const ir::Parameter& parameter : kernel.parameters) {
    if (!parameter.inout()) continue;
    TensorOpId writer = defined_by[parameter.output];
    if (!needs_copy(kernel, parameter, writer)) continue;
    add_copy(kernel, parameter, writer);
    context.remark(
        "inout-copies", parameter.span,
        parameter.name + " is written by a copy of its own: other elements of its old value are needed");
  }
}

}  // namespace tenon::passes
