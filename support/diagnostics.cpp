#include "support/diagnostics.h"

#include <algorithm>
#include <array>
#include <utility>

namespace tenon {
namespace {

constexpr std::array kRows = {
#define TENON_DIAGNOSTIC(id, code, severity, text) DiagnosticRow{#id, code, Severity::severity, text},
#include "support/diagnostics.def"
};

// Longer names are compared only by equality: nobody mistypes them, and the cost is their product.
constexpr size_t kMaxCompared = 64;

char lower(char c) { return c >= 'A' && c <= 'Z' ? static_cast<char>(c - 'A' + 'a') : c; }

bool equal_ignoring_case(std::string_view a, std::string_view b) {
  return std::ranges::equal(a, b, {}, lower, lower);
}

// Insertions, deletions, replacements and swaps of neighbours that turn `a` into `b` (optimal string
// alignment).
size_t edit_distance(std::string_view a, std::string_view b) {
  std::array<std::array<size_t, kMaxCompared + 1>, 3> rows{};
  for (size_t j = 0; j <= b.size(); ++j) rows[0][j] = j;
  for (size_t i = 1; i <= a.size(); ++i) {
    auto& now = rows[i % 3];
    const auto& before = rows[(i + 2) % 3];
    const auto& before_that = rows[(i + 1) % 3];
    now[0] = i;
    for (size_t j = 1; j <= b.size(); ++j) {
      const size_t replaced = before[j - 1] + (a[i - 1] == b[j - 1] ? 0 : 1);
      now[j] = std::min({before[j] + 1, now[j - 1] + 1, replaced});
      if (i > 1 && j > 1 && a[i - 1] == b[j - 2] && a[i - 2] == b[j - 1])
        now[j] = std::min(now[j], before_that[j - 2] + 1);
    }
  }
  return rows[a.size() % 3][b.size()];
}

}  // namespace

std::string_view name(Severity severity) {
  switch (severity) {
    case Severity::kError:
      return "error";
    case Severity::kWarning:
      return "warning";
    case Severity::kRemark:
      return "remark";
  }
  return "error";
}

const DiagnosticRow& row(DiagnosticId id) { return kRows[static_cast<size_t>(id)]; }
size_t diagnostic_count() { return kRows.size(); }

Diagnostic& Diagnostic::label(Span where, std::string text) {
  labels.push_back({where, std::move(text)});
  return *this;
}

Diagnostic& Diagnostic::note(std::string text) {
  notes.push_back(std::move(text));
  return *this;
}

Diagnostic& Diagnostic::fix(Span where, std::string replacement, std::string text) {
  fixes.push_back({where, std::move(replacement), std::move(text)});
  return *this;
}

void Diagnostics::clear() {
  diagnostics_.clear();
  errors_ = 0;
}

void Diagnostics::sort_from(size_t first) {
  auto place = [](const Diagnostic& diagnostic) {
    return std::pair(diagnostic.span.file, diagnostic.span.begin);
  };
  std::stable_sort(diagnostics_.begin() + static_cast<std::ptrdiff_t>(first), diagnostics_.end(),
                   [&](const Diagnostic& a, const Diagnostic& b) { return place(a) < place(b); });
}

Diagnostic& Diagnostics::add(DiagnosticId id, Span span, std::string message) {
  if (row(id).severity == Severity::kError) ++errors_;
  diagnostics_.push_back({id, span, std::move(message), {}, {}, {}});
  return diagnostics_.back();
}

std::string_view did_you_mean(std::string_view name, const std::vector<std::string_view>& candidates) {
  std::string_view best;
  size_t best_distance = kMaxCompared;
  for (std::string_view candidate : candidates) {
    if (candidate == name) continue;
    if (equal_ignoring_case(candidate, name)) return candidate;
    const size_t longer = std::max(candidate.size(), name.size());
    const size_t shorter = std::min(candidate.size(), name.size());
    const size_t allowed = longer / 3;
    if (longer > kMaxCompared || longer - shorter > allowed) continue;
    const size_t distance = edit_distance(name, candidate);
    // Of equally close ones, that which goes on where the name ends: `sm_90a` for `sm_90`.
    const bool closer =
        distance < best_distance || (distance == best_distance && candidate.starts_with(name));
    if (distance > allowed || !closer) continue;
    best = candidate;
    best_distance = distance;
  }
  return best;
}

}  // namespace tenon
