// A kernel decoded for execution: dense records, each with the function that executes it for 32 lanes. A PTX
// instruction becomes one record or a few; the first one counts.
#pragma once

#include <array>
#include <cstdint>
#include <memory>
#include <string>
#include <string_view>
#include <vector>

#include "emulator/aligned_bytes.h"
#include "emulator/ast.h"

namespace tenon::emulator {

class Warp;
struct Record;

// One bit a lane of a warp.
using LaneMask = uint32_t;
inline constexpr unsigned kLanes = 32;
inline constexpr LaneMask kAllLanes = 0xFFFFFFFF;

// Executes a record for the lanes in `mask`, which is never empty.
using Handler = void (*)(const Record& record, Warp& warp, LaneMask mask);

// Where the lanes of an operand lie: a byte offset into the warp's registers or, with kConstantSpace set,
// into the program's constants. A 64-bit operand is u64[32], any other u32[32] with 8- and 16-bit values
// zero-extended, a predicate one LaneMask; kNegated inverts a predicate.
using LaneRef = uint32_t;
inline constexpr LaneRef kConstantSpace = 0x80000000;
inline constexpr LaneRef kNegated = 0x40000000;
inline constexpr LaneRef kOffsetBits = 0x3FFFFFFF;
inline constexpr LaneRef kNoOperand = 0xFFFFFFFF;

struct Record {
  Handler handler = nullptr;
  LaneRef guard = kNoOperand;
  uint32_t instruction = 0;
  LaneRef d = kNoOperand;
  LaneRef a = kNoOperand;
  LaneRef b = kNoOperand;
  LaneRef c = kNoOperand;
  // A second result, an index into Program::lists, a branch target: what the handler says.
  uint32_t extra = 0;
  // Where the lanes of a divergent branch meet again; kNoReconvergence where they do not.
  uint32_t reconvergence = 0;
  uint64_t immediate = 0;
  uint32_t flags = 0;
  bool counts = true;
};

inline constexpr uint32_t kNoReconvergence = 0xFFFFFFFF;

enum class InstructionClass : uint8_t {
#define TENON_INSTRUCTION_CLASS(id, name, text) k##id,
#include "emulator/instruction_class.def"
};
inline constexpr size_t kInstructionClassCount = 0
#define TENON_INSTRUCTION_CLASS(id, name, text) +1
#include "emulator/instruction_class.def"
    ;
std::string_view name(InstructionClass instruction_class);

// What reports say about an instruction.
struct InstructionInfo {
  std::string text;
  std::string function;
  uint32_t line = 0;
  uint32_t source_line = 0;
  InstructionClass instruction_class = InstructionClass::kMove;
};

enum class SpecialRegister : uint8_t {
  kTidX,
  kTidY,
  kTidZ,
  kNtidX,
  kNtidY,
  kNtidZ,
  kCtaidX,
  kCtaidY,
  kCtaidZ,
  kNctaidX,
  kNctaidY,
  kNctaidZ,
  kLaneId,
  kWarpId,
  kNwarpId,
  kLanemaskEq,
  kLanemaskLt,
  kLanemaskLe,
  kLanemaskGt,
  kLanemaskGe,
  kSmId,
  kNsmId,
  kDynamicSharedSize,
  kTotalSharedSize,
  kGridId,
  kZero,
};

// A register that holds a special register's value from the start of the warp.
struct SpecialBinding {
  SpecialRegister source;
  LaneRef target;
};

// A variable in shared, local or parameter space.
struct PlacedVariable {
  std::string name;
  uint64_t offset = 0;
  uint64_t bytes = 0;
};

// Local and shared variables lie apart by this much (shared ones such that banks and alignment stay those of
// a dense layout), so that an access beyond one of them is noticed.
inline constexpr uint64_t kLocalRedzone = 32;
inline constexpr uint64_t kSharedRedzone = 1024;

struct Program {
  std::string name;
  std::vector<Record> records;
  std::vector<InstructionInfo> instructions;
  AlignedBytes constants;
  uint64_t register_bytes = 0;
  std::vector<SpecialBinding> specials;
  std::vector<uint32_t> lists;

  std::vector<PlacedVariable> parameters;
  uint64_t parameter_bytes = 0;
  std::vector<PlacedVariable> shared;
  // Where dynamic shared memory starts, behind the static variables.
  uint64_t dynamic_shared_offset = 0;
  uint64_t static_shared_bytes = 0;
  std::vector<PlacedVariable> local;
  uint64_t local_bytes = 0;

  std::array<uint32_t, 3> required_threads = {0, 0, 0};
  std::array<uint32_t, 3> max_threads = {0, 0, 0};
};

}  // namespace tenon::emulator
