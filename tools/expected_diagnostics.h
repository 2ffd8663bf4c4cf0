// `--verify-diagnostics`: a file that says itself which diagnostics it gets, as MLIR's tests do.
//
//   x = y   // expected-error {{part of the message}}
//   // expected-remark@+2 {{of the line after the next}}
//
// The kinds are error, warning and remark; `@+N` and `@-N` count lines from the comment's.
#pragma once

#include <cstdint>
#include <string>
#include <string_view>
#include <vector>

#include "support/diagnostics.h"

namespace tenon::tools {

struct FoundDiagnostic {
  // One-based; 0 without a place.
  uint32_t line = 0;
  Severity severity = Severity::kError;
  std::string message;
};

// What differs between the expectations in `text` and what was found, a line each; empty if nothing does.
// Lines of `text` are counted from 1.
std::string compare_diagnostics(std::string_view text, const std::vector<FoundDiagnostic>& found);

}  // namespace tenon::tools
