// What steps read and write in global memory: at least, each element counted once, and as they are scheduled.
#pragma once

#include <optional>
#include <string>
#include <vector>

#include "ir/tensor.h"
#include "ir/tile.h"

namespace tenon::tools {

// The tensors that the group defines, in order; those that exist in it alone too.
std::vector<std::string> defined_names(const ir::Kernel& kernel, const ir::Group& group);

// "reads x (4*M*N bytes), writes y (4*M*N bytes)": what must cross between the group and memory.
std::string traffic_text(const ir::Kernel& kernel, const ir::Group& group);

// "reads 12*N bytes, writes 4*N bytes, 2.00 times the least": what a variant of the group, as build-nest
// leaves it, moves; see passes::moved_bytes. Empty where that does not follow from the sizes.
std::optional<std::string> moved_text(const ir::Kernel& kernel, const ir::Group& group,
                                      ir::TileModule module);

// What the whole kernel reads and writes at least: its inputs that are read, and its results.
std::string least_traffic_text(const ir::Kernel& kernel);

}  // namespace tenon::tools
