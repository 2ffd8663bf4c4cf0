#include "examples.h"

#include <charconv>
#include <sstream>

namespace tenon::conformance {

const std::vector<Example>& examples() {
  static const std::vector<Example> list = {
#define TENON_EXAMPLE(name, ...) {#name, __VA_ARGS__},
#include "examples.def"
  };
  return list;
}

frontend::CheckOptions check_options(const std::string& settings, const std::string& kernel) {
  frontend::CheckOptions options;
  if (!kernel.empty()) options.kernels = {kernel};
  std::istringstream words(settings);
  for (std::string word; words >> word;) {
    size_t equals = word.find('=');
    std::string name = word.substr(0, equals);
    std::string value = word.substr(equals + 1);
    if (std::optional<ElementType> type = element_type_by_name(value)) {
      options.types[name] = *type;
    } else {
      std::from_chars(value.data(), value.data() + value.size(), options.sizes[name]);
    }
  }
  return options;
}

SourceProgram load(const Example& example) {
  std::string path = std::string("examples/") + example.file + ".tn";
  return SourceProgram(path, read_text(path), check_options(example.settings, example.kernel));
}

}  // namespace tenon::conformance
