#include "ir/scalar_eval.h"

#include <cmath>
#include <cstring>

#include "ir/element_traits.h"
#include "support/check.h"

namespace tenon::ir {
namespace {

using Operands = std::span<const LaneView>;

template <class Traits>
const typename Traits::Storage* data(LaneView lanes) {
  return static_cast<const typename Traits::Storage*>(lanes.data);
}

template <class Traits, class F>
void unary(Operands operands, void* result, size_t count, F f) {
  const auto* a = data<Traits>(operands[0]);
  auto* out = static_cast<typename Traits::Storage*>(result);
  for (size_t i = 0; i < count; ++i) out[i] = Traits::store(f(Traits::load(a[i])));
}

template <class Traits, class F>
void binary(Operands operands, void* result, size_t count, F f) {
  const auto* a = data<Traits>(operands[0]);
  const auto* b = data<Traits>(operands[1]);
  auto* out = static_cast<typename Traits::Storage*>(result);
  for (size_t i = 0; i < count; ++i) out[i] = Traits::store(f(Traits::load(a[i]), Traits::load(b[i])));
}

template <class Traits>
constexpr bool kIsFloat = std::is_floating_point_v<typename Traits::Compute>;
template <class Traits>
constexpr bool kIsBool = std::is_same_v<typename Traits::Compute, bool>;

template <class Traits>
constexpr unsigned kBits = 8 * sizeof(typename Traits::Storage);

template <class Traits>
void arithmetic_float(Opcode op, Operands operands, void* result, size_t count) {
  using T = typename Traits::Compute;
  switch (op) {
    case Opcode::kAdd:
      return binary<Traits>(operands, result, count, [](T a, T b) { return a + b; });
    case Opcode::kSub:
      return binary<Traits>(operands, result, count, [](T a, T b) { return a - b; });
    case Opcode::kMul:
      return binary<Traits>(operands, result, count, [](T a, T b) { return a * b; });
    case Opcode::kDiv:
      return binary<Traits>(operands, result, count, [](T a, T b) { return a / b; });
    case Opcode::kNeg:
      return unary<Traits>(operands, result, count, [](T a) { return -a; });
    case Opcode::kMin:
      return binary<Traits>(operands, result, count, minimum<T>);
    case Opcode::kMax:
      return binary<Traits>(operands, result, count, maximum<T>);
    default:
      TENON_UNREACHABLE("no arithmetic operation");
  }
}

template <class Traits>
void arithmetic_integer(Opcode op, Operands operands, void* result, size_t count) {
  using T = typename Traits::Compute;
  constexpr bool kFloors = Traits::kType == ElementType::kIndex;
  switch (op) {
    case Opcode::kAdd:
      return binary<Traits>(operands, result, count, wrapping_add<T>);
    case Opcode::kSub:
      return binary<Traits>(operands, result, count, wrapping_sub<T>);
    case Opcode::kMul:
      return binary<Traits>(operands, result, count, wrapping_mul<T>);
    case Opcode::kDiv:
      return binary<Traits>(operands, result, count, kFloors ? div_floor<T> : div_trunc<T>);
    case Opcode::kRem:
      return binary<Traits>(operands, result, count, kFloors ? mod_floor<T> : rem_trunc<T>);
    case Opcode::kNeg:
      return unary<Traits>(operands, result, count, wrapping_neg<T>);
    case Opcode::kMin:
      return binary<Traits>(operands, result, count, [](T a, T b) { return b < a ? b : a; });
    case Opcode::kMax:
      return binary<Traits>(operands, result, count, [](T a, T b) { return a < b ? b : a; });
    default:
      TENON_UNREACHABLE("no arithmetic operation");
  }
}

void arithmetic(Opcode op, Operands operands, ElementType type, void* result, size_t count) {
  with_type(type, [&](auto traits) {
    using Traits = decltype(traits);
    if constexpr (kIsFloat<Traits>) {
      arithmetic_float<Traits>(op, operands, result, count);
    } else if constexpr (!kIsBool<Traits>) {
      arithmetic_integer<Traits>(op, operands, result, count);
    } else {
      TENON_UNREACHABLE("arithmetic on bool");
    }
  });
}

void bitwise(Opcode op, Operands operands, ElementType type, void* result, size_t count) {
  with_type(type, [&](auto traits) {
    using Traits = decltype(traits);
    using T = typename Traits::Compute;
    if constexpr (kIsFloat<Traits>) {
      TENON_UNREACHABLE("bitwise operation on floats");
    } else {
      auto as = [](auto x) { return static_cast<T>(x); };
      switch (op) {
        case Opcode::kAnd:
          return binary<Traits>(operands, result, count, [=](T a, T b) { return as(a & b); });
        case Opcode::kOr:
          return binary<Traits>(operands, result, count, [=](T a, T b) { return as(a | b); });
        case Opcode::kXor:
          return binary<Traits>(operands, result, count, [=](T a, T b) { return as(a ^ b); });
        default:
          return unary<Traits>(operands, result, count, [=](T a) {
            if constexpr (kIsBool<Traits>) return !a;
            return as(~a);
          });
      }
    }
  });
}

// The counts as int64_t, of which only the sign and whether they are small matters.
int64_t count_at(LaneView counts, size_t i) {
  return with_type(counts.type, [&](auto traits) -> int64_t {
    using Traits = decltype(traits);
    auto value = data<Traits>(counts)[i];
    if constexpr (std::is_same_v<typename Traits::Storage, uint64_t>) {
      return value > 64 ? 64 : static_cast<int64_t>(value);
    } else {
      return static_cast<int64_t>(value);
    }
  });
}

void shift(Opcode op, Operands operands, ElementType type, void* result, size_t count) {
  with_type(type, [&](auto traits) {
    using Traits = decltype(traits);
    using T = typename Traits::Storage;
    if constexpr (kIsFloat<Traits> || kIsBool<Traits>) {
      TENON_UNREACHABLE("shift of something that is no integer");
    } else {
      const T* a = data<Traits>(operands[0]);
      T* out = static_cast<T*>(result);
      for (size_t i = 0; i < count; ++i) {
        int64_t by = count_at(operands[1], i);
        out[i] = op == Opcode::kShl ? shift_left<T>(a[i], by) : shift_right<T>(a[i], by);
      }
    }
  });
}

template <class Traits, class F>
void compared(Operands operands, void* result, size_t count, F f) {
  const auto* a = data<Traits>(operands[0]);
  const auto* b = data<Traits>(operands[1]);
  auto* out = static_cast<uint8_t*>(result);
  for (size_t i = 0; i < count; ++i) out[i] = f(Traits::load(a[i]), Traits::load(b[i]));
}

void compare_lanes(Opcode op, Operands operands, void* result, size_t count) {
  with_type(operands[0].type, [&](auto traits) {
    using Traits = decltype(traits);
    using T = typename Traits::Compute;
    switch (op) {
      case Opcode::kEq:
        return compared<Traits>(operands, result, count, [](T a, T b) { return a == b; });
      case Opcode::kNe:
        return compared<Traits>(operands, result, count, [](T a, T b) { return a != b; });
      case Opcode::kLt:
        return compared<Traits>(operands, result, count, [](T a, T b) { return a < b; });
      case Opcode::kLe:
        return compared<Traits>(operands, result, count, [](T a, T b) { return a <= b; });
      case Opcode::kGt:
        return compared<Traits>(operands, result, count, [](T a, T b) { return a > b; });
      default:
        return compared<Traits>(operands, result, count, [](T a, T b) { return a >= b; });
    }
  });
}

void select(Operands operands, ElementType type, void* result, size_t count) {
  const auto* condition = static_cast<const uint8_t*>(operands[0].data);
  with_type(type, [&](auto traits) {
    using T = typename decltype(traits)::Storage;
    const T* a = static_cast<const T*>(operands[1].data);
    const T* b = static_cast<const T*>(operands[2].data);
    T* out = static_cast<T*>(result);
    for (size_t i = 0; i < count; ++i) out[i] = condition[i] != 0 ? a[i] : b[i];
  });
}

// a * b + c of narrow floats: the product is exact in f64, and where the sum is not, its last bit is set so
// that the second rounding sees that something is below (rounding to odd).
double fused_in_double(float a, float b, float c) {
  double product = static_cast<double>(a) * static_cast<double>(b);
  double sum = product + c;
  double back = sum - product;
  double error = (product - (sum - back)) + (c - back);
  auto bits = std::bit_cast<uint64_t>(sum);
  if (error == 0 || !std::isfinite(sum) || (bits & 1) != 0) return sum;
  bool outward = (error > 0) == (sum > 0);
  return std::bit_cast<double>(outward ? bits + 1 : bits - 1);
}

template <class Traits>
void fused(Operands operands, void* result, size_t count) {
  using T = typename Traits::Compute;
  const auto* a = data<Traits>(operands[0]);
  const auto* b = data<Traits>(operands[1]);
  const auto* c = data<Traits>(operands[2]);
  auto* out = static_cast<typename Traits::Storage*>(result);
  for (size_t i = 0; i < count; ++i) {
    T x = Traits::load(a[i]), y = Traits::load(b[i]), z = Traits::load(c[i]);
    if constexpr (kBits<Traits> >= 32) {
      out[i] = std::fma(x, y, z);
    } else {
      out[i] = static_cast<typename Traits::Storage>(float_bits(Traits::kType, fused_in_double(x, y, z)));
    }
  }
}

template <class Traits>
void float_function(FunctionId function, Operands operands, void* result, size_t count) {
  using T = typename Traits::Compute;
  switch (function) {
    case FunctionId::kAbs:
      return unary<Traits>(operands, result, count, [](T a) { return std::fabs(a); });
    case FunctionId::kFloor:
      return unary<Traits>(operands, result, count, [](T a) { return std::floor(a); });
    case FunctionId::kCeil:
      return unary<Traits>(operands, result, count, [](T a) { return std::ceil(a); });
    case FunctionId::kTrunc:
      return unary<Traits>(operands, result, count, [](T a) { return std::trunc(a); });
    case FunctionId::kRound:
      return unary<Traits>(operands, result, count, round_even<T>);
    case FunctionId::kSqrt:
      return unary<Traits>(operands, result, count, [](T a) { return std::sqrt(a); });
    case FunctionId::kFma:
      return fused<Traits>(operands, result, count);
    default:
      TENON_UNREACHABLE("no exact function of floats");
  }
}

template <class Traits>
void integer_function(FunctionId function, Operands operands, void* result, size_t count) {
  using T = typename Traits::Compute;
  switch (function) {
    case FunctionId::kAbs:
      return unary<Traits>(operands, result, count, wrapping_abs<T>);
    case FunctionId::kPopcount:
      return unary<Traits>(operands, result, count, population_count<T>);
    case FunctionId::kClz:
      return unary<Traits>(operands, result, count, count_leading_zeros<T>);
    default:
      TENON_UNREACHABLE("no function of integers");
  }
}

template <class Traits>
void classify(FunctionId function, LaneView operand, void* result, size_t count) {
  const auto* a = data<Traits>(operand);
  auto* out = static_cast<uint8_t*>(result);
  for (size_t i = 0; i < count; ++i) {
    auto x = Traits::load(a[i]);
    out[i] = function == FunctionId::kIsNan ? x != x : std::isinf(x);
  }
}

void exact_function(FunctionId function, Operands operands, void* result, size_t count) {
  with_type(operands[0].type, [&](auto traits) {
    using Traits = decltype(traits);
    if constexpr (kIsFloat<Traits>) {
      if (row(function).result == FunctionResult::kBool)
        return classify<Traits>(function, operands[0], result, count);
      float_function<Traits>(function, operands, result, count);
    } else if constexpr (!kIsBool<Traits>) {
      integer_function<Traits>(function, operands, result, count);
    } else {
      TENON_UNREACHABLE("function of a bool");
    }
  });
}

// An integer of any width rounded once to a narrow float; f8 saturates.
template <class To, class Integer>
typename To::Storage narrow_from_integer(Integer x) {
  if constexpr (To::kType == ElementType::kF16) return encode_int<Float16>(x);
  if constexpr (To::kType == ElementType::kBF16) return encode_int<BFloat16>(x);
  // Beyond the largest f8 everything saturates, so a clamped integer is as good and exact in f32.
  constexpr int64_t kBeyond = 1 << 20;
  auto wide = index_from_int(x);
  return To::store(static_cast<float>(wide < -kBeyond ? -kBeyond : wide > kBeyond ? kBeyond : wide));
}

template <class From, class To>
typename To::Storage converted(typename From::Storage bits) {
  auto x = From::load(bits);
  constexpr bool kToIndex = To::kType == ElementType::kIndex;
  if constexpr (From::kType == To::kType) {
    return bits;
  } else if constexpr (kIsBool<To>) {
    return x != 0;
  } else if constexpr (kIsFloat<From> && kIsFloat<To>) {
    // From f64 directly: through f32 it would round twice.
    if constexpr (From::kType == ElementType::kF64 && To::kType != ElementType::kF32)
      return static_cast<typename To::Storage>(float_bits(To::kType, x));
    else
      return To::store(static_cast<typename To::Compute>(x));
  } else if constexpr (kIsFloat<To>) {
    if constexpr (kIsBool<From> || kBits<From> <= 16 || kBits<To> >= 32)
      return To::store(static_cast<typename To::Compute>(x));
    else
      return narrow_from_integer<To>(x);
  } else if constexpr (kIsFloat<From>) {
    if constexpr (kToIndex)
      return index_from_float(x);
    else
      return int_from_float<typename To::Storage>(x);
  } else if constexpr (kToIndex && !kIsBool<From>) {
    return index_from_int(x);
  } else {
    return static_cast<typename To::Storage>(x);
  }
}

}  // namespace

void cast_lanes(LaneView from, ElementType to, void* result, size_t count) {
  with_type(from.type, [&](auto source) {
    with_type(to, [&](auto target) {
      using From = decltype(source);
      using To = decltype(target);
      const auto* a = data<From>(from);
      auto* out = static_cast<typename To::Storage*>(result);
      for (size_t i = 0; i < count; ++i) out[i] = converted<From, To>(a[i]);
    });
  });
}

void lanes_to_double(LaneView lanes, double* result, size_t count) {
  with_type(lanes.type, [&](auto traits) {
    using Traits = decltype(traits);
    const auto* a = data<Traits>(lanes);
    for (size_t i = 0; i < count; ++i) result[i] = static_cast<double>(Traits::load(a[i]));
  });
}

double round_to_type(ElementType type, double value) {
  if (type == ElementType::kF32) return static_cast<float>(value);
  if (type == ElementType::kF64) return value;
  return float_value(type, float_bits(type, value));
}

void evaluate_lanes(Opcode op, bool approx, std::span<const LaneView> operands, ElementType type,
                    void* result, size_t count, FunctionLanes functions) {
  switch (row(op).rule) {
    case TypeRule::kSame:
    case TypeRule::kSameInt:
      return arithmetic(op, operands, type, result, count);
    case TypeRule::kSameBits:
      return bitwise(op, operands, type, result, count);
    case TypeRule::kShift:
      return shift(op, operands, type, result, count);
    case TypeRule::kCompare:
      return compare_lanes(op, operands, result, count);
    case TypeRule::kSelect:
      return select(operands, type, result, count);
    case TypeRule::kCast:
      return cast_lanes(operands[0], type, result, count);
    case TypeRule::kFunction: {
      FunctionId function = function_of(op);
      if (row(function).ulp <= 0.5) return exact_function(function, operands, result, count);
      return functions(function, approx, type, operands, result, count);
    }
    default:
      TENON_UNREACHABLE("no scalar operation that has operands");
  }
}

}  // namespace tenon::ir
