// Operands: literals, names, accesses, calls, casts, reductions.
#include "frontend/lex/limits.h"
#include "frontend/parse/parser.h"

namespace tenon::frontend {
namespace {

std::optional<ReductionKind> reduction_of(TokenKind kind) {
  switch (kind) {
    case TokenKind::kSum:
      return ReductionKind::kSum;
    case TokenKind::kProd:
      return ReductionKind::kProd;
    case TokenKind::kMax:
      return ReductionKind::kMax;
    case TokenKind::kMin:
      return ReductionKind::kMin;
    case TokenKind::kAny:
      return ReductionKind::kAny;
    case TokenKind::kAll:
      return ReductionKind::kAll;
    case TokenKind::kArgmax:
      return ReductionKind::kArgmax;
    case TokenKind::kArgmin:
      return ReductionKind::kArgmin;
    default:
      return std::nullopt;
  }
}

}  // namespace

Parser::Parsed Parser::parse_primary() {
  if (peek().starts_line && at_definition()) return fail_primary();
  if (reduction_of(peek().kind)) return parse_reduction_or_extreme();
  switch (peek().kind) {
    case TokenKind::kNumeral: {
      const Token& token = take();
      return add_leaf(span_of(token), NumberLiteral{text_of(token), token.has_point_or_exponent});
    }
    case TokenKind::kTrue:
      return add_leaf(span_of(take()), BoolLiteral{true});
    case TokenKind::kFalse:
      return add_leaf(span_of(take()), BoolLiteral{false});
    case TokenKind::kInf:
      return add_leaf(span_of(take()), InfLiteral{});
    case TokenKind::kNan:
      return add_leaf(span_of(take()), NanLiteral{});
    case TokenKind::kLeftParen:
      return parse_parenthesized();
    case TokenKind::kName:
      return parse_name_expr();
    case TokenKind::kElement:
      return parse_cast();
    default:
      return fail_primary();
  }
}

Parser::Parsed Parser::fail_primary() {
  const Token& token = peek();
  switch (token.kind) {
    case TokenKind::kEllipsis:
      fail(DiagnosticId::kMisplacedEllipsis, span_of(token));
      break;
    case TokenKind::kDotDot:
      fail(DiagnosticId::kMisplacedRange, span_of(token));
      break;
    case TokenKind::kFloat:
    case TokenKind::kInt:
      fail(DiagnosticId::kExpected, span_of(token), "an expression", describe(token))
          .note(fmt::format("a cast names the exact type, as in `{}(x)`",
                            token.kind == TokenKind::kInt ? "i32" : "f32"));
      break;
    default:
      fail(DiagnosticId::kExpected, expected_span(), "an expression", describe(token));
  }
  return error_expr();
}

Parser::Parsed Parser::parse_parenthesized() {
  const Token& open = take();
  Nested nested(*this);
  const ExprId inner = parse_expr();
  if (at(TokenKind::kComma))
    fail_expected("`)`").note("there are no tuples; several values have several names");
  check_operand_end();
  expect_close(TokenKind::kRightParen, open, "`)`");
  return {inner, span_from(open.begin)};
}

Parser::Parsed Parser::parse_name_expr() {
  const Token& name = take();
  if (at(TokenKind::kLeftBracket)) return parse_access(name);
  if (at(TokenKind::kLeftParen)) return parse_call(name);
  const bool before_operand = at(TokenKind::kName) || at(TokenKind::kNumeral);
  if (text_of(name) == "not" && before_operand && same_line() && !at_statement()) {
    complain(DiagnosticId::kForeignOperator, span_of(name), "not").fix(span_of(name), "!", "write `!`");
    return parse_unary();
  }
  return add_leaf(span_of(name), NameRef{text_of(name)});
}

// The name has been taken; `[` is next.
Parser::Parsed Parser::parse_access(const Token& name) {
  const ExprId first = next_expr();
  const Token& open = take();
  Nested nested(*this);
  ExprList subscripts = parse_subscripts("subscripts", span_of(name));
  ExprId fallback;
  if (accept(TokenKind::kPipe)) {
    if (at(TokenKind::kDrop)) {
      complain(DiagnosticId::kDropOnRead, span_of(peek())).fix(span_of(peek()), "0", "give a value");
      take();
    } else {
      fallback = parse_expr();
    }
  }
  check_operand_end();
  expect_close(TokenKind::kRightBracket, open, fallback ? "`]`" : "`,` or `]`");
  fail_chained_subscripts();
  if (at(TokenKind::kLeftParen) && same_line()) fail_unknown_reduction(name);
  const Span span = span_from(name.begin);
  return {add_expr(span, first, Access{name_of(name), subscripts, fallback}), span};
}

// `mean[k](`: nothing but a reduction has both brackets and parentheses.
void Parser::fail_unknown_reduction(const Token& name) {
  Diagnostic& diagnostic = fail(DiagnosticId::kUnknownReduction, span_of(name), quote(text_of(name)));
  diagnostic.note("the reductions are `sum`, `prod`, `max`, `min`, `any`, `all`, `argmax` and `argmin`");
  if (text_of(name) == "mean") diagnostic.note("a mean is a sum divided, as in `sum[k](x[k]) / f32(N)`");
  const std::string_view meant =
      did_you_mean(text_of(name), {"sum", "prod", "max", "min", "any", "all", "argmax", "argmin"});
  if (!meant.empty()) diagnostic.fix(span_of(name), std::string(meant), fmt::format("write `{}`", meant));
}

// The name has been taken; `(` is next.
Parser::Parsed Parser::parse_call(const Token& name) {
  const ExprId first = next_expr();
  Nested nested(*this);
  const ExprList arguments = parse_arguments();
  const Span span = span_from(name.begin);
  return {add_expr(span, first, Call{name_of(name), arguments}), span};
}

Parser::Parsed Parser::parse_cast() {
  const ExprId first = next_expr();
  const Token& type = take();
  if (!at(TokenKind::kLeftParen)) {
    fail(DiagnosticId::kTypeAsValue, span_of(type), text_of(type));
    return error_expr();
  }
  const Token& open = take();
  Nested nested(*this);
  const ExprId operand = parse_expr();
  if (at(TokenKind::kComma)) fail_expected("`)`").note("a cast takes one value");
  check_operand_end();
  expect_close(TokenKind::kRightParen, open, "`)`");
  const Span span = span_from(type.begin);
  return {add_expr(span, first, Cast{type.element, span_of(type), operand}), span};
}

// `sum` and its like, and the two that are also functions of two arguments.
Parser::Parsed Parser::parse_reduction_or_extreme() {
  const ExprId first = next_expr();
  const Token& word = take();
  const bool extreme = word.kind == TokenKind::kMax || word.kind == TokenKind::kMin;
  if (at(TokenKind::kLeftBracket)) return parse_reduction(word, *reduction_of(word.kind));
  if (!extreme || !at(TokenKind::kLeftParen)) {
    fail(DiagnosticId::kReductionWithoutIndices, span_of(word), text_of(word));
    return error_expr();
  }
  Nested nested(*this);
  const ExprList arguments = parse_arguments();
  const Span span = span_from(word.begin);
  if (arguments.count != 2) {
    Diagnostic& diagnostic = complain(DiagnosticId::kExtremeArity, span, text_of(word), arguments.count);
    if (arguments.count < 2)
      diagnostic.note(fmt::format("the {} over an index k is `{}[k](...)`",
                                  word.kind == TokenKind::kMax ? "maximum" : "minimum", text_of(word)));
    return {add_expr(span, first, ErrorExpr{}), span};
  }
  return {add_expr(span, first, Call{name_of(word), arguments}), span};
}

// The word has been taken; `[` is next.
Parser::Parsed Parser::parse_reduction(const Token& word, ReductionKind kind) {
  const ExprId first = next_expr();
  const Token& open = take();
  Nested nested(*this);
  const BinderList binders = parse_binders(open);
  ExprId condition;
  if (accept(TokenKind::kWhere)) {
    condition = parse_expr();
    if (at(TokenKind::kComma)) fail_expected("`]`").note("join several conditions by `&&`");
  } else if (peek_operator()) {
    fail_expected("`,`, `in`, `where` or `]`")
        .note("a condition stands after `where`, as in `sum[k where k < n](...)`");
  }
  check_operand_end();
  expect_close(TokenKind::kRightBracket, open, condition ? "`]`" : "`,`, `where` or `]`");
  if (!at(TokenKind::kLeftParen)) {
    fail(DiagnosticId::kReductionWithoutBody, expected_span(), text_of(word), describe(peek()));
    return error_expr();
  }
  const ExprId body = parse_parenthesized().id;
  const Span span = span_from(word.begin);
  return {add_expr(span, first, Reduction{kind, span_of(word), binders, condition, body}), span};
}

BinderList Parser::parse_binders(const Token& open) {
  std::vector<Binder> binders;
  if (at(TokenKind::kRightBracket) || at(TokenKind::kWhere)) {
    fail(DiagnosticId::kNoBinder, cover(span_of(open), span_of(peek())));
  } else {
    do {
      if (std::optional<Binder> binder = parse_binder()) binders.push_back(*binder);
    } while (another_in_list(TokenKind::kRightBracket));
  }
  complain_rank(binders.size(), "indices", span_from(open.begin));
  const uint32_t begin = static_cast<uint32_t>(module_.binder_lists.size());
  module_.binder_lists.insert(module_.binder_lists.end(), binders.begin(), binders.end());
  return {begin, static_cast<uint32_t>(binders.size())};
}

std::optional<Binder> Parser::parse_binder() {
  const std::optional<Name> name = parse_name("an index");
  if (!name) return std::nullopt;
  Binder binder{*name, {}, {}};
  const bool assigned = at(TokenKind::kEqual) || at(TokenKind::kColon);
  if (assigned) {
    complain(DiagnosticId::kRangeWithoutIn, span_of(peek()), text_of(peek()))
        .fix(span_of(peek()), peek().begin == name->span.end ? " in " : "in", "write `in`");
  }
  if (assigned || at(TokenKind::kIn)) {
    take();
    parse_range(binder);
  }
  return binder;
}

void Parser::parse_range(Binder& binder) {
  const uint32_t begin = peek().begin;
  const ExprId lower = parse_additive();
  if (at(TokenKind::kEllipsis)) {
    complain(DiagnosticId::kForeignOperator, span_of(peek()), "...").fix(span_of(peek()), "..", "write `..`");
  } else if (!at(TokenKind::kDotDot)) {
    const bool whole = at(TokenKind::kComma) || at(TokenKind::kWhere) || at(TokenKind::kRightBracket);
    if (!whole) return static_cast<void>(fail_expected("`..`"));
    const Span bound = span_from(begin);
    complain(DiagnosticId::kRangeWithoutLower, bound)
        .fix({module_.file, begin, begin}, "0..", "count from 0");
    return;
  }
  take();
  if (at(TokenKind::kEqual)) {
    fail(DiagnosticId::kForeignOperator, {module_.file, peek().begin - 2, peek().end}, "..=")
        .note("a range ends before its upper bound; `0..=n` is `0..n + 1`");
  }
  const ExprId upper = parse_additive();
  binder.lower = lower;
  binder.upper = upper;
}

}  // namespace tenon::frontend
