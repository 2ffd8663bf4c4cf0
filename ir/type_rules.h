// The types of scalar operations, by the rules of ops.def, for the verifiers of both stages.
#pragma once

#include <optional>
#include <span>
#include <string>

#include "ir/ops.h"
#include "support/element_type.h"

namespace tenon::ir {

// What is wrong with an operation of the Body stage on operands of these types, their number included; empty
// if nothing is. A read's operands are its predicate and default.
std::optional<std::string> type_error(Opcode op, std::span<const ElementType> operands, ElementType result);

}  // namespace tenon::ir
