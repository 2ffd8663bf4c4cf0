// The math expansions as LLVM instructions.
#pragma once

#include <llvm/IR/IRBuilder.h>
#include <llvm/IR/InlineAsm.h>
#include <llvm/IR/IntrinsicsNVPTX.h>

#include "codegen/math/builder.h"

namespace tenon::codegen {

class LlvmMath {
 public:
  using F32 = llvm::Value*;
  // A type of its own, since expansions are overloaded for f32 and f64.
  struct F64 {
    llvm::Value* value;
    operator llvm::Value*() const { return value; }
  };
  using I32 = llvm::Value*;
  using I64 = llvm::Value*;
  using Bool = llvm::Value*;
  using Value = llvm::Value*;

  explicit LlvmMath(llvm::IRBuilder<>& builder) : b_(builder) {}

  Value f32(float x) { return llvm::ConstantFP::get(b_.getFloatTy(), x); }
  F64 f64(double x) { return {llvm::ConstantFP::get(b_.getDoubleTy(), x)}; }
  Value i32(int32_t x) { return b_.getInt32(static_cast<uint32_t>(x)); }

  Value add(Value a, Value b) { return b_.CreateFAdd(a, b); }
  Value sub(Value a, Value b) { return b_.CreateFSub(a, b); }
  Value mul(Value a, Value b) { return b_.CreateFMul(a, b); }
  Value fma(Value a, Value b, Value c) {
    return b_.CreateIntrinsic(llvm::Intrinsic::fma, {a->getType()}, {a, b, c});
  }
  Value neg(Value a) { return b_.CreateFNeg(a); }
  Value abs(Value a) { return b_.CreateUnaryIntrinsic(llvm::Intrinsic::fabs, a); }
  Value fma_down(Value a, Value b, Value c) { return call(llvm::Intrinsic::nvvm_fma_rm_f, {a, b, c}); }
  Value fma_saturated(Value a, Value b, Value c) {
    return call(llvm::Intrinsic::nvvm_fma_rn_sat_f, {a, b, c});
  }
  Value copysign(Value a, Value b) { return b_.CreateBinaryIntrinsic(llvm::Intrinsic::copysign, a, b); }
  Value min_number(Value a, Value b) { return call(llvm::Intrinsic::nvvm_fmin_f, {a, b}); }
  Value max_number(Value a, Value b) { return call(llvm::Intrinsic::nvvm_fmax_f, {a, b}); }
  Value minimum(Value a, Value b) { return call(llvm::Intrinsic::nvvm_fmin_nan_f, {a, b}); }
  Value maximum(Value a, Value b) { return call(llvm::Intrinsic::nvvm_fmax_nan_f, {a, b}); }
  Value floor(Value a) { return b_.CreateUnaryIntrinsic(llvm::Intrinsic::floor, a); }
  Value ceil(Value a) { return b_.CreateUnaryIntrinsic(llvm::Intrinsic::ceil, a); }
  Value round_even(Value a) { return b_.CreateUnaryIntrinsic(llvm::Intrinsic::rint, a); }
  Value trunc(Value a) { return b_.CreateUnaryIntrinsic(llvm::Intrinsic::trunc, a); }
  Value div_rn(Value a, Value b) { return b_.CreateFDiv(a, b); }
  Value sqrt_rn(Value a) { return b_.CreateUnaryIntrinsic(llvm::Intrinsic::sqrt, a); }

  F64 mul(F64 a, F64 b) { return {b_.CreateFMul(a, b)}; }
  F64 fma(F64 a, F64 b, F64 c) { return {fma(a.value, b.value, c.value)}; }
  F64 neg(F64 a) { return {b_.CreateFNeg(a)}; }
  F64 abs(F64 a) { return {abs(a.value)}; }
  F64 floor(F64 a) { return {floor(a.value)}; }
  F64 ceil(F64 a) { return {ceil(a.value)}; }
  F64 round_even(F64 a) { return {round_even(a.value)}; }
  F64 trunc(F64 a) { return {trunc(a.value)}; }
  F64 sqrt_rn(F64 a) { return {sqrt_rn(a.value)}; }
  F64 rcp_rn(F64 a) { return {call(llvm::Intrinsic::nvvm_rcp_rn_d, {a})}; }

  Value ex2_approx(Value a) { return typed(llvm::Intrinsic::nvvm_ex2_approx, a); }
  Value ex2_approx_ftz(Value a) { return typed(llvm::Intrinsic::nvvm_ex2_approx_ftz, a); }
  Value lg2_approx(Value a) { return call(llvm::Intrinsic::nvvm_lg2_approx_f, {a}); }
  Value lg2_approx_ftz(Value a) { return call(llvm::Intrinsic::nvvm_lg2_approx_ftz_f, {a}); }
  Value rcp_approx_ftz(Value a) { return call(llvm::Intrinsic::nvvm_rcp_approx_ftz_f, {a}); }
  Value rsqrt_approx(Value a) { return call(llvm::Intrinsic::nvvm_rsqrt_approx_f, {a}); }
  Value rsqrt_approx_ftz(Value a) { return call(llvm::Intrinsic::nvvm_rsqrt_approx_ftz_f, {a}); }
  Value sqrt_approx_ftz(Value a) { return call(llvm::Intrinsic::nvvm_sqrt_approx_ftz_f, {a}); }
  Value sin_approx_ftz(Value a) { return call(llvm::Intrinsic::nvvm_sin_approx_ftz_f, {a}); }
  Value cos_approx_ftz(Value a) { return call(llvm::Intrinsic::nvvm_cos_approx_ftz_f, {a}); }
  Value div_approx_ftz(Value a, Value b) { return call(llvm::Intrinsic::nvvm_div_approx_ftz_f, {a, b}); }
  // LLVM has no intrinsic for it.
  Value tanh_approx(Value a) { return assembly("tanh.approx.f32 $0, $1;", a); }

  Value less(Value a, Value b) { return b_.CreateFCmpOLT(a, b); }
  Value less_equal(Value a, Value b) { return b_.CreateFCmpOLE(a, b); }
  Value equal(Value a, Value b) { return b_.CreateFCmpOEQ(a, b); }
  Value not_equal(Value a, Value b) { return b_.CreateFCmpUNE(a, b); }
  Value iequal(Value a, Value b) { return b_.CreateICmpEQ(a, b); }
  Value iless(Value a, Value b) { return b_.CreateICmpSLT(a, b); }
  Value iless_unsigned(Value a, Value b) { return b_.CreateICmpULT(a, b); }
  Value not_zero(Value a) { return b_.CreateICmpNE(a, b_.getInt32(0)); }
  Value logical_and(Value a, Value b) { return b_.CreateAnd(a, b); }
  Value logical_or(Value a, Value b) { return b_.CreateOr(a, b); }
  Value select(Value p, Value a, Value b) { return b_.CreateSelect(p, a, b); }

  Value bits(Value a) { return b_.CreateBitCast(a, b_.getInt32Ty()); }
  Value from_bits(Value a) { return b_.CreateBitCast(a, b_.getFloatTy()); }
  Value low_word(Value a) { return b_.CreateTrunc(a, b_.getInt32Ty()); }
  Value high_word(Value a) { return b_.CreateTrunc(b_.CreateLShr(a, 32), b_.getInt32Ty()); }

  Value iadd(Value a, Value b) { return b_.CreateAdd(a, b); }
  Value isub(Value a, Value b) { return b_.CreateSub(a, b); }
  Value iand(Value a, Value b) { return b_.CreateAnd(a, b); }
  Value ior(Value a, Value b) { return b_.CreateOr(a, b); }
  Value ixor(Value a, Value b) { return b_.CreateXor(a, b); }
  Value shift_left(Value a, Value b) { return b_.CreateShl(a, b); }
  Value shift_right(Value a, Value b) { return b_.CreateAShr(a, b); }
  Value shift_right_unsigned(Value a, Value b) { return b_.CreateLShr(a, b); }
  Value funnel_left(Value high, Value low, Value count) {
    return b_.CreateIntrinsic(llvm::Intrinsic::fshl, {b_.getInt32Ty()}, {high, low, count});
  }
  Value count_leading_zeros(Value a) {
    return b_.CreateIntrinsic(llvm::Intrinsic::ctlz, {b_.getInt32Ty()}, {a, b_.getFalse()});
  }
  Value mul_wide_unsigned(Value a, Value b) { return b_.CreateMul(widen_unsigned(a), widen_unsigned(b)); }
  Value mad_wide_unsigned(Value a, Value b, Value c) { return b_.CreateAdd(mul_wide_unsigned(a, b), c); }
  Value widen_unsigned(Value a) { return b_.CreateZExt(a, b_.getInt64Ty()); }
  Value to_f32(Value a) { return b_.CreateSIToFP(a, b_.getFloatTy()); }

  // A branch: the rare case costs nothing where no lane needs it.
  template <class Rare>
  math::ReducedAngle<LlvmMath> rarely(Value condition, math::ReducedAngle<LlvmMath> usual, Rare rare) {
    llvm::BasicBlock* before = b_.GetInsertBlock();
    llvm::Function* function = before->getParent();
    llvm::BasicBlock* inside = llvm::BasicBlock::Create(b_.getContext(), "rare", function);
    llvm::BasicBlock* after = llvm::BasicBlock::Create(b_.getContext(), "", function);
    b_.CreateCondBr(condition, inside, after);
    b_.SetInsertPoint(inside);
    math::ReducedAngle<LlvmMath> other = rare();
    inside = b_.GetInsertBlock();
    b_.CreateBr(after);
    b_.SetInsertPoint(after);
    auto join = [&](Value a, Value b) -> Value {
      llvm::PHINode* phi = b_.CreatePHI(a->getType(), 2);
      phi->addIncoming(a, before);
      phi->addIncoming(b, inside);
      return phi;
    };
    return {join(usual.high, other.high), join(usual.low, other.low), join(usual.quadrant, other.quadrant)};
  }

 private:
  Value call(llvm::Intrinsic::ID id, std::initializer_list<Value> operands) {
    return b_.CreateIntrinsic(id, {}, llvm::ArrayRef<Value>(operands.begin(), operands.size()));
  }
  Value typed(llvm::Intrinsic::ID id, Value a) { return b_.CreateIntrinsic(id, {a->getType()}, {a}); }
  Value assembly(const char* text, Value a) {
    auto* type = llvm::FunctionType::get(a->getType(), {a->getType()}, false);
    return b_.CreateCall(llvm::InlineAsm::get(type, text, "=f,f", false), {a});
  }

  llvm::IRBuilder<>& b_;
};

static_assert(math::MathBuilder<LlvmMath>);

}  // namespace tenon::codegen
