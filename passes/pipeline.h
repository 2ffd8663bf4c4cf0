// The order of the passes, stated once; each says in its own head why it stands where it does.
#pragma once

#include <span>
#include <string_view>
#include <vector>

#include "ir/tensor.h"
#include "passes/pass.h"

namespace tenon::passes {

// The flags of the tensor passes in the order in which a compilation runs them.
std::span<const std::string_view> tensor_pipeline();

// From the checker's tensor IR to a grouped kernel. Returns what the passes have to say about it.
std::vector<Remark> run_tensor_passes(ir::Kernel& kernel);

}  // namespace tenon::passes
