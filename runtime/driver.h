// The driver table: one struct of function pointers, filled from libcuda.so.1 or by the emulated device.
// Everything above it is the same code for both.
#pragma once

#include "runtime/driver_types.h"
#include "support/result.h"

namespace tenon::runtime {

struct DriverTable {
#define TENON_DRIVER_FUNCTION(name, symbol, parameters) CUresult(*name) parameters = nullptr;
#include "runtime/driver_api.def"
};

// Opens libcuda.so.1 and fills the table; an Error of kind kDevice says which part is missing.
Result<DriverTable> load_cuda_driver();

}  // namespace tenon::runtime
