// Runs kernels on the emulated device: Tenon's, and peers in the same clothes.
#pragma once

#include <memory>
#include <optional>
#include <string>
#include <vector>

#include "bench/common/kernel.h"
#include "bench/common/workload.h"
#include "emulator/driver_api.h"
#include "emulator/report.h"
#include "runtime/device.h"
#include "runtime/host_launch.h"
#include "support/array.h"
#include "support/result.h"

namespace tenon::bench {

struct RunResult {
  // The parameters, results filled.
  std::vector<std::optional<Array>> arrays;
  // One a launch.
  std::vector<emulator::LaunchReport> reports;
  // The names of the variants that ran, one a step.
  std::vector<std::string> variants;
  // The PTX of each step.
  std::vector<std::string> ptx;

  emulator::Counters total() const;
  uint64_t instructions_without_mov() const;
};

class Emulation {
 public:
  static Result<Emulation> open();

  // Runs with random inputs, the same ones for the same shapes; scalars that `sizes` does not name are 1,
  // floats 0.5^10. A fault of the kernel is an error.
  Result<RunResult> run(const CompiledSource& compiled, const Sizes& sizes);
  // The same with the launches of `workload.launches` from `ptx` in place of the kernel's own.
  Result<RunResult> run_peer(const CompiledSource& compiled, const Workload& workload,
                             const std::string& ptx);

 private:
  Emulation() = default;
  Result<RunResult> run(std::shared_ptr<const runtime::Program> program, runtime::VariantSource source,
                        const Sizes& sizes);

  // The device uses the installation's functions until it is closed, so it goes first.
  std::unique_ptr<emulator::Installation> installation_;
  std::shared_ptr<runtime::Device> device_;
};

}  // namespace tenon::bench
