#include "tools/assignment.h"

#include <fmt/format.h>

#include <algorithm>
#include <charconv>
#include <filesystem>
#include <functional>
#include <limits>
#include <optional>
#include <utility>

#include "support/diagnostics.h"

namespace tenon::tools {
namespace {

struct Keyword {
  std::string_view text;
  InputSpec::Kind kind;
};
constexpr Keyword kKeywords[] = {
    {"random", InputSpec::Kind::kRandom}, {"integers", InputSpec::Kind::kIntegers},
    {"zeros", InputSpec::Kind::kZeros},   {"ones", InputSpec::Kind::kOnes},
    {"iota", InputSpec::Kind::kIota},
};

bool is_name(std::string_view text) {
  auto letter = [](char c) { return (c >= 'a' && c <= 'z') || (c >= 'A' && c <= 'Z') || c == '_'; };
  auto letter_or_digit = [&](char c) { return letter(c) || (c >= '0' && c <= '9'); };
  return !text.empty() && letter(text[0]) && std::all_of(text.begin(), text.end(), letter_or_digit);
}

// The whole of `text` as an integer of 64 bits.
std::optional<int64_t> parse_integer(std::string_view text) {
  bool negative = text.starts_with('-');
  std::string_view digits = text.substr(negative ? 1 : 0);
  int base = digits.starts_with("0x") ? 16 : 10;
  if (base == 16) digits.remove_prefix(2);
  uint64_t magnitude = 0;
  auto [end, error] = std::from_chars(digits.data(), digits.data() + digits.size(), magnitude, base);
  if (error != std::errc() || end != digits.data() + digits.size() || digits.empty()) return std::nullopt;
  constexpr uint64_t kMost = std::numeric_limits<int64_t>::max();
  if (magnitude > kMost + (negative ? 1 : 0)) return std::nullopt;
  return static_cast<int64_t>(negative ? 0 - magnitude : magnitude);
}

std::optional<double> parse_number(std::string_view text) {
  if (text == "true") return 1;
  if (text == "false") return 0;
  double value = 0;
  auto [end, error] = std::from_chars(text.data(), text.data() + text.size(), value);
  if (error != std::errc() || end != text.data() + text.size() || text.empty()) return std::nullopt;
  return value;
}

std::unexpected<Error> usage(std::string_view option, std::string_view text, std::string_view why) {
  return fail(ErrorKind::kUsage, fmt::format("{} {}: {}", option, text, why));
}

// The fix for a value that is close to one of a list: `; did you mean random?`.
std::string suggestion(std::string_view value, const std::vector<std::string_view>& candidates) {
  std::string_view close = did_you_mean(value, candidates);
  return close.empty() ? "" : fmt::format("; did you mean {}?", close);
}

// Splits every text at its first `=`, gives the right side to `parse_value`, and refuses a name given twice.
// `example` shows what the option takes.
template <class Value>
Result<std::vector<Assignment<Value>>> parse_all(
    std::string_view option, std::string_view example, const std::vector<std::string>& texts,
    const std::function<std::expected<Value, std::string>(const std::string&)>& parse_value) {
  std::vector<Assignment<Value>> all;
  for (const std::string& text : texts) {
    size_t equals = text.find('=');
    if (equals == std::string::npos || equals + 1 == text.size() || !is_name(text.substr(0, equals)))
      return usage(option, text, fmt::format("expected NAME=VALUE, as in {} {}", option, example));
    std::string name = text.substr(0, equals);
    if (std::ranges::any_of(all, [&](const auto& other) { return other.name == name; }))
      return usage(option, text, fmt::format("{} is given twice", name));
    std::expected<Value, std::string> value = parse_value(text.substr(equals + 1));
    if (!value) return usage(option, text, value.error());
    all.push_back({std::move(name), std::move(*value)});
  }
  return all;
}

std::expected<SetValue, std::string> parse_set(const std::string& text) {
  if (std::optional<int64_t> integer = parse_integer(text)) return SetValue(*integer);
  if (std::optional<ElementType> type = element_type_by_name(text)) return SetValue(*type);
  std::vector<std::string_view> types = {
#define TENON_ELEMENT_TYPE(id, name, bits, kind, numpy) name,
#include "support/element_type.def"
  };
  return std::unexpected(
      fmt::format("{} is neither an integer nor an element type{}", text, suggestion(text, types)));
}

std::expected<InputSpec, std::string> parse_input(const std::string& text) {
  InputSpec spec = parse_constant(text);
  if (spec.kind == InputSpec::Kind::kInteger || spec.kind == InputSpec::Kind::kNumber) return spec;
  std::vector<std::string_view> keywords;
  for (const Keyword& keyword : kKeywords) {
    if (text == keyword.text) return InputSpec{.kind = keyword.kind, .text = text};
    keywords.push_back(keyword.text);
  }
  bool archive = text.ends_with(".npy") || text.ends_with(".npz");
  std::error_code ignored;
  if (!archive && !std::filesystem::exists(text, ignored))
    return std::unexpected(
        fmt::format("{} is no file, no number and none of random, integers, zeros, ones, iota{}", text,
                    suggestion(text, keywords)));
  return InputSpec{.kind = InputSpec::Kind::kFile, .text = text};
}

}  // namespace

InputSpec parse_constant(std::string_view text) {
  InputSpec spec{.kind = InputSpec::Kind::kFile, .text = std::string(text)};
  if (std::optional<int64_t> integer = parse_integer(text)) {
    spec.kind = InputSpec::Kind::kInteger;
    spec.integer = *integer;
  } else if (std::optional<double> number = parse_number(text)) {
    spec.kind = InputSpec::Kind::kNumber;
    spec.number = *number;
  }
  return spec;
}

Result<std::vector<Assignment<SetValue>>> parse_sets(const std::vector<std::string>& texts) {
  return parse_all<SetValue>("--set", "N=4096 or T=f16", texts, parse_set);
}

Result<std::vector<Assignment<InputSpec>>> parse_inputs(const std::vector<std::string>& texts) {
  return parse_all<InputSpec>("--in", "x=a.npy, x=random or x=3.5", texts, parse_input);
}

Result<std::vector<Assignment<std::string>>> parse_outputs(const std::vector<std::string>& texts) {
  return parse_all<std::string>("--out", "y=b.npy", texts,
                                [](const std::string& text) -> std::expected<std::string, std::string> {
                                  if (!text.ends_with(".npy") && !text.ends_with(".npz"))
                                    return std::unexpected("a result goes to an .npy or .npz file");
                                  return text;
                                });
}

Result<std::vector<Assignment<int64_t>>> parse_offsets(const std::vector<std::string>& texts) {
  return parse_all<int64_t>("--offset", "x=1", texts,
                            [](const std::string& text) -> std::expected<int64_t, std::string> {
                              std::optional<int64_t> value = parse_integer(text);
                              if (!value || *value < 0 || *value > 1 << 20)
                                return std::unexpected("an offset is a number of elements, 0 to 2^20");
                              return *value;
                            });
}

}  // namespace tenon::tools
