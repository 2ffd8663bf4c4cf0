#include "ir/error_bounds.h"

#include <algorithm>
#include <array>
#include <cmath>
#include <limits>

#include "support/check.h"
#include "support/numeric.h"
#include "support/reference_math.h"

namespace tenon::ir {
namespace {

constexpr double kAnything = std::numeric_limits<double>::infinity();
constexpr double kLeastNormal = 0x1p-126;

// Widens an interval computed in doubles by what computing it may have lost.
constexpr double kSlack = 0x1p-50;

struct Interval {
  double low = 0;
  double high = 0;
};

Interval around(double value, double bound) { return {value - bound, value + bound}; }

// x * bound where an exact operand counts as 0 even beside an infinity.
double times(double x, double bound) { return bound == 0 ? 0 : std::fabs(x) * bound; }

// From a value to an end of where it may lie.
double gap(double end, double value) {
  if (end == value) return 0;
  double distance = std::fabs(end - value);
  return distance < kAnything ? distance : kAnything;
}

struct Lane {
  std::array<double, 3> value;
  std::array<double, 3> bound;
  double result = 0;
};

bool flushes(ElementType type) { return type == ElementType::kF32 || type == ElementType::kBF16; }

// The bound of a float result from the exact result `x` and how far it may move.
double moved_bound(ElementType type, double result, double x, double shift) {
  if (shift == 0) return 0;
  if (!(shift < kAnything)) return kAnything;
  if (std::isnan(x)) return 0;
  // Doubles do not overflow but in f64, and then an operand within its bounds may not.
  if (std::isinf(x)) return type == ElementType::kF64 ? kAnything : 0;
  double wide = shift + (std::fabs(x) + shift) * kSlack;
  if (type == ElementType::kF64) return wide + ulp_f64(std::fabs(x) + wide);
  return rounded_bound(type, result, x - wide, x + wide);
}

double quotient_shift(const Lane& lane) {
  auto [a, b, unused] = lane.value;
  auto [ea, eb, unused_bound] = lane.bound;
  if (ea == 0 && eb == 0) return 0;
  if (eb >= std::fabs(b)) return kAnything;
  return (ea + times(a / b, eb)) / (std::fabs(b) - eb);
}

double quotient_bound(ElementType type, bool approx, const Lane& lane) {
  double x = lane.value[0] / lane.value[1];
  double shift = quotient_shift(lane);
  if (!approx || type == ElementType::kF64) return moved_bound(type, lane.result, x, shift);
  auto single = static_cast<float>(x);
  double own =
      approx_division_error(static_cast<float>(lane.value[0]), static_cast<float>(lane.value[1]), single);
  bool special = !std::isfinite(x) && std::fabs(lane.value[1]) >= (lane.value[1] == 0 ? 0 : kLeastNormal);
  // The reciprocal of a huge divisor is 0, and infinity times that is a NaN.
  if (std::isinf(lane.value[0]) && std::isfinite(lane.value[1]) && std::fabs(lane.value[1]) > 0x1p126)
    return kAnything;
  if (special && shift < kAnything) return 0;
  if (!(own < kAnything) || !(shift < kAnything)) return kAnything;
  // At the other end of the bounds the result may be in the next binade.
  double wide = shift + own * (shift == 0 ? 1 : 2 + shift / std::max(std::fabs(x), kLeastNormal));
  return type == ElementType::kF32 ? wide + (shift == 0 ? 0 : ulp_f32(std::fabs(x) + wide))
                                   : rounded_bound(type, lane.result, x - wide, x + wide);
}

double extreme_bound(bool largest, const Lane& lane) {
  if (std::isnan(lane.result)) return std::max(lane.bound[0], lane.bound[1]) < kAnything ? 0 : kAnything;
  Interval a = around(lane.value[0], lane.bound[0]);
  Interval b = around(lane.value[1], lane.bound[1]);
  double low = largest ? std::max(a.low, b.low) : std::min(a.low, b.low);
  double high = largest ? std::max(a.high, b.high) : std::min(a.high, b.high);
  return std::max(gap(high, lane.result), gap(low, lane.result));
}

double product_bound(ElementType type, const Lane& lane) {
  auto [a, b, unused] = lane.value;
  auto [ea, eb, unused_bound] = lane.bound;
  // Infinity times what is certainly not 0.
  bool infinite =
      (std::isinf(a) && ea == 0 && std::fabs(b) > eb) || (std::isinf(b) && eb == 0 && std::fabs(a) > ea);
  if (infinite && ea < kAnything && eb < kAnything) return 0;
  return moved_bound(type, lane.result, a * b, times(a, eb) + times(b, ea) + times(ea, eb));
}

double arithmetic_bound(Opcode op, bool approx, ElementType type, const Lane& lane) {
  auto [a, b, unused] = lane.value;
  auto [ea, eb, unused_bound] = lane.bound;
  switch (op) {
    case Opcode::kAdd:
      return moved_bound(type, lane.result, a + b, ea + eb);
    case Opcode::kSub:
      return moved_bound(type, lane.result, a - b, ea + eb);
    case Opcode::kMul:
      return product_bound(type, lane);
    case Opcode::kDiv:
      return quotient_bound(type, approx, lane);
    case Opcode::kNeg:
      return ea;
    case Opcode::kMin:
      return extreme_bound(false, lane);
    case Opcode::kMax:
      return extreme_bound(true, lane);
    default:
      TENON_UNREACHABLE("no arithmetic operation");
  }
}

double reference(FunctionId function, const Lane& lane, size_t arity) {
  return reference_f64(function, std::span(lane.value.data(), arity));
}

Interval hull(double a, double b) {
  // A NaN at one end: the bounds leave the domain.
  if (std::isnan(a) || std::isnan(b)) return {-kAnything, kAnything};
  return {std::min(a, b), std::max(a, b)};
}

Interval ends(FunctionId function, const Lane& lane, size_t argument, size_t arity) {
  Lane low = lane, high = lane;
  low.value[argument] -= lane.bound[argument];
  high.value[argument] += lane.bound[argument];
  return hull(reference(function, low, arity), reference(function, high, arity));
}

Interval lipschitz(FunctionId function, const Lane& lane) {
  return around(reference(function, lane, 1), lane.bound[0]);
}

Interval tangent(const Lane& lane) {
  constexpr double kPi = 3.14159265358979323846;
  auto branch = [](double x) { return std::floor(x / kPi + 0.5); };
  Interval x = around(lane.value[0], lane.bound[0]);
  // Near a pole, and for huge arguments, the branch is not sure enough.
  double margin = 1e-9 + std::fabs(x.high) * kSlack + std::fabs(x.low) * kSlack;
  if (branch(x.low - margin) != branch(x.high + margin)) return {-kAnything, kAnything};
  return ends(FunctionId::kTan, lane, 0, 1);
}

Interval even(FunctionId function, const Lane& lane) {
  Interval range = ends(function, lane, 0, 1);
  if (std::fabs(lane.value[0]) <= lane.bound[0]) range.low = 1;
  return range;
}

Interval angle(const Lane& lane) {
  double y = lane.value[0], x = lane.value[1];
  double reach = lane.bound[0] + lane.bound[1];
  double distance = std::hypot(x, y);
  // The cut along negative x, and the origin.
  bool cut = x - lane.bound[1] <= 0 && std::fabs(y) <= lane.bound[0];
  if (cut || distance <= 2 * reach) return {-kAnything, kAnything};
  double value = std::atan2(y, x);
  return around(value, reach / (distance - reach));
}

// Monotone in each argument where the base keeps its sign.
Interval power(const Lane& lane) {
  double x = lane.value[0];
  bool crosses = std::fabs(x) <= lane.bound[0];
  if (crosses || (x < 0 && lane.bound[1] > 0)) return {-kAnything, kAnything};
  Lane low = lane, high = lane;
  low.value[0] = x - lane.bound[0];
  high.value[0] = x + lane.bound[0];
  Interval a = ends(FunctionId::kPow, low, 1, 2);
  Interval b = ends(FunctionId::kPow, high, 1, 2);
  return {std::min(a.low, b.low), std::max(a.high, b.high)};
}

Interval function_range(FunctionId function, const Lane& lane) {
  switch (function) {
    case FunctionId::kAbs:
    case FunctionId::kSin:
    case FunctionId::kCos:
      return lipschitz(function, lane);
    case FunctionId::kTan:
      return tangent(lane);
    case FunctionId::kCosh:
      return even(function, lane);
    case FunctionId::kAtan2:
      return angle(lane);
    case FunctionId::kPow:
      return power(lane);
    case FunctionId::kFma: {
      auto [a, b, c] = lane.value;
      auto [ea, eb, ec] = lane.bound;
      return around(std::fma(a, b, c), times(a, eb) + times(b, ea) + times(ea, eb) + ec);
    }
    default:
      return ends(function, lane, 0, 1);
  }
}

// What the function itself may be off by, at a value of f32 (f64 for that type). Where the result is infinite
// or NaN it is so on the device too, unless that takes the argument for another.
double own_error(FunctionId function, bool approx, ElementType type, const Lane& lane, size_t arity) {
  if (type == ElementType::kF64)
    return std::isfinite(lane.result) ? function_error_f64(function, lane.result) : 0;
  std::array<float, 3> args = {};
  bool denormal = false;
  for (size_t i = 0; i < arity; ++i) {
    args[i] = static_cast<float>(lane.value[i]);
    denormal = denormal || (args[i] != 0 && std::fabs(args[i]) < kLeastNormal);
  }
  std::span<const float> given(args.data(), arity);
  float wide = reference_f32(function, given);
  if (!std::isfinite(wide)) return approx && denormal ? kAnything : 0;
  return function_error(function, approx, wide, given);
}

// How far a result of `type` may lie from `value` when the exact one is in the range.
double range_bound(double value, Interval range) {
  return std::max(gap(range.high, value), gap(range.low, value));
}

// An exact argument: only the function's own error counts.
double own_bound(FunctionId function, ElementType type, const Lane& lane, double own) {
  if (type == ElementType::kF32 || type == ElementType::kF64) return own;
  std::array<float, 3> args = {};
  size_t arity = row(function).arity;
  for (size_t i = 0; i < arity; ++i) args[i] = static_cast<float>(lane.value[i]);
  double wide = reference_f32(function, std::span<const float>(args.data(), arity));
  return rounded_bound(type, lane.result, wide - own, wide + own);
}

// The function is a rounding of the exact result.
bool is_rounded(FunctionId function, bool approx) {
  return row(function).ulp <= 0.5 && (!approx || row(function).approx_ulp <= 0.5);
}

double function_bound(FunctionId function, bool approx, ElementType type, const Lane& lane) {
  size_t arity = row(function).arity;
  bool rounds = is_rounded(function, approx);
  double own = rounds ? 0 : own_error(function, approx, type, lane, arity);
  double shift = 0;
  bool nan = false;
  for (size_t i = 0; i < arity; ++i) {
    shift = std::max(shift, lane.bound[i]);
    nan = nan || std::isnan(lane.value[i]);
  }
  if (!(own < kAnything) || !(shift < kAnything)) return nan && shift < kAnything ? 0 : kAnything;
  if (std::isnan(lane.result)) return nan || shift == 0 ? 0 : kAnything;
  if (shift == 0) return own_bound(function, type, lane, own);
  Interval range = function_range(function, lane);
  if (range.low == -kAnything && range.high == kAnything) return kAnything;
  double reach = std::max(std::fabs(range.low), std::fabs(range.high));
  // Infinite at one end: it is so everywhere, or nothing is promised.
  if (std::isinf(reach)) return range_bound(lane.result, range);
  // The own error grows with the result, at most in proportion and by the step to the next binade.
  double grown = 2 * own * std::max(1.0, reach / std::max(std::fabs(lane.result), kLeastNormal));
  double wide = grown + reach * kSlack;
  if (type != ElementType::kF32 && type != ElementType::kF64) wide += ulp_f32(reach);
  range = {range.low - wide, range.high + wide};
  if (type == ElementType::kF64) return range_bound(lane.result, range) + ulp_f64(reach);
  // Rounded ends, so that overflow shows; an error in units of the result needs the unrounded ones too.
  double bound = rounded_bound(type, lane.result, range.low, range.high);
  return type == ElementType::kF32 && !rounds ? std::max(bound, range_bound(lane.result, range)) : bound;
}

// Whether operands within their bounds may compare otherwise.
bool comparison_is_open(const Lane& lane) {
  double reach = lane.bound[0] + lane.bound[1];
  if (reach == 0) return false;
  if (!(reach < kAnything)) return true;
  if (std::isnan(lane.value[0]) || std::isnan(lane.value[1])) return false;
  return !(std::fabs(lane.value[0] - lane.value[1]) > reach * (1 + kSlack));
}

double cast_bound(ElementType from, ElementType to, const Lane& lane) {
  double x = lane.value[0], bound = lane.bound[0];
  if (bound == 0) return 0;
  if (!(bound < kAnything)) return kAnything;
  if (is_float(to)) return is_float(from) ? moved_bound(to, lane.result, x, bound) : kAnything;
  if (std::isnan(x)) return 0;
  Interval range = around(x, bound);
  if (to == ElementType::kBool) return range.low <= 0 && range.high >= 0 ? kAnything : 0;
  return std::trunc(range.low) == std::trunc(range.high) ? 0 : kAnything;
}

double select_bound(ElementType type, const Lane& lane) {
  bool first = lane.value[0] != 0;
  double chosen = lane.value[first ? 1 : 2], other = lane.value[first ? 2 : 1];
  double bound = lane.bound[first ? 1 : 2], other_bound = lane.bound[first ? 2 : 1];
  if (lane.bound[0] == 0) return bound;
  bool same = chosen == other || (std::isnan(chosen) && std::isnan(other));
  if (same) return std::max(bound, other_bound);
  if (!is_float(type)) return kAnything;
  double apart = (std::fabs(chosen - other) + other_bound) * (1 + kSlack);
  return apart < kAnything ? std::max(bound, apart) : kAnything;
}

// On bool a certain operand may decide alone.
double bits_bound(Opcode op, ElementType type, const Lane& lane) {
  auto [a, b, unused] = lane.value;
  auto [ea, eb, unused_bound] = lane.bound;
  if (op == Opcode::kNot) return ea;
  if (type == ElementType::kBool && op != Opcode::kXor) {
    bool decides = op == Opcode::kOr;
    if ((ea == 0 && (a != 0) == decides) || (eb == 0 && (b != 0) == decides)) return 0;
  }
  return std::max(ea, eb);
}

// A number stays one, and an infinity too, within a bound that is finite.
double classify_bound(const Lane& lane) { return lane.bound[0] < kAnything ? 0 : kAnything; }

double lane_bound(Opcode op, bool approx, ElementType operand_type, ElementType type, const Lane& lane) {
  switch (row(op).rule) {
    case TypeRule::kCompare:
      return comparison_is_open(lane) ? kAnything : 0;
    case TypeRule::kSelect:
      return select_bound(type, lane);
    case TypeRule::kCast:
      return cast_bound(operand_type, type, lane);
    case TypeRule::kSameBits:
      return bits_bound(op, type, lane);
    case TypeRule::kSame:
      if (is_float(type)) return arithmetic_bound(op, approx, type, lane);
      break;
    case TypeRule::kFunction:
      if (row(function_of(op)).result == FunctionResult::kBool) return classify_bound(lane);
      if (is_float(type)) return function_bound(function_of(op), approx, type, lane);
      break;
    default:
      break;
  }
  return std::max({lane.bound[0], lane.bound[1], lane.bound[2]});
}

// A denormal operand may have counted as zero, and so may a denormal result.
void flush_operands(Lane& lane, std::span<const BoundedLanes> operands) {
  for (size_t k = 0; k < operands.size(); ++k) {
    double magnitude = std::fabs(lane.value[k]);
    if (flushes(operands[k].type) && magnitude - lane.bound[k] < kLeastNormal && magnitude > 0)
      lane.bound[k] = std::max(lane.bound[k], magnitude);
  }
}

double flushed_result(ElementType type, const Lane& lane, double bound) {
  double magnitude = std::fabs(lane.result);
  return flushes(type) && magnitude - bound < kLeastNormal ? std::max(bound, magnitude) : bound;
}

}  // namespace

double rounded_bound(ElementType type, double value, double low, double high) {
  if (std::isnan(value)) return 0;
  return std::max(gap(round_to_type(type, high), value), gap(round_to_type(type, low), value));
}

bool keeps_exactness(Opcode op, bool approx, ElementType operand_type, const BoundRules& rules) {
  if (!is_float(operand_type)) return true;
  if (rules.flush && flushes(operand_type)) return false;
  if (op == Opcode::kDiv) return !approx;
  if (row(op).rule != TypeRule::kFunction) return true;
  return is_rounded(function_of(op), approx);
}

void propagate_bounds(Opcode op, bool approx, std::span<const BoundedLanes> operands,
                      const BoundedLanes& result, const BoundRules& rules, double* bounds, size_t count) {
  ElementType operand_type = operands.empty() ? result.type : operands[0].type;
  bool same = row(op).rule == TypeRule::kCompare && operands[0].values == operands[1].values;
  for (size_t i = 0; i < count; ++i) {
    Lane lane{{}, {}, result.values[i]};
    for (size_t k = 0; k < operands.size(); ++k) {
      lane.value[k] = operands[k].values[i];
      lane.bound[k] = operands[k].bound(i);
    }
    if (rules.flush) flush_operands(lane, operands);
    // A value beside itself, as in `x != x`.
    if (same) lane.bound[1] = lane.bound[0] = lane.bound[0] < kAnything ? 0 : kAnything;
    double bound = lane_bound(op, approx, operand_type, result.type, lane);
    bounds[i] = rules.flush ? flushed_result(result.type, lane, bound) : bound;
  }
}

}  // namespace tenon::ir
