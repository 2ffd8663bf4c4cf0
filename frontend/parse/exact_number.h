// The exact value of a literal. Apart from ast.h because of what Boost.Multiprecision costs to include.
#pragma once

#include <boost/multiprecision/cpp_int.hpp>
#include <optional>
#include <string_view>

namespace tenon::frontend {

// An exact rational. Operations between literals are done in it.
using ExactNumber = boost::multiprecision::cpp_rational;

// The value of a literal's text: `42`, `0x1F`, `1.5e-3`. Empty where the text is no number of the language or
// is beyond the limits of lexer.h (kMaxNumberDigits, kMaxNumberExponent); a literal that was lexed without a
// diagnostic is within them.
std::optional<ExactNumber> parse_exact_number(std::string_view text);

}  // namespace tenon::frontend
