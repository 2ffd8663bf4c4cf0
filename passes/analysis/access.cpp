#include "passes/analysis/access.h"

#include <algorithm>
#include <set>

namespace tenon::passes {

using ir::AxisId;
using ir::IndexId;
using ir::IndexKind;

IndexId linear_offset(ir::IndexPool& pool, std::span<const IndexId> shape,
                      std::span<const IndexId> subscripts) {
  IndexId offset = pool.constant(0);
  for (size_t i = 0; i < shape.size(); ++i) offset = pool.add(pool.mul(offset, shape[i]), subscripts[i]);
  return offset;
}

std::optional<IndexId> coefficient(ir::IndexPool& pool, IndexId expression, AxisId axis) {
  IndexId atom = pool.axis(axis);
  auto is_axis = [&](const ir::IndexNode& node) {
    return node.kind == IndexKind::kAxis && node.reference == axis.index();
  };
  std::vector<ir::Monomial> step;
  for (const ir::Monomial& term : pool.terms(expression)) {
    ir::Monomial rest = term;
    std::erase(rest.factors, atom);
    size_t power = term.factors.size() - rest.factors.size();
    for (IndexId factor : rest.factors)
      if (pool.mentions(factor, is_axis)) return std::nullopt;
    if (power > 1) return std::nullopt;
    if (power == 1) step.push_back(std::move(rest));
  }
  return pool.from_terms(std::move(step));
}

namespace {

std::set<ir::TensorId> defined_tensors(const ir::Kernel& kernel, const ir::Group& group) {
  std::set<ir::TensorId> defined;
  for (ir::TensorOpId id : group.ops)
    for (const ir::OpOutput& output : kernel.ops[id].outputs) defined.insert(output.tensor);
  return defined;
}

}  // namespace

std::set<ir::TensorId> stored_tensors(const ir::Kernel& kernel, const ir::Group& group) {
  std::set<ir::TensorId> defined = defined_tensors(kernel, group);
  std::set<ir::TensorId> stored;
  for (ir::TensorId tensor : defined)
    if (kernel.tensors[tensor].role == ir::Tensor::Role::kResult) stored.insert(tensor);
  std::set<ir::TensorOpId> inside(group.ops.begin(), group.ops.end());
  for (uint32_t i = 0; i < kernel.ops.size(); ++i) {
    if (inside.contains(ir::TensorOpId(i))) continue;
    for (const ir::Instruction& read : kernel.ops[ir::TensorOpId(i)].body)
      if (read.op == ir::Opcode::kRead && defined.contains(read.tensor)) stored.insert(read.tensor);
  }
  return stored;
}

std::vector<Access> group_accesses(ir::Kernel& kernel, const ir::Group& group) {
  std::set<ir::TensorId> defined = defined_tensors(kernel, group);
  std::set<ir::TensorId> stored = stored_tensors(kernel, group);
  std::vector<Access> accesses;
  for (ir::TensorOpId id : group.ops) {
    const ir::TensorOp& op = kernel.ops[id];
    for (uint32_t i = 0; i < op.body.size(); ++i) {
      const ir::Instruction& read = op.body[ir::ValueId(i)];
      if (read.op != ir::Opcode::kRead || defined.contains(read.tensor)) continue;
      accesses.push_back({id, read.tensor, ir::ValueId(i),
                          linear_offset(kernel.index, kernel.tensors[read.tensor].shape, read.subscripts)});
    }
    for (const ir::OpOutput& output : op.outputs) {
      if (!stored.contains(output.tensor)) continue;
      std::vector<IndexId> subscripts;
      for (AxisId axis : op.parallel) subscripts.push_back(kernel.index.axis(axis));
      accesses.push_back({id,
                          output.tensor,
                          {},
                          linear_offset(kernel.index, kernel.tensors[output.tensor].shape, subscripts)});
    }
  }
  return accesses;
}

}  // namespace tenon::passes
