#include "frontend/parse/print_expr.h"

#include <algorithm>
#include <vector>

namespace tenon::frontend {
namespace {

// Binding strengths: those of the grammar, with the conditional below and operands above all operators.
constexpr unsigned kConditional = 0;
constexpr unsigned kOr = 1;
constexpr unsigned kAdditive = 8;
constexpr unsigned kUnary = 10;

unsigned precedence(BinaryOp op) {
  switch (op) {
    case BinaryOp::kLogicalOr:
      return 1;
    case BinaryOp::kLogicalAnd:
      return 2;
    case BinaryOp::kEqual:
    case BinaryOp::kNotEqual:
    case BinaryOp::kLess:
    case BinaryOp::kLessEqual:
    case BinaryOp::kGreater:
    case BinaryOp::kGreaterEqual:
      return 3;
    case BinaryOp::kBitOr:
      return 4;
    case BinaryOp::kBitXor:
      return 5;
    case BinaryOp::kBitAnd:
      return 6;
    case BinaryOp::kShiftLeft:
    case BinaryOp::kShiftRight:
      return 7;
    case BinaryOp::kAdd:
    case BinaryOp::kSubtract:
      return 8;
    case BinaryOp::kMultiply:
    case BinaryOp::kDivide:
    case BinaryOp::kRemainder:
      return 9;
  }
  return 0;
}

// Prints by a stack of what is still to be written, pieces of text and expressions, the next on top.
class ExprPrinter {
 public:
  ExprPrinter(std::string& out, const Module& module, ExprStyle style)
      : out_(out), module_(module), tree_(style == ExprStyle::kTree) {}

  // `least` is how tightly an operator must bind to stand there without parentheses.
  void print(ExprId expr, unsigned least) {
    pending_.push_back({{}, expr, least});
    while (!pending_.empty()) {
      const Piece piece = pending_.back();
      pending_.pop_back();
      if (!piece.expr) {
        out_ += piece.text;
        continue;
      }
      const size_t begin = pending_.size();
      least_ = piece.least;
      std::visit([this](const auto& payload) { put(payload); }, module_[piece.expr].payload);
      std::reverse(pending_.begin() + static_cast<std::ptrdiff_t>(begin), pending_.end());
    }
  }

 private:
  struct Piece {
    std::string_view text;
    ExprId expr;
    unsigned least;
  };

  void text(std::string_view text) { pending_.push_back({text, {}, 0}); }
  void expr(ExprId expr, unsigned least = kConditional) { pending_.push_back({{}, expr, least}); }
  void list(ExprList list, unsigned least) {
    std::string_view separator;
    for (ExprId id : module_.exprs(list)) {
      text(separator);
      expr(id, least);
      separator = ", ";
    }
  }

  void put(const NumberLiteral& number) { text(number.text); }
  void put(const BoolLiteral& literal) { text(literal.value ? "true" : "false"); }
  void put(const InfLiteral&) { text("inf"); }
  void put(const NanLiteral&) { text("nan"); }
  void put(const Ellipsis&) { text("..."); }
  void put(const ErrorExpr&) { text("<error>"); }
  void put(const NameRef& name) { text(name.name); }

  void put(const Unary& unary) {
    if (tree_) {
      text("(");
      text(spelling(unary.op));
      text(" ");
      expr(unary.operand);
      text(")");
      return;
    }
    text(spelling(unary.op));
    expr(unary.operand, kUnary);
  }

  void put(const Binary& binary) {
    const unsigned own = precedence(binary.op);
    // Comparisons do not chain, on neither side.
    const unsigned left = own == precedence(BinaryOp::kEqual) ? own + 1 : own;
    const bool parentheses = tree_ || own < least_;
    if (parentheses) text("(");
    if (tree_) {
      text(spelling(binary.op));
      text(" ");
      expr(binary.left);
      text(" ");
      expr(binary.right);
    } else {
      expr(binary.left, left);
      text(" ");
      text(spelling(binary.op));
      text(" ");
      expr(binary.right, own + 1);
    }
    if (parentheses) text(")");
  }

  void put(const Conditional& conditional) {
    const bool parentheses = tree_ || least_ > kConditional;
    if (parentheses) text("(");
    if (tree_) text("? ");
    expr(conditional.condition, kOr);
    text(tree_ ? " " : " ? ");
    expr(conditional.if_true);
    text(tree_ ? " " : " : ");
    expr(conditional.if_false);
    if (parentheses) text(")");
  }

  void put(const Access& access) {
    text(access.tensor.text);
    text("[");
    list(access.subscripts, kAdditive);
    if (access.fallback) {
      text(" | ");
      expr(access.fallback);
    }
    text("]");
  }

  void put(const Call& call) {
    text(call.callee.text);
    text("(");
    list(call.arguments, kConditional);
    text(")");
  }

  void put(const Cast& cast) {
    text(name(cast.element));
    text("(");
    expr(cast.operand);
    text(")");
  }

  void put(const Reduction& reduction) {
    text(spelling(reduction.kind));
    text("[");
    std::string_view separator;
    for (const Binder& binder : module_.binders(reduction.binders)) {
      text(separator);
      text(binder.name.text);
      if (binder.lower) {
        text(" in ");
        expr(binder.lower, kAdditive);
        text("..");
        expr(binder.upper, kAdditive);
      }
      separator = ", ";
    }
    if (reduction.condition) {
      text(" where ");
      expr(reduction.condition);
    }
    text("](");
    expr(reduction.body);
    text(")");
  }

  std::string& out_;
  const Module& module_;
  const bool tree_;
  std::vector<Piece> pending_;
  unsigned least_ = 0;
};

unsigned least_at(ExprPlace place) { return place == ExprPlace::kSubscript ? kAdditive : kConditional; }

}  // namespace

void print_expr(std::string& out, const Module& module, ExprId expr, ExprStyle style, ExprPlace place) {
  ExprPrinter(out, module, style).print(expr, least_at(place));
}

void print_exprs(std::string& out, const Module& module, ExprList list, ExprStyle style, ExprPlace place) {
  std::string_view separator;
  for (ExprId id : module.exprs(list)) {
    out += separator;
    print_expr(out, module, id, style, place);
    separator = ", ";
  }
}

void print_type(std::string& out, const Module& module, const Type& type, ExprStyle style) {
  out += type.element.text;
  if (type.scalar()) return;
  out += '[';
  print_exprs(out, module, type.shape, style, ExprPlace::kSubscript);
  out += ']';
}

}  // namespace tenon::frontend
