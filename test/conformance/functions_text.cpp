#include "functions_text.h"

#include <fmt/format.h>

#include "support/functions.h"

namespace tenon::conformance {

std::string functions_text(std::string_view attribute, std::string_view type) {
  std::string results = fmt::format("r_quotient: {}[N]", type);
  std::string body = "  r_quotient[i] = x[i] / z[i]\n";
  for (size_t f = 0; f < function_count(); ++f) {
    const FunctionRow& function = row(static_cast<FunctionId>(f));
    if (function.operands == FunctionOperands::kInteger || (type == "f64" && !function.f64)) continue;
    constexpr std::string_view kOperands[] = {"x[i]", "x[i], z[i]", "x[i], z[i], x[i]"};
    std::string_view result = function.result == FunctionResult::kBool ? "bool" : type;
    results += fmt::format(", r_{}: {}[N]", function.name, result);
    body += fmt::format("  r_{0}[i] = {0}({1})\n", function.name, kOperands[function.arity - 1]);
  }
  return fmt::format("{} kernel functions(x: {}[N], z: {}[N]) -> ({}) {{\n{}}}\n", attribute, type, type,
                     results, body);
}

}  // namespace tenon::conformance
