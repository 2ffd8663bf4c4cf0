// Where the parser stands in the token list, and how it copes with mistakes.
//
// A mistake that makes the present construct unreadable is reported by `fail`, which starts a panic: from
// then on the next token reads as the end of the file, so that every loop of the parser ends, nothing matches
// and nothing more is reported, until somebody who knows where to go on calls one of the recovering
// functions. A mistake behind which the intention is plain is reported by `complain`, and parsing continues
// as if it had been written right.
#pragma once

#include <string>
#include <string_view>
#include <vector>

#include "frontend/lex/token.h"
#include "support/diagnostics.h"
#include "support/source.h"

namespace tenon::frontend {

class Cursor {
 public:
  // `tokens` ends in a kEnd; all of them are of `file`, whose text is `text`.
  Cursor(FileId file, std::string_view text, std::vector<Token> tokens, Diagnostics& diagnostics);

 protected:
  // --- Reading ---

  const Token& peek(size_t ahead = 0) const;
  bool at(TokenKind kind) const { return peek().kind == kind; }
  bool at(TokenKind kind, TokenKind next) const { return at(kind) && peek(1).kind == next; }
  bool accept(TokenKind kind);
  // Moves on; in a panic and at the end it stays.
  const Token& take();
  bool panicking() const { return panicking_ || stopped_; }

  Span span_of(const Token& token) const { return {file_, token.begin, token.end}; }
  Span span_from(uint32_t begin) const { return {file_, begin, std::max(begin, previous_end_)}; }
  // The empty span behind the last token taken: where something that is missing belongs.
  Span after_previous() const { return {file_, previous_end_, previous_end_}; }
  std::string_view text_of(const Token& token) const {
    return text_.substr(token.begin, token.end - token.begin);
  }
  std::string_view text_of(Span span) const { return text_.substr(span.begin, span.end - span.begin); }
  // Do the tokens touch, as in `**`?
  static bool adjacent(const Token& first, const Token& second) { return first.end == second.begin; }
  // Is the next token on the line of the one before it?
  bool same_line() const { return !at(TokenKind::kEnd) && !peek().starts_line; }

  // --- Mistakes ---

  template <class... Args>
  Diagnostic& complain(DiagnosticId id, Span span, const Args&... args) {
    damaged_ = true;
    if (panicking()) return muted();
    return counted(diagnostics_.report(id, span, args...));
  }
  // Silent where the next token is one that the lexer has complained about.
  template <class... Args>
  Diagnostic& fail(DiagnosticId id, Span span, const Args&... args) {
    const bool silent = panicking() || at(TokenKind::kInvalid);
    Diagnostic& diagnostic = silent ? muted() : complain(id, span, args...);
    damaged_ = panicking_ = true;
    return diagnostic;
  }
  // Fails with "expected {}, found {}" at the next token, or behind the previous one where a line ends.
  Diagnostic& fail_expected(std::string_view expected);
  // Takes the token, or fails; `expected` is for the message where it should say more than the token's
  // spelling.
  bool expect(TokenKind kind, std::string_view expected = {});
  // Takes the bracket that closes `open`, or fails.
  bool expect_close(TokenKind kind, const Token& open, std::string_view expected);
  Span expected_span() const;

  // "`)`", "the name `x`", "the end of the file"; never longer than a line.
  std::string describe(const Token& token) const;
  std::string quote(std::string_view text) const;

  // Was anything wrong since the flag was last cleared? Set by every mistake, also by those that stay silent.
  bool damaged() const { return damaged_; }
  void clear_damaged() { damaged_ = false; }

  // --- Recovering ---

  // All of these end a panic. The first does nothing else.
  void calm() { panicking_ = false; }
  // To the beginning of a statement, the `}` of the body, or what ends a body by force. Goes at least past
  // `start`.
  void recover_to_statement(size_t start);
  void recover_to_declaration(size_t start);
  // To the `{` of a body, if one comes before the next declaration.
  void recover_to_body();
  // To the `,` or `close` of the list at hand; false, and the panic goes on, where there is none near.
  bool recover_in_list(TokenKind close);

  // Position in the token list, for recover_to_statement.
  size_t position() const { return at_; }
  // Do a declaration's first words stand here? Such words are reserved, so they end whatever is unfinished.
  bool at_declaration() const { return declaration_starts(at_); }
  // Does this look like the beginning of a statement: `a = `, `a, b = `, `a[...] =`, or, on a new line, `a:
  // type`?
  bool at_statement() const { return !panicking() && statement_starts(at_); }
  // The first three of these, which are nothing else in any program.
  bool at_definition() const { return !panicking() && definition_starts(at_); }

 private:
  Diagnostic& muted();
  Diagnostic& counted(Diagnostic& diagnostic);
  const Token& token(size_t index) const { return tokens_[std::min(index, tokens_.size() - 1)]; }
  bool declaration_starts(size_t index) const;
  bool statement_starts(size_t index) const;
  bool definition_starts(size_t index) const;
  size_t past_brackets(size_t index) const;

  FileId file_;
  std::string_view text_;
  std::vector<Token> tokens_;
  Diagnostics& diagnostics_;
  // Takes what is said during a panic.
  Diagnostic muted_;
  Token end_;
  size_t at_ = 0;
  uint32_t previous_end_ = 0;
  size_t errors_ = 0;
  bool panicking_ = false;
  bool damaged_ = false;
  // After kMaxSyntaxErrors: a panic without end.
  bool stopped_ = false;
};

}  // namespace tenon::frontend
