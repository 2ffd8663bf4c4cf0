// What steps read and write in global memory, each element counted once.
#pragma once

#include <string>
#include <vector>

#include "ir/tensor.h"

namespace tenon::tools {

// The tensors that the group defines, in order; those that exist in it alone too.
std::vector<std::string> defined_names(const ir::Kernel& kernel, const ir::Group& group);

// "reads x (4*M*N bytes), writes y (4*M*N bytes)": what must cross between the group and memory.
std::string traffic_text(const ir::Kernel& kernel, const ir::Group& group);

// The same for the whole kernel: its inputs that are read, and its results.
std::string least_traffic_text(const ir::Kernel& kernel);

}  // namespace tenon::tools
