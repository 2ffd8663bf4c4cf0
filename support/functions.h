// The built-in functions of the language, from the table functions.def. `max`, `min` and `wide` are syntax
// and not rows of it.
#pragma once

#include <cstddef>
#include <cstdint>
#include <optional>
#include <string_view>

#include "support/element_type.h"

namespace tenon {

enum class FunctionId : uint8_t {
#define TENON_FUNCTION(id, name, arity, operands, result, ulp, approx_ulp, approx_growth, approx_absolute, \
                       f64)                                                                                \
  k##id,
#include "support/functions.def"
};

enum class FunctionOperands : uint8_t { kFloat, kInteger, kNumber };
enum class FunctionResult : uint8_t { kSame, kBool };

// A row; see functions.def for the meaning of the bounds.
struct FunctionRow {
  std::string_view name;
  unsigned arity;
  FunctionOperands operands;
  FunctionResult result;
  double ulp;
  double approx_ulp;
  double approx_growth;
  double approx_absolute;
  bool f64;
};

const FunctionRow& row(FunctionId id);
inline std::string_view name(FunctionId id) { return row(id).name; }
size_t function_count();
std::optional<FunctionId> function_by_name(std::string_view name);

// Whether the function is defined for operands of this type (f8 and bool: none; index counts as an integer).
// Says nothing about f64 support: that is FunctionRow::f64.
bool accepts(FunctionId id, ElementType type);

}  // namespace tenon
