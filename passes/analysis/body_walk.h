// What a value of a body is computed from.
#pragma once

#include <functional>
#include <vector>

#include "ir/tensor.h"

namespace tenon::passes {

// The values that `value` needs, itself included, in the order of the body, so operands before uses. The walk
// stops at those for which `known` holds, which are listed; no function knows none.
std::vector<ir::ValueId> values_under(const ir::IndexPool& pool, const ir::Body& body, ir::ValueId value,
                                      const std::function<bool(ir::ValueId)>& known = {});

// Calls `visit` for every index expression of an instruction.
void for_each_index(const ir::Instruction& instruction, const std::function<void(ir::IndexId)>& visit);

// Calls `visit` for every axis that an index expression mentions itself, not through values.
void for_each_axis(const ir::IndexPool& pool, ir::IndexId index,
                   const std::function<void(ir::AxisId)>& visit);

}  // namespace tenon::passes
