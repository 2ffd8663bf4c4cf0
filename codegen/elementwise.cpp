#include "codegen/emitter.h"
#include "codegen/math/expand.h"
#include "codegen/math_builder.h"
#include "passes/analysis/index_bounds.h"
#include "support/check.h"

namespace tenon::codegen {

using ir::IndexId;
using ir::Opcode;
using ir::TileOp;
using ir::TypeRule;

namespace {

bool is_narrow_float(ElementType type) { return is_float(type) && bit_width(type) < 32; }

}  // namespace

void Emitter::emit_elementwise(const TileOp& op) {
  const ir::TileType& type = module_.values[op.results[0]].type;
  if (ir::row(op.op).rule == TypeRule::kCompare && index_of(op.operands[0]).valid() &&
      index_of(op.operands[1]).valid()) {
    set(op.results[0], emit_index_compare(op));
    return;
  }
  ir::TileValueId typed = op.operands[op.op == Opcode::kSelect ? 1 : 0];
  ElementType operand_type = module_.values[typed].type.element;
  Registers registers;
  std::vector<llvm::Value*> previous;
  auto [begin, end] = emitted_now(register_count(op.results[0]));
  for (int32_t reg = begin; reg < end; ++reg) {
    std::vector<llvm::Value*> operands;
    for (ir::TileValueId operand : op.operands) operands.push_back(value_at(operand, type, reg));
    // Masks are often one for a whole vector.
    if (operands == previous) {
      registers.push_back(registers.back());
      continue;
    }
    previous = operands;
    if (ir::row(op.op).rule == TypeRule::kShift) {
      ElementType count = module_.values[op.operands[1]].type.element;
      registers.push_back(emit_shift(op.op, type.element, operands[0], count, operands[1]));
    } else {
      registers.push_back(emit_scalar(op.op, type.element, operand_type, operands, op.approx));
    }
  }
  set(op.results[0], std::move(registers));
}

Registers Emitter::emit_index_compare(const TileOp& op) {
  const ir::TileType& type = module_.values[op.results[0]].type;
  const ir::Layout* layout = type.layout ? canonical(*type.layout) : nullptr;
  ir::IndexId a = index_of(op.operands[0]);
  ir::IndexId b = index_of(op.operands[1]);
  llvm::Type* wider = index_type(a)->isIntegerTy(32) ? index_type(b) : index_type(a);
  Registers registers;
  std::map<std::pair<llvm::Value*, llvm::Value*>, llvm::Value*> known;
  std::optional<IndexId> margin =
      module_.bounded.empty() ? std::nullopt : passes::margin(module_.index, op.op, a, b);
  auto [begin, end] = emitted_now(register_count(op.results[0]));
  for (int32_t reg = begin; reg < end; ++reg) {
    // Within a vector all elements compare alike.
    int32_t first = reg - reg % op.vector;
    if (margin && is_nonnegative(*margin, layout, first)) {
      registers.push_back(b_.getTrue());
      continue;
    }
    llvm::Value* x = to_type(emit_index(a, layout, first), wider);
    llvm::Value* y = to_type(emit_index(b, layout, first), wider);
    llvm::Value*& result = known[{x, y}];
    if (result == nullptr) result = emit_compare(op.op, ElementType::kIndex, x, y);
    registers.push_back(result);
  }
  return registers;
}

bool Emitter::is_nonnegative(IndexId expression, const ir::Layout* layout, int32_t reg) {
  auto least =
      passes::least_value(module_, expression, [&](ir::AxisId axis) -> std::optional<passes::Interval> {
        if (layout == nullptr || !layout->has(axis)) return std::nullopt;
        // Threads add bits of the position, or flip some that the register sets.
        int64_t bits = 0;
        for (unsigned bit = 0; bit < ir::kLaneBits; ++bit) bits |= layout->lane_basis(bit, axis);
        for (unsigned bit = 0; (1 << bit) < layout->warp_count(); ++bit)
          bits |= layout->warp_basis(bit, axis);
        int64_t offset = layout->register_offset(reg, axis);
        return passes::Interval{offset & ~bits, offset | bits};
      });
  return least && *least >= 0;
}

llvm::Value* Emitter::emit_scalar(Opcode opcode, ElementType type, ElementType operand_type,
                                  const std::vector<llvm::Value*>& operands, bool approx) {
  switch (ir::row(opcode).rule) {
    case TypeRule::kSelect:
      return b_.CreateSelect(operands[0], operands[1], operands[2]);
    case TypeRule::kCast:
      return emit_cast(operands[0], operand_type, type);
    case TypeRule::kCompare:
      return emit_compare(opcode, operand_type, operands[0], operands[1]);
    case TypeRule::kFunction:
      return emit_function(opcode, operand_type, operands, approx);
    case TypeRule::kSame:
    case TypeRule::kSameInt:
    case TypeRule::kSameBits:
      return is_float(type) ? emit_float(opcode, type, operands, approx)
                            : emit_integer(opcode, type, operands);
    default:
      break;
  }
  TENON_UNREACHABLE("no scalar operation");
}

llvm::Value* Emitter::emit_float(Opcode opcode, ElementType type, const std::vector<llvm::Value*>& operands,
                                 bool approx) {
  if (is_narrow_float(type) && opcode != Opcode::kNeg) {
    // In f32 and rounded once: f32 has more than twice the digits, so the second rounding does no harm.
    std::vector<llvm::Value*> wide;
    for (llvm::Value* operand : operands) wide.push_back(emit_cast(operand, type, ElementType::kF32));
    return emit_cast(emit_float(opcode, ElementType::kF32, wide, approx), ElementType::kF32, type);
  }
  llvm::Value* a = operands[0];
  switch (opcode) {
    case Opcode::kAdd:
      return b_.CreateFAdd(a, operands[1]);
    case Opcode::kSub:
      return b_.CreateFSub(a, operands[1]);
    case Opcode::kMul:
      return b_.CreateFMul(a, operands[1]);
    case Opcode::kDiv:
      if (!approx || type != ElementType::kF32) return b_.CreateFDiv(a, operands[1]);
      return b_.CreateFMul(a, intrinsic(llvm::Intrinsic::nvvm_rcp_approx_ftz_f, {operands[1]}));
    case Opcode::kNeg:
      return b_.CreateFNeg(a);
    case Opcode::kMin:
    case Opcode::kMax: {
      bool least = opcode == Opcode::kMin;
      return b_.CreateBinaryIntrinsic(least ? llvm::Intrinsic::minimum : llvm::Intrinsic::maximum, a,
                                      operands[1]);
    }
    default:
      TENON_UNREACHABLE("no operation on floats");
  }
}

llvm::Value* Emitter::emit_function(Opcode opcode, ElementType type,
                                    const std::vector<llvm::Value*>& operands, bool approx) {
  FunctionId id = *function_by_name(ir::row(opcode).mnemonic);
  LlvmMath math(b_);
  if (!is_float(type)) {
    switch (id) {
      case FunctionId::kAbs: {
        if (is_unsigned(type)) return operands[0];
        return b_.CreateIntrinsic(llvm::Intrinsic::abs, {operands[0]->getType()},
                                  {operands[0], b_.getFalse()});
      }
      case FunctionId::kPopcount:
        return b_.CreateUnaryIntrinsic(llvm::Intrinsic::ctpop, operands[0]);
      case FunctionId::kClz:
        return b_.CreateIntrinsic(llvm::Intrinsic::ctlz, {operands[0]->getType()},
                                  {operands[0], b_.getFalse()});
      default:
        TENON_UNREACHABLE("no function of integers");
    }
  }
  bool predicate = row(id).result == FunctionResult::kBool;
  if (is_narrow_float(type)) {
    // Through f32 a sum would round twice.
    if (id == FunctionId::kFma)
      return b_.CreateIntrinsic(llvm::Intrinsic::fma, {operands[0]->getType()}, operands);
    std::vector<llvm::Value*> wide;
    for (llvm::Value* operand : operands) wide.push_back(emit_cast(operand, type, ElementType::kF32));
    llvm::Value* result = emit_function(opcode, ElementType::kF32, wide, approx);
    return predicate ? result : emit_cast(result, ElementType::kF32, type);
  }
  if (type == ElementType::kF64) {
    std::vector<LlvmMath::F64> wide;
    for (llvm::Value* operand : operands) wide.push_back({operand});
    if (predicate) return math::expand_predicate(math, id, wide[0]);
    return math::expand_f64(math, id, std::span<const LlvmMath::F64>(wide));
  }
  if (predicate) return math::expand_predicate(math, id, operands[0]);
  return math::expand_f32(math, id, std::span<llvm::Value* const>(operands),
                          approx ? math::Accuracy::kApprox : math::Accuracy::kAccurate);
}

llvm::Value* Emitter::emit_integer(Opcode opcode, ElementType type,
                                   const std::vector<llvm::Value*>& operands) {
  llvm::Value* a = operands[0];
  bool is_signed_type = is_signed(type);
  switch (opcode) {
    case Opcode::kAdd:
      return b_.CreateAdd(a, operands[1]);
    case Opcode::kSub:
      return b_.CreateSub(a, operands[1]);
    case Opcode::kMul:
      return b_.CreateMul(a, operands[1]);
    case Opcode::kDiv:
      return emit_integer_division(type, a, operands[1], false);
    case Opcode::kRem:
      return emit_integer_division(type, a, operands[1], true);
    case Opcode::kNeg:
      return b_.CreateNeg(a);
    case Opcode::kMin:
      return b_.CreateBinaryIntrinsic(is_signed_type ? llvm::Intrinsic::smin : llvm::Intrinsic::umin, a,
                                      operands[1]);
    case Opcode::kMax:
      return b_.CreateBinaryIntrinsic(is_signed_type ? llvm::Intrinsic::smax : llvm::Intrinsic::umax, a,
                                      operands[1]);
    case Opcode::kAnd:
      return b_.CreateAnd(a, operands[1]);
    case Opcode::kOr:
      return b_.CreateOr(a, operands[1]);
    case Opcode::kXor:
      return b_.CreateXor(a, operands[1]);
    case Opcode::kNot:
      return b_.CreateNot(a);
    default:
      TENON_UNREACHABLE("no operation on integers");
  }
}

// x/0 is 0 and x%0 is x; the least by -1 wraps. The divisor is guarded, not the quotient: LLVM would drop a
// select on a division that it takes for undefined.
llvm::Value* Emitter::emit_integer_division(ElementType type, llvm::Value* a, llvm::Value* b,
                                            bool remainder) {
  llvm::Type* bits = a->getType();
  llvm::Value* zero = llvm::ConstantInt::get(bits, 0);
  llvm::Value* one = llvm::ConstantInt::get(bits, 1);
  llvm::Value* by_zero = b_.CreateICmpEQ(b, zero);
  llvm::Value* at_zero = remainder ? a : zero;
  if (!is_signed(type)) {
    llvm::Value* safe = b_.CreateSelect(by_zero, one, b);
    llvm::Value* result = remainder ? b_.CreateURem(a, safe) : b_.CreateUDiv(a, safe);
    return b_.CreateSelect(by_zero, at_zero, result);
  }
  llvm::Value* negates = b_.CreateICmpEQ(b, llvm::ConstantInt::getSigned(bits, -1));
  llvm::Value* safe = b_.CreateSelect(b_.CreateOr(by_zero, negates), one, b);
  llvm::Value* quotient = b_.CreateSDiv(a, safe);
  llvm::Value* rest = b_.CreateSub(a, b_.CreateMul(quotient, safe));
  if (type == ElementType::kIndex) {
    llvm::Value* crosses =
        b_.CreateAnd(b_.CreateICmpNE(rest, zero), b_.CreateICmpSLT(b_.CreateXor(rest, safe), zero));
    quotient = b_.CreateSub(quotient, b_.CreateZExt(crosses, bits));
    rest = b_.CreateSelect(crosses, b_.CreateAdd(rest, safe), rest);
  }
  if (remainder) return b_.CreateSelect(by_zero, at_zero, rest);
  return b_.CreateSelect(by_zero, at_zero, b_.CreateSelect(negates, b_.CreateNeg(a), quotient));
}

llvm::Value* Emitter::emit_shift(Opcode opcode, ElementType type, llvm::Value* value, ElementType count_type,
                                 llvm::Value* count) {
  unsigned width = bit_width(type);
  // In 64 bits, where no count of a narrower type is lost; a negative one is a large unsigned one.
  llvm::Value* wide =
      is_signed(count_type) ? b_.CreateSExt(count, b_.getInt64Ty()) : b_.CreateZExt(count, b_.getInt64Ty());
  llvm::Value* inside = b_.CreateICmpULT(wide, b_.getInt64(width));
  llvm::Value* least =
      b_.CreateSelect(inside, wide, b_.getInt64(opcode == Opcode::kShr && is_signed(type) ? width - 1 : 0));
  llvm::Value* safe = b_.CreateZExtOrTrunc(least, value->getType());
  if (opcode == Opcode::kShr && is_signed(type)) return b_.CreateAShr(value, safe);
  llvm::Value* shifted = opcode == Opcode::kShl ? b_.CreateShl(value, safe) : b_.CreateLShr(value, safe);
  return b_.CreateSelect(inside, shifted, llvm::ConstantInt::get(value->getType(), 0));
}

llvm::Value* Emitter::emit_compare(Opcode opcode, ElementType operand_type, llvm::Value* a, llvm::Value* b) {
  using llvm::CmpInst;
  if (is_float(operand_type)) {
    if (bit_width(operand_type) < 32) {
      a = emit_cast(a, operand_type, ElementType::kF32);
      b = emit_cast(b, operand_type, ElementType::kF32);
    }
    switch (opcode) {
      case Opcode::kEq:
        return b_.CreateFCmpOEQ(a, b);
      case Opcode::kNe:
        return b_.CreateFCmpUNE(a, b);
      case Opcode::kLt:
        return b_.CreateFCmpOLT(a, b);
      case Opcode::kLe:
        return b_.CreateFCmpOLE(a, b);
      case Opcode::kGt:
        return b_.CreateFCmpOGT(a, b);
      default:
        return b_.CreateFCmpOGE(a, b);
    }
  }
  bool with_sign = is_signed(operand_type);
  switch (opcode) {
    case Opcode::kEq:
      return b_.CreateICmpEQ(a, b);
    case Opcode::kNe:
      return b_.CreateICmpNE(a, b);
    case Opcode::kLt:
      return b_.CreateICmp(with_sign ? CmpInst::ICMP_SLT : CmpInst::ICMP_ULT, a, b);
    case Opcode::kLe:
      return b_.CreateICmp(with_sign ? CmpInst::ICMP_SLE : CmpInst::ICMP_ULE, a, b);
    case Opcode::kGt:
      return b_.CreateICmp(with_sign ? CmpInst::ICMP_SGT : CmpInst::ICMP_UGT, a, b);
    default:
      return b_.CreateICmp(with_sign ? CmpInst::ICMP_SGE : CmpInst::ICMP_UGE, a, b);
  }
}

}  // namespace tenon::codegen
