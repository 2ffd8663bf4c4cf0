// The order of the passes, stated once; each says in its own head why it stands where it does.
#pragma once

#include "ir/tensor.h"

namespace tenon::passes {

// From the checker's tensor IR to a grouped kernel.
void run_tensor_passes(ir::Kernel& kernel);

}  // namespace tenon::passes
