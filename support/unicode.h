// UTF-8, as far as source texts and terminals need it.
#pragma once

#include <cstddef>
#include <string>
#include <string_view>

namespace tenon {

// One code point of a text: its value and how many bytes it takes. Bytes that are not UTF-8 (stray,
// truncated, overlong, surrogates, beyond U+10FFFF) decode one at a time as not `valid`.
struct CodePoint {
  char32_t value = 0;
  unsigned length = 1;
  bool valid = true;
};

// `offset` lies within the text.
CodePoint decode_utf8(std::string_view text, size_t offset);

void append_utf8(std::string& text, char32_t code_point);

// The columns that a terminal gives a printable code point: 0 for combining marks and joiners, 2 for East
// Asian wide and full-width characters and emoji, otherwise 1. Source: Unicode 15.1, EastAsianWidth.txt (W
// and F), in ranges widened to whole blocks.
unsigned display_width(char32_t code_point);

// Has a terminal something to show for it? Not for control characters and the invisible format characters
// that reorder or hide text.
bool is_printable(char32_t code_point);

}  // namespace tenon
