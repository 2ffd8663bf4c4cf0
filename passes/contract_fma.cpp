// Needs: operations as the checker leaves them, one a statement or a reduction inside of one.
// Gives: every multiply-add that is rounded once is an `fma`; no other product is fused with anything, by any
//        later stage.
// Why here: first, since inlining and folding remove the borders of statements, names, parameters and results
//        of functions across which a product is rounded. The checker leaves a cast of a product to its own
//        type where one crosses a parameter or result.
//
//   %2 = mul %0, %1        %3 = fma %0, %1, %c
//   %3 = add %c, %2
//
// The product has no other use. Of two products the left one is fused; a subtrahend is negated, which is
// exact: a*b - c is fma(a, b, -c), c - a*b is fma(-a, b, c). A float sum is one operation of which products
// are terms: they stay as they are.
#include <algorithm>

#include "passes/analysis/body_edit.h"
#include "passes/pass.h"

namespace tenon::passes {
namespace {

using ir::Opcode;
using ir::ValueId;

bool has_fma(ElementType type) {
  return type == ElementType::kF64 || type == ElementType::kF32 || type == ElementType::kF16 ||
         type == ElementType::kBF16;
}

class Contraction {
 public:
  Contraction(const ir::IndexPool& pool, ir::TensorOp& op)
      : op_(op), image_(op.body.size()), uses_(use_counts(pool, op)) {}

  void run(ir::IndexPool& pool) {
    ir::Body old = std::exchange(op_.body, ir::Body());
    op_.body.reserve(old.size());
    ValueRenaming renaming(pool, image_);
    for (uint32_t i = 0; i < old.size(); ++i) {
      const ir::Instruction& instruction = old[ValueId(i)];
      int product = fused_operand(old, instruction);
      if (product >= 0) {
        image_[i] = fused(old, instruction, product);
        continue;
      }
      ir::Instruction kept = instruction;
      renaming.apply(kept);
      image_[i] = op_.body.add(std::move(kept));
    }
    for_each_root(op_, [&](ValueId& value) { value = image_[value.index()]; });
  }

 private:
  // Which operand is a product to fuse; -1 for none.
  int fused_operand(const ir::Body& body, const ir::Instruction& instruction) const {
    if (instruction.op != Opcode::kAdd && instruction.op != Opcode::kSub) return -1;
    if (!has_fma(instruction.type)) return -1;
    for (int k = 0; k < 2; ++k) {
      ValueId operand = instruction.operands[k];
      if (body[operand].op == Opcode::kMul && uses_[operand.index()] == 1) return k;
    }
    return -1;
  }

  ValueId fused(const ir::Body& old, const ir::Instruction& sum, int product) {
    const ir::Instruction& mul = old[sum.operands[product]];
    ValueId a = image_[mul.operands[0].index()];
    ValueId b = image_[mul.operands[1].index()];
    ValueId c = image_[sum.operands[1 - product].index()];
    if (sum.op == Opcode::kSub) {
      ValueId& negated = product == 0 ? c : a;
      negated = op_.body.op(Opcode::kNeg, {negated}, false, sum.span);
    }
    return op_.body.op(Opcode::kFma, {a, b, c}, false, sum.span);
  }

  ir::TensorOp& op_;
  // The value that stands for each of the old body's.
  std::vector<ValueId> image_;
  std::vector<uint32_t> uses_;
};

}  // namespace

void contract_fma(ir::Kernel& kernel, PassContext&) {
  for (ir::TensorOp& op : kernel.ops) {
    if (op.outputs.empty()) continue;
    bool has_products = std::ranges::any_of(op.body, [](const auto& one) { return one.op == Opcode::kMul; });
    if (has_products) Contraction(kernel.index, op).run(kernel.index);
    remove_unused_values(kernel.index, op);
  }
}

}  // namespace tenon::passes
