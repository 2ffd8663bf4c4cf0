// Tensors that the command line names: files, fills and constants in, files out.
#pragma once

#include <cstdint>
#include <optional>
#include <string>
#include <vector>

#include "support/array.h"
#include "support/npz.h"
#include "support/result.h"
#include "tools/assignment.h"

namespace tenon::tools {

// The array of `name` in an .npy file, or the member of that name of an .npz file.
Result<Array> read_array(const std::string& path, const std::string& name,
                         std::optional<ElementType> expected = std::nullopt);

// A tensor filled as `spec` says, which names no file. Random values depend on the seed and on `name`. A
// constant that the type cannot hold (300 for an i8, 1.5 for an i32) is kUsage.
Result<Array> make_array(const InputSpec& spec, const std::string& name, ElementType type,
                         std::vector<int64_t> shape, uint64_t seed);

// Writes each array to its file; those that name the same .npz file share it.
struct OutputFile {
  std::string path;
  std::string name;
  const Array* array = nullptr;
};
Result<void> write_arrays(const std::vector<OutputFile>& outputs);

// "y: f32[4, 8]" and the elements as NumPy prints them.
std::string shown(const std::string& name, const Array& array);

}  // namespace tenon::tools
