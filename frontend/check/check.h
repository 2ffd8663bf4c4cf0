// The checker: from the syntax tree of a file to one tensor program for each of its kernels.
#pragma once

#include <cstdint>
#include <map>
#include <string>
#include <vector>

#include "frontend/parse/ast.h"
#include "ir/tensor.h"
#include "support/diagnostics.h"
#include "support/source.h"

namespace tenon::frontend {

struct CheckOptions {
  // Names of dimensions, index scalars and `dim` generics that are fixed (`--set N=4096`), for all kernels
  // that have them.
  std::map<std::string, int64_t, std::less<>> sizes;
  // Element types of generics (`--set T=f16`).
  std::map<std::string, ElementType, std::less<>> types;
  // Only the kernels of these names; empty: all.
  std::vector<std::string> kernels;
};

// A kernel that was not checked because a generic has no value.
struct Uninstantiated {
  std::string kernel;
  Span span;
  struct Missing {
    std::string name;
    GenericKind kind;
  };
  std::vector<Missing> missing;
};

struct CheckResult {
  // The kernels without mistakes, in source order.
  ir::Module module;
  std::vector<Uninstantiated> uninstantiated;
  // Names of CheckOptions::kernels that the file does not have, and of sizes and types that no checked kernel
  // has.
  std::vector<std::string> unknown_kernels;
  std::vector<std::string> unused_settings;
};

// `module` was parsed from a file of `sources`; library modules that it uses are added to `sources`. A kernel
// with a mistake does not stop the others.
CheckResult check(const Module& module, SourceManager& sources, const CheckOptions& options,
                  Diagnostics& diagnostics);

}  // namespace tenon::frontend
