// The formats of the floating-point types, chosen at run time.
#pragma once

#include "support/check.h"
#include "support/numeric.h"

namespace tenon {

// Calls `use` with a value of the format of a floating-point type.
template <class Use>
decltype(auto) with_float_format(ElementType type, Use&& use) {
  switch (type) {
    case ElementType::kF64:
      return use(Float64());
    case ElementType::kF32:
      return use(Float32());
    case ElementType::kF16:
      return use(Float16());
    case ElementType::kBF16:
      return use(BFloat16());
    case ElementType::kF8E4M3:
      return use(Float8E4M3());
    case ElementType::kF8E5M2:
      return use(Float8E5M2());
    default:
      TENON_UNREACHABLE("not a floating-point type");
  }
}

}  // namespace tenon
