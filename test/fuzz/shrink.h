#pragma once

#include <functional>

#include "program.h"

namespace tenon::fuzz {

// Takes out of a program what it fails without: statements, parameters, clauses and parts of expressions.
// `fails` says whether a smaller one still does; it is asked a few hundred times at most.
void make_smaller(Program& program, const std::function<bool(const Program&)>& fails);

}  // namespace tenon::fuzz
