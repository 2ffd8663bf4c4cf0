// The PTX of a whole program as one module, with what it takes to launch it by hand.
#pragma once

#include <string>
#include <vector>

#include "runtime/program.h"

namespace tenon::api {

// The variants of all steps of all programs, which must have their code, joined to one module: one header,
// then every entry once. It opens with a comment that tells for each program its parameters and, step by step
// and variant by variant, guard, workspace, and each launch's entry, grid, block, dynamic shared memory and
// parameters in order.
std::string ptx_module(const std::vector<runtime::Program>& programs);

}  // namespace tenon::api
