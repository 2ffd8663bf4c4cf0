// What the command says to whoever started it.
#pragma once

#include <string_view>

#include "support/result.h"

namespace tenon::tools {

enum ExitStatus : int {
  kOk = 0,
  // Diagnostics, a mismatch under --check, or a launch that was refused.
  kFailed = 1,
  // The command line makes no sense; also a kernel, parameter or size that the program does not have.
  kUsage = 2,
  // The device, a file or the machine.
  kMachine = 3,
  // A bug of ours: kInternalErrorStatus of support/check.h.
};

ExitStatus status_of(ErrorKind kind);

// Prints `tenon: error: …` to the standard error.
void print_error(std::string_view message);

// Prints the error and returns the status that goes with it.
ExitStatus failed(const Error& error);

}  // namespace tenon::tools
