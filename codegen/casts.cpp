#include <cmath>

#include "codegen/emitter.h"
#include "support/check.h"

namespace tenon::codegen {

namespace {

// index(e) saturates to +-2^47.
constexpr int64_t kIndexBound = int64_t{1} << 47;

bool is_f8(ElementType type) { return type == ElementType::kF8E4M3 || type == ElementType::kF8E5M2; }

// A signed integer before it was widened: a conversion from fewer bits gives the same and costs less.
llvm::Value* before_extension(llvm::Value* value) {
  auto* extension = llvm::dyn_cast<llvm::SExtInst>(value);
  return extension != nullptr ? extension->getOperand(0) : value;
}

// The instruction that truncates f32 or f64 to an integer of 32 or 64 bits.
llvm::Intrinsic::ID conversion(bool from_f64, bool to_64, bool with_sign) {
  if (from_f64 && to_64) return with_sign ? llvm::Intrinsic::nvvm_d2ll_rz : llvm::Intrinsic::nvvm_d2ull_rz;
  if (from_f64) return with_sign ? llvm::Intrinsic::nvvm_d2i_rz : llvm::Intrinsic::nvvm_d2ui_rz;
  if (to_64) return with_sign ? llvm::Intrinsic::nvvm_f2ll_rz : llvm::Intrinsic::nvvm_f2ull_rz;
  return with_sign ? llvm::Intrinsic::nvvm_f2i_rz : llvm::Intrinsic::nvvm_f2ui_rz;
}

}  // namespace

llvm::Value* Emitter::emit_cast(llvm::Value* value, ElementType from, ElementType to) {
  if (from == to) return value;
  if (to == ElementType::kBool) {
    if (is_float(from)) {
      if (is_f8(from)) value = float_to_float(value, from, ElementType::kF32);
      return b_.CreateFCmpUNE(value, llvm::ConstantFP::getZero(value->getType()));
    }
    return b_.CreateICmpNE(value, llvm::ConstantInt::get(value->getType(), 0));
  }
  if (is_float(from))
    return is_float(to) ? float_to_float(value, from, to) : float_to_integer(value, from, to);
  if (is_float(to)) {
    // bf16 and f8 have no conversions from integers of their own.
    if (to == ElementType::kBF16 || is_f8(to))
      return float_to_float(integer_to_odd(value, from), ElementType::kF32, to);
    bool with_sign = is_signed(from) && from != ElementType::kBool;
    return with_sign ? b_.CreateSIToFP(before_extension(value), type_of(to))
                     : b_.CreateUIToFP(value, type_of(to));
  }
  llvm::Type* type = type_of(to);
  bool with_sign = is_signed(from);
  llvm::Value* result = with_sign ? b_.CreateSExtOrTrunc(value, type) : b_.CreateZExtOrTrunc(value, type);
  if (to != ElementType::kIndex || bit_width(from) < 64) return result;
  if (with_sign) return clamp(result, -kIndexBound, kIndexBound);
  return b_.CreateBinaryIntrinsic(llvm::Intrinsic::umin, result, b_.getInt64(kIndexBound));
}

llvm::Value* Emitter::float_to_float(llvm::Value* value, ElementType from, ElementType to) {
  if (is_f8(from)) return f8_to_float(value, from, to);
  if (is_f8(to)) return float_to_f8(value, from, to);
  if (bit_width(from) == bit_width(to)) {
    // f16 and bf16.
    return b_.CreateFPTrunc(b_.CreateFPExt(value, b_.getFloatTy()), type_of(to));
  }
  if (bit_width(from) < bit_width(to)) return b_.CreateFPExt(value, type_of(to));
  if (from == ElementType::kF64 && to == ElementType::kBF16)
    return b_.CreateFPTrunc(round_to_odd(value), type_of(to));
  return b_.CreateFPTrunc(value, type_of(to));
}

// f64 to f32, rounded to odd: toward zero, the last bit set where digits were lost. The second rounding
// then sees whether the value was a tie.
llvm::Value* Emitter::round_to_odd(llvm::Value* value) {
  llvm::Value* toward_zero = intrinsic(llvm::Intrinsic::nvvm_d2f_rz, {value});
  llvm::Value* back = b_.CreateFPExt(toward_zero, b_.getDoubleTy());
  llvm::Value* lost = b_.CreateFCmpONE(back, value);
  llvm::Value* bits = b_.CreateBitCast(toward_zero, b_.getInt32Ty());
  llvm::Value* odd = b_.CreateOr(bits, b_.CreateZExt(lost, b_.getInt32Ty()));
  return b_.CreateBitCast(odd, b_.getFloatTy());
}

// An integer to f32, rounded to odd.
llvm::Value* Emitter::integer_to_odd(llvm::Value* value, ElementType from) {
  bool with_sign = is_signed(from) && from != ElementType::kBool;
  llvm::Type* f32 = b_.getFloatTy();
  if (bit_width(from) <= 16) return with_sign ? b_.CreateSIToFP(value, f32) : b_.CreateUIToFP(value, f32);
  bool wide = bit_width(from) == 64;
  llvm::Value* toward_zero =
      with_sign ? intrinsic(wide ? llvm::Intrinsic::nvvm_ll2f_rz : llvm::Intrinsic::nvvm_i2f_rz, {value})
                : intrinsic(wide ? llvm::Intrinsic::nvvm_ull2f_rz : llvm::Intrinsic::nvvm_ui2f_rz, {value});
  llvm::Value* back = with_sign ? b_.CreateFPToSI(toward_zero, value->getType())
                                : b_.CreateFPToUI(toward_zero, value->getType());
  llvm::Value* lost = b_.CreateICmpNE(back, value);
  llvm::Value* bits = b_.CreateBitCast(toward_zero, b_.getInt32Ty());
  return b_.CreateBitCast(b_.CreateOr(bits, b_.CreateZExt(lost, b_.getInt32Ty())), f32);
}

// Truncation saturates to the type, NaN gives 0. So do the device's conversions, but for NaN where the source
// has 64 bits or the result has: there the highest bit alone is set. (PTX ISA, cvt.)
llvm::Value* Emitter::float_to_integer(llvm::Value* value, ElementType from, ElementType to) {
  if (is_f8(from)) value = float_to_float(value, from, ElementType::kF32);
  if (bit_width(from) == 16) value = b_.CreateFPExt(value, b_.getFloatTy());
  bool with_sign = is_signed(to);
  bool wide = bit_width(to) == 64;
  llvm::Value* result = intrinsic(conversion(from == ElementType::kF64, wide, with_sign), {value});
  if (from == ElementType::kF64 || wide) {
    llvm::Value* nan = b_.CreateFCmpUNO(value, value);
    result = b_.CreateSelect(nan, llvm::ConstantInt::get(result->getType(), 0), result);
  }
  if (to == ElementType::kIndex) return clamp(result, -kIndexBound, kIndexBound);
  if (bit_width(to) >= 32) return result;
  int64_t most = (int64_t{1} << (bit_width(to) - (with_sign ? 1 : 0))) - 1;
  result = with_sign ? clamp(result, -most - 1, most)
                     : b_.CreateBinaryIntrinsic(llvm::Intrinsic::umin, result, b_.getInt32(most));
  return b_.CreateTrunc(result, type_of(to));
}

// A signed value, no less than `least` and no more than `most`.
llvm::Value* Emitter::clamp(llvm::Value* value, int64_t least, int64_t most) {
  llvm::Type* type = value->getType();
  llvm::Value* capped =
      b_.CreateBinaryIntrinsic(llvm::Intrinsic::smin, value, llvm::ConstantInt::getSigned(type, most));
  return b_.CreateBinaryIntrinsic(llvm::Intrinsic::smax, capped, llvm::ConstantInt::getSigned(type, least));
}

// f8e5m2 is the upper byte of an f16. f8e4m3 has a bias of 7, no infinities, and one NaN of each sign.
llvm::Value* Emitter::f8_to_float(llvm::Value* value, ElementType from, ElementType to) {
  llvm::Value* half = nullptr;
  if (from == ElementType::kF8E5M2) {
    half = b_.CreateBitCast(b_.CreateShl(b_.CreateZExt(value, b_.getInt16Ty()), 8), b_.getHalfTy());
    return to == ElementType::kF16 ? half : float_to_float(half, ElementType::kF16, to);
  }
  // The seven bits of exponent and fraction stand one place lower than in an f16, whose bias is 8 larger.
  llvm::Value* wide = b_.CreateZExt(value, b_.getInt16Ty());
  llvm::Value* magnitude = b_.CreateShl(b_.CreateAnd(wide, 0x7f), 7);
  llvm::Value* scaled =
      b_.CreateFMul(b_.CreateFPExt(b_.CreateBitCast(magnitude, b_.getHalfTy()), b_.getFloatTy()),
                    llvm::ConstantFP::get(b_.getFloatTy(), 256.0));
  llvm::Value* nan = b_.CreateICmpEQ(b_.CreateAnd(wide, 0x7f), b_.getInt16(0x7f));
  llvm::Value* number = b_.CreateSelect(nan, llvm::ConstantFP::getNaN(b_.getFloatTy()), scaled);
  llvm::Value* sign = b_.CreateShl(b_.CreateZExt(b_.CreateAnd(value, 0x80), b_.getInt32Ty()), 24);
  llvm::Value* bits = b_.CreateOr(b_.CreateBitCast(number, b_.getInt32Ty()), sign);
  llvm::Value* result = b_.CreateBitCast(bits, b_.getFloatTy());
  return to == ElementType::kF32 ? result : float_to_float(result, ElementType::kF32, to);
}

// Rounds to nearest even and saturates, infinity too; NaN stays NaN. The value is scaled so that the spacing
// of f8 numbers around it is that of f32 integers, by adding and taking away a power of two.
llvm::Value* Emitter::float_to_f8(llvm::Value* value, ElementType from, ElementType to) {
  llvm::Type* f32 = b_.getFloatTy();
  llvm::Type* i32 = b_.getInt32Ty();
  if (from == ElementType::kF64) {
    value = round_to_odd(value);
  } else if (from != ElementType::kF32) {
    value = b_.CreateFPExt(value, f32);
  }
  bool e4m3 = to == ElementType::kF8E4M3;
  int fraction = e4m3 ? 3 : 2;
  int bias = e4m3 ? 7 : 15;
  float largest = e4m3 ? 448.0f : 57344.0f;
  llvm::Value* bits = b_.CreateBitCast(value, i32);
  llvm::Value* magnitude = b_.CreateUnaryIntrinsic(llvm::Intrinsic::fabs, value);
  llvm::Value* capped =
      intrinsic(llvm::Intrinsic::nvvm_fmin_f, {magnitude, llvm::ConstantFP::get(f32, largest)});
  // The exponent of the spacing: that of the value, at least the least normal one, less the fraction bits.
  llvm::Value* exponent = b_.CreateLShr(b_.CreateBitCast(capped, i32), 23);
  llvm::Value* least = b_.getInt32(127 + 1 - bias);
  exponent = b_.CreateBinaryIntrinsic(llvm::Intrinsic::umax, exponent, least);
  // 1.5 * 2^(exponent + 23 - fraction): adding it rounds to the spacing.
  llvm::Value* magic =
      b_.CreateBitCast(b_.CreateOr(b_.CreateShl(b_.CreateAdd(exponent, b_.getInt32(23 - fraction)), 23),
                                   b_.getInt32(0x400000)),
                       f32);
  llvm::Value* rounded = b_.CreateFSub(b_.CreateFAdd(capped, magic), magic);
  // To the f8 fields: rebias by a multiplication, so that denormals come out as denormals.
  llvm::Value* field =
      b_.CreateBitCast(b_.CreateFMul(rounded, llvm::ConstantFP::get(f32, std::ldexp(1.0f, bias - 127))), i32);
  llvm::Value* code = b_.CreateLShr(field, 23 - fraction);
  llvm::Value* nan = b_.CreateFCmpUNO(value, value);
  code = b_.CreateSelect(nan, b_.getInt32(0x7f), code);
  llvm::Value* sign = b_.CreateAnd(b_.CreateLShr(bits, 24), 0x80);
  return b_.CreateTrunc(b_.CreateOr(code, sign), b_.getInt8Ty());
}

}  // namespace tenon::codegen
