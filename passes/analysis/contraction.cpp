#include "passes/analysis/contraction.h"

#include <algorithm>
#include <set>
#include <span>

#include "passes/analysis/body_walk.h"

namespace tenon::passes {

using ir::AxisId;
using ir::IndexId;
using ir::Opcode;
using ir::ValueId;

std::vector<AxisId> axes_of_value(const ir::Kernel& kernel, const ir::TensorOp& op, ValueId value) {
  std::set<AxisId> found;
  for (ValueId needed : values_under(kernel.index, op.body, value))
    for_each_index(op.body[needed], [&](IndexId index) {
      for_each_axis(kernel.index, index, [&](AxisId axis) { found.insert(axis); });
    });
  std::vector<AxisId> axes;
  for (const auto* list : {&op.parallel, &op.reduction})
    for (AxisId axis : *list)
      if (found.contains(axis)) axes.push_back(axis);
  return axes;
}

std::optional<Contraction> recognise_contraction(const ir::Kernel& kernel, ir::TensorOpId id) {
  const ir::TensorOp& op = kernel.ops[id];
  if (op.op != Opcode::kReduce || op.outputs.size() != 1 || op.predicate.valid()) return std::nullopt;
  const ir::OpOutput& output = op.outputs[0];
  if (output.monoid->kind != ir::MonoidKind::kSum) return std::nullopt;
  const ir::Instruction& product = op.body[output.values[0]];
  if (product.op != Opcode::kMul) return std::nullopt;
  Contraction result{id, product.operands[0], product.operands[1], {}, {}, {}, {}};
  std::vector<AxisId> of_a = axes_of_value(kernel, op, result.a);
  std::vector<AxisId> of_b = axes_of_value(kernel, op, result.b);
  auto has = [](std::span<const AxisId> axes, AxisId axis) {
    return std::find(axes.begin(), axes.end(), axis) != axes.end();
  };
  for (AxisId axis : op.parallel) {
    bool a = has(of_a, axis);
    bool b = has(of_b, axis);
    if (a && b) result.batch.push_back(axis);
    if (a && !b) result.m.push_back(axis);
    if (!a && b) result.n.push_back(axis);
    if (!a && !b) return std::nullopt;
  }
  for (AxisId axis : op.reduction) {
    if (!has(of_a, axis) || !has(of_b, axis)) return std::nullopt;
    result.k.push_back(axis);
  }
  if (result.m.empty() || result.n.empty() || result.k.empty()) return std::nullopt;
  return result;
}

}  // namespace tenon::passes
