// A kernel that computes every function of floats, and division, side by side.
#pragma once

#include <string>
#include <string_view>

namespace tenon::conformance {

// `kernel functions(x: T[N], z: T[N])`; functions of one operand get x, further ones z, then x again.
// `attribute` stands before it. Those that f64 has not are left out for it.
std::string functions_text(std::string_view attribute, std::string_view type);

}  // namespace tenon::conformance
