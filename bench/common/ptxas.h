// NVIDIA's assembler, where a machine has it.
#pragma once

#include <optional>
#include <string>

#include "support/result.h"

namespace tenon::bench {

struct Assembly {
  // The most of any entry.
  int registers = 0;
  // Bytes of stores and loads of spilled registers, and of stack, of all entries.
  int spill_bytes = 0;
};

class Ptxas {
 public:
  // From the path, or the CUDA toolkit's usual prefix.
  static std::optional<Ptxas> find();

  // Assembles a module for sm_80.
  Result<Assembly> assemble(const std::string& ptx) const;

 private:
  std::string path_;
};

}  // namespace tenon::bench
