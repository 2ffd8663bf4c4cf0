// How lanes of each element type are stored and computed with.
#pragma once

#include <cstdint>
#include <type_traits>

#include "support/check.h"
#include "support/element_type.h"
#include "support/numeric.h"

namespace tenon::ir {

template <ElementType type>
struct ElementTraits;

// `Compute` holds every value of the type exactly, and its operations, rounded by `store`, round once: f32
// has more than twice the bits of the narrow types (Figueroa, "When is double rounding innocuous?", 1995).
#define TENON_ELEMENT_TRAITS(id, StorageType, ComputeType, load_expression, store_expression) \
  template <>                                                                                 \
  struct ElementTraits<ElementType::id> {                                                     \
    static constexpr ElementType kType = ElementType::id;                                     \
    using Storage = StorageType;                                                              \
    using Compute = ComputeType;                                                              \
    static Compute load(Storage x) { return load_expression; }                                \
    static Storage store(Compute x) { return store_expression; }                              \
  };
TENON_ELEMENT_TRAITS(kF64, double, double, x, x)
TENON_ELEMENT_TRAITS(kF32, float, float, x, x)
TENON_ELEMENT_TRAITS(kF16, uint16_t, float, f32_from_f16(x), f16_from_f32(x))
TENON_ELEMENT_TRAITS(kBF16, uint16_t, float, f32_from_bf16(x), bf16_from_f32(x))
TENON_ELEMENT_TRAITS(kF8E4M3, uint8_t, float, f32_from_f8e4m3(x), f8e4m3_from_f32(x))
TENON_ELEMENT_TRAITS(kF8E5M2, uint8_t, float, f32_from_f8e5m2(x), f8e5m2_from_f32(x))
TENON_ELEMENT_TRAITS(kI64, int64_t, int64_t, x, x)
TENON_ELEMENT_TRAITS(kI32, int32_t, int32_t, x, x)
TENON_ELEMENT_TRAITS(kI16, int16_t, int16_t, x, x)
TENON_ELEMENT_TRAITS(kI8, int8_t, int8_t, x, x)
TENON_ELEMENT_TRAITS(kU64, uint64_t, uint64_t, x, x)
TENON_ELEMENT_TRAITS(kU32, uint32_t, uint32_t, x, x)
TENON_ELEMENT_TRAITS(kU16, uint16_t, uint16_t, x, x)
TENON_ELEMENT_TRAITS(kU8, uint8_t, uint8_t, x, x)
TENON_ELEMENT_TRAITS(kBool, uint8_t, bool, x != 0, x)
TENON_ELEMENT_TRAITS(kIndex, int64_t, int64_t, x, x)
#undef TENON_ELEMENT_TRAITS

// Calls `f` with the traits of a type.
template <class F>
decltype(auto) with_type(ElementType type, F&& f) {
  switch (type) {
#define TENON_ELEMENT_TYPE(id, name, bits, kind, numpy) \
  case ElementType::k##id:                              \
    return f(ElementTraits<ElementType::k##id>());
#include "support/element_type.def"
  }
  TENON_UNREACHABLE("unknown element type");
}

}  // namespace tenon::ir
