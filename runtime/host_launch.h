// Running a program on arrays of the host: allocate, copy in, launch, wait, copy out.
#pragma once

#include <cstdint>
#include <optional>
#include <vector>

#include "runtime/launch.h"
#include "support/array.h"
#include "support/result.h"

namespace tenon::runtime {

struct HostLaunchOptions {
  LaunchOptions launch;
  // Elements by which each parameter's buffer is moved from the start of its allocation; parameters past the
  // end stay.
  std::vector<int64_t> offsets;
  // Fills results and workspace with 0xFF bytes first, so that an element which the kernel forgets shows
  // (NaN, -1). Without it they start as the driver gives them, which lets the emulated device see reads of
  // what was never written.
  bool poison = true;
};

// `arrays` holds one array a parameter, scalars by value as arrays of rank 0; results may be absent, and are
// there afterwards, as inouts hold their new values. Where a result is given, its shape binds sizes and its
// elements do not matter. Returns the plan that ran, for reports; it must not be started again, its memory is
// gone.
Result<LaunchPlan> launch_on_host(LoadedProgram& program, std::vector<std::optional<Array>>& arrays,
                                  const HostLaunchOptions& options = {});

}  // namespace tenon::runtime
