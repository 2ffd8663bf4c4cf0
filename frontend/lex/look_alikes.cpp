#include "frontend/lex/look_alikes.h"

#include <algorithm>
#include <array>

namespace tenon::frontend {
namespace {

struct LookAlike {
  char32_t code_point;
  std::string_view token;
};

// Sorted by code point.
constexpr std::array kLookAlikes = {
    LookAlike{0x00A0, " "},  LookAlike{0x00AC, "!"},  LookAlike{0x00B7, "*"},   LookAlike{0x00D7, "*"},
    LookAlike{0x00F7, "/"},  LookAlike{0x037E, ";"},  LookAlike{0x1680, " "},   LookAlike{0x2002, " "},
    LookAlike{0x2003, " "},  LookAlike{0x2007, " "},  LookAlike{0x2009, " "},   LookAlike{0x200A, " "},
    LookAlike{0x200B, " "},  LookAlike{0x2010, "-"},  LookAlike{0x2011, "-"},   LookAlike{0x2012, "-"},
    LookAlike{0x2013, "-"},  LookAlike{0x2014, "-"},  LookAlike{0x2026, "..."}, LookAlike{0x202F, " "},
    LookAlike{0x2044, "/"},  LookAlike{0x2190, "="},  LookAlike{0x2192, "->"},  LookAlike{0x2211, "sum"},
    LookAlike{0x2212, "-"},  LookAlike{0x2215, "/"},  LookAlike{0x2217, "*"},   LookAlike{0x221E, "inf"},
    LookAlike{0x2227, "&&"}, LookAlike{0x2228, "||"}, LookAlike{0x2236, ":"},   LookAlike{0x2260, "!="},
    LookAlike{0x2264, "<="}, LookAlike{0x2265, ">="}, LookAlike{0x22C5, "*"},   LookAlike{0x3000, " "},
    LookAlike{0xFEFF, " "},  LookAlike{0xFF05, "%"},  LookAlike{0xFF08, "("},   LookAlike{0xFF09, ")"},
    LookAlike{0xFF0A, "*"},  LookAlike{0xFF0B, "+"},  LookAlike{0xFF0C, ","},   LookAlike{0xFF0D, "-"},
    LookAlike{0xFF0E, "."},  LookAlike{0xFF0F, "/"},  LookAlike{0xFF1A, ":"},   LookAlike{0xFF1B, ";"},
    LookAlike{0xFF1C, "<"},  LookAlike{0xFF1D, "="},  LookAlike{0xFF1E, ">"},   LookAlike{0xFF1F, "?"},
    LookAlike{0xFF3B, "["},  LookAlike{0xFF3D, "]"},  LookAlike{0xFF5B, "{"},   LookAlike{0xFF5C, "|"},
    LookAlike{0xFF5D, "}"},
};
static_assert(std::ranges::is_sorted(kLookAlikes, {}, &LookAlike::code_point));

}  // namespace

std::string_view look_alike(char32_t code_point) {
  auto found = std::ranges::lower_bound(kLookAlikes, code_point, {}, &LookAlike::code_point);
  return found != kLookAlikes.end() && found->code_point == code_point ? found->token : std::string_view();
}

}  // namespace tenon::frontend
