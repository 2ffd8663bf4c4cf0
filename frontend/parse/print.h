// The syntax tree as text. Both forms are the same on every run, take time and space linear in the tree, and
// do not recurse over it.
#pragma once

#include <string>

#include "frontend/parse/ast.h"

namespace tenon::frontend {

// The tree: one line a declaration, parameter, clause and statement, indented by what it belongs to.
// Expressions have their operators in front, so that nothing hangs on precedence:
//
//   kernel softmax
//     param x: f32[M, N]
//     result y: f32[M, N]
//     define e[i, j] = exp((- x[i, j] max[k](x[i, k])))
std::string print_ast(const Module& module);

// The program again, one statement a line, with the parentheses that precedence asks for and no comments. It
// parses to the same tree.
std::string print_source(const Module& module);

// One expression as print_source writes it, for messages.
std::string print_source(const Module& module, ExprId expr);

}  // namespace tenon::frontend
