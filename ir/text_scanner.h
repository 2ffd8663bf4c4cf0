// The tokens of IR text, for the parsers of both stages.
//
// A parser need not look after errors at every step: the first one is reported, and from then on the scanner
// stands at the end of the text, where every loop over tokens ends. The caller asks `failed()` once.
#pragma once

#include <cstdint>
#include <optional>
#include <string>
#include <string_view>

#include "support/diagnostics.h"
#include "support/source.h"

namespace tenon::ir {

struct Token {
  enum class Kind : uint8_t {
    kEnd,
    // A letter or `_`, then letters, digits, `_` and `.`.
    kWord,
    // `%` and the characters of a word or number: a tensor or value.
    kValue,
    // `@` and the characters of a word: a kernel, group or permission list.
    kSymbol,
    // A digit, then letters, digits and `.`, and a sign behind an exponent's letter.
    kNumber,
    // Between double quotes, with backslash escapes.
    kString,
    // One character, or one of -> <= >= == != && ||.
    kPunctuation,
  };
  Kind kind = Kind::kEnd;
  // As written; of a value or symbol without its first character, of a string without quotes but with
  // escapes.
  std::string_view text;
  Span span;
};

class TextScanner {
 public:
  // Nesting deeper than this is refused, so that parsers may recurse.
  static constexpr int kNestingLimit = 200;
  static constexpr size_t kSizeLimit = size_t{16} << 20;

  TextScanner(const SourceManager& sources, FileId file, Diagnostics& diagnostics);

  const Token& peek() const { return token_; }
  // The token after `peek()`.
  Token peek_second() const;
  Token take();
  bool at_end() const { return token_.kind == Token::Kind::kEnd; }
  bool at(Token::Kind kind) const { return token_.kind == kind; }
  // Whether the next token is this word or punctuation.
  bool at(std::string_view text) const;
  bool accept(std::string_view text);
  void expect(std::string_view text);
  // Takes a token of this kind, or reports that `what` was expected; its text is then empty.
  Token expect(Token::Kind kind, std::string_view what);
  // Items between commas, up to and with the closing token.
  template <class Item>
  void list(std::string_view close, Item item) {
    while (!at(close) && !at_end()) {
      item();
      if (!accept(",")) break;
    }
    expect(close);
  }
  // An integer with an optional minus sign.
  int64_t expect_integer(std::string_view what);
  // A string token's contents.
  std::string expect_string();

  // Reports at a place and ends the scan. Only the first error counts; what it reported, to add notes to, or
  // null for a later one.
  template <class... Args>
  Diagnostic* fail(DiagnosticId id, Span span, const Args&... args) {
    if (failed_) return nullptr;
    Diagnostic& reported = diagnostics_.report(id, span, args...);
    stop();
    return &reported;
  }
  void fail_expected(std::string_view what);
  bool failed() const { return failed_; }

  // Counts a level of nesting for as long as it lives.
  class Nesting {
   public:
    explicit Nesting(TextScanner& scanner);
    ~Nesting() { --scanner_.nesting_; }
    Nesting(const Nesting&) = delete;
    Nesting& operator=(const Nesting&) = delete;

   private:
    TextScanner& scanner_;
  };

  Span span_from(Span begin) const { return cover(begin, last_); }

 private:
  TextScanner(const TextScanner& other, Diagnostics& diagnostics);
  Token scan();
  Token scan_string(size_t begin);
  Token token(Token::Kind kind, size_t begin, size_t end, size_t skip = 0) const;
  void stop();

  std::string_view text_;
  FileId file_;
  Diagnostics& diagnostics_;
  size_t at_ = 0;
  Token token_;
  Span last_;
  int nesting_ = 0;
  bool failed_ = false;
};

// A text between double quotes that the scanner reads back.
std::string quoted(std::string_view text);

}  // namespace tenon::ir
