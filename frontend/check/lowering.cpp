#include "frontend/check/lowering.h"

#include <algorithm>
#include <span>

#include "frontend/check/body_builder.h"

namespace tenon::frontend {

using ir::AxisId;
using ir::Opcode;
using ir::TensorId;

void Lowering::define(TensorId target, std::span<const AxisId> axes, NodeId value, Span span) {
  hoisted_.clear();
  if (instance_.nodes[value].kind == NodeKind::kReduce) {
    // A reduction that varies along all axes of the target is the target.
    std::vector<AxisId> outer = outer_axes(value);
    std::vector<AxisId> sorted(axes.begin(), axes.end());
    std::ranges::sort(sorted);
    if (outer == sorted) return add_reduce(value, target, axes, span);
  }
  ir::TensorOp op;
  op.op = Opcode::kMap;
  op.parallel = axes;
  BodyBuilder builder(instance_, *this, op.body);
  builder.build(std::span(&value, 1));
  ir::OpOutput output;
  output.tensor = target;
  output.values = {builder.value(value)};
  op.outputs.push_back(std::move(output));
  op.spans = {span};
  add_op(std::move(op));
}

std::vector<AxisId> Lowering::outer_axes(NodeId reduction) const {
  const Nodes& nodes = instance_.nodes;
  std::vector<AxisId> used;
  std::vector<AxisId> bound;
  for (NodeId id : nodes.reachable(std::span(&reduction, 1), true)) {
    if (nodes[id].kind == NodeKind::kReduce)
      bound.insert(bound.end(), nodes.reduction_of(id).axes.begin(), nodes.reduction_of(id).axes.end());
    if (nodes[id].kind != NodeKind::kIndex) continue;
    instance_.kernel.index.for_each_atom(nodes[id].index, [&](ir::IndexId atom) {
      const ir::IndexNode& leaf = instance_.kernel.index[atom];
      if (leaf.kind == ir::IndexKind::kAxis) used.push_back(AxisId(leaf.reference));
    });
  }
  std::ranges::sort(used);
  used.erase(std::unique(used.begin(), used.end()), used.end());
  std::erase_if(used, [&](AxisId axis) { return std::ranges::find(bound, axis) != bound.end(); });
  return used;
}

const Lowering::Hoisted& Lowering::hoist(NodeId reduction) {
  if (auto known = hoisted_.find(reduction); known != hoisted_.end()) return known->second;
  Hoisted hoisted;
  hoisted.axes = outer_axes(reduction);
  std::vector<ir::IndexId> shape;
  for (AxisId axis : hoisted.axes) shape.push_back(instance_.kernel.axes[axis].extent);
  const ir::MonoidKind kind = instance_.nodes.reduction_of(reduction).kind;
  const Node node = instance_.nodes[reduction];
  const std::string label = fmt::format("{}.{}", ir::name(kind), ++counts_[kind]);
  hoisted.tensor = instance_.add_tensor(label, *node.type, shape, ir::Tensor::Role::kLocal, node.span);
  add_reduce(reduction, hoisted.tensor, hoisted.axes, node.span);
  return hoisted_.emplace(reduction, std::move(hoisted)).first->second;
}

void Lowering::add_reduce(NodeId reduction, TensorId target, std::span<const AxisId> axes, Span span) {
  const ReduceDetail detail = instance_.nodes.reduction_of(reduction);
  ir::TensorOp op;
  op.op = Opcode::kReduce;
  op.parallel = axes;
  op.reduction = detail.axes;
  BodyBuilder builder(instance_, *this, op.body);
  std::vector<NodeId> roots{detail.body};
  if (detail.predicate.valid()) roots.push_back(detail.predicate);
  builder.build(roots);
  ir::OpOutput output;
  output.tensor = target;
  output.values = {builder.value(detail.body)};
  if (detail.kind == ir::MonoidKind::kArgMax || detail.kind == ir::MonoidKind::kArgMin)
    output.values.push_back(builder.index_value(instance_.kernel.index.axis(detail.axes[0]), span));
  output.monoid = ir::make_monoid(detail.kind, *instance_.nodes[detail.body].type);
  if (detail.predicate.valid()) op.predicate = builder.value(detail.predicate);
  op.outputs.push_back(std::move(output));
  op.spans = {span};
  add_op(std::move(op));
}

void Lowering::add_op(ir::TensorOp op) {
  if (instance_.gave_up) return;
  instance_.instructions += op.body.size();
  const Span span = op.spans.front();
  instance_.kernel.ops.add(std::move(op));
  if (instance_.kernel.ops.size() <= kMaxOpsPerKernel && instance_.instructions <= kMaxInstructionsPerKernel)
    return;
  instance_.gave_up = true;
  instance_.report(DiagnosticId::kKernelTooLarge, span, instance_.kernel.name, kMaxOpsPerKernel,
                   kMaxInstructionsPerKernel);
}

}  // namespace tenon::frontend
