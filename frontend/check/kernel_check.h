// One instance of one kernel: its signature, its `where` clauses and its statements.
#pragma once

#include <optional>
#include <set>
#include <string>

#include "frontend/check/check.h"
#include "frontend/check/instance.h"

namespace tenon::frontend {

// Names of options that a kernel made use of.
using UsedSettings = std::set<std::string, std::less<>>;

// The kernel's tensor program; empty if it has a mistake. Every generic has a value in the options.
std::optional<ir::Kernel> check_kernel(const Module& module, const Kernel& kernel,
                                       const SourceManager& sources, const FunctionTable& functions,
                                       const CheckOptions& options, UsedSettings& used, Reported& reported,
                                       Diagnostics& diagnostics);

}  // namespace tenon::frontend
