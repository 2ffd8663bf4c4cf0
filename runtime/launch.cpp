#include "runtime/launch.h"

#include <fmt/format.h>

#include <algorithm>
#include <cstring>
#include <utility>

#include "runtime/selection.h"
#include "runtime/workspace.h"
#include "support/check.h"

namespace tenon::runtime {
namespace {

// Blocks of more dynamic shared memory than this must be allowed first. Source: cuFuncSetAttribute,
// CU_FUNC_ATTRIBUTE_MAX_DYNAMIC_SHARED_SIZE_BYTES.
constexpr uint32_t kSharedWithoutAsking = 48 * 1024;

// The most workspace that is ever asked for: what a 47-bit address space holds.
constexpr Int128 kMaxWorkspace = Int128{1} << 47;

size_t align_up(size_t bytes) {
  return (bytes + kWorkspaceAlignment - 1) / kWorkspaceAlignment * kWorkspaceAlignment;
}

class Planner {
 public:
  Planner(LoadedProgram& loaded, std::span<const LaunchArgument> arguments)
      : loaded_(loaded), program_(loaded.program()), arguments_(arguments) {}

  Result<LaunchPlan> run(const LaunchOptions& options) {
    TENON_TRY_ASSIGN(plan_.binding, bind_arguments(program_, arguments_, options.sizes));
    TENON_TRY(check_addresses(program_, plan_.binding, arguments_));
    TENON_TRY_ASSIGN(shared_offsets_, lay_out(program_.workspace, 0));
    shared_end_ = shared_offsets_.back();
    plan_.workspace_bytes = shared_end_;
    for (uint32_t step = 0; step < program_.steps.size(); ++step) {
      std::optional<uint32_t> forced = step < options.variants.size() ? options.variants[step] : std::nullopt;
      TENON_TRY(plan_step(step, forced));
    }
    return std::move(plan_);
  }

 private:
  Result<void> plan_step(uint32_t step, std::optional<uint32_t> forced) {
    TENON_TRY_ASSIGN(uint32_t variant, select_variant(program_, step, plan_.binding, arguments_, forced));
    plan_.variants.push_back(variant);
    TENON_TRY_ASSIGN(LoadedVariant * loaded, loaded_.variant(step, variant));
    // Steps follow each other on one stream, so the variants' own scratch may share a place.
    TENON_TRY_ASSIGN(variant_offsets_, lay_out(loaded->code.workspace, shared_end_));
    plan_.workspace_bytes = std::max(plan_.workspace_bytes, variant_offsets_.back());
    for (uint32_t i = 0; i < loaded->code.launches.size(); ++i) {
      PlannedLaunch planned{.step = step, .variant = variant, .launch = i, .loaded = loaded};
      TENON_TRY(plan_one(loaded->code.launches[i], planned));
      if (planned.grid > 0) plan_.launches.push_back(std::move(planned));
    }
    return {};
  }

  // The offset of each buffer from the start of the workspace, and at the end that of what comes after.
  Result<std::vector<size_t>> lay_out(const std::vector<WorkspaceBuffer>& buffers, size_t begin) const {
    std::vector<size_t> offsets = {begin};
    for (const WorkspaceBuffer& buffer : buffers) {
      TENON_TRY_ASSIGN(Int128 bytes,
                       size(buffer.bytes, 0, kMaxWorkspace - static_cast<Int128>(offsets.back()),
                            "the size of workspace ", buffer.name));
      offsets.push_back(align_up(offsets.back() + static_cast<size_t>(bytes)));
    }
    return offsets;
  }

  Result<void> plan_one(const Launch& launch, PlannedLaunch& planned) const {
    TENON_TRY_ASSIGN(Int128 grid, size(launch.grid, 0, kMaxGrid, "the grid of entry ", launch.entry));
    if (grid == 0) return {};
    Int128 most_shared = loaded_.device().properties().max_shared_per_block;
    TENON_TRY_ASSIGN(Int128 shared, size(launch.dynamic_shared, 0, most_shared,
                                         "the bytes of dynamic shared memory of entry ", launch.entry));
    planned.grid = static_cast<uint32_t>(grid);
    planned.block = launch.block;
    planned.dynamic_shared = static_cast<uint32_t>(shared);
    for (const Argument& argument : launch.arguments) {
      TENON_TRY_ASSIGN(PlannedLaunch::Value value, value_of(argument, launch));
      planned.arguments.push_back(value);
    }
    return {};
  }

  Result<PlannedLaunch::Value> value_of(const Argument& argument, const Launch& launch) const {
    switch (argument.kind) {
      case ArgumentKind::kPointer:
        return PlannedLaunch::Value{arguments_[argument.parameter.index()].address};
      case ArgumentKind::kScalar: {
        PlannedLaunch::Value value;
        std::memcpy(&value.bits, arguments_[argument.parameter.index()].scalar.data(), sizeof value.bits);
        return value;
      }
      case ArgumentKind::kWorkspace:
        return PlannedLaunch::Value{shared_offsets_[argument.workspace], true};
      case ArgumentKind::kVariantWorkspace:
        return PlannedLaunch::Value{variant_offsets_[argument.workspace], true};
      case ArgumentKind::kSize:
        return size_value(argument, launch);
      case ArgumentKind::kMagicMultiplier:
        return divisor_value(argument, launch, &MagicDivisor::multiplier);
      case ArgumentKind::kMagicShift:
        return divisor_value(argument, launch, &MagicDivisor::shift);
    }
    TENON_UNREACHABLE("unknown argument kind");
  }

  Result<PlannedLaunch::Value> size_value(const Argument& argument, const Launch& launch) const {
    bool narrow = argument.type == PtxType::kB32;
    TENON_TRY_ASSIGN(Int128 value,
                     size(argument.value, narrow ? INT32_MIN : INT64_MIN, narrow ? UINT32_MAX : INT64_MAX,
                          "an argument of entry ", launch.entry));
    return PlannedLaunch::Value{static_cast<uint64_t>(value)};
  }

  Result<PlannedLaunch::Value> divisor_value(const Argument& argument, const Launch& launch,
                                             uint32_t MagicDivisor::* half) const {
    constexpr Int128 kAny = Int128{1} << 126;
    TENON_TRY_ASSIGN(Int128 divisor, size(argument.value, -kAny, kAny, "a divisor of entry ", launch.entry));
    return PlannedLaunch::Value{magic_divisor(divisor).*half};
  }

  // The value of `expr`, which must lie between `least` and `most`; `what` and `owner` name it where it does
  // not.
  Result<Int128> size(const SizeExpr& expr, Int128 least, Int128 most, std::string_view what,
                      std::string_view owner) const {
    SizeValue value = evaluate(expr, plan_.binding.symbols);
    if (value.has_value() && value.value >= least && value.value <= most) return value.value;
    std::string reason = value.has_value() ? fmt::format("is {}, not in {} to {}", to_text(value.value),
                                                         to_text(least), to_text(most))
                                           : fmt::format("has no value, by {}", to_text(value.fault));
    std::string values = values_text(program_, expr, plan_.binding.symbols);
    return refuse(program_,
                  fmt::format("{}{}, {}, {}{}{}", what, owner, to_text(expr, symbol_names(program_)), reason,
                              values.empty() ? "" : ": ", values));
  }

  LoadedProgram& loaded_;
  const Program& program_;
  std::span<const LaunchArgument> arguments_;
  LaunchPlan plan_;
  std::vector<size_t> shared_offsets_;
  size_t shared_end_ = 0;
  std::vector<size_t> variant_offsets_;
};

// Raises what the driver allows the entry to at least `bytes`.
Result<void> allow_shared(Device& device, LoadedVariant::Entry& entry, const std::string& name,
                          uint32_t bytes) {
  if (bytes <= kSharedWithoutAsking || entry.allowed_shared.load() >= bytes) return {};
  int most = device.properties().max_shared_per_block;
  // The entry's static shared memory counts too, so the most cannot simply be asked for.
  TENON_TRY(device.run(
      "cuFuncSetAttribute",
      [&] { return fmt::format("to allow entry {} {} bytes of shared memory of {}", name, bytes, most); },
      [&](const DriverTable& table) {
        return table.cuFuncSetAttribute(entry.function, kFunctionMaxDynamicSharedBytes,
                                        static_cast<int>(bytes));
      }));
  entry.allowed_shared.store(bytes);
  return {};
}

Result<void> start_one(Device& device, const PlannedLaunch& planned, CUstream stream, CUdeviceptr workspace) {
  LoadedVariant::Entry& entry = planned.loaded->entries[planned.launch];
  TENON_TRY(allow_shared(device, entry, planned.entry(), planned.dynamic_shared));
  std::vector<uint64_t> values;
  for (const PlannedLaunch::Value& value : planned.arguments)
    values.push_back(value.bits + (value.in_workspace ? workspace : 0));
  std::vector<void*> pointers;
  for (uint64_t& value : values) pointers.push_back(&value);
  auto purpose = [&] {
    return fmt::format("to launch entry {} with a grid of {} and a block of {}", planned.entry(),
                       planned.grid, planned.block);
  };
  return device.run("cuLaunchKernel", purpose, [&](const DriverTable& table) {
    return table.cuLaunchKernel(entry.function, planned.grid, 1, 1, planned.block, 1, 1,
                                planned.dynamic_shared, stream, pointers.data(), nullptr);
  });
}

}  // namespace

Result<LaunchPlan> plan_launch(LoadedProgram& program, std::span<const LaunchArgument> arguments,
                               const LaunchOptions& options) {
  return Planner(program, arguments).run(options);
}

Result<void> start(Device& device, const LaunchPlan& plan, CUstream stream, CUdeviceptr workspace) {
  for (const PlannedLaunch& planned : plan.launches) TENON_TRY(start_one(device, planned, stream, workspace));
  return {};
}

Result<void> start(Device& device, const LaunchPlan& plan, CUstream stream) {
  TENON_TRY_ASSIGN(WorkspaceLease lease, device.arena(stream).lease(plan.workspace_bytes));
  return start(device, plan, stream, lease.address);
}

}  // namespace tenon::runtime
