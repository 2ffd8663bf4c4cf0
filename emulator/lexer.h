// Splits PTX text into tokens. Comments and blanks vanish; every token knows its line and column.
#pragma once

#include <cstdint>
#include <string_view>
#include <vector>

#include "support/result.h"

namespace tenon::emulator {

struct TextPosition {
  uint32_t line = 1;
  uint32_t column = 1;
};

enum class TokenKind : uint8_t {
  kIdentifier,  // foo  %r1  $L__BB0_1  _
  kDotted,      // .global  .L2::128B  (without the dot)
  kInteger,
  kFloat32,      // 0f3F800000; `bits` holds the pattern
  kFloat64,      // 0d...; also decimal literals
  kString,       // without the quotes
  kPunctuation,  // one character
  kEnd,
};

struct Token {
  TokenKind kind = TokenKind::kEnd;
  TextPosition position;
  std::string_view text;
  uint64_t bits = 0;

  bool is(char punctuation) const { return kind == TokenKind::kPunctuation && text[0] == punctuation; }
};

// The tokens of `text`, the last one of kind kEnd. They refer to `text`.
Result<std::vector<Token>> tokenize(std::string_view text);

// An error about PTX text: "PTX line 3, column 5: message".
Error ptx_error(TextPosition position, std::string_view message);

}  // namespace tenon::emulator
