#include "frontend/parse/cursor.h"

#include <algorithm>
#include <utility>

#include "frontend/lex/limits.h"
#include "support/unicode.h"

namespace tenon::frontend {
namespace {

// How far recovery looks for the end of a subscript list.
constexpr size_t kMaxLookAhead = 200;

bool ends_operand(TokenKind kind) {
  switch (kind) {
    case TokenKind::kName:
    case TokenKind::kNumeral:
    case TokenKind::kElement:
    case TokenKind::kRightParen:
    case TokenKind::kRightBracket:
    case TokenKind::kTrue:
    case TokenKind::kFalse:
    case TokenKind::kInf:
    case TokenKind::kNan:
    case TokenKind::kInvalid:
    case TokenKind::kSemicolon:
    case TokenKind::kLeftBrace:
      return true;
    default:
      return false;
  }
}

// A name, or a reserved word that may have been taken for one.
bool is_word(TokenKind kind) { return kind == TokenKind::kName || is_reserved(kind); }

bool opens(TokenKind kind) { return kind == TokenKind::kLeftParen || kind == TokenKind::kLeftBracket; }
bool closes(TokenKind kind) { return kind == TokenKind::kRightParen || kind == TokenKind::kRightBracket; }

}  // namespace

Cursor::Cursor(FileId file, std::string_view text, std::vector<Token> tokens, Diagnostics& diagnostics)
    : file_(file), text_(text), tokens_(std::move(tokens)), diagnostics_(diagnostics), end_(tokens_.back()) {}

const Token& Cursor::peek(size_t ahead) const { return panicking() ? end_ : token(at_ + ahead); }

const Token& Cursor::take() {
  const Token& taken = peek();
  if (taken.kind == TokenKind::kEnd) return taken;
  previous_end_ = taken.end;
  ++at_;
  return taken;
}

bool Cursor::accept(TokenKind kind) {
  if (!at(kind)) return false;
  take();
  return true;
}

Diagnostic& Cursor::muted() {
  muted_ = Diagnostic{};
  return muted_;
}

Diagnostic& Cursor::counted(Diagnostic& diagnostic) {
  if (++errors_ < kMaxSyntaxErrors) return diagnostic;
  diagnostics_.report(DiagnosticId::kTooManyErrors, diagnostic.span, kMaxSyntaxErrors);
  stopped_ = true;
  return muted();
}

std::string Cursor::quote(std::string_view text) const {
  constexpr size_t kShown = 60;
  if (text.size() <= kShown) return fmt::format("`{}`", text);
  size_t end = kShown;
  while (end > 0 && (static_cast<unsigned char>(text[end]) & 0xC0) == 0x80) --end;
  return fmt::format("`{}...`", text.substr(0, end));
}

std::string Cursor::describe(const Token& token) const {
  if (token.kind == TokenKind::kEnd) return "the end of the file";
  const std::string quoted = quote(text_of(token));
  if (token.kind == TokenKind::kName) return "the name " + quoted;
  if (token.kind == TokenKind::kNumeral) return "the number " + quoted;
  return quoted;
}

Span Cursor::expected_span() const {
  return same_line() || previous_end_ == 0 ? span_of(peek()) : after_previous();
}

Diagnostic& Cursor::fail_expected(std::string_view expected) {
  const Token found = peek();
  Diagnostic& diagnostic = fail(DiagnosticId::kExpected, expected_span(), expected, describe(found));
  const std::string_view meant =
      found.kind == TokenKind::kName ? did_you_mean(text_of(found), {"where", "in", "on", "drop"}) : "";
  if (!meant.empty()) diagnostic.fix(span_of(found), std::string(meant), fmt::format("write `{}`", meant));
  return diagnostic;
}

bool Cursor::expect(TokenKind kind, std::string_view expected) {
  if (accept(kind)) return true;
  fail_expected(expected.empty() ? fmt::format("`{}`", spelling(kind)) : std::string(expected));
  return false;
}

bool Cursor::expect_close(TokenKind kind, const Token& open, std::string_view expected) {
  if (accept(kind)) return true;
  const std::string opened = quote(text_of(open));
  if (at(TokenKind::kEnd) || at_declaration() || at_statement() || at(TokenKind::kRightBrace)) {
    fail(DiagnosticId::kUnclosed, span_of(open), opened)
        .label(after_previous(), fmt::format("expected {} at the latest here", expected));
  } else {
    fail_expected(expected).label(span_of(open), fmt::format("to match this {}", opened));
  }
  return false;
}

bool Cursor::declaration_starts(size_t index) const {
  const Token& first = token(index);
  switch (first.kind) {
    case TokenKind::kKernel:
    case TokenKind::kFn:
    case TokenKind::kUse:
    case TokenKind::kSchedule:
    case TokenKind::kAt:
      return index == 0 || first.starts_line || token(index - 1).kind == TokenKind::kRightBrace;
    default:
      return false;
  }
}

// The index behind the bracket that closes the one at `index`, or the end where it is far.
size_t Cursor::past_brackets(size_t index) const {
  size_t depth = 0;
  for (size_t end = index + kMaxLookAhead; index < end && index < tokens_.size(); ++index) {
    if (opens(token(index).kind)) ++depth;
    if (closes(token(index).kind) && --depth == 0) return index + 1;
  }
  return tokens_.size();
}

bool Cursor::statement_starts(size_t index) const {
  if (definition_starts(index)) return true;
  const Token& first = token(index);
  if (!first.starts_line || !is_word(first.kind)) return false;
  const bool subscripted = token(index + 1).kind == TokenKind::kLeftBracket;
  const size_t colon = subscripted ? past_brackets(index + 1) : index + 1;
  const TokenKind type = token(colon + 1).kind;
  return token(colon).kind == TokenKind::kColon && (type == TokenKind::kElement || type == TokenKind::kName);
}

bool Cursor::definition_starts(size_t index) const {
  const Token& first = token(index);
  if (!is_word(first.kind)) return false;
  const bool behind_operand =
      first.kind == TokenKind::kName && (index == 0 || ends_operand(token(index - 1).kind));
  if (!first.starts_line && !behind_operand) return false;
  switch (token(index + 1).kind) {
    case TokenKind::kEqual:
      return true;
    case TokenKind::kPlusEqual:
      return first.starts_line;
    case TokenKind::kComma: {
      size_t next = index + 1;
      while (token(next).kind == TokenKind::kComma && token(next + 1).kind == TokenKind::kName &&
             next < index + kMaxLookAhead)
        next += 2;
      return token(next).kind == TokenKind::kEqual;
    }
    case TokenKind::kLeftBracket: {
      const size_t after = past_brackets(index + 1);
      const TokenKind op = token(after).kind;
      const bool extreme = op == TokenKind::kMax || op == TokenKind::kMin;
      return op == TokenKind::kEqual || op == TokenKind::kPlusEqual ||
             (extreme && token(after + 1).kind == TokenKind::kEqual);
    }
    default:
      return false;
  }
}

void Cursor::recover_to_statement(size_t start) {
  if (stopped_) return;
  calm();
  if (at_ == start) take();
  size_t braces = 0;
  for (; !at(TokenKind::kEnd) && !declaration_starts(at_); take()) {
    if (braces == 0 && (at(TokenKind::kRightBrace) || statement_starts(at_))) return;
    if (at(TokenKind::kLeftBrace)) ++braces;
    if (at(TokenKind::kRightBrace)) --braces;
  }
}

void Cursor::recover_to_declaration(size_t start) {
  if (stopped_) return;
  calm();
  if (at_ == start) take();
  while (!at(TokenKind::kEnd) && !declaration_starts(at_)) take();
}

void Cursor::recover_to_body() {
  if (stopped_) return;
  calm();
  while (!at(TokenKind::kEnd) && !at(TokenKind::kLeftBrace) && !declaration_starts(at_)) take();
}

bool Cursor::recover_in_list(TokenKind close) {
  if (stopped_) return false;
  const size_t start = at_;
  const uint32_t start_end = previous_end_;
  calm();
  size_t depth = 0;
  for (; !at(TokenKind::kEnd) && !at(TokenKind::kLeftBrace) && !at(TokenKind::kArrow); take()) {
    if (declaration_starts(at_)) break;
    if (depth == 0 && (at(TokenKind::kComma) || at(close))) return true;
    if (opens(peek().kind)) ++depth;
    if (closes(peek().kind) && depth > 0) --depth;
  }
  at_ = start;
  previous_end_ = start_end;
  panicking_ = true;
  return false;
}

}  // namespace tenon::frontend
