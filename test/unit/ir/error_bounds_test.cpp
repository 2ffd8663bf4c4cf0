// Soundness: whatever lies within the operands' bounds gives a result within the result's bound.
#include "ir/error_bounds.h"

#include <gtest/gtest.h>

#include <array>
#include <cmath>
#include <limits>
#include <random>

#include "ir/reference_functions.h"
#include "support/numeric.h"
#include "support/reference_math.h"

namespace tenon::ir {
namespace {

constexpr double kInf = std::numeric_limits<double>::infinity();

struct Scalar {
  ElementType type;
  double value = 0;
};

// The operation on one lane, as the reference computes it.
double evaluated(Opcode op, bool approx, const std::vector<Scalar>& operands, ElementType type) {
  std::array<uint64_t, 3> bits = {};
  std::vector<LaneView> views;
  for (size_t k = 0; k < operands.size(); ++k) {
    bits[k] = is_float(operands[k].type) ? float_bits(operands[k].type, operands[k].value)
                                         : static_cast<uint64_t>(static_cast<int64_t>(operands[k].value));
    views.push_back({operands[k].type, &bits[k]});
  }
  uint64_t result = 0;
  evaluate_lanes(op, approx, views, type, &result, 1, reference_function_lanes);
  double value = 0;
  lanes_to_double({type, &result}, &value, 1);
  return value;
}

double bound_of(Opcode op, bool approx, const std::vector<Scalar>& operands,
                const std::vector<double>& bounds, ElementType type, double value, BoundRules rules = {}) {
  std::vector<BoundedLanes> lanes;
  for (size_t k = 0; k < operands.size(); ++k)
    lanes.push_back({operands[k].type, &operands[k].value, &bounds[k]});
  double bound = 0;
  propagate_bounds(op, approx, lanes, {type, &value, nullptr}, rules, &bound, 1);
  return bound;
}

class Sampler {
 public:
  explicit Sampler(uint32_t seed) : random_(seed) {}

  double unit() { return std::uniform_real_distribution<double>(-1, 1)(random_); }
  double value(ElementType type) {
    int exponent = static_cast<int>(random_() % 16) - 8;
    if (random_() % 20 == 0) exponent = static_cast<int>(random_() % 60) - 30;
    if (random_() % 30 == 0)
      return round_to_type(type, static_cast<double>(static_cast<int>(random_() % 5) - 2));
    return round_to_type(type, std::ldexp(unit(), exponent));
  }
  double bound(double value) {
    if (random_() % 4 == 0) return 0;
    return std::fabs(value) * std::ldexp(1.0, -static_cast<int>(random_() % 24)) +
           std::ldexp(unit() + 1, -20);
  }
  // Something of the type within the bound, often at its ends.
  double within(ElementType type, double value, double bound) {
    if (bound == 0 || !is_float(type)) return value;
    double shift = random_() % 3 == 0 ? 1 : random_() % 2 == 0 ? -1 : unit();
    double moved = round_to_type(type, value + bound * shift);
    return std::fabs(moved - value) <= bound ? moved : value;
  }
  uint32_t next() { return random_(); }

 private:
  std::mt19937 random_;
};

// What the device may add to the exact result at these operands, in f32; the error functions count from the
// rounded one.
double own_error(Opcode op, bool approx, ElementType type, const std::vector<Scalar>& operands,
                 double reference) {
  if (type != ElementType::kF32) return 0;
  std::array<float, 3> args = {};
  for (size_t k = 0; k < operands.size(); ++k) args[k] = static_cast<float>(operands[k].value);
  auto rounded = static_cast<float>(reference);
  if (op == Opcode::kDiv && approx) return approx_division_error(args[0], args[1], rounded);
  if (row(op).rule != TypeRule::kFunction) return 0;
  double error = function_error(function_of(op), approx, rounded, std::span(args.data(), operands.size()));
  return std::max(0.0, error - ulp_f32(reference) / 2);
}

void check_operation(Opcode op, ElementType type, bool approx, Sampler& sampler, int rounds) {
  auto arity = static_cast<size_t>(row(op).arity);
  bool compares = row(op).rule == TypeRule::kCompare;
  ElementType result_type = compares ? ElementType::kBool : type;
  int promised = 0;
  for (int round = 0; round < rounds; ++round) {
    std::vector<Scalar> center;
    std::vector<double> bounds;
    for (size_t k = 0; k < arity; ++k) {
      center.push_back({type, sampler.value(type)});
      if (compares && k == 1 && sampler.next() % 2 == 0)
        center[1].value = sampler.within(type, center[0].value, std::fabs(center[0].value) * 0x1p-6);
      bounds.push_back(sampler.bound(center[k].value));
    }
    if (op == Opcode::kSelect) {
      center[0] = {ElementType::kBool, static_cast<double>(sampler.next() % 2)};
      bounds[0] = sampler.next() % 2 == 0 ? 0 : kInf;
    }
    double value = evaluated(op, approx, center, result_type);
    double bound = bound_of(op, approx, center, bounds, result_type, value);
    ASSERT_FALSE(std::isnan(bound)) << row(op).mnemonic;
    ASSERT_GE(bound, 0) << row(op).mnemonic;
    if (bound == kInf) continue;
    ++promised;
    for (int trial = 0; trial < 10; ++trial) {
      std::vector<Scalar> moved = center;
      for (size_t k = 0; k < arity; ++k)
        moved[k].value = sampler.within(center[k].type, center[k].value, bounds[k]);
      if (op == Opcode::kSelect && bounds[0] == kInf) moved[0].value = trial % 2;
      double actual = evaluated(op, approx, moved, result_type);
      bool same = actual == value || (std::isnan(actual) && std::isnan(value));
      double error = (same ? 0 : std::fabs(actual - value)) + own_error(op, approx, type, moved, actual);
      if (std::isinf(error) && same) continue;
      ASSERT_LE(error, bound) << row(op).mnemonic << " " << name(type) << " of " << moved[0].value << ", "
                              << (arity > 1 ? moved[1].value : 0) << " is " << actual << ", not " << value
                              << " within " << bound << " of " << center[0].value << "+-" << bounds[0] << ", "
                              << (arity > 1 ? center[1].value : 0) << "+-" << (arity > 1 ? bounds[1] : 0);
    }
  }
  EXPECT_GT(promised, rounds / 10) << row(op).mnemonic << " " << name(type) << ": bounds promise nothing";
}

TEST(ErrorBounds, CoverWhatLiesWithinTheOperands) {
  Sampler sampler(1);
  for (unsigned i = 0; i < opcode_count(); ++i) {
    auto op = static_cast<Opcode>(i);
    if (row(op).stage != Stage::kBody || row(op).arity < 1) continue;
    TypeRule rule = row(op).rule;
    bool function = rule == TypeRule::kFunction;
    if (rule != TypeRule::kSame && rule != TypeRule::kCompare && rule != TypeRule::kSelect && !function)
      continue;
    for (ElementType type : {ElementType::kF32, ElementType::kF16, ElementType::kBF16, ElementType::kF64}) {
      if (function &&
          (!accepts(function_of(op), type) || row(function_of(op)).result == FunctionResult::kBool ||
           (type == ElementType::kF64 && !row(function_of(op)).f64)))
        continue;
      check_operation(op, type, false, sampler, 400);
      if (type != ElementType::kF64 && (function || op == Opcode::kDiv))
        check_operation(op, type, true, sampler, 200);
    }
  }
}

TEST(ErrorBounds, CoverCasts) {
  Sampler sampler(2);
  for (ElementType from : {ElementType::kF32, ElementType::kF64, ElementType::kBF16}) {
    for (ElementType to : {ElementType::kF16, ElementType::kF8E4M3, ElementType::kF8E5M2, ElementType::kF32,
                           ElementType::kI32, ElementType::kU8, ElementType::kBool, ElementType::kIndex}) {
      for (int round = 0; round < 2000; ++round) {
        std::vector<Scalar> center = {{from, sampler.value(from)}};
        std::vector<double> bounds = {sampler.bound(center[0].value)};
        double value = evaluated(Opcode::kCast, false, center, to);
        double bound = bound_of(Opcode::kCast, false, center, bounds, to, value);
        if (bound == kInf) continue;
        std::vector<Scalar> moved = {{from, sampler.within(from, center[0].value, bounds[0])}};
        double actual = evaluated(Opcode::kCast, false, moved, to);
        ASSERT_TRUE(actual == value || std::fabs(actual - value) <= bound)
            << name(from) << " " << name(to) << " " << center[0].value;
      }
    }
  }
}

TEST(ErrorBounds, ExactOperationsAddNothing) {
  EXPECT_TRUE(keeps_exactness(Opcode::kAdd, false, ElementType::kF32, {}));
  EXPECT_TRUE(keeps_exactness(Opcode::kDiv, false, ElementType::kF32, {}));
  EXPECT_FALSE(keeps_exactness(Opcode::kDiv, true, ElementType::kF32, {}));
  EXPECT_TRUE(keeps_exactness(Opcode::kSqrt, false, ElementType::kF32, {}));
  EXPECT_FALSE(keeps_exactness(Opcode::kExp, false, ElementType::kF32, {}));
  EXPECT_FALSE(keeps_exactness(Opcode::kAdd, false, ElementType::kF32, {.flush = true}));
  EXPECT_TRUE(keeps_exactness(Opcode::kAdd, false, ElementType::kI32, {.flush = true}));
}

double function_bound_at(Opcode op, bool approx, ElementType type, double x, double bound = 0) {
  double value = evaluated(op, approx, {{type, x}}, type);
  return bound_of(op, approx, {{type, x}}, {bound}, type, value);
}

TEST(ErrorBounds, FunctionsAddTheirTable) {
  float third = 1.0f / 3;
  EXPECT_EQ(function_bound_at(Opcode::kExp, false, ElementType::kF32, third),
            function_error(FunctionId::kExp, false, std::exp(third), std::span(&third, 1)));
  EXPECT_EQ(function_bound_at(Opcode::kExp, true, ElementType::kF32, third),
            function_error(FunctionId::kExp, true, std::exp(third), std::span(&third, 1)));
  // Two units of f32 do not reach the next f16, unless a tie is near.
  EXPECT_EQ(function_bound_at(Opcode::kExp, false, ElementType::kF16, 1), 0);
  // The derivative of exp at 1.
  EXPECT_NEAR(function_bound_at(Opcode::kExp, false, ElementType::kF32, 1, 0x1p-10), std::exp(1) * 0x1p-10,
              1e-5);
  EXPECT_EQ(function_bound_at(Opcode::kLog, false, ElementType::kF32, 0x1p-10, 0x1p-9), kInf);
  EXPECT_EQ(function_bound_at(Opcode::kTan, false, ElementType::kF32, 1.57079632679, 0x1p-10), kInf);
  EXPECT_EQ(function_bound_at(Opcode::kSqrt, false, ElementType::kF32, 2), 0);
  for (bool approx : {false, true}) {
    EXPECT_EQ(function_bound_at(Opcode::kLog, approx, ElementType::kF32, -1), 0);
    EXPECT_EQ(function_bound_at(Opcode::kLog, approx, ElementType::kF32, 0), 0);
    EXPECT_EQ(function_bound_at(Opcode::kExp, approx, ElementType::kF16, kInf), 0);
    EXPECT_EQ(function_bound_at(Opcode::kExp, approx, ElementType::kF32, std::nan("")), 0);
  }
  EXPECT_EQ(function_bound_at(Opcode::kLog, true, ElementType::kF32, -0x1p-140), kInf);
}

TEST(ErrorBounds, NanAndInfinityAreCertain) {
  double nan = std::nan("");
  auto bound = [](Opcode op, double a, double ea, double b, double eb) {
    std::vector<Scalar> operands = {{ElementType::kF32, a}, {ElementType::kF32, b}};
    return bound_of(op, false, operands, {ea, eb}, ElementType::kF32,
                    evaluated(op, false, operands, ElementType::kF32));
  };
  EXPECT_EQ(bound(Opcode::kAdd, nan, 0, 1, 0.5), 0);
  EXPECT_EQ(bound(Opcode::kAdd, kInf, 0, 1, 0.5), 0);
  EXPECT_EQ(bound(Opcode::kMul, kInf, 0, 1, 0.5), 0);
  EXPECT_EQ(bound(Opcode::kMul, kInf, 0, 1, 2), kInf);
  EXPECT_EQ(bound(Opcode::kMul, 0, 0, 1, kInf), kInf);
  EXPECT_EQ(bound(Opcode::kMax, -kInf, 0, 1, 0.5), 0.5);
  EXPECT_EQ(bound(Opcode::kMul, 3e38, 1e38, 1, 0), kInf);
  EXPECT_EQ(bound(Opcode::kDiv, 1, 0, 0.5, 1), kInf);
}

TEST(ErrorBounds, ApproximateDivisionByZeroIsInfinite) {
  auto bound = [](double a, double b) {
    std::vector<Scalar> operands = {{ElementType::kF32, a}, {ElementType::kF32, b}};
    return bound_of(Opcode::kDiv, true, operands, {0, 0}, ElementType::kF32,
                    evaluated(Opcode::kDiv, true, operands, ElementType::kF32));
  };
  EXPECT_EQ(bound(1, 0), 0);
  EXPECT_EQ(bound(0, 0), 0);
  EXPECT_EQ(bound(kInf, 2), 0);
  EXPECT_EQ(bound(kInf, 0x1p-140), kInf);
  EXPECT_EQ(bound(1, 0x1p-140), kInf);
  EXPECT_GT(bound(1, 3), 0x1p-26);
  EXPECT_LT(bound(1, 3), 0x1p-22);
}

TEST(ErrorBounds, ACertainBoolDecides) {
  auto bound = [](Opcode op, double a, double ea, double b, double eb) {
    std::vector<Scalar> operands = {{ElementType::kBool, a}, {ElementType::kBool, b}};
    return bound_of(op, false, operands, {ea, eb}, ElementType::kBool,
                    evaluated(op, false, operands, ElementType::kBool));
  };
  EXPECT_EQ(bound(Opcode::kAnd, 0, 0, 1, kInf), 0);
  EXPECT_EQ(bound(Opcode::kAnd, 1, 0, 1, kInf), kInf);
  EXPECT_EQ(bound(Opcode::kOr, 1, kInf, 1, 0), 0);
  EXPECT_EQ(bound(Opcode::kXor, 1, kInf, 1, 0), kInf);
}

TEST(ErrorBounds, FlushingCountsDenormals) {
  std::vector<Scalar> operands = {{ElementType::kF32, 0x1p-130}, {ElementType::kF32, 0x1p100}};
  double value = 0x1p-30;
  EXPECT_EQ(bound_of(Opcode::kMul, false, operands, {0, 0}, ElementType::kF32, value), 0);
  EXPECT_GE(bound_of(Opcode::kMul, false, operands, {0, 0}, ElementType::kF32, value, {.flush = true}),
            value);
  operands = {{ElementType::kF32, 0x1p-100}, {ElementType::kF32, 0x1p-30}};
  EXPECT_EQ(bound_of(Opcode::kMul, false, operands, {0, 0}, ElementType::kF32, 0x1p-130, {.flush = true}),
            0x1p-130);
}

}  // namespace
}  // namespace tenon::ir
