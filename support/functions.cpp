#include "support/functions.h"

#include <array>

namespace tenon {
namespace {

constexpr std::array kRows = {
#define TENON_FUNCTION(id, name, arity, operands, result, ulp, approx_ulp, approx_growth, approx_absolute, \
                       f64)                                                                                \
  FunctionRow{name,                                                                                        \
              arity,                                                                                       \
              FunctionOperands::k##operands,                                                               \
              FunctionResult::k##result,                                                                   \
              ulp,                                                                                         \
              approx_ulp,                                                                                  \
              approx_growth,                                                                               \
              approx_absolute,                                                                             \
              f64},
#include "support/functions.def"
};

}  // namespace

const FunctionRow& row(FunctionId id) { return kRows[static_cast<size_t>(id)]; }

size_t function_count() { return kRows.size(); }

std::optional<FunctionId> function_by_name(std::string_view name) {
  for (size_t i = 0; i < kRows.size(); ++i)
    if (kRows[i].name == name) return static_cast<FunctionId>(i);
  return std::nullopt;
}

bool accepts(FunctionId id, ElementType type) {
  bool floating = is_float(type) && bit_width(type) >= 16;
  switch (row(id).operands) {
    case FunctionOperands::kFloat:
      return floating;
    case FunctionOperands::kInteger:
      return is_integer(type);
    case FunctionOperands::kNumber:
      return floating || is_integer(type);
  }
  return false;
}

}  // namespace tenon
