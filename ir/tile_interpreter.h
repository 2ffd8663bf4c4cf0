// Runs tile IR on host arrays, block by block: the meaning of each variant after every tile pass.
//
// A tile is an element for every position of its axes, whatever its layout; copies that threads hold are one
// element. Only a reduction looks at layouts: with them, it merges in the order in which the device does
// (codegen/reduce.cpp), so that results agree with the emulated device bit for bit, up to the bits of NaNs;
// without, it takes positions in ascending order. Shared memory and workspace start as 0xFF bytes.
#pragma once

#include <cstddef>
#include <cstdint>
#include <span>
#include <vector>

#include "ir/scalar_eval.h"
#include "ir/tile.h"
#include "support/array.h"
#include "support/result.h"

namespace tenon::ir {

// What the device computes in its own way; all else is exact or correctly rounded.
struct DeviceFunctions {
  // Functions that are not, and approximate forms of any.
  FunctionLanes functions = nullptr;
  // The approximate quotient of f32.
  void (*divide)(const float* a, const float* b, float* result, size_t count) = nullptr;
};

struct TileInterpreterOptions {
  DeviceFunctions device;
  // Blocks run at once; 0 is one for each core.
  unsigned threads = 2;
  // Elements computed by all blocks together, and bytes of tiles and workspace; more is refused.
  int64_t max_elements = int64_t{1} << 38;
  int64_t max_bytes = int64_t{4} << 30;
};

// Runs the launches of a verified module in order. `symbols` has a value for each symbol. `tensors` has an
// array for each tensor: of its shape for those that the module reads or writes, one for both of the same
// memory. Where it has none, the tensor is workspace of this run. An access beyond a tensor or buffer in a
// position that is not masked is an error of kind kDevice that names the operation.
Result<void> interpret(const TileModule& module, std::span<const int64_t> symbols,
                       std::span<Array* const> tensors, const TileInterpreterOptions& options);

}  // namespace tenon::ir
