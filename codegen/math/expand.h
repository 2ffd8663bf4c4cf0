// From a function of the language to its expansion: one switch for the code generation, the tile interpreter
// and the tests.
#pragma once

#include <span>

#include "codegen/math/approximate.h"
#include "codegen/math/builder.h"
#include "codegen/math/elementary.h"
#include "codegen/math/error_function.h"
#include "codegen/math/exponential.h"
#include "codegen/math/hyperbolic.h"
#include "codegen/math/inverse_trigonometric.h"
#include "codegen/math/logarithm.h"
#include "codegen/math/power.h"
#include "codegen/math/trigonometric.h"
#include "support/check.h"
#include "support/functions.h"

namespace tenon::codegen::math {

enum class Accuracy : unsigned char { kAccurate, kApprox };

// Whether expand_f32 and expand_f64 know the function: those with float operands and a float result.
inline bool has_float_expansion(FunctionId id) {
  const FunctionRow& r = row(id);
  return r.operands != FunctionOperands::kInteger && r.result == FunctionResult::kSame;
}

// The function of f32 operands; f16 and bf16 ones are widened before and rounded once after.
template <MathBuilder B>
typename B::F32 expand_f32(B& b, FunctionId id, std::span<const typename B::F32> args, Accuracy accuracy) {
  TENON_CHECK(args.size() == row(id).arity, "wrong number of operands");
  auto x = args[0];
  bool approx = accuracy == Accuracy::kApprox;
  switch (id) {
    case FunctionId::kAbs:
      return b.abs(x);
    case FunctionId::kExp:
      return approx ? exp_approx(b, x) : exp_f32(b, x);
    case FunctionId::kExp2:
      return approx ? b.ex2_approx_ftz(x) : exp2_f32(b, x);
    case FunctionId::kExpm1:
      return expm1_f32(b, x);
    case FunctionId::kLog:
      return approx ? log_approx(b, x) : log_f32(b, x);
    case FunctionId::kLog2:
      return approx ? b.lg2_approx_ftz(x) : log2_f32(b, x);
    case FunctionId::kLog1p:
      return log1p_f32(b, x);
    case FunctionId::kSqrt:
      return approx ? b.sqrt_approx_ftz(x) : b.sqrt_rn(x);
    case FunctionId::kRsqrt:
      return approx ? b.rsqrt_approx_ftz(x) : rsqrt_f32(b, x);
    case FunctionId::kSin:
      return approx ? b.sin_approx_ftz(x) : sin_f32(b, x);
    case FunctionId::kCos:
      return approx ? b.cos_approx_ftz(x) : cos_f32(b, x);
    case FunctionId::kTan:
      return tan_f32(b, x);
    case FunctionId::kTanh:
      return approx ? b.tanh_approx(x) : tanh_f32(b, x);
    case FunctionId::kSinh:
      return sinh_f32(b, x);
    case FunctionId::kCosh:
      return cosh_f32(b, x);
    case FunctionId::kAsin:
      return asin_f32(b, x);
    case FunctionId::kAcos:
      return acos_f32(b, x);
    case FunctionId::kAtan:
      return atan_f32(b, x);
    case FunctionId::kAtan2:
      return atan2_f32(b, x, args[1]);
    case FunctionId::kErf:
      return erf_f32(b, x);
    case FunctionId::kPow:
      return pow_f32(b, x, args[1]);
    case FunctionId::kFloor:
      return b.floor(x);
    case FunctionId::kCeil:
      return b.ceil(x);
    case FunctionId::kRound:
      return b.round_even(x);
    case FunctionId::kTrunc:
      return b.trunc(x);
    case FunctionId::kFma:
      return b.fma(x, args[1], args[2]);
    case FunctionId::kIsNan:
    case FunctionId::kIsInf:
    case FunctionId::kPopcount:
    case FunctionId::kClz:
      break;
  }
  TENON_UNREACHABLE("no function of floats");
}

// The function of f64 operands, for the rows that support them.
template <MathBuilder B>
typename B::F64 expand_f64(B& b, FunctionId id, std::span<const typename B::F64> args) {
  TENON_CHECK(args.size() == row(id).arity, "wrong number of operands");
  auto x = args[0];
  switch (id) {
    case FunctionId::kAbs:
      return b.abs(x);
    case FunctionId::kSqrt:
      return b.sqrt_rn(x);
    case FunctionId::kRsqrt:
      return rsqrt_f64(b, x);
    case FunctionId::kFloor:
      return b.floor(x);
    case FunctionId::kCeil:
      return b.ceil(x);
    case FunctionId::kRound:
      return b.round_even(x);
    case FunctionId::kTrunc:
      return b.trunc(x);
    case FunctionId::kFma:
      return b.fma(x, args[1], args[2]);
    default:
      TENON_UNREACHABLE("no f64 form of this function");
  }
}

// isnan and isinf of an f32 or f64 operand; f16 and bf16 are widened before.
template <MathBuilder B, class Float>
typename B::Bool expand_predicate(B& b, FunctionId id, Float x) {
  return id == FunctionId::kIsNan ? is_nan(b, x) : is_inf(b, x);
}

}  // namespace tenon::codegen::math
