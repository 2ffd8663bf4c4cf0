// A module from IR text, for tests.
#pragma once

#include <gtest/gtest.h>

#include <string>

#include "ir/parser.h"
#include "ir/printer.h"

namespace tenon::ir {

struct Parsed {
  explicit Parsed(std::string text) : file(sources.add("test.tir", std::move(text))) {
    module = parse_module(sources, file, diagnostics);
  }

  bool ok() const { return module.has_value(); }
  std::string errors() const { return render_text(diagnostics, sources); }
  // "line:column: message" of the first error.
  std::string first_error() const {
    if (diagnostics.all().empty()) return "none";
    const Diagnostic& first = diagnostics.all().front();
    LineColumn at = sources.position(first.span.file, first.span.begin);
    return std::to_string(at.line) + ":" + std::to_string(at.column) + ": " + first.message;
  }
  Kernel& kernel() { return module->kernels.at(0); }

  SourceManager sources;
  FileId file;
  Diagnostics diagnostics;
  std::optional<Module> module;
};

}  // namespace tenon::ir
