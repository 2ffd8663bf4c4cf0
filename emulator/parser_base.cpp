#include "emulator/parser_base.h"

#include <fmt/format.h>

#include <bit>

namespace tenon::emulator {
namespace {

// The most bytes of one declared variable.
constexpr uint64_t kMaxVariableBytes = uint64_t{1} << 32;

}  // namespace

std::optional<StateSpace> state_space_by_name(std::string_view name) {
  if (const size_t scope = name.find("::"); scope != std::string_view::npos) name = name.substr(0, scope);
  if (name == "global") return StateSpace::kGlobal;
  if (name == "shared") return StateSpace::kShared;
  if (name == "local") return StateSpace::kLocal;
  if (name == "const") return StateSpace::kConst;
  if (name == "param") return StateSpace::kParam;
  return std::nullopt;
}

void TokenCursor::fail(TextPosition position, std::string_view message) {
  if (!error_) error_ = ptx_error(position, message);
  at_ = tokens_.size() - 1;
}

bool TokenCursor::accept(char punctuation) {
  if (!peek().is(punctuation)) return false;
  take();
  return true;
}

void TokenCursor::expect(char punctuation) {
  if (accept(punctuation)) return;
  const Token& token = peek();
  fail_here(token.kind == TokenKind::kEnd
                ? fmt::format("expected '{}' before the end of the text", punctuation)
                : fmt::format("expected '{}', not '{}'", punctuation, token.text));
}

bool TokenCursor::accept_dotted(std::string_view text) {
  if (peek().kind != TokenKind::kDotted || peek().text != text) return false;
  take();
  return true;
}

std::string_view TokenCursor::expect_identifier(std::string_view what) {
  if (peek().kind == TokenKind::kIdentifier) return take().text;
  fail_here(fmt::format("expected {}, not '{}'", what, peek().text));
  return {};
}

uint64_t TokenCursor::expect_integer(std::string_view what) {
  if (peek().kind == TokenKind::kInteger) return take().bits;
  fail_here(fmt::format("expected {}, not '{}'", what, peek().text));
  return 0;
}

void TokenCursor::skip_line(uint32_t line) {
  while (!at_end() && peek().position.line == line) take();
}

void TokenCursor::skip_past(char punctuation) {
  while (!at_end() && !accept(punctuation)) take();
}

void TokenCursor::skip_braces() {
  expect('{');
  for (size_t depth = 1; depth > 0 && ok();) {
    if (at_end()) return fail_here("expected '}' before the end of the text");
    const Token token = take();
    if (token.is('{')) ++depth;
    if (token.is('}')) --depth;
  }
}

Variable TokenCursor::parse_variable(StateSpace space) {
  Variable variable;
  variable.space = space;
  uint64_t lanes = 1;
  bool typed = false;
  bool pointer = false;
  while (ok() && peek().kind == TokenKind::kDotted) {
    const Token token = take();
    if (token.text == "align") {
      const uint64_t alignment = expect_integer("an alignment");
      if (!std::has_single_bit(alignment) || alignment > 4096) {
        fail(token.position, "an alignment is a power of two up to 4096");
      }
      // After .ptr it is the alignment of what the parameter points to.
      if (!pointer) variable.alignment = alignment;
    } else if (token.text == "v2" || token.text == "v4" || token.text == "v8") {
      lanes = static_cast<uint64_t>(token.text[1] - '0');
    } else if (const auto type = ptx_type_by_name(token.text)) {
      variable.type = *type;
      typed = true;
    } else if (token.text == "ptr") {
      pointer = true;
    } else if (token.text == "attribute") {
      expect('(');
      skip_past(')');
    } else if (!pointer || !state_space_by_name(token.text)) {
      fail(token.position, fmt::format("unexpected '.{}' in a declaration", token.text));
    }
  }
  if (ok() && !typed) fail_here("the declaration names no type");
  variable.position = peek().position;
  variable.name = expect_identifier("a name");
  variable.elements = lanes;
  variable.alignment = std::max<uint64_t>(variable.alignment, byte_size(variable.type) * lanes);
  parse_array_bounds(variable);
  return variable;
}

void TokenCursor::parse_array_bounds(Variable& variable) {
  while (ok() && accept('[')) {
    const TextPosition position = peek().position;
    if (accept(']')) {
      variable.elements = 0;
      continue;
    }
    const uint64_t extent = expect_integer("an array size");
    expect(']');
    if (extent != 0 && variable.elements > kMaxVariableBytes / extent)
      return fail(position, "the array is too large");
    variable.elements *= extent;
  }
  if (variable.elements > kMaxVariableBytes / 16) fail(variable.position, "the array is too large");
}

}  // namespace tenon::emulator
