// Bodies, `where` clauses, and the three forms of a statement.
#include <array>

#include "frontend/parse/parser.h"

namespace tenon::frontend {
namespace {

struct ForeignStatement {
  std::string_view word;
  std::string_view advice;
};

constexpr std::array kForeignStatements = {
    ForeignStatement{
        "for", "the indices on the left say which elements are computed; loops are the compiler's business"},
    ForeignStatement{"while",
                     "a recurrence reads its own earlier values, as in `y[t] = y[t - 1 | 0] + x[t]`"},
    ForeignStatement{"if", "choose between values by `condition ? a : b`"},
    ForeignStatement{"else", "choose between values by `condition ? a : b`"},
    ForeignStatement{"return", "results are defined by their names, as in `y[i] = ...`"},
    ForeignStatement{"let", "a definition is the name alone, as in `a = 1`"},
    ForeignStatement{"var", "a definition is the name alone, as in `a = 1`"},
    ForeignStatement{"const", "a definition is the name alone, as in `a = 1`"},
    ForeignStatement{"auto", "a definition is the name alone, as in `a = 1`"},
    ForeignStatement{"val", "a definition is the name alone, as in `a = 1`"},
};

bool is_assign_start(TokenKind kind) {
  return kind == TokenKind::kPlusEqual || kind == TokenKind::kMax || kind == TokenKind::kMin;
}

bool is_arithmetic(TokenKind kind) {
  switch (kind) {
    case TokenKind::kMinus:
    case TokenKind::kStar:
    case TokenKind::kSlash:
    case TokenKind::kPercent:
    case TokenKind::kAmpersand:
    case TokenKind::kPipe:
    case TokenKind::kCaret:
    case TokenKind::kShiftLeft:
    case TokenKind::kShiftRight:
    case TokenKind::kAndAnd:
    case TokenKind::kOrOr:
      return true;
    default:
      return false;
  }
}

}  // namespace

ExprList Parser::parse_where() {
  take();
  const size_t begin = scratch_.size();
  do {
    scratch_.push_back(parse_expr());
  } while (another_in_list(TokenKind::kLeftBrace));
  return take_list(begin);
}

// After a signature; if that was unreadable, it looks for the statements all the same, for their mistakes.
Body Parser::parse_body(ExprList where) {
  Body body;
  body.where = where;
  const bool recovering = panicking();
  if (recovering) {
    recover_to_body();
    if (!at(TokenKind::kLeftBrace)) return body;
  }
  const Token open = peek();
  if (!expect(TokenKind::kLeftBrace, "`{` and statements")) return body;
  parse_statements(body);
  expect_close(TokenKind::kRightBrace, open, "`}`");
  body.braces = span_from(open.begin);
  return body;
}

void Parser::parse_statements(Body& body) {
  skip_separators("statements");
  while (!at(TokenKind::kRightBrace) && !at(TokenKind::kEnd) && !at_declaration()) {
    const size_t start = position();
    parse_statement(body);
    if (panicking()) recover_to_statement(start);
    skip_separators("statements");
  }
}

// One complaint a file: somebody who writes semicolons writes them everywhere.
void Parser::skip_separators(std::string_view where) {
  while (at(TokenKind::kSemicolon) || (at(TokenKind::kComma) && where != "statements")) {
    if (!std::exchange(complained_separator_, true)) {
      complain(DiagnosticId::kSeparator, span_of(peek()), text_of(peek()), where)
          .fix(span_of(peek()), "", "remove it, and the others like it");
    }
    take();
  }
}

void Parser::add_statement(Body& body, uint32_t begin, auto payload) {
  if (panicking()) return;
  body.statements.push_back(module_.statements.add({span_from(begin), std::move(payload)}));
}

void Parser::parse_statement(Body& body) {
  // A reserved word where a name belongs is reported by whoever reads the name.
  if (at(TokenKind::kName) || (is_reserved(peek().kind) && at_statement()))
    return parse_named_statement(body);
  fail_statement();
}

void Parser::parse_named_statement(Body& body) {
  switch (peek(1).kind) {
    case TokenKind::kColon:
      if (peek(2).kind == TokenKind::kEqual) return parse_definition(body);
      return parse_local_declaration(body);
    case TokenKind::kComma:
    case TokenKind::kEqual:
    case TokenKind::kEqualEqual:
      return parse_definition(body);
    case TokenKind::kLeftBracket:
      return parse_indexed_definition(body);
    default:
      fail_named_statement();
  }
}

// No statement begins like this.
void Parser::fail_statement() {
  const Token& token = peek();
  switch (token.kind) {
    case TokenKind::kRightParen:
    case TokenKind::kRightBracket:
      fail(DiagnosticId::kUnmatched, span_of(token), text_of(token));
      return;
    case TokenKind::kWhere:
      fail(DiagnosticId::kMisplacedWhere, span_of(token));
      return;
    case TokenKind::kLeftParen:
      fail(DiagnosticId::kExpected, span_of(token), "a statement", describe(token))
          .note("several results are taken without parentheses, as in `a, b = f(x)`");
      return;
    default:
      break;
  }
  if (token.kind == TokenKind::kElement && peek(1).kind == TokenKind::kName) {
    fail(DiagnosticId::kTypeFirst, span_of(token), text_of(peek(1)), text_of(token));
    return;
  }
  fail(DiagnosticId::kExpected, span_of(token), "a statement", describe(token))
      .note("a statement defines a name: `y[i] = e`, `a = e`, or declares it: `a: f32[N]`");
}

// A name that neither `:` nor `=` nor subscripts follow.
void Parser::fail_named_statement() {
  const Token& token = peek();
  const Token& next = peek(1);
  for (const ForeignStatement& foreign : kForeignStatements) {
    if (foreign.word != text_of(token)) continue;
    fail(DiagnosticId::kForeignStatement, span_of(token), text_of(token)).note(std::string(foreign.advice));
    return;
  }
  const bool compound = is_arithmetic(next.kind) && peek(2).kind == TokenKind::kEqual;
  if (is_assign_start(next.kind) || compound) {
    take();
    fail_assign_op(false);
    return;
  }
  if (!same_line() || position() == 0) {
    take();
    fail_expected("`=`, `:` or `[` after the name");
    return;
  }
  fail(DiagnosticId::kMissingOperator, after_previous(), describe(token));
}

void Parser::parse_local_declaration(Body& body) {
  const uint32_t begin = peek().begin;
  const std::optional<Name> name = parse_name("a local");
  take();
  if (at(TokenKind::kInout) || at(TokenKind::kStrided))
    fail(DiagnosticId::kQualifiedLocal, span_of(peek()), text_of(peek()));
  Type type = parse_type();
  const bool defined = at(TokenKind::kEqual);
  const Token& equal = peek();
  if (name) add_statement(body, begin, LocalDeclaration{*name, type});
  if (!defined) return;
  complain(DiagnosticId::kTypedDefinition, span_of(equal), text_of(name->span))
      .note("declare it first, then define it over its indices");
  take();
  const ExprId value = parse_expr();
  add_statement(body, begin, Definition{{*name}, value});
}

void Parser::parse_definition(Body& body) {
  const uint32_t begin = peek().begin;
  Definition definition;
  do {
    const std::optional<Name> name = parse_name("a definition");
    if (!name) return;
    definition.names.push_back(*name);
  } while (accept(TokenKind::kComma));
  if (at(TokenKind::kLeftBracket)) {
    fail(DiagnosticId::kSubscriptedList, span_of(peek()))
        .note("take the results by name, `a, b = f(x)`, and use their elements below");
    return;
  }
  if (at(TokenKind::kColon, TokenKind::kEqual)) {
    const Span both = cover(span_of(peek()), span_of(peek(1)));
    complain(DiagnosticId::kForeignOperator, both, ":=").fix(both, "=", "write `=`");
    take();
    take();
  } else if (at(TokenKind::kEqualEqual)) {
    complain(DiagnosticId::kComparisonAsDefinition, span_of(peek())).fix(span_of(peek()), "=", "write `=`");
    take();
  } else {
    expect(TokenKind::kEqual, definition.names.size() > 1 ? "`,` or `=`" : "");
  }
  definition.value = parse_expr();
  check_value_end();
  add_statement(body, begin, std::move(definition));
}

void Parser::parse_indexed_definition(Body& body) {
  const uint32_t begin = peek().begin;
  IndexedDefinition definition;
  if (const std::optional<Name> name = parse_name("a definition")) definition.target = *name;
  parse_target(definition);
  parse_assign_op(definition);
  definition.value = parse_expr();
  check_value_end();
  add_statement(body, begin, std::move(definition));
}

// `[subscripts | drop]`, after the name.
void Parser::parse_target(IndexedDefinition& definition) {
  const Token& open = take();
  definition.subscripts = parse_subscripts("subscripts", definition.target.span);
  if (accept(TokenKind::kPipe)) parse_drop(definition);
  check_operand_end();
  expect_close(TokenKind::kRightBracket, open, definition.drop ? "`]`" : "`,` or `]`");
  definition.target_span = span_from(definition.target.span.begin);
  fail_chained_subscripts();
}

void Parser::parse_drop(IndexedDefinition& definition) {
  definition.drop = true;
  if (accept(TokenKind::kDrop)) return;
  const uint32_t begin = peek().begin;
  parse_expr();
  const Span value = span_from(begin);
  complain(DiagnosticId::kDefaultOnTarget, value).fix(value, "drop", "leave elements outside of it away");
}

void Parser::parse_assign_op(IndexedDefinition& definition) {
  const Token& token = peek();
  definition.op_span = span_of(token);
  switch (token.kind) {
    case TokenKind::kEqual:
      take();
      return;
    case TokenKind::kPlusEqual:
      definition.op = AssignOp::kAdd;
      take();
      return;
    case TokenKind::kMax:
    case TokenKind::kMin:
      definition.op = token.kind == TokenKind::kMax ? AssignOp::kMax : AssignOp::kMin;
      take();
      expect(TokenKind::kEqual, fmt::format("`=` after `{}`", text_of(token)));
      definition.op_span = span_from(token.begin);
      return;
    case TokenKind::kEqualEqual:
      complain(DiagnosticId::kComparisonAsDefinition, span_of(token)).fix(span_of(token), "=", "write `=`");
      take();
      return;
    default:
      fail_assign_op(true);
  }
}

// After a target: what stands there is no assignment of the language.
void Parser::fail_assign_op(bool has_subscripts) {
  const Token& token = peek();
  const Token& next = peek(1);
  if (is_arithmetic(token.kind) && next.kind == TokenKind::kEqual) {
    const Span both = cover(span_of(token), span_of(next));
    Diagnostic& diagnostic = fail(DiagnosticId::kNoSuchAssignment, both, text_of(both));
    if (token.kind == TokenKind::kMinus) diagnostic.note("subtract by adding the negative, `h[i] += -e`");
    return;
  }
  if (!has_subscripts) {
    fail(DiagnosticId::kAccumulateScalar, span_of(token), text_of(token))
        .note("a scalar is defined once; `sum`, `max` and `min` with indices accumulate");
  } else if (token.kind == TokenKind::kComma) {
    fail(DiagnosticId::kSubscriptedList, span_of(token))
        .note("take the results by name, `a, b = f(x)`, and use their elements below");
  } else if (token.kind == TokenKind::kColon) {
    fail(DiagnosticId::kDeclarationWithSubscripts, span_of(token)).note("as in `y: f32[M, N]`");
  } else {
    fail_expected("`=`, `+=`, `max=` or `min=`");
  }
}

}  // namespace tenon::frontend
