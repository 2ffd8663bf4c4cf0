#include "ir/index_apply.h"

#include <algorithm>

#include "support/check.h"
#include "support/integer_math.h"

namespace tenon::ir {

int64_t apply_index(IndexKind kind, int64_t a, int64_t b) {
  switch (kind) {
    case IndexKind::kFloorDiv:
      return div_floor(a, b);
    case IndexKind::kFloorMod:
      return mod_floor(a, b);
    case IndexKind::kMin:
      return std::min(a, b);
    case IndexKind::kMax:
      return std::max(a, b);
    case IndexKind::kLess:
      return a < b;
    case IndexKind::kEqual:
      return a == b;
    case IndexKind::kAnd:
      return a != 0 && b != 0;
    case IndexKind::kOr:
      return a != 0 || b != 0;
    case IndexKind::kNot:
      return a == 0;
    case IndexKind::kPolynomial:
    case IndexKind::kSymbol:
    case IndexKind::kAxis:
    case IndexKind::kValue:
      break;
  }
  TENON_UNREACHABLE("an atom is not computed");
}

}  // namespace tenon::ir
