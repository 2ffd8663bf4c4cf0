#include "frontend/check/generics.h"

namespace tenon::frontend {

bool accepts(GenericKind kind, ElementType type) {
  const bool is_f8 = type == ElementType::kF8E4M3 || type == ElementType::kF8E5M2;
  switch (kind) {
    case GenericKind::kFloat:
      return is_float(type) && !is_f8;
    case GenericKind::kInt:
      return is_integer(type);
    case GenericKind::kNumber:
      return type != ElementType::kBool && !is_f8;
    case GenericKind::kAny:
      return true;
    case GenericKind::kDim:
      return false;
  }
  return false;
}

std::string_view describe(GenericKind kind) {
  switch (kind) {
    case GenericKind::kFloat:
      return "f64, f32, f16 or bf16";
    case GenericKind::kInt:
      return "an integer type";
    case GenericKind::kNumber:
      return "an integer or float type";
    case GenericKind::kAny:
      return "an element type";
    case GenericKind::kDim:
      return "a size";
  }
  return "";
}

}  // namespace tenon::frontend
