// Programs with mistakes that no person would make.
#pragma once

#include <algorithm>
#include <iterator>
#include <random>
#include <string>
#include <string_view>

namespace tenon::frontend {

// What mutations insert: tokens that change the structure, and bytes that are none.
inline constexpr std::string_view kPieces[] = {
    "(",        ")",  "[",          "]",    "{",      "}",    ",",
    ";",        ":",  "=",          "+=",   "max",    "sum[", "where",
    "in",       "..", "...",        "|",    "| drop", "?",    "@",
    "kernel",   "fn", "->",         "<",    ">",      "f32",  "use",
    "schedule", "on", "//",         "/*",   "\"",     "\n",   "0x",
    "1e",       ".",  "-",          "!",    "and",    "\xff", "\xE2\x89\xA4",
    "\xC3\xB6", "$",  "9999999999", "x[i]", "inout"};

// Changes programs at random places; the same ones for a seed.
class Mutator {
 public:
  explicit Mutator(unsigned seed) : random_(seed) {}

  // Less than `bound`, or 0.
  size_t below(size_t bound) { return bound == 0 ? 0 : random_() % bound; }

  void mutate(std::string& text) {
    const size_t at = below(text.size() + 1);
    const size_t length = std::min(below(20), text.size() - at);
    switch (below(5)) {
      case 0:
        text.insert(at, kPieces[below(std::size(kPieces))]);
        break;
      case 1:
        text.erase(at, length);
        break;
      case 2:
        text.insert(below(text.size() + 1), text.substr(at, length));
        break;
      case 3:
        text.replace(at, length, kPieces[below(std::size(kPieces))]);
        break;
      default:
        if (at < text.size()) text[at] = static_cast<char>(below(256));
    }
  }

 private:
  std::mt19937 random_;
};

}  // namespace tenon::frontend
