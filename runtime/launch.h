// Launching a loaded program: bind, check, choose variants, lay out the workspace, start every launch on a
// stream.
#pragma once

#include <cstddef>
#include <cstdint>
#include <optional>
#include <span>
#include <vector>

#include "runtime/binding.h"
#include "runtime/loaded_program.h"
#include "runtime/program.h"
#include "support/result.h"

namespace tenon::runtime {

struct LaunchOptions {
  // Dimensions given by name.
  std::vector<NamedSize> sizes;
  // Forced variants by step; where absent, or for steps past the end, the first that accepts the launch is
  // taken.
  std::vector<std::optional<uint32_t>> variants;
};

// One cuLaunchKernel to come, with everything computed but for the place of the workspace.
struct PlannedLaunch {
  struct Value {
    // The argument's bytes, from the front, little endian.
    uint64_t bits = 0;
    // The workspace's address is to be added.
    bool in_workspace = false;
  };

  uint32_t step = 0;
  uint32_t variant = 0;
  // Index into the variant's launches.
  uint32_t launch = 0;
  // Blocks, threads a block, bytes a block.
  uint32_t grid = 0;
  uint32_t block = 0;
  uint32_t dynamic_shared = 0;
  std::vector<Value> arguments = {};
  LoadedVariant* loaded = nullptr;

  const std::string& entry() const { return loaded->code.launches[launch].entry; }
};

// Holds for the addresses, shapes and scalars that it was made for, and may be started any number of times
// while its LoadedProgram lives.
struct LaunchPlan {
  Binding binding;
  // The chosen variant of each step.
  std::vector<uint32_t> variants;
  // In order. Launches of no block are left out.
  std::vector<PlannedLaunch> launches;
  // Bytes of device memory that the launches need, aligned to kWorkspaceAlignment.
  size_t workspace_bytes = 0;
};

// Everything that can be refused is refused here. Lowers and loads the variants chosen.
Result<LaunchPlan> plan_launch(LoadedProgram& program, std::span<const LaunchArgument> arguments,
                               const LaunchOptions& options = {});

// Starts the launches in order on `stream`, in scratch memory of the caller, which must stay until they are
// done. `workspace` may be 0 where plan.workspace_bytes is. Does not wait.
Result<void> start(Device& device, const LaunchPlan& plan, CUstream stream, CUdeviceptr workspace);

// The same in the stream's own scratch memory.
Result<void> start(Device& device, const LaunchPlan& plan, CUstream stream);

}  // namespace tenon::runtime
