#include "api/sizes.h"

#include "support/check.h"

namespace tenon::api {
namespace {

using ir::IndexId;
using ir::IndexKind;
using runtime::SizeExpr;
using runtime::SizeOp;

SizeExpr total_division(IndexKind kind, const SizeExpr& a, const SizeExpr& b) {
  SizeExpr quotient =
      SizeExpr::binary(kind == IndexKind::kFloorDiv ? SizeOp::kFloorDiv : SizeOp::kFloorMod, a, b);
  SizeExpr by_zero = SizeExpr::binary(SizeOp::kEqual, b, SizeExpr(0));
  return SizeExpr::select(by_zero, kind == IndexKind::kFloorDiv ? SizeExpr(0) : a, quotient);
}

// Whether an expression is above 0 for all sizes, as is plain to see: a constant, or the maximum with one.
bool is_positive(const ir::IndexPool& pool, IndexId expression) {
  const ir::IndexNode& node = pool[expression];
  auto constant = [&](IndexId id) { return pool.as_constant(id).value_or(0) > 0; };
  return constant(expression) || (node.kind == IndexKind::kMax && (constant(node.a) || constant(node.b)));
}

}  // namespace

SizeExpr size_expr(const ir::IndexPool& pool, IndexId expression, ZeroDivision zero_division) {
  const ir::IndexNode& node = pool[expression];
  auto operand = [&](IndexId id) { return size_expr(pool, id, zero_division); };
  auto binary = [&](SizeOp op) { return SizeExpr::binary(op, operand(node.a), operand(node.b)); };
  // As people write it, with the constant behind.
  auto equality = [&](SizeOp op, const ir::IndexNode& of) {
    bool swapped = pool.as_constant(of.a).has_value();
    return SizeExpr::binary(op, operand(swapped ? of.b : of.a), operand(swapped ? of.a : of.b));
  };
  switch (node.kind) {
    case IndexKind::kSymbol:
      return SizeExpr::symbol(runtime::SymbolId(node.reference));
    case IndexKind::kPolynomial: {
      SizeExpr sum;
      bool first = true;
      for (const ir::Monomial& term : node.terms) {
        SizeExpr product = SizeExpr(term.coefficient);
        bool one = term.coefficient == 1 && !term.factors.empty();
        for (size_t i = 0; i < term.factors.size(); ++i)
          product = one && i == 0 ? operand(term.factors[i]) : product * operand(term.factors[i]);
        sum = first ? product : sum + product;
        first = false;
      }
      return sum;
    }
    case IndexKind::kFloorDiv:
    case IndexKind::kFloorMod:
      if (zero_division == ZeroDivision::kTotal && !is_positive(pool, node.b))
        return total_division(node.kind, operand(node.a), operand(node.b));
      return binary(node.kind == IndexKind::kFloorDiv ? SizeOp::kFloorDiv : SizeOp::kFloorMod);
    case IndexKind::kMin:
      return binary(SizeOp::kMin);
    case IndexKind::kMax:
      return binary(SizeOp::kMax);
    case IndexKind::kLess:
      return binary(SizeOp::kLess);
    case IndexKind::kEqual:
      return equality(SizeOp::kEqual, node);
    case IndexKind::kAnd:
      return binary(SizeOp::kAnd);
    case IndexKind::kOr:
      return binary(SizeOp::kOr);
    case IndexKind::kNot: {
      const ir::IndexNode& inner = pool[node.a];
      if (inner.kind == IndexKind::kEqual) return equality(SizeOp::kNotEqual, inner);
      if (inner.kind == IndexKind::kLess)
        return SizeExpr::binary(SizeOp::kLessEqual, operand(inner.b), operand(inner.a));
      return SizeExpr::unary(SizeOp::kNot, operand(node.a));
    }
    case IndexKind::kAxis:
    case IndexKind::kValue:
      break;
  }
  TENON_UNREACHABLE("an expression of a launch mentions an axis");
}

}  // namespace tenon::api
