// The handlers of lanes.def and the other operations that work on lanes alone, by name. The same source is
// compiled for several instruction sets; all give the same bits.
#pragma once

#include <span>
#include <string_view>

#include "emulator/program.h"

namespace tenon::emulator {

struct LaneOp {
  std::string_view name;
  Handler handler;
};

enum class InstructionSet : unsigned char { kBaseline, kAvx2, kAvx512 };

// The best that this machine has.
InstructionSet best_instruction_set();
// Empty where the build or the machine lacks it. The order of the names is the same in all.
std::span<const LaneOp> lane_ops(InstructionSet set);

// Setp: `flags` has a comparison, and in bits 8 and 9 how it is combined with the predicate c.
enum class Comparison : uint8_t {
  kEq,
  kNe,
  kLt,
  kLe,
  kGt,
  kGe,
  kEqu,
  kNeu,
  kLtu,
  kLeu,
  kGtu,
  kGeu,
  kNum,
  kNan,
};
enum class Combination : uint8_t { kNone, kAnd, kOr, kXor };
// testp.
enum class NumberTest : uint8_t { kFinite, kInfinite, kNumber, kNotANumber, kNormal, kSubnormal };
// add.cc and the like.
inline constexpr uint32_t kCarryIn = 1;
inline constexpr uint32_t kCarryOut = 2;
// The operations on predicates.
enum class PredicateOp : uint8_t { kMov, kNot, kAnd, kOr, kXor };

namespace lane_ops_internal {
std::span<const LaneOp> baseline();
std::span<const LaneOp> avx2();
std::span<const LaneOp> avx512();
}  // namespace lane_ops_internal

}  // namespace tenon::emulator
