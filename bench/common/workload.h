// The operations that benchmarks run, each as a kernel in Tenon (kernels/) and in hand-written CUDA C++
// (peers/).
#pragma once

#include <cstdint>
#include <map>
#include <string>
#include <vector>

#include "bench/common/reference.h"
#include "support/result.h"

namespace tenon::bench {

using Sizes = std::map<std::string, int64_t, std::less<>>;

// One launch of a peer. `arguments` are indices of the kernel's parameters, or kScratch.
struct PeerLaunch {
  std::string entry;
  int64_t grid = 1;
  uint32_t block = 256;
  std::vector<uint32_t> arguments;
};
inline constexpr uint32_t kScratch = 0xFFFFFFFF;

struct Workload {
  std::string name;
  // Below bench/.
  std::string kernel;
  std::string peer;
  // The peer has them as macros.
  Sizes sizes;
  // Further macros of the peer, "NAME=VALUE".
  std::vector<std::string> defines;
  std::vector<PeerLaunch> launches;
  int64_t scratch_bytes = 0;
  // What work is counted by: elements; for a matmul, multiply-adds.
  int64_t units = 0;
  // PTX instructions a unit, without mov, of a good kernel in CUDA C++ (NVRTC 13, sm_80) or, for the sum, of
  // Triton's; 0 where there is no such figure. A peer that needs more than a tenth more is no fair one.
  double published = 0;
  // Holds results against a computation in f64.
  Reference* check = nullptr;

  std::vector<std::string> peer_defines() const;
  Result<std::string> kernel_source() const;
  Result<std::string> peer_source() const;
};

// bias_gelu, softmax, softmax with approximate functions, layernorm, rmsnorm, transpose, sum, matmul.
const std::vector<Workload>& workloads();

// A file below bench/, or below the root of the project.
Result<std::string> bench_file(const std::string& path);
std::string project_path(const std::string& path);

}  // namespace tenon::bench
