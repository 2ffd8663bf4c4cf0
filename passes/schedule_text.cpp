#include "passes/schedule_text.h"

#include <fmt/format.h>

#include <algorithm>

#include "passes/group.h"
#include "support/check.h"

namespace tenon::passes {
namespace {

using ir::AxisId;

constexpr std::pair<Placement, std::string_view> kPlacements[] = {
    {Placement::kGrid, "grid"}, {Placement::kSerial, "serial"}, {Placement::kShared, "shared"},
    {Placement::kFit, "fit"},   {Placement::kSplit, "split"},
};

constexpr ScheduleField kFields[] = {
    {"warps", &Schedule::warps, 1, 32, true},
    {"split", &Schedule::split, 2, 1024, true},
    {"stages", &Schedule::stages, 2, 8, false},
};

constexpr TileFactor kFactors[kTileFactors] = {
    {"vec", &LoopDim::vector, &StagedRead::Factor::vector, 16, true},
    {"lane", &LoopDim::lane, &StagedRead::Factor::lane, 32, true},
    {"warp", &LoopDim::warp, &StagedRead::Factor::warp, 32, true},
    {"repeat", &LoopDim::repeat, &StagedRead::Factor::repeat, 1024, false},
    {"tiles", &LoopDim::tiles, nullptr, 65536, false},
};

std::string_view placement_name(Placement placement) {
  for (const auto& [known, name] : kPlacements)
    if (known == placement) return name;
  TENON_UNREACHABLE("a placement has no name");
}

std::string factor_text(std::string_view name, int32_t value) {
  return value == 1 ? std::string() : fmt::format(" {}({})", name, value);
}

std::string staged_text(const StagedRead& staged, const Schedule& schedule, const ScheduleNames& names) {
  auto dim = [&](uint32_t d) { return names.dim(schedule.dims[d]); };
  std::string order;
  for (uint32_t d : staged.buffer_order) order += (order.empty() ? "" : ", ") + dim(d);
  std::string mapping;
  for (const StagedRead::Factor& factor : staged.factors) {
    mapping += (mapping.empty() ? "" : ", ") + dim(factor.dim);
    for (const TileFactor& row : kFactors)
      if (row.of_copy != nullptr) mapping += factor_text(row.name, factor.*row.of_copy);
  }
  return fmt::format("; stage {}[{}] = {}", names.value(staged.op, staged.value), order, mapping);
}

}  // namespace

std::span<const ScheduleField> schedule_fields() { return kFields; }
std::span<const TileFactor, kTileFactors> tile_factors() { return kFactors; }

std::optional<Placement> placement_by_name(std::string_view name) {
  for (const auto& [placement, known] : kPlacements)
    if (known == name) return placement;
  return std::nullopt;
}

std::vector<std::string_view> placement_names() {
  std::vector<std::string_view> names;
  for (const auto& [placement, name] : kPlacements) names.push_back(name);
  return names;
}

ScheduleNames::ScheduleNames(const ir::Kernel& kernel, const ir::Group& group)
    : kernel_(kernel), group_(group) {
  GroupAxes axes = group_axes(kernel, group);
  axes_ = axes.parallel;
  axes_.insert(axes_.end(), axes.row.begin(), axes.row.end());
  for (AxisId axis : axes_) {
    const std::string& name = kernel.axes[axis].name;
    std::string unique = name;
    for (int n = 1; std::find(names_.begin(), names_.end(), unique) != names_.end(); ++n)
      unique = fmt::format("{}.{}", name, n);
    names_.push_back(std::move(unique));
  }
}

std::string ScheduleNames::axis(AxisId axis) const {
  auto at = std::find(axes_.begin(), axes_.end(), axis);
  TENON_CHECK(at != axes_.end(), "a schedule names an axis that its group lacks");
  return names_[at - axes_.begin()];
}

std::string ScheduleNames::dim(const LoopDim& dim) const {
  std::string text;
  for (AxisId one : dim.axes) text += (text.empty() ? "" : "*") + axis(one);
  return text.empty() ? "1" : text;
}

std::string ScheduleNames::value(ir::TensorOpId id, ir::ValueId value) const {
  const ir::TensorOp& op = kernel_.ops[id];
  const ir::Instruction& instruction = op.body[value];
  if (instruction.op == ir::Opcode::kRead) {
    int reads = 0;
    for (ir::TensorOpId other : group_.ops)
      for (const ir::Instruction& read : kernel_.ops[other].body)
        reads += read.op == ir::Opcode::kRead && read.tensor == instruction.tensor ? 1 : 0;
    if (reads == 1) return kernel_.tensors[instruction.tensor].name;
  }
  return fmt::format("{}%{}", kernel_.tensors[op.outputs[0].tensor].name, value.index());
}

std::string to_text(const Schedule& schedule, const ScheduleNames& names) {
  std::string text = schedule.family + ":";
  const Schedule defaults;
  for (const ScheduleField& field : kFields) {
    bool shown = field.member == &Schedule::warps || schedule.*field.member != defaults.*field.member;
    if (shown)
      text += fmt::format("{} {}({})", text.ends_with(':') ? "" : ";", field.name, schedule.*field.member);
  }
  for (const LoopDim& dim : schedule.dims) {
    text += fmt::format("; {} = {}", names.dim(dim), placement_name(dim.placement));
    for (const TileFactor& row : kFactors) text += factor_text(row.name, dim.*row.of_dim);
  }
  for (const StagedRead& staged : schedule.staged) text += staged_text(staged, schedule, names);
  return text;
}

}  // namespace tenon::passes
