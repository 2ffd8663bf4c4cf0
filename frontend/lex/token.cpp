#include "frontend/lex/token.h"

#include <array>

namespace tenon::frontend {
namespace {

constexpr std::array<std::string_view, 5> kOpenKinds = {};
constexpr std::array kSpellings = {
#define TENON_PUNCTUATION(id, spelling) std::string_view(spelling),
#define TENON_KEYWORD(id, spelling) std::string_view(spelling),
#include "frontend/lex/tokens.def"
};

}  // namespace

std::string_view spelling(TokenKind kind) {
  const size_t index = static_cast<size_t>(kind);
  return index < kOpenKinds.size() ? kOpenKinds[index] : kSpellings[index - kOpenKinds.size()];
}

bool is_reserved(TokenKind kind) {
  switch (kind) {
    case TokenKind::kElement:
#define TENON_KEYWORD(id, spelling) case TokenKind::k##id:
#include "frontend/lex/tokens.def"
      return true;
    default:
      return false;
  }
}

std::vector<std::string_view> reserved_words() {
  return {
#define TENON_KEYWORD(id, spelling) spelling,
#include "frontend/lex/tokens.def"
#define TENON_ELEMENT_TYPE(id, name, bits, kind, numpy) name,
#include "support/element_type.def"
  };
}

}  // namespace tenon::frontend
