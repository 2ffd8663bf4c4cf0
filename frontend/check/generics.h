// Generics that stand for element types.
#pragma once

#include <string_view>

#include "frontend/parse/ast.h"
#include "support/element_type.h"

namespace tenon::frontend {

// Whether an element type may be given to a generic of this kind; none may for kDim.
bool accepts(GenericKind kind, ElementType type);

// "a float type", "an integer type": what the kind asks for.
std::string_view describe(GenericKind kind);

}  // namespace tenon::frontend
