#include "passes/assign_layouts.h"

#include <algorithm>

#include "support/check.h"

namespace tenon::passes {

void assign_layouts(ir::TileModule& module) {
  for (ir::TileValue& value : module.values) {
    if (value.type.axes.empty()) continue;
    auto home = std::find_if(module.homes.begin(), module.homes.end(), [&](const ir::Layout& layout) {
      return std::all_of(value.type.axes.begin(), value.type.axes.end(),
                         [&](ir::AxisId axis) { return layout.has(axis); });
    });
    TENON_CHECK(home != module.homes.end(), "no home holds all axes of a tile");
    value.type.layout = home->project(value.type.axes);
  }
}

}  // namespace tenon::passes
