// The arguments of a run: what the command line gives, completed with defaults.
#pragma once

#include <cstdint>
#include <optional>
#include <string>
#include <vector>

#include "runtime/binding.h"
#include "runtime/program.h"
#include "support/array.h"
#include "support/result.h"
#include "tools/assignment.h"

namespace tenon::tools {

struct RunInputs {
  std::vector<Assignment<InputSpec>> inputs;
  uint64_t seed = 0;
};

struct RunArguments {
  // By parameter; results are absent.
  std::vector<std::optional<Array>> arrays;
  // Every dimension, for a launch.
  std::vector<runtime::NamedSize> sizes;
};

// The input or inout, the result or inout of that name; kUsage with the names there are.
Result<runtime::ParameterId> find_input(const runtime::Program& program, const std::string& name);
Result<runtime::ParameterId> find_output(const runtime::Program& program, const std::string& name);
// The parameter of that name that lies in memory: all but scalar inputs.
Result<runtime::ParameterId> find_buffer(const runtime::Program& program, const std::string& name);

// Reads the files, takes sizes from their shapes and from the sets, chooses the sizes that are left, and
// fills every other input. Names that the program does not have are kUsage. That the sizes agree is the
// launch's to check.
Result<RunArguments> make_run_arguments(const runtime::Program& program, const RunInputs& inputs);

}  // namespace tenon::tools
