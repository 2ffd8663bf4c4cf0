// What the operations of index expressions compute, for the pool that folds them and for interpreters.
#pragma once

#include <cstdint>

#include "ir/index.h"

namespace tenon::ir {

// `b` is ignored for kNot; `kind` is not a leaf and not a polynomial. Wraps around where a quotient leaves 64
// bits.
int64_t apply_index(IndexKind kind, int64_t a, int64_t b);

}  // namespace tenon::ir
