// The GPU targets, from the table targets.def.
#pragma once

#include <cstdint>
#include <span>
#include <string_view>

namespace tenon {

struct Target {
  std::string_view name;
  unsigned sm;
  unsigned codegen_family;
  unsigned ptx_isa;
  uint32_t shared_per_block;
  uint32_t shared_per_sm;
  unsigned multiprocessors;
  bool async_copy;
  bool tma_wgmma;
};

std::span<const Target> targets();
// Null where no row has the name.
const Target* target_by_name(std::string_view name);
// The target that runs on a device of this compute capability (80, 86, 90, ...): the row itself or the nearest
// below that the device executes; null below 80.
const Target* target_for_capability(unsigned sm);

}  // namespace tenon
