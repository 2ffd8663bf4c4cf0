#include "passes/schedule.h"

namespace tenon::passes {
namespace {

std::string placement_name(const Schedule& schedule, Placement placement) {
  switch (placement) {
    case Placement::kGrid:
      return "grid";
    case Placement::kSerial:
      return "serial";
    case Placement::kShared:
      return "shared";
    case Placement::kFit:
      return "fit";
    case Placement::kSplit:
      return "split(" + std::to_string(schedule.split) + ")";
  }
  return {};
}

}  // namespace

std::string to_text(const Schedule& schedule, const ir::Kernel& kernel) {
  std::string text = schedule.family + ": warps = " + std::to_string(schedule.warps);
  for (const LoopDim& dim : schedule.dims) {
    std::string axes;
    for (ir::AxisId axis : dim.axes) axes += (axes.empty() ? "" : "*") + kernel.axes[axis].name;
    text +=
        "; " + (axes.empty() ? std::string("one") : axes) + " = " + placement_name(schedule, dim.placement);
    auto factor = [&](const char* name, int32_t n) {
      if (n > 1) text += std::string(" ") + name + "(" + std::to_string(n) + ")";
    };
    factor("vec", dim.vector);
    factor("lane", dim.lane);
    factor("warp", dim.warp);
    factor("repeat", dim.repeat);
    factor("tiles", dim.tiles);
  }
  if (schedule.stages != 0) text += "; stages = " + std::to_string(schedule.stages);
  if (!schedule.staged.empty()) text += "; staged = " + std::to_string(schedule.staged.size());
  return text;
}

}  // namespace tenon::passes
