// A source text, parsed, for the tests of this folder.
#pragma once

#include <fmt/format.h>

#include <string>
#include <utility>

#include "frontend/parse/parse.h"
#include "frontend/parse/print.h"

namespace tenon::frontend {

struct Parsed {
  explicit Parsed(std::string text, std::string name = "test.tn")
      : file(sources.add(std::move(name), std::move(text))), module(parse(file, sources, diagnostics)) {}

  // One diagnostic a line: `2:7-9 E0101 unexpected character`, with ` => 'text'` for the replacement of a
  // first fix.
  std::string summary() const {
    std::string out;
    for (const Diagnostic& diagnostic : diagnostics.all()) {
      const LineColumn begin = sources.position(file, diagnostic.span.begin);
      const LineColumn end = sources.position(file, diagnostic.span.end);
      const std::string end_line = end.line == begin.line ? "" : fmt::format("{}:", end.line);
      out += fmt::format("{}{}:{}-{}{} {} {}", out.empty() ? "" : "\n", begin.line, begin.column, end_line,
                         end.column, row(diagnostic.id).code, diagnostic.message);
      if (!diagnostic.fixes.empty()) out += fmt::format(" => '{}'", diagnostic.fixes.front().replacement);
    }
    return out;
  }

  SourceManager sources;
  Diagnostics diagnostics;
  FileId file;
  Module module;
};

// The statement in a kernel of its own.
inline std::string in_kernel(std::string_view statement) {
  return fmt::format("kernel k() {{\n  {}\n}}\n", statement);
}

}  // namespace tenon::frontend
