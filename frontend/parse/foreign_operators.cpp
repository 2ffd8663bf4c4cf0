// Operators: those of the grammar, and those that people bring from other languages.
#include "frontend/parse/parser.h"

namespace tenon::frontend {

std::optional<Parser::Operator> Parser::peek_operator() const {
  switch (peek().kind) {
    case TokenKind::kOrOr:
      return Operator{BinaryOp::kLogicalOr, 1};
    case TokenKind::kAndAnd:
      return Operator{BinaryOp::kLogicalAnd, 2};
    case TokenKind::kLessEqual:
      return Operator{BinaryOp::kLessEqual, 3};
    case TokenKind::kGreater:
      return Operator{BinaryOp::kGreater, 3};
    case TokenKind::kGreaterEqual:
      return Operator{BinaryOp::kGreaterEqual, 3};
    case TokenKind::kPipe:
      return Operator{BinaryOp::kBitOr, 4};
    case TokenKind::kCaret:
      return Operator{BinaryOp::kBitXor, 5};
    case TokenKind::kAmpersand:
      return Operator{BinaryOp::kBitAnd, 6};
    case TokenKind::kShiftLeft:
      return Operator{BinaryOp::kShiftLeft, 7};
    case TokenKind::kShiftRight:
      return Operator{BinaryOp::kShiftRight, 7};
    case TokenKind::kPlus:
      return Operator{BinaryOp::kAdd, 8};
    case TokenKind::kMinus:
      return Operator{BinaryOp::kSubtract, 8};
    case TokenKind::kSlash:
      return Operator{BinaryOp::kDivide, 9};
    case TokenKind::kPercent:
      return Operator{BinaryOp::kRemainder, 9};
    default:
      return peek_foreign_operator();
  }
}

// The tokens whose meaning depends on what follows, and words and pairs that stand for an operator elsewhere.
std::optional<Parser::Operator> Parser::peek_foreign_operator() const {
  const TokenKind next = adjacent(peek(), peek(1)) ? peek(1).kind : TokenKind::kEnd;
  auto foreign = [](BinaryOp op, unsigned precedence, unsigned tokens) {
    return Operator{op, precedence, tokens, true};
  };
  switch (peek().kind) {
    case TokenKind::kEqualEqual:
      if (next == TokenKind::kEqual) return foreign(BinaryOp::kEqual, 3, 2);
      return Operator{BinaryOp::kEqual, 3};
    case TokenKind::kNotEqual:
      if (next == TokenKind::kEqual) return foreign(BinaryOp::kNotEqual, 3, 2);
      return Operator{BinaryOp::kNotEqual, 3};
    case TokenKind::kLess:
      if (next == TokenKind::kGreater) return foreign(BinaryOp::kNotEqual, 3, 2);
      return Operator{BinaryOp::kLess, 3};
    case TokenKind::kEqual:
      if (next == TokenKind::kGreater) return foreign(BinaryOp::kGreaterEqual, 3, 2);
      if (next == TokenKind::kLess) return foreign(BinaryOp::kLessEqual, 3, 2);
      return foreign(BinaryOp::kEqual, 3, 1);
    case TokenKind::kStar:
      if (next == TokenKind::kStar) return foreign(BinaryOp::kMultiply, 9, 2);
      return Operator{BinaryOp::kMultiply, 9};
    case TokenKind::kName:
      if (!word_operator_follows()) return std::nullopt;
      if (text_of(peek()) == "and") return foreign(BinaryOp::kLogicalAnd, 2, 1);
      if (text_of(peek()) == "or") return foreign(BinaryOp::kLogicalOr, 1, 1);
      return std::nullopt;
    default:
      return std::nullopt;
  }
}

// Is the name that stands next an operator, rather than the name of the next statement? Then an operand
// follows it.
bool Parser::word_operator_follows() const {
  switch (peek(1).kind) {
    case TokenKind::kEqual:
    case TokenKind::kPlusEqual:
    case TokenKind::kColon:
    case TokenKind::kComma:
    case TokenKind::kLeftBracket:
      return false;
    default:
      return true;
  }
}

// `span` is the operator as written.
void Parser::complain_foreign_operator(Span span, BinaryOp op) {
  const std::string_view written = text_of(span);
  const std::string_view meant = spelling(op);
  if (written == "=") {
    complain(DiagnosticId::kAssignInExpression, span).fix(span, "==", "compare by `==`");
  } else if (written == "**") {
    complain(DiagnosticId::kForeignOperator, span, written).note("a power is written `pow(a, b)`");
  } else {
    complain(DiagnosticId::kForeignOperator, span, written)
        .fix(span, std::string(meant), fmt::format("write `{}`", meant));
  }
}

}  // namespace tenon::frontend
