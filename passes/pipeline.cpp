#include "passes/pipeline.h"

#include "passes/group.h"

namespace tenon::passes {

void run_tensor_passes(ir::Kernel& kernel) { group(kernel); }

}  // namespace tenon::passes
