// Needs: tile IR with homes.
// Gives: every tile with axes a layout: the projection of the home that holds its axes.
// Why here: vector widths, swizzles and conversions are facts about layouts.
//
//   %x = load x[%i, %k] : tile<f32, [k: 1024]>
// becomes
//   %x = load x[%i, %k] : tile<f32, [k: 1024], reg[k1 k2 k128 ...] lane[k4 k8 k16 k32 k64] warp[]>
#include <algorithm>
#include <map>
#include <span>

#include "passes/pass.h"
#include "support/check.h"

namespace tenon::passes {
namespace {

ir::SharedLayout layout_over(const ir::TileModule& module, std::span<const ir::AxisId> axes) {
  auto home = std::find_if(module.homes.begin(), module.homes.end(), [&](const ir::Layout& layout) {
    return std::all_of(axes.begin(), axes.end(), [&](ir::AxisId axis) { return layout.has(axis); });
  });
  TENON_CHECK(home != module.homes.end(), "no home holds all axes of a tile");
  return home->project(axes);
}

}  // namespace

void assign_layouts(ir::TileModule& module, PassContext&) {
  std::map<ir::AxisList, ir::SharedLayout> known;
  for (ir::TileValue& value : module.values) {
    const ir::AxisList& axes = value.type.axes;
    if (axes.empty()) continue;
    auto [at, is_new] = known.try_emplace(axes);
    if (is_new) at->second = layout_over(module, axes);
    value.type.layout = at->second;
  }
}

}  // namespace tenon::passes
