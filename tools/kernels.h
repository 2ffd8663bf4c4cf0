// The kernels of a source file, chosen and instantiated as the command line says.
#pragma once

#include <CLI/CLI.hpp>
#include <map>
#include <memory>
#include <string>
#include <vector>

#include "frontend/check/check.h"
#include "frontend/parse/ast.h"
#include "ir/tensor.h"
#include "support/diagnostics.h"
#include "support/result.h"
#include "support/source.h"
#include "support/targets.h"
#include "tools/assignment.h"
#include "tools/source_file.h"

namespace tenon::tools {

struct KernelOptions {
  SourceOptions source;
  // Empty: every kernel of the file.
  std::string kernel;
  // Empty: the command's default.
  std::string arch;
  std::vector<std::string> sets;
};

// Adds FILE, --kernel, --arch, --set and --diagnostics-format; `options` must live as long as `app`.
void add_kernel_options(CLI::App& app, KernelOptions& options);

// A source file that has been parsed, its mistakes printed. The syntax tree may be of use in spite of them.
struct ParsedSource {
  std::unique_ptr<SourceManager> sources;
  frontend::Module module;
  Diagnostics diagnostics;
};
Result<ParsedSource> parse_source(const SourceOptions& options);

// The checked kernels, in source order; what was wrong with others has been printed.
struct CheckedKernels {
  std::vector<ir::Kernel> kernels;
  bool has_errors = false;
};

// `options` has a value for every generic that the command knows. Unknown names are kUsage, and so is a
// kernel that was asked for by name, or is the only one, and whose generics lack a value.
Result<CheckedKernels> check_kernels(ParsedSource& parsed, const KernelOptions& options,
                                     const frontend::CheckOptions& settings);

// What --kernel and --set say, for check_kernels.
Result<frontend::CheckOptions> settings_of(const KernelOptions& options);

// The target of that name, which the command line has checked; `fallback` where it is empty.
const Target& target_of(const KernelOptions& options, std::string_view fallback = "sm_80");

}  // namespace tenon::tools
