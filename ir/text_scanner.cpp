#include "ir/text_scanner.h"

#include <charconv>

namespace tenon::ir {
namespace {

bool is_digit(char c) { return c >= '0' && c <= '9'; }
bool is_letter(char c) { return (c >= 'a' && c <= 'z') || (c >= 'A' && c <= 'Z') || c == '_'; }
bool is_name(char c) { return is_letter(c) || is_digit(c) || c == '.'; }

bool is_pair(std::string_view text) {
  for (std::string_view pair : {"->", "<=", ">=", "==", "!=", "&&", "||"})
    if (text == pair) return true;
  return false;
}

size_t name_end(std::string_view text, size_t at) {
  while (at < text.size() && is_name(text[at])) ++at;
  return at;
}

// A hexadecimal number's exponent starts with p, a decimal one's with e.
size_t number_end(std::string_view text, size_t begin) {
  bool hex = text.substr(begin, 2) == "0x";
  size_t at = begin;
  while (at < text.size()) {
    char c = text[at];
    bool sign = (c == '+' || c == '-') && at > begin;
    char before = sign ? text[at - 1] : '\0';
    bool exponent = hex ? before == 'p' || before == 'P' : before == 'e' || before == 'E';
    if (!is_name(c) && !(sign && exponent)) break;
    ++at;
  }
  return at;
}

std::string shown(const Token& token) {
  switch (token.kind) {
    case Token::Kind::kEnd:
      return "the end";
    case Token::Kind::kValue:
      return "`%" + std::string(token.text.substr(0, 60)) + "`";
    case Token::Kind::kSymbol:
      return "`@" + std::string(token.text.substr(0, 60)) + "`";
    case Token::Kind::kString:
      return "a string";
    case Token::Kind::kWord:
    case Token::Kind::kNumber:
    case Token::Kind::kPunctuation:
      return "`" + std::string(token.text.substr(0, 60)) + "`";
  }
  return {};
}

}  // namespace

TextScanner::TextScanner(const SourceManager& sources, FileId file, Diagnostics& diagnostics)
    : text_(sources.file(file).text), file_(file), diagnostics_(diagnostics) {
  last_ = Span{file, 0, 0};
  token_ = token(Token::Kind::kEnd, 0, 0);
  if (text_.size() > kSizeLimit) {
    fail(DiagnosticId::kFileTooLarge, Span{file, 0, 0}, text_.size(), kSizeLimit);
    return;
  }
  token_ = scan();
}

TextScanner::TextScanner(const TextScanner& other, Diagnostics& diagnostics)
    : text_(other.text_),
      file_(other.file_),
      diagnostics_(diagnostics),
      at_(other.at_),
      token_(other.token_) {}

Token TextScanner::token(Token::Kind kind, size_t begin, size_t end, size_t skip) const {
  return {kind, text_.substr(begin + skip, end - begin - skip),
          Span{file_, static_cast<uint32_t>(begin), static_cast<uint32_t>(end)}};
}

void TextScanner::stop() {
  failed_ = true;
  token_ = token(Token::Kind::kEnd, text_.size(), text_.size());
  at_ = text_.size();
}

Token TextScanner::scan() {
  while (at_ < text_.size()) {
    char c = text_[at_];
    if (c == ' ' || c == '\t' || c == '\n' || c == '\r') {
      ++at_;
    } else if (text_.substr(at_, 2) == "//") {
      size_t newline = text_.find('\n', at_);
      at_ = newline == std::string_view::npos ? text_.size() : newline;
    } else {
      break;
    }
  }
  size_t begin = at_;
  if (begin >= text_.size()) return token(Token::Kind::kEnd, begin, begin);
  char c = text_[begin];
  if (is_letter(c)) {
    at_ = name_end(text_, begin);
    return token(Token::Kind::kWord, begin, at_);
  }
  if (is_digit(c)) {
    at_ = number_end(text_, begin);
    return token(Token::Kind::kNumber, begin, at_);
  }
  bool named = begin + 1 < text_.size() && is_name(text_[begin + 1]);
  if ((c == '%' || c == '@') && named) {
    at_ = name_end(text_, begin + 1);
    return token(c == '%' ? Token::Kind::kValue : Token::Kind::kSymbol, begin, at_, 1);
  }
  if (c == '"') return scan_string(begin);
  if (c < ' ' || c > '~') {
    fail(DiagnosticId::kIrUnexpectedByte,
         Span{file_, static_cast<uint32_t>(begin), static_cast<uint32_t>(begin + 1)},
         static_cast<unsigned>(static_cast<unsigned char>(c)));
    return token_;
  }
  at_ = begin + (is_pair(text_.substr(begin, 2)) ? 2 : 1);
  return token(Token::Kind::kPunctuation, begin, at_);
}

Token TextScanner::scan_string(size_t begin) {
  size_t end = begin + 1;
  while (end < text_.size() && text_[end] != '"' && text_[end] != '\n') end += text_[end] == '\\' ? 2 : 1;
  if (end >= text_.size() || text_[end] != '"') {
    fail(DiagnosticId::kIrOpenString,
         Span{file_, static_cast<uint32_t>(begin), static_cast<uint32_t>(begin + 1)});
    return token_;
  }
  at_ = end + 1;
  Token string = token(Token::Kind::kString, begin, at_, 1);
  string.text.remove_suffix(1);
  return string;
}

Token TextScanner::peek_second() const {
  if (failed_) return token_;
  // A copy reads on; its errors are reported when the token is really taken.
  Diagnostics unheard;
  TextScanner ahead(*this, unheard);
  return ahead.scan();
}

Token TextScanner::take() {
  Token taken = token_;
  if (taken.kind != Token::Kind::kEnd) {
    last_ = taken.span;
    Token next = scan();
    if (!failed_) token_ = next;
  }
  return taken;
}

bool TextScanner::at(std::string_view text) const {
  return (token_.kind == Token::Kind::kWord || token_.kind == Token::Kind::kPunctuation) &&
         token_.text == text;
}

bool TextScanner::accept(std::string_view text) {
  if (!at(text)) return false;
  take();
  return true;
}

void TextScanner::expect(std::string_view text) {
  if (!accept(text)) fail_expected("`" + std::string(text) + "`");
}

Token TextScanner::expect(Token::Kind kind, std::string_view what) {
  if (at(kind)) return take();
  fail_expected(what);
  return token_;
}

void TextScanner::fail_expected(std::string_view what) {
  std::string found = shown(token_);
  fail(DiagnosticId::kIrExpected, token_.span, what, found);
}

int64_t TextScanner::expect_integer(std::string_view what) {
  Span begin = token_.span;
  std::string text = accept("-") ? "-" : "";
  Token digits = expect(Token::Kind::kNumber, what);
  if (failed_) return 0;
  text += digits.text;
  int64_t value = 0;
  auto [end, error] = std::from_chars(text.data(), text.data() + text.size(), value);
  if (error != std::errc() || end != text.data() + text.size())
    fail(DiagnosticId::kIrBadConstant, span_from(begin), text.substr(0, 60), "an integer of 64 bits");
  return value;
}

std::string TextScanner::expect_string() {
  Token string = expect(Token::Kind::kString, "a string");
  std::string contents;
  for (size_t i = 0; i < string.text.size(); ++i) {
    char c = string.text[i];
    if (c == '\\' && i + 1 < string.text.size()) {
      c = string.text[++i];
      if (c == 'n') c = '\n';
    }
    contents += c;
  }
  return contents;
}

TextScanner::Nesting::Nesting(TextScanner& scanner) : scanner_(scanner) {
  if (++scanner.nesting_ > kNestingLimit)
    scanner.fail(DiagnosticId::kNestingTooDeep, scanner.token_.span, static_cast<int>(kNestingLimit));
}

std::string quoted(std::string_view text) {
  std::string result = "\"";
  for (char c : text) {
    if (c == '"' || c == '\\') result += '\\';
    if (c == '\n') {
      result += "\\n";
    } else {
      result += c;
    }
  }
  return result + '"';
}

}  // namespace tenon::ir
