#include "program.h"

#include <fmt/format.h>
#include <fmt/ranges.h>

namespace tenon::fuzz {

std::string Node::to_text() const {
  std::string result;
  for (size_t i = 0; i < text.size(); ++i) {
    if (text[i] == '$') {
      result += parts[static_cast<size_t>(text[++i] - '0')].to_text();
    } else {
      result += text[i];
    }
  }
  return result;
}

std::string Statement::to_text() const {
  return fmt::format("{}{}{} = {}", declaration, declaration.empty() ? "" : "\n  ", target, value.to_text());
}

std::string Program::to_text() const {
  std::string text = "use std.nn\n" + tensor_functions;
  for (const Statement& function : functions) text += function.to_text() + "\n";
  if (!attribute.empty()) text += attribute + "\n";
  text += "kernel k";
  if (!generics.empty()) text += fmt::format("<{}>", fmt::join(generics, ", "));
  text += fmt::format("({})", fmt::join(parameters, ", "));
  if (!results.empty()) text += fmt::format(" -> ({})", fmt::join(results, ", "));
  if (!clauses.empty()) text += fmt::format(" where {}", fmt::join(clauses, ", "));
  text += " {\n";
  for (const Statement& statement : statements) text += fmt::format("  {}\n", statement.to_text());
  return text + "}\n";
}

std::string Program::settings_text() const {
  std::vector<std::string> settings;
  for (const auto& [setting, type] : options.types)
    settings.push_back(setting + "=" + std::string(name(type)));
  for (const auto& [setting, size] : options.sizes) settings.push_back(fmt::format("{}={}", setting, size));
  return fmt::format("{}", fmt::join(settings, " "));
}

}  // namespace tenon::fuzz
