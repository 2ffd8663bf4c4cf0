#include "ir/text_names.h"

#include <fmt/format.h>

namespace tenon::ir {
namespace {

// Words that would read as something else where a name stands.
constexpr std::string_view kReserved[] = {"min", "max", "where", "implicit", "as", "inout", "scalar"};

}  // namespace

TextNames::TextNames() {
  for (std::string_view word : kReserved) used_.emplace(word);
}

std::string TextNames::add(std::string_view wanted, std::string_view fallback) {
  std::string name;
  for (char c : wanted) {
    bool digit = c >= '0' && c <= '9';
    bool letter = (c >= 'a' && c <= 'z') || (c >= 'A' && c <= 'Z') || c == '_';
    if (name.empty() && !letter) name = "_";
    name += letter || digit || c == '.' ? c : '_';
  }
  if (name.empty()) name = fallback;
  std::string unique = name;
  while (!used_.insert(unique).second) unique = fmt::format("{}.{}", name, ++suffix_[name]);
  return unique;
}

}  // namespace tenon::ir
