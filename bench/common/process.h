// Other programs, their output and what they cost.
#pragma once

#include <string>
#include <vector>

#include "support/result.h"

namespace tenon::bench {

struct ProcessResult {
  // The exit status; 128 and more for a signal.
  int status = 0;
  // Standard output and error together.
  std::string output;
  // CPU time, user and system, in milliseconds.
  double cpu_ms = 0;
};

// Runs a program to its end, with nothing on its standard input. `arguments[0]` is its path.
Result<ProcessResult> run_process(const std::vector<std::string>& arguments);

// A path beside the running program's folder: sibling_path("../bin/tenon").
std::string sibling_path(const std::string& path);

}  // namespace tenon::bench
