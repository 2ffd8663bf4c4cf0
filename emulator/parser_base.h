// The token cursor that the parts of the parser share. The first error is kept and ends all loops.
#pragma once

#include <algorithm>
#include <optional>
#include <string_view>
#include <vector>

#include "emulator/ast.h"
#include "emulator/lexer.h"
#include "support/result.h"

namespace tenon::emulator {

class TokenCursor {
 public:
  explicit TokenCursor(std::vector<Token> tokens) : tokens_(std::move(tokens)) {}

  const Token& peek(size_t ahead = 0) const { return tokens_[std::min(at_ + ahead, tokens_.size() - 1)]; }
  Token take() {
    const Token token = peek();
    if (at_ + 1 < tokens_.size()) ++at_;
    return token;
  }
  bool at_end() const { return peek().kind == TokenKind::kEnd; }
  bool ok() const { return !error_; }
  Error take_error() { return *std::move(error_); }

  void fail(TextPosition position, std::string_view message);
  void fail_here(std::string_view message) { fail(peek().position, message); }

  bool accept(char punctuation);
  void expect(char punctuation);
  bool accept_dotted(std::string_view text);
  // An identifier's text; empty after an error.
  std::string_view expect_identifier(std::string_view what);
  uint64_t expect_integer(std::string_view what);
  // Skips the rest of the current line, for directives that end with it.
  void skip_line(uint32_t line);
  // Skips tokens up to and including the punctuation, or to the end.
  void skip_past(char punctuation);
  void skip_braces();

  // `.space .align N .v4 .type name[N][M]` after the space: alignment, type, name, array bounds.
  // Attributes of a parameter (.ptr .global .align N) are read and dropped.
  Variable parse_variable(StateSpace space);

 private:
  void parse_array_bounds(Variable& variable);

  std::vector<Token> tokens_;
  size_t at_ = 0;
  std::optional<Error> error_;
};

// The state space that a declaration names: "global", "shared", ...
std::optional<StateSpace> state_space_by_name(std::string_view name);

}  // namespace tenon::emulator
