#include "emulator/lexer.h"

#include <fmt/format.h>

#include <bit>
#include <charconv>
#include <optional>

namespace tenon::emulator {
namespace {

bool is_digit(char c) { return c >= '0' && c <= '9'; }
bool is_letter(char c) { return (c >= 'a' && c <= 'z') || (c >= 'A' && c <= 'Z'); }
bool is_hex(char c) { return is_digit(c) || (c >= 'a' && c <= 'f') || (c >= 'A' && c <= 'F'); }
bool starts_identifier(char c) { return is_letter(c) || c == '_' || c == '$' || c == '%'; }
bool continues_identifier(char c) { return is_letter(c) || is_digit(c) || c == '_' || c == '$'; }

class Lexer {
 public:
  explicit Lexer(std::string_view text) : text_(text) {}

  Result<std::vector<Token>> run() {
    tokens_.reserve(text_.size() / 5);
    while (!error_) {
      skip_blanks();
      if (error_ || at_ >= text_.size()) break;
      next();
    }
    if (error_) return std::unexpected(*std::move(error_));
    tokens_.push_back(Token{TokenKind::kEnd, position(at_), {}, 0});
    return std::move(tokens_);
  }

 private:
  char peek(size_t ahead = 0) const { return at_ + ahead < text_.size() ? text_[at_ + ahead] : '\0'; }
  TextPosition position(size_t offset) const {
    return {line_, static_cast<uint32_t>(offset - line_start_ + 1)};
  }
  void fail_at(size_t offset, std::string_view message) { error_ = ptx_error(position(offset), message); }

  void new_line() {
    ++line_;
    line_start_ = at_ + 1;
  }

  void skip_blanks() {
    while (at_ < text_.size()) {
      const char c = peek();
      if (c == '\n') {
        new_line();
        ++at_;
      } else if (c == ' ' || c == '\t' || c == '\r' || (c == '\0' && at_ + 1 == text_.size())) {
        ++at_;
      } else if (c == '/' && peek(1) == '/') {
        while (at_ < text_.size() && peek() != '\n') ++at_;
      } else if (c == '/' && peek(1) == '*') {
        skip_block_comment();
      } else {
        return;
      }
    }
  }

  void skip_block_comment() {
    const size_t begin = at_;
    const TextPosition where = position(begin);
    for (at_ += 2; at_ < text_.size(); ++at_) {
      if (peek() == '*' && peek(1) == '/') {
        at_ += 2;
        return;
      }
      if (peek() == '\n') new_line();
    }
    error_ = ptx_error(where, "the comment has no end");
  }

  void push(TokenKind kind, size_t begin, size_t end, uint64_t bits = 0) {
    tokens_.push_back(Token{kind, position(begin), text_.substr(begin, end - begin), bits});
  }

  void next() {
    const size_t begin = at_;
    const char c = peek();
    if (starts_identifier(c)) {
      ++at_;
      while (continues_identifier(peek())) ++at_;
      push(TokenKind::kIdentifier, begin, at_);
    } else if (c == '.' && (is_letter(peek(1)) || peek(1) == '_')) {
      lex_dotted(begin);
    } else if (is_digit(c)) {
      lex_number(begin);
    } else if (c == '"') {
      lex_string(begin);
    } else if (c > ' ' && c < '\x7f') {
      ++at_;
      push(TokenKind::kPunctuation, begin, at_);
    } else {
      fail_at(begin, fmt::format("unexpected character (code {})", static_cast<unsigned char>(c)));
    }
  }

  void lex_dotted(size_t begin) {
    ++at_;
    while (continues_identifier(peek()) || (peek() == ':' && peek(1) == ':')) at_ += peek() == ':' ? 2 : 1;
    push(TokenKind::kDotted, begin + 1, at_);
  }

  void lex_string(size_t begin) {
    for (++at_; at_ < text_.size() && peek() != '"' && peek() != '\n'; ++at_) {
    }
    if (peek() != '"') return fail_at(begin, "the string has no end");
    push(TokenKind::kString, begin + 1, at_);
    ++at_;
  }

  void lex_number(size_t begin) {
    if (peek() == '0' && (peek(1) == 'f' || peek(1) == 'F'))
      return lex_float_bits(begin, 8, TokenKind::kFloat32);
    if (peek() == '0' && (peek(1) == 'd' || peek(1) == 'D'))
      return lex_float_bits(begin, 16, TokenKind::kFloat64);
    int base = 10;
    if (peek() == '0' && (peek(1) == 'x' || peek(1) == 'X')) {
      base = 16;
      at_ += 2;
    } else if (peek() == '0' && (peek(1) == 'b' || peek(1) == 'B')) {
      base = 2;
      at_ += 2;
    } else if (is_decimal_float()) {
      return lex_decimal_float(begin);
    } else if (peek() == '0') {
      base = 8;
    }
    uint64_t value = 0;
    const char* first = text_.data() + at_;
    const auto [end, code] = std::from_chars(first, text_.data() + text_.size(), value, base);
    if (code != std::errc() || end == first) return fail_at(begin, "the number does not fit 64 bits");
    at_ = static_cast<size_t>(end - text_.data());
    const size_t digits_end = at_;
    if (peek() == 'U') ++at_;
    if (continues_identifier(peek())) return fail_at(begin, "malformed number");
    push(TokenKind::kInteger, begin, digits_end, value);
  }

  bool is_decimal_float() const {
    size_t i = at_;
    while (i < text_.size() && is_digit(text_[i])) ++i;
    if (i >= text_.size()) return false;
    if (text_[i] == '.') return i + 1 < text_.size() && is_digit(text_[i + 1]);
    return text_[i] == 'e' || text_[i] == 'E';
  }

  void lex_decimal_float(size_t begin) {
    double value = 0;
    const auto [end, code] = std::from_chars(text_.data() + at_, text_.data() + text_.size(), value);
    if (code != std::errc()) return fail_at(begin, "malformed floating-point number");
    at_ = static_cast<size_t>(end - text_.data());
    push(TokenKind::kFloat64, begin, at_, std::bit_cast<uint64_t>(value));
  }

  void lex_float_bits(size_t begin, int digits, TokenKind kind) {
    at_ += 2;
    uint64_t value = 0;
    for (int i = 0; i < digits; ++i, ++at_) {
      if (!is_hex(peek())) return fail_at(begin, fmt::format("expected {} hexadecimal digits", digits));
      const char c = peek();
      value = value << 4 | static_cast<uint64_t>(is_digit(c) ? c - '0' : (c | 0x20) - 'a' + 10);
    }
    if (continues_identifier(peek()))
      return fail_at(begin, fmt::format("expected {} hexadecimal digits", digits));
    push(kind, begin, at_, value);
  }

  std::string_view text_;
  size_t at_ = 0;
  size_t line_start_ = 0;
  uint32_t line_ = 1;
  std::vector<Token> tokens_;
  std::optional<Error> error_;
};

}  // namespace

Result<std::vector<Token>> tokenize(std::string_view text) { return Lexer(text).run(); }

Error ptx_error(TextPosition position, std::string_view message) {
  return Error{ErrorKind::kDevice,
               fmt::format("PTX line {}, column {}: {}", position.line, position.column, message)};
}

}  // namespace tenon::emulator
