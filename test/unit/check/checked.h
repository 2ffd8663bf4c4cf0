// A program as text, parsed and checked.
#pragma once

#include <gtest/gtest.h>

#include <string>
#include <string_view>

#include "frontend/check/check.h"
#include "frontend/parse/parse.h"
#include "ir/printer.h"
#include "ir/verifier.h"

namespace tenon::frontend {

struct Checked {
  explicit Checked(std::string_view source, const CheckOptions& options = {}) {
    const FileId file = sources.add("test.tn", std::string(source));
    module = parse(file, sources, diagnostics);
    result = check(module, sources, options, diagnostics);
    EXPECT_EQ(ir::to_text(ir::verify(result.module)), "");
  }

  // "E0304 1:59 message" of each diagnostic, in order, a line each.
  std::string messages() const {
    std::string text;
    for (const Diagnostic& d : diagnostics.all()) {
      const LineColumn at = sources.position(d.span.file, d.span.begin);
      text += fmt::format("{} {}:{} {}\n", row(d.id).code, at.line, at.column, d.message);
    }
    return text;
  }
  std::string rendered() const { return render_text(diagnostics, sources); }
  // The only kernel's program.
  std::string ir() const {
    EXPECT_EQ(rendered(), "");
    EXPECT_EQ(result.module.kernels.size(), 1u);
    return result.module.kernels.empty() ? "" : ir::print(result.module.kernels[0]);
  }

  SourceManager sources;
  Diagnostics diagnostics;
  Module module;
  CheckResult result;
};

}  // namespace tenon::frontend
