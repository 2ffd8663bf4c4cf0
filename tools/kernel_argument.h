// `--arg` of `tenon emulate`: one parameter of a PTX kernel, written by hand.
//
//   in.npy                    a buffer with the elements of the file
//   in.npy:out.npy            the same, written to out.npy afterwards
//   zeros:f32:1024            a buffer of 1024 elements; also ones, iota, random, integers
//   zeros:f32:32x64:out.npy   a buffer of two dimensions, written afterwards
//   f32:1.5                   a value
#pragma once

#include <cstdint>
#include <string>

#include "support/array.h"
#include "support/result.h"

namespace tenon::tools {

struct KernelArgument {
  // A scalar by value has rank 0; a buffer's elements otherwise, even if it is one.
  Array array;
  bool by_value = false;
  // Where the buffer goes afterwards; empty for nowhere.
  std::string output;
};

// Reads files and fills buffers; random ones depend on the seed and on `position`. Errors show the text and
// what is wrong with it.
Result<KernelArgument> make_kernel_argument(const std::string& text, size_t position, uint64_t seed);

}  // namespace tenon::tools
