#include "ir/type_rules.h"

#include <fmt/format.h>

#include "support/functions.h"

namespace tenon::ir {
namespace {

using Types = std::span<const ElementType>;
using Complaint = std::optional<std::string>;

Complaint expected(std::string_view what, ElementType found) {
  return fmt::format("expected {}, found {}", what, name(found));
}

Complaint all_of_type(Types operands, ElementType type) {
  for (ElementType operand : operands)
    if (operand != type) return fmt::format("operands are {}, not {}", name(operand), name(type));
  return std::nullopt;
}

bool is_numeric(ElementType type) { return is_float(type) || is_integer(type); }

Complaint function_error(Opcode op, Types operands, ElementType result) {
  auto function = function_by_name(row(op).mnemonic);
  if (!function) return "there is no function of this name";
  if (!accepts(*function, operands[0])) return expected("an operand that the function takes", operands[0]);
  if (auto error = all_of_type(operands, operands[0])) return error;
  ElementType wanted = row(*function).result == FunctionResult::kBool ? ElementType::kBool : operands[0];
  if (result != wanted) return fmt::format("the result is {}, not {}", name(result), name(wanted));
  return std::nullopt;
}

Complaint read_error(Types operands, ElementType result) {
  if (operands.empty()) return std::nullopt;
  if (operands.size() != 2) return "a read has a predicate and a default, or neither";
  if (operands[0] != ElementType::kBool) return expected("a bool as predicate", operands[0]);
  return all_of_type(operands.subspan(1), result);
}

Complaint rule_error(Opcode op, Types operands, ElementType result) {
  switch (row(op).rule) {
    case TypeRule::kLeaf:
      if (op == Opcode::kIndex && result != ElementType::kIndex)
        return expected("a result of type index", result);
      return std::nullopt;
    case TypeRule::kRead:
      return read_error(operands, result);
    case TypeRule::kSame:
      if (!is_numeric(result)) return expected("a numeric type", result);
      return all_of_type(operands, result);
    case TypeRule::kSameInt:
      if (!is_integer(result)) return expected("an integer type", result);
      return all_of_type(operands, result);
    case TypeRule::kSameBits:
      if (is_float(result)) return expected("an integer type or bool", result);
      return all_of_type(operands, result);
    case TypeRule::kShift:
      if (!is_integer(result)) return expected("an integer type", result);
      if (!is_integer(operands[1])) return expected("an integer count", operands[1]);
      return all_of_type(operands.first(1), result);
    case TypeRule::kCompare:
      if (result != ElementType::kBool) return expected("a result of type bool", result);
      return all_of_type(operands, operands[0]);
    case TypeRule::kSelect:
      if (operands[0] != ElementType::kBool) return expected("a bool as condition", operands[0]);
      return all_of_type(operands.subspan(1), result);
    case TypeRule::kCast:
      return std::nullopt;
    case TypeRule::kFunction:
      return function_error(op, operands, result);
    case TypeRule::kNone:
    case TypeRule::kDomain:
    case TypeRule::kLoad:
    case TypeRule::kStore:
    case TypeRule::kTileReduce:
    case TypeRule::kMma:
    case TypeRule::kLoop:
    case TypeRule::kYield:
    case TypeRule::kCopyAsync:
      break;
  }
  return "this is no scalar operation";
}

}  // namespace

std::optional<std::string> type_error(Opcode op, std::span<const ElementType> operands, ElementType result) {
  int arity = row(op).arity;
  if (arity >= 0 && operands.size() != static_cast<size_t>(arity))
    return fmt::format("takes {} operands, not {}", arity, operands.size());
  return rule_error(op, operands, result);
}

}  // namespace tenon::ir
