// NVIDIA's assembler, where the machine has it: PTX to machine code, and what that takes.
#pragma once

#include <cstdint>
#include <map>
#include <string>

#include "support/result.h"

namespace tenon::tools {

// What one entry takes on the hardware.
struct EntryResources {
  uint32_t registers = 0;
  // Bytes.
  uint32_t static_shared = 0;
  uint32_t stack = 0;
  uint32_t spill_stores = 0;
  uint32_t spill_loads = 0;
};

struct Assembled {
  std::string cubin;
  std::map<std::string, EntryResources> entries;
  // Warnings and advice, a line each, as ptxas words them.
  std::string remarks;
};

// Whether the search path has ptxas.
bool has_ptxas();

// Assembles a module for a target of support/targets.def. ptxas gets a minute of CPU time and 8 GiB of
// memory. Fails (kMachine) where ptxas is missing, ends badly or exceeds these, with what it said.
Result<Assembled> assemble(const std::string& ptx, const std::string& target);

}  // namespace tenon::tools
