// The program that a command reads, and what is said about it.
#pragma once

#include <CLI/CLI.hpp>
#include <string>

#include "support/diagnostics.h"
#include "support/result.h"
#include "support/source.h"

namespace tenon::tools {

struct SourceOptions {
  // "-" is the standard input.
  std::string path;
  // "text" or "json".
  std::string diagnostics_format = "text";
};

// Adds FILE and --diagnostics-format; `options` must live as long as `app`.
void add_source_options(CLI::App& app, SourceOptions& options, const std::string& what);

// Reads the file into `sources`, under the name that messages use.
Result<FileId> load_source(SourceManager& sources, const SourceOptions& options);

// To the standard error: text, in colour on a terminal (unless NO_COLOR is set), or one JSON array. Text
// without diagnostics is nothing; an array may be empty.
void print_diagnostics(const Diagnostics& diagnostics, const SourceManager& sources,
                       const SourceOptions& options);

}  // namespace tenon::tools
