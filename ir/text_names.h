// Names in IR text.
#pragma once

#include <cstddef>
#include <string>
#include <string_view>
#include <unordered_map>
#include <unordered_set>

namespace tenon::ir {

// Makes names that a parser reads back as words, each once: what is no letter, digit, `_` or `.` becomes `_`,
// and a name that is taken gets a suffix. Names that it made come back unchanged, if they come in one order.
class TextNames {
 public:
  TextNames();

  // `fallback` stands for an empty name.
  std::string add(std::string_view wanted, std::string_view fallback);

 private:
  std::unordered_set<std::string> used_;
  // The last suffix given to a name.
  std::unordered_map<std::string, size_t> suffix_;
};

}  // namespace tenon::ir
