// The examples as they are tried.
#pragma once

#include <cstdint>
#include <string>
#include <vector>

#include "subject.h"

namespace tenon::conformance {

struct Example {
  const char* name;
  // Without folder and ending.
  const char* file;
  const char* kernel;
  // As `--set` takes them, with spaces between: "T=f16 P=1".
  const char* settings;
  const char* long_symbol;
  int64_t most_points;
};

const std::vector<Example>& examples();

// "T=f16 P=1" as the checker takes it, for one kernel or, where that is "", all.
frontend::CheckOptions check_options(const std::string& settings, const std::string& kernel);

// The example's source, checked.
SourceProgram load(const Example& example);

}  // namespace tenon::conformance
