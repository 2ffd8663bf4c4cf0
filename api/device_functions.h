// The functions of the language as the device computes them, on the host: the expansions of codegen/math with
// plain floats, for the interpreter of tile IR.
#pragma once

#include "ir/tile_interpreter.h"

namespace tenon::api {

ir::DeviceFunctions device_functions();

}  // namespace tenon::api
