// `--schedule`: what the command line says about a kernel's schedules.
#pragma once

#include <CLI/CLI.hpp>
#include <string>

#include "api/compiler.h"
#include "passes/schedule_text.h"
#include "support/diagnostics.h"
#include "support/source.h"
#include "tools/kernels.h"

namespace tenon::tools {

class ScheduleOption {
 public:
  void add_to(CLI::App& app);
  bool given() const { return !text_.empty(); }

  // For the one kernel among `kernels` to be compiled with these options; call `has_errors` behind it. An
  // error is that there are several kernels.
  Result<void> apply(SourceManager& sources, const std::vector<ir::Kernel>& kernels,
                     api::CompilerOptions& options);
  // Prints what was wrong or wasteful, once; whether something was wrong.
  bool has_errors(const SourceManager& sources, const SourceOptions& how);

 private:
  std::string text_;
  passes::SchedulePins pins_;
  Diagnostics diagnostics_;
};

}  // namespace tenon::tools
