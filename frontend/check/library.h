// The modules of the language's own library, whose source texts are part of the program.
#pragma once

#include <optional>
#include <string_view>
#include <vector>

namespace tenon::frontend {

struct LibraryModule {
  // "std.nn"
  std::string_view name;
  std::string_view source;
};

// All modules, by name.
const std::vector<LibraryModule>& library_modules();

// The source text of a module; empty if there is none of that name.
std::optional<std::string_view> library_source(std::string_view name);

}  // namespace tenon::frontend
