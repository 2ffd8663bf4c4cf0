#include "tools/choice.h"

#include <fmt/format.h>
#include <fmt/ranges.h>

#include <algorithm>
#include <charconv>
#include <cstdint>
#include <system_error>
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

CLI::Validator whole_number() {
  auto check = [](const std::string& text) -> std::string {
    uint64_t value = 0;
    const char* end = text.data() + text.size();
    const auto [stop, error] = std::from_chars(text.data(), end, value);
    if (error == std::errc() && stop == end) return {};
    return fmt::format("{} is no whole number from 0 to 2^64-1", text.empty() ? "nothing" : text);
  };
  return CLI::Validator(check, "");
}

}  // namespace tenon::tools
