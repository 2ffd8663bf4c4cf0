// What a launch did: counters by instruction and kernel, and faults.
#pragma once

#include <array>
#include <cstdint>
#include <string>
#include <string_view>
#include <vector>

#include "emulator/program.h"

namespace tenon::emulator {

enum class FaultKind : uint8_t {
#define TENON_FAULT(id, name, stops, driver_code, text) k##id,
#include "emulator/fault.def"
};
std::string_view name(FaultKind kind);
std::string_view text(FaultKind kind);
bool stops(FaultKind kind);
// The CUresult that the driver functions return for it; 0 for a warning.
int driver_code(FaultKind kind);

struct Fault {
  FaultKind kind = FaultKind::kTrap;
  std::string kernel;
  std::string instruction;
  uint32_t line = 0;         // of the PTX text
  uint32_t source_line = 0;  // from .loc, 0 where there is none
  std::array<uint32_t, 3> block = {0, 0, 0};
  std::array<uint32_t, 3> thread = {0, 0, 0};
  uint64_t address = 0;
  uint32_t bytes = 0;
  // Where the address lies: "at byte 12 of allocation 3 (...)"; or who waits for what.
  std::string detail;
};
std::string render_text(const Fault& fault);

// Counters of one instruction, or sums of them. PTX instructions are not machine instructions.
struct Counters {
  // Times a warp, or a part of one, executed it, and the lanes active then.
  uint64_t warps = 0;
  uint64_t lanes = 0;
  // Of these lanes, those whose guard held.
  uint64_t enabled_lanes = 0;
  // Executions with fewer lanes active than the warp has left.
  uint64_t divergent = 0;
  uint64_t global_bytes_read = 0;
  uint64_t global_bytes_written = 0;
  // 32-byte sectors of every request of a warp, and what the same bytes need when contiguous and aligned.
  uint64_t global_sectors = 0;
  uint64_t least_global_sectors = 0;
  uint64_t shared_bytes = 0;
  // Passes over the 32 banks, and the distinct bytes over 128 rounded up, for each group of lanes served
  // together.
  uint64_t shared_wavefronts = 0;
  uint64_t ideal_shared_wavefronts = 0;

  Counters& operator+=(const Counters& other);
};

struct InstructionReport {
  InstructionInfo info;
  Counters counters;
};

struct LaunchReport {
  std::string kernel;
  std::array<uint32_t, 3> grid = {1, 1, 1};
  std::array<uint32_t, 3> block = {1, 1, 1};
  uint64_t dynamic_shared_bytes = 0;
  Counters total;
  std::array<Counters, kInstructionClassCount> by_class;
  std::vector<InstructionReport> instructions;
  std::vector<Fault> faults;
  // Faults beyond those listed.
  uint64_t more_faults = 0;
  double seconds = 0;

  uint64_t warp_instructions() const { return total.warps; }
  uint64_t lane_instructions() const { return total.lanes; }
  uint64_t lane_instructions_without_mov() const {
    return total.lanes - by_class[static_cast<size_t>(InstructionClass::kMove)].lanes;
  }
  // No fault beyond warnings.
  bool ok() const { return result_code() == 0; }
  // The CUresult of the first fault that is more than a warning; 0 without one.
  int result_code() const;
};

// A page of text: totals, classes, faults; with `instructions`, a line for each executed instruction.
std::string render_text(const LaunchReport& report, bool instructions = false);
// A JSON object; `instructions` adds an array of that name.
std::string render_json(const LaunchReport& report, bool instructions = false);

}  // namespace tenon::emulator
