// Types and sizes of a kernel's generics, for a run that does not set them all.
#pragma once

#include <string>
#include <vector>

#include "frontend/check/check.h"
#include "frontend/parse/ast.h"
#include "support/result.h"
#include "tools/assignment.h"

namespace tenon::tools {

// Adds to `settings` what it lacks for the generics of `kernel`: from the types and shapes of the arrays that
// `inputs` names, and else f32, i32, and small sizes. Returns a line "T = f32, D = 16" with what was chosen
// without any hint; empty if nothing was. Fails where a file cannot be read.
Result<std::string> complete_generics(const frontend::Module& module, const frontend::Kernel& kernel,
                                      const std::vector<Assignment<InputSpec>>& inputs,
                                      frontend::CheckOptions& settings);

}  // namespace tenon::tools
