// Conditions that a launch checks.
#pragma once

#include <optional>

#include "frontend/check/instance.h"

namespace tenon::frontend {

// A typed condition over dimensions and index scalars as an index expression that is 0 where it does not
// hold, which is also where it divides by zero. Empty if it depends on anything else.
std::optional<ir::IndexId> clause_condition(Instance& instance, NodeId condition);

// The condition, and that nothing in it divides by zero.
ir::IndexId with_divisors(Instance& instance, ir::IndexId condition);

}  // namespace tenon::frontend
