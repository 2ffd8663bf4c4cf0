// Conditionals, binary and unary operators, and lists of expressions.
#include <algorithm>

#include "frontend/lex/limits.h"
#include "frontend/parse/parser.h"

namespace tenon::frontend {
namespace {

// Precedence levels of the grammar, loosest first.
constexpr unsigned kLoosest = 1;
constexpr unsigned kComparison = 3;
constexpr unsigned kAdditive = 8;

}  // namespace

Parser::Nested::Nested(Parser& parser) : parser_(parser) {
  if (++parser_.nesting_ > kMaxNesting)
    parser_.fail(DiagnosticId::kNestingTooDeep, parser_.span_of(parser_.peek()), kMaxNesting)
        .note("give parts of the expression names");
}

Parser::Parsed Parser::parse_conditional() {
  const ExprId first = next_expr();
  const Parsed condition = parse_binary(kLoosest);
  if (!at(TokenKind::kQuestion)) return condition;
  const Token question = take();
  Nested nested(*this);
  const Parsed if_true = parse_conditional();
  if (!accept(TokenKind::kColon)) {
    fail(DiagnosticId::kMissingElse, expected_span(), describe(peek()))
        .label(span_of(question), "the condition ends here");
    return error_expr();
  }
  const Parsed if_false = parse_conditional();
  const Span span = cover(condition.outer, if_false.outer);
  return {add_expr(span, first, Conditional{condition.id, if_true.id, if_false.id}), span};
}

ExprId Parser::parse_additive() { return parse_binary(kAdditive).id; }

Parser::Parsed Parser::parse_binary(unsigned least_precedence) {
  const ExprId first = next_expr();
  return parse_binary_rest(parse_unary(), first, least_precedence);
}

// Chains are read in a loop, so that their length costs no stack.
Parser::Parsed Parser::parse_binary_rest(Parsed left, ExprId first, unsigned least_precedence) {
  bool compared = false;
  Span middle;
  for (;;) {
    const std::optional<Operator> op = peek_operator();
    if (!op || op->precedence < least_precedence) return left;
    if (op->precedence == kComparison && std::exchange(compared, true)) complain_chained_comparison(middle);
    const Token& token = take();
    for (unsigned i = 1; i < op->tokens; ++i) take();
    const Span op_span = span_from(token.begin);
    if (op->foreign) complain_foreign_operator(op_span, op->op);
    const Parsed right = parse_binary(op->precedence + 1);
    middle = right.outer;
    const Span span = cover(left.outer, right.outer);
    left = {add_expr(span, first, Binary{op->op, left.id, right.id, op_span}), span};
  }
}

// The next token is the second comparison; `middle` is the operand between the two.
void Parser::complain_chained_comparison(Span middle) {
  complain(DiagnosticId::kChainedComparison, span_of(peek()))
      .fix({middle.file, middle.end, middle.end}, fmt::format(" && {}", text_of(middle)), "compare twice");
}

Parser::Parsed Parser::parse_unary() {
  const ExprId first = next_expr();
  UnaryOp op;
  switch (peek().kind) {
    case TokenKind::kMinus:
      op = UnaryOp::kNegate;
      break;
    case TokenKind::kExclamation:
      op = UnaryOp::kNot;
      break;
    case TokenKind::kTilde:
      op = UnaryOp::kComplement;
      break;
    default:
      return parse_primary();
  }
  const Token& token = take();
  Nested nested(*this);
  const Parsed operand = parse_unary();
  const Span span = cover(span_of(token), operand.outer);
  return {add_expr(span, first, Unary{op, operand.id}), span};
}

bool Parser::another_in_list(TokenKind close) {
  if (!at(TokenKind::kComma)) return false;
  const Token& comma = take();
  if (!at(close)) return true;
  complain(DiagnosticId::kTrailingComma, span_of(comma)).fix(span_of(comma), "", "remove it");
  return false;
}

ExprList Parser::take_list(size_t begin) {
  const uint32_t list_begin = static_cast<uint32_t>(module_.expr_lists.size());
  module_.expr_lists.insert(module_.expr_lists.end(), scratch_.begin() + begin, scratch_.end());
  const uint32_t count = static_cast<uint32_t>(scratch_.size() - begin);
  scratch_.resize(begin);
  return {list_begin, count};
}

void Parser::complain_rank(size_t count, std::string_view what, Span span) {
  if (count > kMaxRank) complain(DiagnosticId::kRankTooLarge, span, count, what, kMaxRank);
}

// `name[` has been taken; `owner` is the name.
ExprList Parser::parse_subscripts(std::string_view what, Span owner) {
  const size_t begin = scratch_.size();
  if (at(TokenKind::kRightBracket)) {
    complain(DiagnosticId::kEmptySubscripts, cover(owner, span_of(peek())), quote(text_of(owner)))
        .fix({owner.file, owner.end, peek().end}, "", "a scalar has no brackets");
    scratch_.push_back(error_expr().id);
    return take_list(begin);
  }
  do {
    parse_subscript();
  } while (another_in_list(TokenKind::kRightBracket));
  complain_rank(scratch_.size() - begin, what, span_from(owner.begin));
  return take_list(begin);
}

void Parser::parse_subscript() {
  if (at(TokenKind::kEllipsis)) {
    scratch_.push_back(parse_ellipsis().id);
    return;
  }
  if (at(TokenKind::kColon)) fail(DiagnosticId::kSlice, span_of(peek()));
  scratch_.push_back(parse_additive());
  if (at(TokenKind::kColon)) fail(DiagnosticId::kSlice, span_of(peek()));
  const std::optional<Operator> op = at(TokenKind::kPipe) ? std::nullopt : peek_operator();
  if (op || at(TokenKind::kQuestion)) {
    fail(DiagnosticId::kLooseSubscript, span_of(peek()), quote(text_of(peek())));
  }
}

Parser::Parsed Parser::parse_ellipsis() {
  const Token& token = take();
  if (!in_function_)
    complain(DiagnosticId::kEllipsisInKernel, span_of(token))
        .note("a kernel says how many dimensions its tensors have");
  return add_leaf(span_of(token), Ellipsis{});
}

ExprList Parser::parse_arguments() {
  const size_t begin = scratch_.size();
  const Token& open = take();
  if (!at(TokenKind::kRightParen)) {
    do {
      parse_argument();
    } while (another_in_list(TokenKind::kRightParen));
  }
  check_operand_end();
  expect_close(TokenKind::kRightParen, open, "`,` or `)`");
  return take_list(begin);
}

void Parser::parse_argument() {
  if (at(TokenKind::kName, TokenKind::kEqual)) {
    complain(DiagnosticId::kNamedArgument, cover(span_of(peek()), span_of(peek(1))))
        .fix({module_.file, peek().begin, peek(2).begin}, "", "write the value alone");
    take();
    take();
  }
  scratch_.push_back(parse_expr());
}

// After `]`: a second list of subscripts is a mistake.
void Parser::fail_chained_subscripts() {
  if (!at(TokenKind::kLeftBracket)) return;
  const Span brackets = {module_.file, after_previous().begin - 1, peek().end};
  fail(DiagnosticId::kChainedSubscripts, span_of(peek())).fix(brackets, ", ", "write one list");
}

// After the value of a statement. Whatever begins another statement is right here, also on the same line.
void Parser::check_value_end() {
  if (!at(TokenKind::kName)) return check_operand_end();
  switch (peek(1).kind) {
    case TokenKind::kEqual:
    case TokenKind::kColon:
    case TokenKind::kComma:
    case TokenKind::kLeftBracket:
      return;
    default:
      check_operand_end();
  }
}

// After an operand within brackets, or at the end of a value. No right program has an operand, a bracket or a
// dot here; the line break that may stand for a forgotten bracket is left to whoever misses that.
void Parser::check_operand_end() {
  if (at(TokenKind::kEnd) || peek().starts_line || at_definition()) return;
  const bool extreme = at(TokenKind::kMax) || at(TokenKind::kMin);
  if (extreme && peek(1).kind != TokenKind::kEqual) return fail_missing_operator();
  switch (peek().kind) {
    case TokenKind::kLeftBracket:
      fail(DiagnosticId::kSubscriptedValue, span_of(peek()));
      return;
    case TokenKind::kDotDot:
      fail(DiagnosticId::kMisplacedRange, span_of(peek()));
      return;
    case TokenKind::kDot:
      fail(DiagnosticId::kMember, span_of(peek()));
      return;
    case TokenKind::kAt:
      fail(DiagnosticId::kForeignOperator, span_of(peek()), "@")
          .note("a product of matrices is `sum[k](a[i, k] * b[k, j])`");
      return;
    case TokenKind::kLeftParen:
    case TokenKind::kName:
    case TokenKind::kNumeral:
    case TokenKind::kElement:
    case TokenKind::kTrue:
    case TokenKind::kFalse:
    case TokenKind::kInf:
    case TokenKind::kNan:
    case TokenKind::kSum:
    case TokenKind::kProd:
    case TokenKind::kAny:
    case TokenKind::kAll:
    case TokenKind::kArgmax:
    case TokenKind::kArgmin:
    case TokenKind::kExclamation:
    case TokenKind::kTilde:
      fail_missing_operator();
      return;
    default:
      return;
  }
}

void Parser::fail_missing_operator() {
  const Token& token = peek();
  Diagnostic& diagnostic = fail(DiagnosticId::kMissingOperator, after_previous(), describe(token));
  if (token.kind != TokenKind::kName) return;
  if (text_of(token) == "if") {
    diagnostic.note("a choice is written `condition ? a : b`");
    return;
  }
  const std::string_view meant = did_you_mean(text_of(token), {"where", "in", "and", "or"});
  if (meant == "where" || meant == "in")
    diagnostic.fix(span_of(token), std::string(meant), fmt::format("write `{}`", meant));
}

}  // namespace tenon::frontend
