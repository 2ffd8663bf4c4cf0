#include "frontend/lex/lexer.h"

#include <algorithm>
#include <array>

#include "frontend/lex/limits.h"
#include "frontend/lex/look_alikes.h"
#include "support/unicode.h"

namespace tenon::frontend {
namespace {

struct Fixed {
  std::string_view spelling;
  TokenKind kind;
  ElementType element = ElementType::kF64;
};

constexpr std::array kPunctuation = {
#define TENON_PUNCTUATION(id, spelling) Fixed{spelling, TokenKind::k##id},
#include "frontend/lex/tokens.def"
};

constexpr auto sorted_words() {
  std::array words = {
#define TENON_KEYWORD(id, spelling) Fixed{spelling, TokenKind::k##id},
#include "frontend/lex/tokens.def"
#define TENON_ELEMENT_TYPE(id, name, bits, kind, numpy) Fixed{name, TokenKind::kElement, ElementType::k##id},
#include "support/element_type.def"
  };
  std::ranges::sort(words, {}, &Fixed::spelling);
  return words;
}
constexpr auto kWords = sorted_words();

bool is_digit(char c) { return c >= '0' && c <= '9'; }
bool is_hex_digit(char c) { return is_digit(c) || (c >= 'a' && c <= 'f') || (c >= 'A' && c <= 'F'); }
bool is_name_start(char c) { return (c >= 'a' && c <= 'z') || (c >= 'A' && c <= 'Z') || c == '_'; }
bool is_name_char(char c) { return is_name_start(c) || is_digit(c); }
bool is_ascii(char c) { return static_cast<unsigned char>(c) < 0x80; }
bool is_space(char c) { return c == ' ' || (c >= '\t' && c <= '\r'); }

class Lexer {
 public:
  Lexer(FileId file, std::string_view text, Diagnostics& diagnostics)
      : file_(file), text_(text), diagnostics_(diagnostics), first_error_(diagnostics.error_count()) {}

  TokenList run() {
    list_.tokens.reserve(text_.size() / 3 + 1);
    if (starts_with_utf16_mark()) {
      report(DiagnosticId::kInvalidUtf8, 0, 2).note("it looks like UTF-16; save the file as UTF-8");
      list_.complete = false;
    }
    while (list_.complete && skip_space()) {
      lex_token();
      check_limits();
    }
    const uint32_t end = static_cast<uint32_t>(text_.size());
    list_.tokens.push_back({TokenKind::kEnd, true, false, ElementType::kF64, end, end});
    return std::move(list_);
  }

 private:
  char peek(size_t ahead = 0) const { return at_ + ahead < text_.size() ? text_[at_ + ahead] : '\0'; }
  bool done() const { return at_ >= text_.size(); }
  std::string_view rest() const { return text_.substr(at_); }
  std::string_view since(size_t begin) const { return text_.substr(begin, at_ - begin); }

  Span span(size_t begin, size_t end) const {
    return {file_, static_cast<uint32_t>(begin), static_cast<uint32_t>(end)};
  }
  Diagnostic& report(DiagnosticId id, size_t begin, size_t end, auto&&... args) {
    return diagnostics_.report(id, span(begin, end), args...);
  }

  bool starts_with_utf16_mark() const {
    return text_.starts_with("\xFF\xFE") || text_.starts_with("\xFE\xFF");
  }

  Token& push(TokenKind kind, size_t begin) {
    list_.tokens.push_back({kind, starts_line_, false, ElementType::kF64, static_cast<uint32_t>(begin),
                            static_cast<uint32_t>(at_)});
    starts_line_ = false;
    return list_.tokens.back();
  }

  void check_limits() {
    if (list_.tokens.size() > kMaxTokens) {
      report(DiagnosticId::kTooManyTokens, at_, at_, kMaxTokens);
    } else if (diagnostics_.error_count() - first_error_ >= kMaxSyntaxErrors) {
      report(DiagnosticId::kTooManyErrors, at_, at_, kMaxSyntaxErrors);
    } else {
      return;
    }
    list_.complete = false;
  }

  // Moves to the next token; false at the end of the text.
  bool skip_space() {
    for (; !done(); ++at_) {
      const char c = peek();
      if (c == '\n') starts_line_ = true;
      if (is_space(c)) continue;
      if (c != '/' || peek(1) != '/') return true;
      skip_to_line_end();
      if (done()) return false;
      starts_line_ = true;
    }
    return false;
  }

  // Past a comment; the text of a comment is UTF-8, like everything else.
  void skip_to_line_end() {
    while (!done() && peek() != '\n') {
      const CodePoint c = decode_utf8(text_, at_);
      if (!c.valid) invalid_utf8();
      at_ += c.length;
    }
  }

  void invalid_utf8() {
    if (!reported_utf8_) report(DiagnosticId::kInvalidUtf8, at_, at_ + 1);
    reported_utf8_ = true;
  }

  void lex_token() {
    const char c = peek();
    if (is_name_start(c)) return lex_word();
    if (is_digit(c) || (c == '.' && is_digit(peek(1)))) return lex_number();
    if (c == '#' || (c == '/' && peek(1) == '*')) return skip_foreign_comment();
    if (c == '"' || c == '\'') return skip_string();
    if (!is_ascii(c)) return lex_non_ascii();
    for (const Fixed& fixed : kPunctuation) {
      if (fixed.spelling.front() != c || !rest().starts_with(fixed.spelling)) continue;
      const size_t begin = at_;
      at_ += fixed.spelling.size();
      push(fixed.kind, begin);
      return;
    }
    lex_unexpected();
  }

  // A code point beyond ASCII that can only be meant as a letter.
  bool at_foreign_letter() const {
    if (done() || is_ascii(peek())) return false;
    const CodePoint c = decode_utf8(text_, at_);
    return c.valid && is_printable(c.value) && look_alike(c.value).empty();
  }

  // Past all characters that a reader takes for one word.
  void skip_word() {
    while (!done() && (is_name_char(peek()) || at_foreign_letter())) at_ += decode_utf8(text_, at_).length;
  }

  void lex_word() {
    const size_t begin = at_;
    skip_word();
    const std::string_view word = since(begin);
    if (!std::ranges::all_of(word, is_ascii))
      report(DiagnosticId::kNonAsciiName, begin, at_, shortened(word));
    if (word.size() > kMaxNameLength)
      report(DiagnosticId::kNameTooLong, begin, at_, word.size(), kMaxNameLength);
    auto found = std::ranges::lower_bound(kWords, word, {}, &Fixed::spelling);
    const bool fixed = found != kWords.end() && found->spelling == word;
    Token& token = push(fixed ? found->kind : TokenKind::kName, begin);
    if (fixed) token.element = found->element;
  }

  // Messages quote no more of the source than one can read.
  static std::string shortened(std::string_view text) {
    constexpr size_t kShown = 60;
    if (text.size() <= kShown) return std::string(text);
    size_t end = kShown;
    while (end > 0 && (static_cast<unsigned char>(text[end]) & 0xC0) == 0x80) --end;
    return std::string(text.substr(0, end)) + "...";
  }

  void lex_number() {
    const size_t begin = at_;
    bool is_float = false;
    size_t digits = 0;
    if (peek() == '0' && peek(1) == 'x') {
      at_ += 2;
      digits = skip_digits(is_hex_digit);
      if (digits == 0) report(DiagnosticId::kMissingHexDigits, begin, at_);
    } else {
      digits = skip_digits(is_digit);
      is_float = skip_fraction(begin, digits);
      is_float = skip_exponent(begin) || is_float;
    }
    if (digits > kMaxNumberDigits) report(DiagnosticId::kNumberTooLong, begin, at_, digits, kMaxNumberDigits);
    const bool readable = check_suffix(begin);
    push(readable ? TokenKind::kNumeral : TokenKind::kInvalid, begin).has_point_or_exponent = is_float;
  }

  size_t skip_digits(bool (*accepts)(char)) {
    const size_t begin = at_;
    while (accepts(peek())) ++at_;
    return at_ - begin;
  }

  // `..` after digits is a range, no point.
  bool skip_fraction(size_t begin, size_t& digits) {
    if (peek() != '.' || peek(1) == '.') return false;
    ++at_;
    const size_t fraction = skip_digits(is_digit);
    const std::string_view number = since(begin);
    if (digits == 0) {
      report(DiagnosticId::kPointWithoutDigit, begin, at_, shortened(number), "before")
          .fix(span(begin, begin), "0", "write the zero");
    } else if (fraction == 0) {
      report(DiagnosticId::kPointWithoutDigit, begin, at_, shortened(number), "after")
          .fix(span(at_, at_), "0", "write the zero");
    }
    digits += fraction;
    return true;
  }

  bool skip_exponent(size_t begin) {
    if (peek() != 'e' && peek() != 'E') return false;
    const size_t sign = peek(1) == '+' || peek(1) == '-' ? 1 : 0;
    // `1else` and the like are a number that runs into a word.
    if (sign == 0 && !is_digit(peek(1)) && is_name_char(peek(1))) return false;
    at_ += 1 + sign;
    size_t value = 0;
    const size_t exponent_begin = at_;
    for (; is_digit(peek()); ++at_)
      value = std::min<size_t>(value * 10 + static_cast<size_t>(peek() - '0'), kMaxNumberExponent + 1);
    if (at_ == exponent_begin) report(DiagnosticId::kMissingExponentDigits, begin, at_);
    if (value > kMaxNumberExponent) report(DiagnosticId::kExponentTooLarge, begin, at_, kMaxNumberExponent);
    return true;
  }

  // A number ends where no letter, digit or further point follows. False where the whole is not meant as a
  // number.
  bool check_suffix(size_t begin) {
    const size_t suffix = at_;
    if (peek() == '.' && is_digit(peek(1))) ++at_;
    skip_word();
    if (at_ == suffix) return true;
    Diagnostic& diagnostic = report(DiagnosticId::kNumberSuffix, suffix, at_, shortened(since(suffix)));
    return explain_suffix(diagnostic, text_.substr(begin, suffix - begin), span(suffix, at_));
  }

  bool explain_suffix(Diagnostic& diagnostic, std::string_view number, Span suffix) const {
    const std::string_view text = text_.substr(suffix.begin, suffix.end - suffix.begin);
    auto consists_of = [&](std::string_view letters) {
      return std::ranges::all_of(text, [&](char c) { return letters.contains(c); });
    };
    if (consists_of("fFlLuUhH")) {
      diagnostic.note("a literal takes the type that it meets; it needs no suffix")
          .fix(suffix, "", "remove it");
      return true;
    }
    if (consists_of("_0123456789")) {
      std::string digits(text);
      std::erase(digits, '_');
      diagnostic.fix(suffix, digits, "write the digits without `_`");
      return true;
    }
    if (number == "0" && std::string_view("bBoOX").contains(text.front())) {
      diagnostic.note("numbers are decimal, or hexadecimal after `0x`");
    } else if (is_name_start(text.front())) {
      diagnostic.note("a name starts with a letter or `_`");
    }
    return false;
  }

  void skip_foreign_comment() {
    const size_t begin = at_;
    if (peek() == '#') {
      report(DiagnosticId::kForeignComment, begin, begin + 1).fix(span(begin, begin + 1), "//", "write `//`");
      skip_to_line_end();
      return;
    }
    Diagnostic& diagnostic = report(DiagnosticId::kForeignComment, begin, begin + 2);
    const size_t end = text_.find("*/", begin + 2);
    list_.complete = end != std::string_view::npos;
    at_ = list_.complete ? end + 2 : text_.size();
    starts_line_ = starts_line_ || since(begin).contains('\n');
    diagnostic.note("a comment of several lines has `//` on each of them");
  }

  void skip_string() {
    const size_t begin = at_;
    const char quote = peek();
    ++at_;
    while (!done() && peek() != quote && peek() != '\n') ++at_;
    if (peek() == quote) ++at_;
    report(DiagnosticId::kString, begin, at_);
    push(TokenKind::kInvalid, begin);
  }

  void lex_non_ascii() {
    const CodePoint c = decode_utf8(text_, at_);
    if (!c.valid) {
      invalid_utf8();
      const size_t begin = at_;
      while (!done() && !is_ascii(peek()) && !decode_utf8(text_, at_).valid) ++at_;
      push(TokenKind::kInvalid, begin);
    } else if (std::string_view token = look_alike(c.value); !token.empty()) {
      lex_look_alike(c, token);
    } else if (is_printable(c.value)) {
      lex_word();
    } else {
      lex_unexpected();
    }
  }

  void lex_look_alike(CodePoint c, std::string_view token) {
    const size_t begin = at_;
    at_ += c.length;
    report(DiagnosticId::kLookAlike, begin, at_, described(c), token == " " ? "a space" : quoted(token))
        .fix(span(begin, at_), std::string(token), "write the ASCII form");
    if (token == " ") return;
    for (const Fixed& fixed : kPunctuation)
      if (fixed.spelling == token) return static_cast<void>(push(fixed.kind, begin));
    for (const Fixed& fixed : kWords)
      if (fixed.spelling == token) return static_cast<void>(push(fixed.kind, begin));
  }

  // A run of one character that no token contains.
  void lex_unexpected() {
    const size_t begin = at_;
    const CodePoint c = decode_utf8(text_, at_);
    while (!done()) {
      const CodePoint next = decode_utf8(text_, at_);
      if (!next.valid || next.value != c.value) break;
      at_ += next.length;
    }
    report(DiagnosticId::kUnexpectedCharacter, begin, at_, described(c));
    push(TokenKind::kInvalid, begin);
  }

  static std::string quoted(std::string_view text) { return fmt::format("`{}`", text); }

  static std::string described(CodePoint c) {
    const std::string number = fmt::format("U+{:04X}", static_cast<uint32_t>(c.value));
    if (!is_printable(c.value) || !display_width(c.value)) return number;
    std::string text;
    append_utf8(text, c.value);
    return c.value < 0x80 ? quoted(text) : fmt::format("`{}` ({})", text, number);
  }

  FileId file_;
  std::string_view text_;
  Diagnostics& diagnostics_;
  const size_t first_error_;
  TokenList list_;
  size_t at_ = 0;
  bool starts_line_ = true;
  bool reported_utf8_ = false;
};

}  // namespace

TokenList lex(FileId file, std::string_view text, Diagnostics& diagnostics) {
  return Lexer(file, text, diagnostics).run();
}

}  // namespace tenon::frontend
