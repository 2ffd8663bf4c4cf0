// Characters beyond ASCII that people paste or type in place of a token.
#pragma once

#include <string_view>

namespace tenon::frontend {

// The token that the character stands for: "<=" for U+2264, " " for spaces other than the ASCII one; empty if
// none.
std::string_view look_alike(char32_t code_point);

}  // namespace tenon::frontend
