// Diagnostics: what a user did wrong, where, and what would help. Every message is a row of diagnostics.def.
#pragma once

#include <fmt/format.h>

#include <string>
#include <string_view>
#include <vector>

#include "support/source.h"

namespace tenon {

enum class Severity : unsigned char { kError, kWarning, kRemark };
std::string_view name(Severity severity);

enum class DiagnosticId : unsigned short {
#define TENON_DIAGNOSTIC(id, code, severity, text) id,
#include "support/diagnostics.def"
};

// The constant part of a row: "E0101", its severity, its fmt template.
struct DiagnosticRow {
  std::string_view name;
  std::string_view code;
  Severity severity;
  std::string_view text;
};
const DiagnosticRow& row(DiagnosticId id);
size_t diagnostic_count();

struct Label {
  Span span;
  std::string text;
};

// A change that would help: replace `span` (empty for an insertion) by `replacement`.
struct Fix {
  Span span;
  std::string replacement;
  std::string text;
};

struct Diagnostic {
  DiagnosticId id;
  Span span;
  std::string message;
  std::vector<Label> labels;
  std::vector<std::string> notes;
  std::vector<Fix> fixes;

  Diagnostic& label(Span where, std::string text);
  Diagnostic& note(std::string text);
  Diagnostic& fix(Span where, std::string replacement, std::string text);
};

// Collects the diagnostics of one compilation. Not thread-safe: one to a compile.
class Diagnostics {
 public:
  // Reports a row; `args` fill its placeholders. The reference lives until the next report.
  template <class... Args>
  Diagnostic& report(DiagnosticId id, Span span, const Args&... args) {
    return add(id, span, fmt::vformat(row(id).text, fmt::make_format_args(args...)));
  }

  bool has_errors() const { return errors_ > 0; }
  size_t error_count() const { return errors_; }
  const std::vector<Diagnostic>& all() const { return diagnostics_; }
  void clear();
  // Sorts the diagnostics from the `first`th on by their place in the text; those of one place keep their
  // order.
  void sort_from(size_t first);

 private:
  Diagnostic& add(DiagnosticId id, Span span, std::string message);

  std::vector<Diagnostic> diagnostics_;
  size_t errors_ = 0;
};

// Text as a terminal shows it: `file:line:column: error[E0101]: message`, the source line, a caret range,
// labels, notes, fixes. A diagnostic without a valid span has only its first line and its notes.
std::string render_text(const Diagnostics& diagnostics, const SourceManager& sources, bool color = false);
// One of them.
std::string render_text(const Diagnostic& diagnostic, const SourceManager& sources, bool color = false);

// An array of objects, one a diagnostic, for editors and scripts; ends in a newline.
std::string render_json(const Diagnostics& diagnostics, const SourceManager& sources);

// The candidate closest to `name` by edit distance, if it is close enough to be a slip; empty otherwise.
std::string_view did_you_mean(std::string_view name, const std::vector<std::string_view>& candidates);

}  // namespace tenon
