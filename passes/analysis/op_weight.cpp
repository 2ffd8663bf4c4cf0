#include "passes/analysis/op_weight.h"

#include <algorithm>
#include <set>

#include "ir/scalar_eval.h"

namespace tenon::passes {
namespace {

using ir::Opcode;

constexpr uint64_t kExpensive = 8;
constexpr uint64_t kExpansion = 20;
constexpr uint64_t kMost = uint64_t{1} << 32;

bool is_result(const ir::Kernel& kernel, ir::TensorOpId op) {
  const std::vector<ir::OpOutput>& outputs = kernel.ops[op].outputs;
  return std::any_of(outputs.begin(), outputs.end(), [&](const ir::OpOutput& output) {
    return kernel.tensors[output.tensor].role == ir::Tensor::Role::kResult;
  });
}

}  // namespace

uint64_t weight_of(Opcode op, bool approx) {
  switch (op) {
    case Opcode::kConst:
    case Opcode::kIndex:
    case Opcode::kArg:
      return 0;
    case Opcode::kDiv:
    case Opcode::kRem:
      return approx ? 2 : kExpensive;
    case Opcode::kSqrt:
      return approx ? 2 : kExpensive;
    default:
      break;
  }
  if (ir::row(op).rule != ir::TypeRule::kFunction) return 1;
  return tenon::row(ir::function_of(op)).ulp <= 0.5 ? 1 : kExpansion;
}

SideTable<ir::TensorOp, OpWeight> op_weights(const ir::Kernel& kernel) {
  SideTable<ir::TensorOp, OpWeight> weights(kernel.ops.size());
  SideTable<ir::Tensor, ir::TensorOpId> defined_by = ir::defining_ops(kernel);
  for (uint32_t i = 0; i < kernel.ops.size(); ++i) {
    const ir::TensorOp& op = kernel.ops[ir::TensorOpId(i)];
    OpWeight& weight = weights[ir::TensorOpId(i)];
    std::set<ir::TensorOpId> producers;
    for (const ir::Instruction& instruction : op.body) {
      uint64_t cost = weight_of(instruction.op, instruction.approx);
      weight.own += cost;
      weight.expensive = weight.expensive || cost >= kExpensive;
      if (instruction.tensor.valid() && defined_by[instruction.tensor].valid())
        producers.insert(defined_by[instruction.tensor]);
    }
    weight.total = weight.own;
    for (ir::TensorOpId producer : producers) {
      bool reduces = kernel.ops[producer].op == Opcode::kReduce;
      weight.reads_reduction = weight.reads_reduction || reduces || weights[producer].reads_reduction;
      if (!reduces && !is_result(kernel, producer))
        weight.total = std::min(weight.total + weights[producer].total, kMost);
    }
  }
  return weights;
}

}  // namespace tenon::passes
