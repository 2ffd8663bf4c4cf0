#include "frontend/parse/exact_number.h"

#include <algorithm>
#include <string>

#include "frontend/lex/limits.h"

namespace tenon::frontend {
namespace {

using boost::multiprecision::cpp_int;

bool is_digit(char c) { return c >= '0' && c <= '9'; }

// The value of a hexadecimal digit, or 16.
unsigned hex_value(char c) {
  if (is_digit(c)) return static_cast<unsigned>(c - '0');
  if (c >= 'a' && c <= 'f') return static_cast<unsigned>(c - 'a' + 10);
  if (c >= 'A' && c <= 'F') return static_cast<unsigned>(c - 'A' + 10);
  return 16;
}

std::optional<ExactNumber> parse_hex(std::string_view digits) {
  if (digits.empty() || digits.size() > kMaxNumberDigits) return std::nullopt;
  cpp_int value = 0;
  for (char c : digits) {
    const unsigned digit = hex_value(c);
    if (digit == 16) return std::nullopt;
    value = value * 16 + digit;
  }
  return ExactNumber(value);
}

// `+5`, `-12`, `3`: what follows the `e`.
std::optional<int> parse_exponent(std::string_view text) {
  const bool negative = text.starts_with('-');
  if (negative || text.starts_with('+')) text.remove_prefix(1);
  if (text.empty()) return std::nullopt;
  size_t value = 0;
  for (char c : text) {
    if (!is_digit(c)) return std::nullopt;
    value = value * 10 + static_cast<size_t>(c - '0');
    if (value > kMaxNumberExponent) return std::nullopt;
  }
  return negative ? -static_cast<int>(value) : static_cast<int>(value);
}

}  // namespace

std::optional<ExactNumber> parse_exact_number(std::string_view text) {
  if (text.starts_with("0x")) return parse_hex(text.substr(2));
  int exponent = 0;
  if (const size_t e = text.find_first_of("eE"); e != std::string_view::npos) {
    const std::optional<int> parsed = parse_exponent(text.substr(e + 1));
    if (!parsed) return std::nullopt;
    exponent = *parsed;
    text = text.substr(0, e);
  }
  const size_t point = std::min(text.find('.'), text.size());
  const bool has_point = point < text.size();
  if (text.empty() || text.size() - has_point > kMaxNumberDigits) return std::nullopt;
  if (point == 0 || (has_point && point + 1 == text.size())) return std::nullopt;
  cpp_int digits = 0;
  for (size_t i = 0; i < text.size(); ++i) {
    if (i == point) continue;
    if (!is_digit(text[i])) return std::nullopt;
    digits = digits * 10 + static_cast<unsigned>(text[i] - '0');
  }
  if (has_point) exponent -= static_cast<int>(text.size() - point - 1);
  const cpp_int power = boost::multiprecision::pow(cpp_int(10), static_cast<unsigned>(std::abs(exponent)));
  return exponent < 0 ? ExactNumber(digits, power) : ExactNumber(digits * power);
}

}  // namespace tenon::frontend
