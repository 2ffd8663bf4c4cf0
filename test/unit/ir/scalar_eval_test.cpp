#include "ir/scalar_eval.h"

#include <gtest/gtest.h>

#include <cmath>
#include <limits>
#include <random>
#include <vector>

#include "ir/element_traits.h"
#include "ir/reference_functions.h"

namespace tenon::ir {
namespace {

template <class T>
LaneView view(ElementType type, const std::vector<T>& lanes) {
  return {type, lanes.data()};
}

template <class R, class T>
R one(Opcode op, ElementType type, std::vector<T> operands, ElementType result) {
  std::vector<LaneView> views;
  for (const T& operand : operands) views.push_back({type, &operand});
  R out{};
  evaluate_lanes(op, false, views, result, &out, 1, reference_function_lanes);
  return out;
}

template <class R, class T>
R cast(ElementType from, T value, ElementType to) {
  R out{};
  cast_lanes({from, &value}, to, &out, 1);
  return out;
}

TEST(ScalarEval, IntegersWrapAndNothingTraps) {
  auto i8 = [](Opcode op, int8_t a, int8_t b) {
    return int{one<int8_t, int8_t>(op, ElementType::kI8, {a, b}, ElementType::kI8)};
  };
  EXPECT_EQ(i8(Opcode::kAdd, 127, 1), -128);
  EXPECT_EQ(i8(Opcode::kMul, 100, 3), 44);
  EXPECT_EQ(i8(Opcode::kDiv, -128, -1), -128);
  EXPECT_EQ(i8(Opcode::kDiv, 5, 0), 0);
  EXPECT_EQ(i8(Opcode::kDiv, -7, 2), -3);
  EXPECT_EQ(i8(Opcode::kRem, -7, 2), -1);
  EXPECT_EQ(i8(Opcode::kRem, 5, 0), 5);
  EXPECT_EQ(i8(Opcode::kShl, 1, 8), 0);
  EXPECT_EQ(i8(Opcode::kShr, -8, 100), -1);
  EXPECT_EQ(i8(Opcode::kShr, -8, -1), -1);
  EXPECT_EQ(i8(Opcode::kMin, -8, 3), -8);
  EXPECT_EQ(i8(Opcode::kXor, 5, 3), 6);
  auto index = [](Opcode op, int64_t a, int64_t b) {
    return one<int64_t, int64_t>(op, ElementType::kIndex, {a, b}, ElementType::kIndex);
  };
  EXPECT_EQ(index(Opcode::kDiv, -7, 2), -4);
  EXPECT_EQ(index(Opcode::kRem, -7, 2), 1);
  EXPECT_EQ((one<int32_t, int32_t>(Opcode::kClz, ElementType::kI32, {1}, ElementType::kI32)), 31);
  EXPECT_EQ((one<uint8_t, uint8_t>(Opcode::kNot, ElementType::kBool, {1}, ElementType::kBool)), 0);
  EXPECT_EQ((one<uint8_t, uint8_t>(Opcode::kNot, ElementType::kU8, {1}, ElementType::kU8)), 254);
}

TEST(ScalarEval, FloatsRoundOnce) {
  float nan = std::numeric_limits<float>::quiet_NaN();
  auto f32 = [](Opcode op, std::vector<float> operands) {
    return one<float>(op, ElementType::kF32, std::move(operands), ElementType::kF32);
  };
  EXPECT_EQ(f32(Opcode::kDiv, {1, 3}), 1.0f / 3);
  EXPECT_TRUE(std::signbit(f32(Opcode::kMin, {0.0f, -0.0f})));
  EXPECT_FALSE(std::signbit(f32(Opcode::kMax, {-0.0f, 0.0f})));
  EXPECT_TRUE(std::isnan(f32(Opcode::kMax, {1, nan})));
  EXPECT_EQ(f32(Opcode::kRound, {2.5f}), 2);
  EXPECT_EQ(f32(Opcode::kFma, {1 + 0x1p-12f, 1 + 0x1p-12f, -1}), 0x1.0008p-11f);
  EXPECT_EQ((one<uint8_t, float>(Opcode::kNe, ElementType::kF32, {nan, nan}, ElementType::kBool)), 1);
  EXPECT_EQ((one<uint8_t, float>(Opcode::kGe, ElementType::kF32, {nan, nan}, ElementType::kBool)), 0);
  EXPECT_EQ((one<uint8_t, float>(Opcode::kIsNan, ElementType::kF32, {nan}, ElementType::kBool)), 1);
}

TEST(ScalarEval, FusedNarrowFloatsRoundOnce) {
  std::mt19937 random(3);
  int differ = 0;
  for (int i = 0; i < 200000; ++i) {
    std::vector<uint16_t> operands;
    for (int k = 0; k < 3; ++k) operands.push_back(static_cast<uint16_t>(random() & 0xBFFF));
    auto value = [&](int k) { return static_cast<long double>(f32_from_f16(operands[k])); };
    uint16_t fused = one<uint16_t>(Opcode::kFma, ElementType::kF16, operands, ElementType::kF16);
    // 64 bits hold the sum exactly but in far corners.
    long double exact = value(0) * value(1) + value(2);
    if (std::isnan(static_cast<double>(exact))) continue;
    double distance = std::fabs(static_cast<double>(f32_from_f16(fused) - exact));
    for (int step : {-1, 1}) {
      float neighbour = f32_from_f16(static_cast<uint16_t>(fused + step));
      if (std::isfinite(neighbour) && std::isfinite(f32_from_f16(fused)))
        ASSERT_LE(distance, std::fabs(static_cast<double>(neighbour - exact)))
            << operands[0] << " " << operands[1];
    }
    uint16_t twice = f16_from_f32(
        std::fma(f32_from_f16(operands[0]), f32_from_f16(operands[1]), f32_from_f16(operands[2])));
    differ += twice != fused;
  }
  EXPECT_LT(differ, 100);
}

TEST(ScalarEval, Casts) {
  EXPECT_EQ(cast<int32_t>(ElementType::kF32, 3e9f, ElementType::kI32), INT32_MAX);
  EXPECT_EQ(cast<int32_t>(ElementType::kF32, -2.9f, ElementType::kI32), -2);
  EXPECT_EQ(cast<uint8_t>(ElementType::kF32, -1.0f, ElementType::kU8), 0);
  EXPECT_EQ(cast<int32_t>(ElementType::kF64, std::nan(""), ElementType::kI32), 0);
  EXPECT_EQ(cast<int64_t>(ElementType::kF32, 1e30f, ElementType::kIndex), int64_t{1} << 47);
  EXPECT_EQ(cast<int64_t>(ElementType::kI64, INT64_MIN, ElementType::kIndex), -(int64_t{1} << 47));
  EXPECT_EQ(cast<int8_t>(ElementType::kI32, 300, ElementType::kI8), 44);
  EXPECT_EQ(cast<uint64_t>(ElementType::kI32, -1, ElementType::kU64), UINT64_MAX);
  EXPECT_EQ(cast<uint8_t>(ElementType::kF32, 0.25f, ElementType::kBool), 1);
  EXPECT_EQ(cast<uint8_t>(ElementType::kF32, std::nanf(""), ElementType::kBool), 1);
  EXPECT_EQ(cast<float>(ElementType::kBool, uint8_t{1}, ElementType::kF32), 1);
  EXPECT_EQ(cast<float>(ElementType::kU64, UINT64_MAX, ElementType::kF32), 0x1p64f);
  // 2^24 + 1 + 2^-30 would round to the tie through f32.
  EXPECT_EQ(cast<uint16_t>(ElementType::kF64, 1 + 0x1p-11 + 0x1p-40, ElementType::kF16), 0x3c01);
  EXPECT_EQ(cast<uint16_t>(ElementType::kI32, (1 << 25) + 1, ElementType::kBF16), bf16_from_f32(0x1p25f));
  EXPECT_EQ(cast<uint16_t>(ElementType::kI32, 70000, ElementType::kF16), 0x7c00);
  EXPECT_EQ(cast<uint8_t>(ElementType::kI64, INT64_MAX, ElementType::kF8E4M3), 0x7e);
  EXPECT_EQ(cast<uint8_t>(ElementType::kF32, 1e9f, ElementType::kF8E5M2), 0x7b);
}

TEST(ScalarEval, IntegersRoundOnceToNarrowFloats) {
  std::mt19937_64 random(5);
  for (int i = 0; i < 100000; ++i) {
    auto value = static_cast<int64_t>(random()) >> (random() % 63);
    auto from_long_double = [&](ElementType type) {
      // A double with the sticky bit of what it cannot hold rounds to any narrow type as the integer does.
      auto rounded = static_cast<double>(value);
      auto error = static_cast<int64_t>(static_cast<__int128>(value) - static_cast<__int128>(rounded));
      auto bits = std::bit_cast<uint64_t>(rounded);
      if (error != 0 && (bits & 1) == 0) bits += (error > 0) == (rounded > 0) ? 1 : -1;
      return float_bits(type, std::bit_cast<double>(bits));
    };
    ASSERT_EQ(cast<uint16_t>(ElementType::kI64, value, ElementType::kF16),
              from_long_double(ElementType::kF16))
        << value;
    ASSERT_EQ(cast<uint16_t>(ElementType::kI64, value, ElementType::kBF16),
              from_long_double(ElementType::kBF16));
    ASSERT_EQ(cast<uint8_t>(ElementType::kI64, value, ElementType::kF8E4M3),
              from_long_double(ElementType::kF8E4M3));
    ASSERT_EQ(cast<uint8_t>(ElementType::kI64, value, ElementType::kF8E5M2),
              from_long_double(ElementType::kF8E5M2));
  }
}

// Every operation on every type that its rule lets in runs, and gives lanes of the right width.
TEST(ScalarEval, EveryOperationOfEveryType) {
  std::vector<uint64_t> a(16, 0x3c003c003c003c00), b(16, 0x0102030405060708), c(16, 1), out(16);
  int evaluated = 0;
  for (unsigned i = 0; i < opcode_count(); ++i) {
    auto op = static_cast<Opcode>(i);
    if (row(op).stage != Stage::kBody || row(op).arity < 1) continue;
    for (unsigned t = 0; t <= static_cast<unsigned>(ElementType::kIndex); ++t) {
      auto type = static_cast<ElementType>(t);
      bool takes = false;
      switch (row(op).rule) {
        case TypeRule::kSame:
          takes = type != ElementType::kBool;
          break;
        case TypeRule::kSameInt:
        case TypeRule::kShift:
          takes = is_integer(type);
          break;
        case TypeRule::kSameBits:
          takes = !is_float(type);
          break;
        case TypeRule::kFunction:
          takes = accepts(function_of(op), type);
          break;
        default:
          takes = true;
          break;
      }
      if (!takes) continue;
      bool bools =
          row(op).rule == TypeRule::kCompare ||
          (row(op).rule == TypeRule::kFunction && row(function_of(op)).result == FunctionResult::kBool);
      ElementType result = bools ? ElementType::kBool : type;
      std::vector<LaneView> views = {{type, a.data()}, {type, b.data()}, {type, b.data()}};
      if (op == Opcode::kSelect) views[0] = {ElementType::kBool, c.data()};
      views.resize(static_cast<size_t>(row(op).arity));
      std::fill(out.begin(), out.end(), 0xAAAAAAAAAAAAAAAA);
      evaluate_lanes(op, false, views, result, out.data(), 8, reference_function_lanes);
      auto bytes = reinterpret_cast<const uint8_t*>(out.data());
      EXPECT_EQ(bytes[8 * byte_size(result)], 0xAA) << row(op).mnemonic << " " << name(type);
      ++evaluated;
    }
  }
  EXPECT_GT(evaluated, 300);
}

}  // namespace
}  // namespace tenon::ir
