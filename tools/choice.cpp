#include "tools/choice.h"

#include <fmt/format.h>
#include <fmt/ranges.h>

#include <algorithm>
#include <utility>

#include "support/diagnostics.h"

namespace tenon::tools {

CLI::Validator one_of(std::vector<std::string> words) {
  auto check = [words = std::move(words)](const std::string& word) -> std::string {
    if (std::ranges::find(words, word) != words.end()) return {};
    std::string_view close = did_you_mean(word, {words.begin(), words.end()});
    std::string hint = close.empty() ? "" : fmt::format("; did you mean {}?", close);
    return fmt::format("{} is none of {}{}", word.empty() ? "nothing" : word, fmt::join(words, ", "), hint);
  };
  return CLI::Validator(check, "");
}

}  // namespace tenon::tools
