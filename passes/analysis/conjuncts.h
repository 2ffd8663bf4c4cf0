// A guard as the conditions that it joins.
#pragma once

#include <vector>

#include "ir/index.h"

namespace tenon::passes {

// In the order in which they were joined; none where the guard always holds.
std::vector<ir::IndexId> conjuncts(const ir::IndexPool& pool, ir::IndexId guard);

}  // namespace tenon::passes
