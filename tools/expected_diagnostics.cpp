#include "tools/expected_diagnostics.h"

#include <fmt/format.h>

#include <algorithm>
#include <charconv>
#include <optional>

namespace tenon::tools {
namespace {

constexpr std::string_view kPrefix = "expected-";

struct Expectation {
  uint32_t line = 0;
  Severity severity = Severity::kError;
  std::string_view part;
  bool met = false;
};

struct SeverityName {
  std::string_view text;
  Severity severity;
};
constexpr SeverityName kSeverities[] = {
    {"error", Severity::kError}, {"warning", Severity::kWarning}, {"remark", Severity::kRemark}};

std::string_view name_of(Severity severity) {
  return std::ranges::find(kSeverities, severity, &SeverityName::severity)->text;
}

// `@+N` or `@-N` at the front, taken off; 0 where there is none.
int32_t take_offset(std::string_view& text) {
  if (!text.starts_with("@+") && !text.starts_with("@-")) return 0;
  int32_t offset = 0;
  const char* begin = text.data() + (text[1] == '+' ? 2 : 1);
  const char* end = std::from_chars(begin, text.data() + text.size(), offset).ptr;
  text.remove_prefix(static_cast<size_t>(end - text.data()));
  return offset;
}

// The expectation that `text` starts with, behind "expected-".
std::optional<Expectation> parse(std::string_view text, uint32_t line) {
  for (const SeverityName& row : kSeverities) {
    if (!text.starts_with(row.text)) continue;
    text.remove_prefix(row.text.size());
    int32_t offset = take_offset(text);
    size_t begin = text.find("{{");
    size_t end = text.find("}}");
    if (begin == std::string_view::npos || end == std::string_view::npos || end < begin) return std::nullopt;
    return Expectation{static_cast<uint32_t>(static_cast<int64_t>(line) + offset), row.severity,
                       text.substr(begin + 2, end - begin - 2)};
  }
  return std::nullopt;
}

std::vector<Expectation> parse_all(std::string_view text, std::string& problems) {
  std::vector<Expectation> all;
  uint32_t line = 1;
  while (!text.empty()) {
    size_t end = std::min(text.find('\n'), text.size());
    std::string_view rest = text.substr(0, end);
    for (size_t at; (at = rest.find(kPrefix)) != std::string_view::npos;) {
      rest.remove_prefix(at + kPrefix.size());
      if (std::optional<Expectation> one = parse(rest, line))
        all.push_back(*one);
      else
        problems += fmt::format("line {}: an expectation is written expected-error@+1 {{{{text}}}}\n", line);
    }
    text.remove_prefix(std::min(end + 1, text.size()));
    ++line;
  }
  return all;
}

}  // namespace

std::string compare_diagnostics(std::string_view text, const std::vector<FoundDiagnostic>& found) {
  std::string problems;
  std::vector<Expectation> expected = parse_all(text, problems);
  for (const FoundDiagnostic& one : found) {
    auto match = std::ranges::find_if(expected, [&](const Expectation& expectation) {
      return !expectation.met && expectation.line == one.line && expectation.severity == one.severity &&
             one.message.find(expectation.part) != std::string::npos;
    });
    if (match != expected.end())
      match->met = true;
    else
      problems += fmt::format("line {}: unexpected {}: {}\n", one.line, name_of(one.severity), one.message);
  }
  for (const Expectation& expectation : expected)
    if (!expectation.met)
      problems += fmt::format("line {}: expected {} is missing: {}\n", expectation.line,
                              name_of(expectation.severity), expectation.part);
  return problems;
}

}  // namespace tenon::tools
