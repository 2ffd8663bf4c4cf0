// What a loop computes some of its values from, so that it can be computed for another iteration.
#pragma once

#include <functional>
#include <optional>
#include <span>
#include <vector>

#include "ir/tile.h"

namespace tenon::passes {

// Calls `visit` for each value that an operation uses: its operands, and the values in its index expressions.
void for_each_use(const ir::TileModule& module, const ir::TileOp& op,
                  const std::function<void(ir::TileValueId)>& visit);

// By value: how often the operations of a kernel use it.
SideTable<ir::TileValue, int> count_uses(const ir::TileModule& module, const ir::TileKernel& kernel);

// The operations of the region, in its order, that `values` are computed from. Empty where another iteration
// cannot compute them at another place: where they depend on memory, on what the loop carries, or on an
// operation that holds regions.
std::optional<std::vector<ir::TileOpId>> loop_slice(const ir::TileModule& module, ir::RegionId region,
                                                    std::span<const ir::TileValueId> values);

// What the address and the mask of an access are computed from.
std::vector<ir::TileValueId> access_values(const ir::TileModule& module, const ir::TileOp& op);

}  // namespace tenon::passes
