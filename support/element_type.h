// The element types of the language, from the table element_type.def.
#pragma once

#include <cstdint>
#include <optional>
#include <string_view>

namespace tenon {

enum class ElementType : uint8_t {
#define TENON_ELEMENT_TYPE(id, name, bits, kind, numpy) k##id,
#include "support/element_type.def"
};

enum class ElementKind : uint8_t { kFloat, kSigned, kUnsigned, kBool };

std::string_view name(ElementType type);
std::string_view numpy_dtype(ElementType type);
ElementKind kind(ElementType type);
// Bits and bytes of one element in memory; a bool takes a byte.
unsigned bit_width(ElementType type);
inline unsigned byte_size(ElementType type) { return bit_width(type) / 8; }
std::optional<ElementType> element_type_by_name(std::string_view name);

inline bool is_float(ElementType type) { return kind(type) == ElementKind::kFloat; }
inline bool is_signed(ElementType type) { return kind(type) == ElementKind::kSigned; }
inline bool is_unsigned(ElementType type) { return kind(type) == ElementKind::kUnsigned; }
inline bool is_integer(ElementType type) { return is_signed(type) || is_unsigned(type); }

// The type in which sum and prod compute and give their result: f16, bf16, f8 -> f32; i8, u8, i16, u16, bool -> i32;
// others stay.
ElementType widened(ElementType type);

}  // namespace tenon
