// The tokens of a source file.
#pragma once

#include <cstdint>
#include <optional>
#include <string_view>
#include <vector>

#include "support/element_type.h"

namespace tenon::frontend {

enum class TokenKind : uint8_t {
  // Ends every token list; stands at the end of the text and is empty.
  kEnd,
  // Something that is no token, already reported: whoever stumbles over it stays silent.
  kInvalid,
  kName,
  kNumeral,
  // The name of an element type, `index` among them.
  kElement,
#define TENON_PUNCTUATION(id, spelling) k##id,
#define TENON_KEYWORD(id, spelling) k##id,
#include "frontend/lex/tokens.def"
};

struct Token {
  TokenKind kind = TokenKind::kEnd;
  // The first token of its line. Newlines mean nothing to the grammar; recovery from mistakes looks at them.
  bool starts_line = false;
  // Of a kNumeral: written with a point or an exponent.
  bool has_point_or_exponent = false;
  // Of a kElement.
  ElementType element = ElementType::kF64;
  // Bytes of the file, half open.
  uint32_t begin = 0;
  uint32_t end = 0;
};

struct TokenList {
  // Ends in a kEnd.
  std::vector<Token> tokens;
  // False: reading stopped at a limit, which is reported, and the tokens are not worth parsing.
  bool complete = true;
};

// The text of a token that has only one; empty for names, numbers, element types, kInvalid and kEnd.
std::string_view spelling(TokenKind kind);

// Is it a word that the language keeps for itself?
bool is_reserved(TokenKind kind);

// All reserved words, for did_you_mean.
std::vector<std::string_view> reserved_words();

}  // namespace tenon::frontend
