// Names, generics, parameters, results and types.
#include <array>

#include "frontend/lex/limits.h"
#include "frontend/parse/parser.h"

namespace tenon::frontend {
namespace {

std::optional<GenericKind> generic_kind_of(TokenKind kind) {
  switch (kind) {
    case TokenKind::kFloat:
      return GenericKind::kFloat;
    case TokenKind::kInt:
      return GenericKind::kInt;
    case TokenKind::kNumber:
      return GenericKind::kNumber;
    case TokenKind::kAny:
      return GenericKind::kAny;
    case TokenKind::kDim:
      return GenericKind::kDim;
    default:
      return std::nullopt;
  }
}

// Reserved words that are more likely to begin the next construct than to be meant as a name.
bool begins_something(TokenKind kind) {
  switch (kind) {
    case TokenKind::kWhere:
    case TokenKind::kIn:
    case TokenKind::kOn:
    case TokenKind::kKernel:
    case TokenKind::kFn:
    case TokenKind::kUse:
    case TokenKind::kSchedule:
      return true;
    default:
      return false;
  }
}

}  // namespace

std::optional<Name> Parser::parse_name(std::string_view what) {
  if (at(TokenKind::kName)) return name_of(take());
  const TokenKind next = peek(1).kind;
  const bool defined = next == TokenKind::kColon || next == TokenKind::kEqual;
  if (!is_reserved(peek().kind) || (begins_something(peek().kind) && !defined)) {
    fail_expected(fmt::format("the name of {}", what));
    return std::nullopt;
  }
  complain(DiagnosticId::kReservedName, span_of(peek()), text_of(peek()), what);
  return name_of(take());
}

Signature Parser::parse_name_generics_params(std::string_view what) {
  Signature signature;
  if (const std::optional<Name> name = parse_name(what)) signature.name = *name;
  if (at(TokenKind::kLess)) signature.generics = parse_generics();
  if (at(TokenKind::kLeftBracket))
    fail_expected("`(` and parameters").note("generics stand in angle brackets, as in `<T: float>`");
  signature.params = parse_params("a parameter");
  return signature;
}

std::vector<Generic> Parser::parse_generics() {
  const Token& open = take();
  std::vector<Generic> generics;
  do {
    if (const std::optional<Generic> generic = parse_generic()) generics.push_back(*generic);
  } while (another_in_list(TokenKind::kGreater));
  expect_close(TokenKind::kGreater, open, "`,` or `>`");
  return generics;
}

std::optional<Generic> Parser::parse_generic() {
  const std::optional<Name> name = parse_name("a generic");
  if (!name) return std::nullopt;
  if (at(TokenKind::kComma) || at(TokenKind::kGreater)) {
    complain(DiagnosticId::kMissingGenericKind, name->span, name->text)
        .note("`float`, `int`, `number` and `any` stand for element types, `dim` for a size")
        .fix({module_.file, name->span.end, name->span.end}, ": float", "for example");
    return std::nullopt;
  }
  if (!expect(TokenKind::kColon, "`:` and a kind")) return std::nullopt;
  if (const std::optional<GenericKind> kind = generic_kind_of(peek().kind)) {
    take();
    return Generic{span_from(name->span.begin), *name, *kind};
  }
  if (!at(TokenKind::kName) && !is_reserved(peek().kind)) {
    fail_expected("`float`, `int`, `number`, `any` or `dim`");
    return std::nullopt;
  }
  Diagnostic& diagnostic = complain(DiagnosticId::kUnknownGenericKind, span_of(peek()), text_of(peek()));
  diagnostic.note("the kinds are `float`, `int`, `number`, `any` and `dim`");
  const std::string_view meant = did_you_mean(text_of(peek()), {"float", "int", "number", "any", "dim"});
  if (!meant.empty()) diagnostic.fix(span_of(peek()), std::string(meant), fmt::format("write `{}`", meant));
  take();
  return std::nullopt;
}

// `what` is "a parameter" or "a result".
std::vector<Param> Parser::parse_params(std::string_view what) {
  std::vector<Param> params;
  const Token open = peek();
  if (!expect(TokenKind::kLeftParen) || accept(TokenKind::kRightParen)) return params;
  do {
    std::optional<Param> param = parse_param(what);
    const bool readable = !panicking() || recover_in_list(TokenKind::kRightParen);
    if (readable && param) params.push_back(std::move(*param));
  } while (another_in_list(TokenKind::kRightParen));
  expect_close(TokenKind::kRightParen, open, "`,` or `)`");
  return params;
}

std::optional<Param> Parser::parse_param(std::string_view what) {
  Param param;
  const uint32_t begin = peek().begin;
  const bool type_first = is_reserved(peek().kind) && peek(1).kind == TokenKind::kName;
  if (at(TokenKind::kInout) || at(TokenKind::kStrided)) {
    complain(DiagnosticId::kMisplacedQualifier, span_of(peek()), text_of(peek()))
        .note(fmt::format("as in `x: {} f32[N]`", text_of(peek())));
    parse_qualifiers(param);
  } else if (type_first) {
    fail(DiagnosticId::kTypeFirst, span_of(peek()), text_of(peek(1)), text_of(peek()));
    return std::nullopt;
  }
  const bool bare_type = at(TokenKind::kElement) && peek(1).kind != TokenKind::kColon;
  if (bare_type) {
    fail(DiagnosticId::kMissingName, span_of(peek()), what)
        .note(fmt::format("{} is written `name: type`", what));
    return std::nullopt;
  }
  const std::optional<Name> name = parse_name(what);
  if (!name) return std::nullopt;
  param.name = *name;
  if (at(TokenKind::kComma) || at(TokenKind::kRightParen) || at(TokenKind::kLeftBracket)) {
    fail(DiagnosticId::kMissingType, name->span, text_of(name->span))
        .note(fmt::format("as in `{}: f32[N]`", text_of(name->span)));
    return std::nullopt;
  }
  if (!expect(TokenKind::kColon, "`:` and a type")) return std::nullopt;
  parse_qualifiers(param);
  param.type = parse_type();
  param.span = span_from(begin);
  if (panicking()) return std::nullopt;
  return param;
}

void Parser::parse_qualifiers(Param& param) {
  while (at(TokenKind::kInout) || at(TokenKind::kStrided)) {
    const Token& token = take();
    const bool is_inout = token.kind == TokenKind::kInout;
    const bool again = is_inout ? param.is_inout : param.is_strided;
    if (again || (is_inout && param.is_strided)) {
      complain(DiagnosticId::kQualifierOrder, span_of(token), text_of(token));
    }
    (is_inout ? param.is_inout : param.is_strided) = true;
    (is_inout ? param.inout_span : param.strided_span) = span_of(token);
  }
}

void Parser::parse_kernel_results(Signature& signature) {
  if (at(TokenKind::kLeftParen)) {
    complain_missing_arrow();
  } else if (!accept(TokenKind::kArrow)) {
    return;
  }
  if (at(TokenKind::kElement) || at(TokenKind::kName)) fail_unnamed_result(span_of(peek()));
  signature.results = parse_params("a result");
}

// The results stand next.
void Parser::complain_missing_arrow() {
  complain(DiagnosticId::kMissingArrow, after_previous()).fix(after_previous(), " ->", "write `->`");
}

// An element type stands where `(` and named results have to.
void Parser::fail_unnamed_result(Span type) {
  fail(DiagnosticId::kUnnamedResult, type).note("as in `-> (y: f32[N])`");
}

std::optional<Element> Parser::parse_element() {
  const Token& token = peek();
  switch (token.kind) {
    case TokenKind::kElement:
      take();
      return Element{span_of(token), text_of(token), token.element};
    case TokenKind::kName:
      take();
      return Element{span_of(token), text_of(token), std::nullopt};
    case TokenKind::kFloat:
    case TokenKind::kInt: {
      const std::string_view exact = token.kind == TokenKind::kFloat ? "f32" : "i32";
      complain(DiagnosticId::kKindAsType, span_of(token), text_of(token))
          .fix(span_of(token), std::string(exact), "name the exact type");
      take();
      return Element{span_of(token), text_of(token), element_type_by_name(exact)};
    }
    case TokenKind::kInout:
    case TokenKind::kStrided:
      fail(DiagnosticId::kMisplacedQualifier, span_of(token), text_of(token));
      return std::nullopt;
    default:
      fail_expected("a type");
      return std::nullopt;
  }
}

Type Parser::parse_type() {
  Type type;
  const uint32_t begin = peek().begin;
  const std::optional<Element> element = parse_element();
  if (!element) return type;
  type.element = *element;
  if (at(TokenKind::kLeftBracket)) {
    const Token& open = take();
    type.shape = parse_subscripts("dimensions", element->span);
    check_operand_end();
    expect_close(TokenKind::kRightBracket, open, "`,` or `]`");
    fail_chained_subscripts();
  }
  type.span = span_from(begin);
  return type;
}

}  // namespace tenon::frontend
