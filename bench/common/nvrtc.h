// NVIDIA's runtime compiler for CUDA C++, where a machine has it: the peer that Tenon's compile time and code
// are held against.
#pragma once

#include <string>
#include <vector>

#include "support/result.h"

namespace tenon::bench {

class Nvrtc {
 public:
  // Opens libnvrtc from the linker's path or the CUDA toolkit's usual prefix. kMachine where there is none.
  static Result<Nvrtc> open();

  // "13.0".
  std::string version() const;
  // PTX for compute_80, caches off. `defines` are "NAME=VALUE". A mistake in the source is kUsage with
  // NVRTC's log.
  Result<std::string> compile(const std::string& source, const std::vector<std::string>& defines) const;

 private:
  struct Functions;

  Nvrtc() = default;

  // Loaded once a process and never closed.
  const Functions* functions_ = nullptr;
  int major_ = 0;
  int minor_ = 0;
};

}  // namespace tenon::bench
