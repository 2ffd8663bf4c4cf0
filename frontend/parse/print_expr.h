// Expressions and types as text, for the two printers of print.h.
#pragma once

#include <string>

#include "frontend/parse/ast.h"

namespace tenon::frontend {

enum class ExprStyle : unsigned char {
  // `(* (+ a b) c)`
  kTree,
  // `(a + b) * c`
  kSource,
};

// What encloses an expression, as far as the parentheses around it depend on that.
enum class ExprPlace : unsigned char { kExpr, kSubscript };

void print_expr(std::string& out, const Module& module, ExprId expr, ExprStyle style,
                ExprPlace place = ExprPlace::kExpr);
// Comma-separated.
void print_exprs(std::string& out, const Module& module, ExprList list, ExprStyle style, ExprPlace place);
void print_type(std::string& out, const Module& module, const Type& type, ExprStyle style);

}  // namespace tenon::frontend
