#include "support/element_type.h"

#include <array>

namespace tenon {
namespace {

struct Row {
  std::string_view name;
  unsigned bits;
  ElementKind kind;
  std::string_view numpy;
};

constexpr std::array kRows = {
#define TENON_ELEMENT_TYPE(id, name, bits, kind, numpy) Row{name, bits, ElementKind::k##kind, numpy},
#include "support/element_type.def"
};

const Row& row_of(ElementType type) { return kRows[static_cast<size_t>(type)]; }

}  // namespace

std::string_view name(ElementType type) { return row_of(type).name; }
std::string_view numpy_dtype(ElementType type) { return row_of(type).numpy; }
ElementKind kind(ElementType type) { return row_of(type).kind; }
unsigned bit_width(ElementType type) { return row_of(type).bits; }

std::optional<ElementType> element_type_by_name(std::string_view name) {
  for (size_t i = 0; i < kRows.size(); ++i)
    if (kRows[i].name == name) return static_cast<ElementType>(i);
  return std::nullopt;
}

ElementType widened(ElementType type) {
  if (is_float(type)) return bit_width(type) < 32 ? ElementType::kF32 : type;
  return bit_width(type) < 32 ? ElementType::kI32 : type;
}

}  // namespace tenon
