#include "passes/assign_layouts.h"

#include <algorithm>
#include <map>

#include "support/check.h"

namespace tenon::passes {
namespace {

ir::SharedLayout layout_over(const ir::TileModule& module, const std::vector<ir::AxisId>& axes) {
  auto home = std::find_if(module.homes.begin(), module.homes.end(), [&](const ir::Layout& layout) {
    return std::all_of(axes.begin(), axes.end(), [&](ir::AxisId axis) { return layout.has(axis); });
  });
  TENON_CHECK(home != module.homes.end(), "no home holds all axes of a tile");
  return home->project(axes);
}

}  // namespace

void assign_layouts(ir::TileModule& module) {
  std::map<std::vector<ir::AxisId>, ir::SharedLayout> known;
  for (ir::TileValue& value : module.values) {
    const std::vector<ir::AxisId>& axes = value.type.axes;
    if (axes.empty()) continue;
    auto [at, is_new] = known.try_emplace(axes);
    if (is_new) at->second = layout_over(module, axes);
    value.type.layout = at->second;
  }
}

}  // namespace tenon::passes
