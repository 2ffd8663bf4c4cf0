// From the compiler's index expressions to the runtime's size expressions.
#pragma once

#include "ir/index.h"
#include "runtime/size_expr.h"

namespace tenon::api {

// What division by zero means: the language's rule (x/0 is 0, x%0 is x), or a fault, by which a clause does not hold.
enum class ZeroDivision : unsigned char { kTotal, kFault };

// `expression` mentions symbols only; their ids carry over.
runtime::SizeExpr size_expr(const ir::IndexPool& pool, ir::IndexId expression,
                            ZeroDivision zero_division = ZeroDivision::kTotal);

}  // namespace tenon::api
