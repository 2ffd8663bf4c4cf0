// Needs: tensor IR in which products are already fused (contract-fma): folding removes the casts that keep
// them
//        apart.
// Gives: the same values from fewer instructions. Exact operations on literals are done, by the functions
// that
//        define the language; index arithmetic stands in index expressions, where subscripts can see it;
//        identities that hold for every value, NaN and -0 included, are applied.
// Why here: before cse and inline, which then see the same value as the same; and behind inline, since a
// producer
//        and its consumer simplify together.
//
//   %1 = index i : index
//   %2 = const 1 : index      becomes  %3 = index i + 1 : index
//   %3 = add %1, %2 : index
#include <array>
#include <optional>
#include <utility>

#include "ir/scalar_eval.h"
#include "passes/analysis/body_edit.h"
#include "passes/analysis/index_limits.h"
#include "passes/fold_identities.h"
#include "passes/pass.h"

namespace tenon::passes {
namespace {

using ir::IndexId;
using ir::IndexKind;
using ir::Instruction;
using ir::Opcode;
using ir::ValueId;

// Functions that are not exact keep their place: a device computes them by its own expansion.
bool is_exact(Opcode op) {
  return ir::row(op).rule != ir::TypeRule::kFunction || tenon::row(ir::function_of(op)).ulp <= 0.5;
}

class OpFolder {
 public:
  OpFolder(ir::Kernel& kernel, BoundedRewriter& rewriter, ir::TensorOp& op)
      : kernel_(kernel), pool_(kernel.index), rewriter_(rewriter), op_(op), image_(op.body.size()) {}

  void run() {
    ir::Body old = std::exchange(op_.body, ir::Body());
    op_.body.reserve(old.size());
    ValueRenaming renaming(pool_, image_);
    for (uint32_t i = 0; i < old.size(); ++i) {
      Instruction instruction = std::move(old[ValueId(i)]);
      renaming.apply(instruction);
      image_[i] = folded(std::move(instruction));
    }
    for_each_root(op_, [&](ValueId& value) { value = image_[value.index()]; });
    fold_predicate();
    remove_unused_values(pool_, op_);
  }

 private:
  const Instruction& operand(const Instruction& instruction, unsigned k) const {
    return op_.body[instruction.operands[k]];
  }

  ValueId folded(Instruction instruction) {
    if (instruction.op == Opcode::kConst) return op_.body.add(std::move(instruction));
    if (instruction.op == Opcode::kIndex) return fold_index(std::move(instruction));
    if (instruction.op == Opcode::kRead) return fold_read(std::move(instruction));
    if (auto constant = evaluate(instruction)) return op_.body.constant(*constant, instruction.span);
    if (IndexId index = as_index(instruction); index.valid()) return add_index(index, instruction.span);
    if (auto decided = decide(instruction))
      return op_.body.constant({ElementType::kBool, *decided}, instruction.span);
    // An identity may give an instruction to which another applies.
    ValueId value = apply_identities(op_.body, instruction);
    while (value.valid()) {
      const Instruction made = op_.body[value];
      ValueId next =
          made.operand_count() > 0 && made.op != Opcode::kRead ? apply_identities(op_.body, made) : ValueId();
      if (!next.valid()) return value;
      value = next;
    }
    return op_.body.add(std::move(instruction));
  }

  std::optional<ir::Constant> evaluate(const Instruction& instruction) const {
    unsigned count = instruction.operand_count();
    if (count == 0 || !is_exact(instruction.op)) return std::nullopt;
    std::array<ir::LaneView, 3> lanes;
    for (unsigned k = 0; k < count; ++k) {
      const Instruction& literal = operand(instruction, k);
      if (literal.op != Opcode::kConst) return std::nullopt;
      lanes[k] = {literal.type, &literal.bits};
    }
    ir::Constant result{instruction.type, 0};
    ir::evaluate_lanes(instruction.op, instruction.approx, std::span(lanes.data(), count), instruction.type,
                       &result.bits, 1, nullptr);
    return result;
  }

  // The expression of an index value, if it is one.
  IndexId index_of(ValueId value) {
    const Instruction& instruction = op_.body[value];
    if (instruction.type != ElementType::kIndex) return {};
    if (instruction.op == Opcode::kIndex) return instruction.index;
    if (instruction.op == Opcode::kConst) return pool_.constant(static_cast<int64_t>(instruction.bits));
    return {};
  }

  // The expression in which values that are expressions themselves are written out.
  IndexId written_out(IndexId index) {
    IndexId result = rewriter_.substitute(index, [&](IndexId atom) {
      const ir::IndexNode& node = pool_[atom];
      return node.kind == IndexKind::kValue ? index_of(ValueId(node.reference)) : IndexId();
    });
    return result.valid() ? result : index;
  }

  ValueId add_index(IndexId index, Span span) {
    if (auto value = pool_.as_constant(index))
      return op_.body.constant({ElementType::kIndex, static_cast<uint64_t>(*value)}, span);
    // The expression of a value alone is that value.
    const ir::IndexNode& node = pool_[index];
    if (node.kind == IndexKind::kValue) return ValueId(node.reference);
    return op_.body.index(index, span);
  }

  ValueId fold_index(Instruction instruction) {
    return add_index(written_out(instruction.index), instruction.span);
  }

  ValueId fold_read(Instruction read) {
    for (IndexId& subscript : read.subscripts) subscript = written_out(subscript);
    if (read.operands[0].valid()) {
      const Instruction& predicate = operand(read, 0);
      if (predicate.op == Opcode::kConst) {
        if (predicate.bits == 0) return read.operands[1];
        read.operands = {};
      }
    }
    return op_.body.add(std::move(read));
  }

  // Index arithmetic as an expression; invalid where an operand is none or it would become too large.
  IndexId as_index(const Instruction& instruction) {
    if (instruction.type != ElementType::kIndex || !instruction.operands[0].valid()) return {};
    IndexId a = index_of(instruction.operands[0]);
    if (!a.valid()) return {};
    if (instruction.op == Opcode::kNeg) return rewriter_.sub(pool_.constant(0), a);
    if (!instruction.operands[1].valid()) return {};
    IndexId b = index_of(instruction.operands[1]);
    if (!b.valid()) return {};
    switch (instruction.op) {
      case Opcode::kAdd:
        return rewriter_.add(a, b);
      case Opcode::kSub:
        return rewriter_.sub(a, b);
      case Opcode::kMul:
        return rewriter_.mul(a, b);
      case Opcode::kDiv:
        return rewriter_.combine(IndexKind::kFloorDiv, a, b);
      case Opcode::kRem:
        return rewriter_.combine(IndexKind::kFloorMod, a, b);
      case Opcode::kMin:
        return rewriter_.combine(IndexKind::kMin, a, b);
      case Opcode::kMax:
        return rewriter_.combine(IndexKind::kMax, a, b);
      default:
        return {};
    }
  }

  // A comparison of index expressions that comes out the same for all sizes. Data and scalar parameters may
  // hold any number, for which arithmetic wraps: those that mention them are left.
  std::optional<bool> decide(const Instruction& instruction) {
    if (ir::row(instruction.op).rule != ir::TypeRule::kCompare) return std::nullopt;
    IndexId a = index_of(instruction.operands[0]);
    IndexId b = index_of(instruction.operands[1]);
    if (!a.valid() || !b.valid() || may_wrap(a) || may_wrap(b)) return std::nullopt;
    IndexId difference = rewriter_.sub(a, b);
    auto known = difference.valid() ? pool_.as_constant(difference) : std::nullopt;
    if (!known) return std::nullopt;
    switch (instruction.op) {
      case Opcode::kEq:
        return *known == 0;
      case Opcode::kNe:
        return *known != 0;
      case Opcode::kLt:
        return *known < 0;
      case Opcode::kLe:
        return *known <= 0;
      case Opcode::kGt:
        return *known > 0;
      case Opcode::kGe:
        return *known >= 0;
      default:
        return std::nullopt;
    }
  }

  bool may_wrap(IndexId index) const {
    return pool_.mentions(index, [&](const ir::IndexNode& node) {
      return node.kind == IndexKind::kValue ||
             (node.kind == IndexKind::kSymbol &&
              kernel_.symbols[ir::SymbolId(node.reference)].kind == ir::Symbol::Kind::kScalar);
    });
  }

  // Elements where the predicate is false do not count, whatever their value.
  void fold_predicate() {
    if (!op_.predicate.valid()) return;
    for (ir::OpOutput& output : op_.outputs) {
      for (ValueId& value : output.values) {
        const Instruction& choice = op_.body[value];
        if (choice.op == Opcode::kSelect && choice.operands[0] == op_.predicate) value = choice.operands[1];
      }
    }
    const Instruction& predicate = op_.body[op_.predicate];
    if (predicate.op == Opcode::kConst && predicate.bits != 0) op_.predicate = ValueId();
  }

  ir::Kernel& kernel_;
  ir::IndexPool& pool_;
  BoundedRewriter& rewriter_;
  ir::TensorOp& op_;
  // The new value of each of the old body's.
  std::vector<ValueId> image_;
};

}  // namespace

void fold(ir::Kernel& kernel, PassContext&) {
  BoundedRewriter rewriter(kernel.index);
  for (ir::TensorOp& op : kernel.ops)
    if (!op.outputs.empty()) OpFolder(kernel, rewriter, op).run();
}

}  // namespace tenon::passes
