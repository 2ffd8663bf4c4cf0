// Runs a compiled kernel on host arrays at a stage before PTX, through the interpreters: with the emulated
// device, a program can be run after any pass.
#pragma once

#include <cstdint>
#include <optional>
#include <vector>

#include "api/compiler.h"
#include "runtime/binding.h"
#include "support/array.h"
#include "support/result.h"

namespace tenon::api {

enum class Stage : uint8_t {
  // The tensor kernel after its passes.
  kTensor,
  // The tile modules of the variants that a launch would take.
  kTile,
};

struct StageOptions {
  // Dimensions by name, where no array's shape gives them.
  std::vector<runtime::NamedSize> sizes;
  // By step: the variant to run, if its guard holds; steps without one choose as the runtime does.
  std::vector<std::optional<uint32_t>> variants;
  // By parameter: elements by which its buffer is moved from an aligned address; those past the end stay.
  std::vector<int64_t> offsets;
  // Threads of the interpreter; 0 is one for each core.
  unsigned threads = 2;
};

// `arrays` holds one array a parameter, as for runtime::launch_on_host; results may be absent, and are there
// afterwards, as inouts hold their new values. Returns the variant of each step that ran (kTile). Refuses
// what a launch refuses; an access out of bounds is an error of kind kDevice.
Result<std::vector<uint32_t>> run_at(Stage stage, const CompiledKernel& kernel,
                                     std::vector<std::optional<Array>>& arrays,
                                     const StageOptions& options = {});

}  // namespace tenon::api
