#include "tools/exit_status.h"

#include <fmt/format.h>

#include <cstdio>

namespace tenon::tools {

ExitStatus status_of(ErrorKind kind) {
  switch (kind) {
    case ErrorKind::kUsage:
      return kUsage;
    case ErrorKind::kRefused:
      return kFailed;
    case ErrorKind::kDevice:
    case ErrorKind::kFile:
    case ErrorKind::kMachine:
      return kMachine;
  }
  return kMachine;
}

void print_error(std::string_view message) { fmt::print(stderr, "tenon: error: {}\n", message); }

ExitStatus failed(const Error& error) {
  print_error(error.message);
  return status_of(error.kind);
}

}  // namespace tenon::tools
