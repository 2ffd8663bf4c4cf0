// The part of the tile verifier that looks at single operations.
#pragma once

#include <functional>
#include <optional>
#include <string>
#include <vector>

#include "ir/tile.h"

namespace tenon::ir {

struct TileOpContext {
  const TileModule& module;
  const TileKernel& kernel;
  // Whether a value may be used, an axis of kind grid or loop has a value, at this place.
  std::function<bool(TileValueId)> visible;
  std::function<bool(AxisId)> bound;
  // Called with what is wrong.
  std::function<void(std::string)> report;
};

// Everything about an operation but what its regions hold.
void verify_tile_op(const TileOpContext& context, const TileOp& op);

// What is wrong with an expression at this place; empty if nothing is. A function that is not set allows
// nothing.
std::string tile_index_error(const TileModule& module, IndexId id, const std::function<bool(AxisId)>& axis,
                             const std::function<bool(TileValueId)>& value);

struct IndexRange {
  int64_t least = 0;
  int64_t most = 0;
};
// The range of a sum of multiples of different axes; empty for anything else.
std::optional<IndexRange> index_range(const TileModule& module, IndexId id);

// What is wrong with a layout for tiles of a kernel of so many warps.
std::string layout_error(const TileModule& module, const Layout& layout, int32_t warps);

}  // namespace tenon::ir
