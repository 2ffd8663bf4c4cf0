#include "runtime/host_launch.h"

#include <fmt/format.h>

#include <utility>

#include "runtime/binding.h"
#include "runtime/resources.h"

namespace tenon::runtime {
namespace {

constexpr unsigned char kPoison = 0xFF;

class HostLauncher {
 public:
  HostLauncher(LoadedProgram& loaded, std::vector<std::optional<Array>>& arrays,
               const HostLaunchOptions& options)
      : loaded_(loaded),
        program_(loaded.program()),
        device_(loaded.device()),
        arrays_(arrays),
        options_(options) {}

  Result<LaunchPlan> run() {
    for (size_t i = 0; i < arrays_.size(); ++i) arguments_.push_back(described(i));
    TENON_TRY_ASSIGN(Binding binding, bind_arguments(program_, arguments_, options_.launch.sizes));
    for (uint32_t i = 0; i < arrays_.size(); ++i) TENON_TRY(place(ParameterId(i), binding));
    TENON_TRY_ASSIGN(LaunchPlan plan, plan_launch(loaded_, arguments_, options_.launch));
    TENON_TRY_ASSIGN(Buffer workspace, Buffer::allocate(device_, plan.workspace_bytes));
    if (options_.poison) TENON_TRY(device_.fill(workspace.address(), kPoison, workspace.size()));
    TENON_TRY(start(device_, plan, nullptr, workspace.address()));
    TENON_TRY(device_.synchronize());
    for (uint32_t i = 0; i < arrays_.size(); ++i) TENON_TRY(fetch(ParameterId(i), binding));
    return plan;
  }

 private:
  // The argument for array `i`, without an address yet. What does not fit the parameter is left to
  // bind_arguments to refuse.
  LaunchArgument described(size_t i) const {
    if (!arrays_[i]) return LaunchArgument::absent();
    const Array& array = *arrays_[i];
    bool by_value = i < program_.parameters.size() &&
                    program_.parameters[ParameterId(static_cast<uint32_t>(i))].by_value();
    if (by_value && array.rank() == 0) return LaunchArgument::scalar_bytes(array.type(), array.bytes());
    return LaunchArgument::buffer(0, array.type(), array.shape());
  }

  // Gives the parameter device memory with what it starts with.
  Result<void> place(ParameterId id, const Binding& binding) {
    const Parameter& parameter = program_.parameters[id];
    buffers_.emplace_back();
    addresses_.push_back(0);
    if (parameter.by_value()) return {};
    TENON_TRY_ASSIGN(size_t offset, offset_bytes(id));
    auto bytes = static_cast<size_t>(binding.bytes[id.index()]);
    TENON_TRY_ASSIGN(buffers_.back(), Buffer::allocate(device_, bytes + offset));
    addresses_.back() = buffers_.back().address() + offset;
    arguments_[id.index()] =
        LaunchArgument::buffer(addresses_.back(), parameter.type, binding.shapes[id.index()]);
    if (parameter.role != Role::kResult)
      return device_.copy_to_device(addresses_.back(), arrays_[id.index()]->bytes());
    return options_.poison ? device_.fill(addresses_.back(), kPoison, bytes) : Result<void>();
  }

  Result<size_t> offset_bytes(ParameterId id) const {
    constexpr int64_t kMaxOffset = 1 << 20;
    int64_t elements = id.index() < options_.offsets.size() ? options_.offsets[id.index()] : 0;
    if (elements < 0 || elements > kMaxOffset)
      return fail(ErrorKind::kUsage, fmt::format("the offset of {} is {}, not in 0 to {}",
                                                 program_.parameters[id].name, elements, kMaxOffset));
    return static_cast<size_t>(elements) * byte_size(program_.parameters[id].type);
  }

  Result<void> fetch(ParameterId id, const Binding& binding) {
    const Parameter& parameter = program_.parameters[id];
    if (parameter.role == Role::kInput) return {};
    std::optional<Array>& array = arrays_[id.index()];
    if (!array) {
      TENON_TRY_ASSIGN(array, Array::zeros(parameter.type, binding.shapes[id.index()]));
    }
    return device_.copy_to_host(array->bytes(), addresses_[id.index()]);
  }

  LoadedProgram& loaded_;
  const Program& program_;
  Device& device_;
  std::vector<std::optional<Array>>& arrays_;
  const HostLaunchOptions& options_;
  std::vector<LaunchArgument> arguments_;
  std::vector<Buffer> buffers_;
  std::vector<CUdeviceptr> addresses_;
};

}  // namespace

Result<LaunchPlan> launch_on_host(LoadedProgram& program, std::vector<std::optional<Array>>& arrays,
                                  const HostLaunchOptions& options) {
  return HostLauncher(program, arrays, options).run();
}

}  // namespace tenon::runtime
