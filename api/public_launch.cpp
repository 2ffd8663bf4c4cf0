// Running and launching a kernel.
#include <fmt/format.h>

#include <utility>
#include <variant>

#include "api/public_arguments.h"
#include "api/public_convert.h"
#include "api/public_kernel.h"
#include "runtime/launch.h"
#include "runtime/resources.h"

namespace tenon {
namespace {

using runtime::Binding;
using runtime::Buffer;
using runtime::LaunchArgument;
using runtime::LaunchPlan;
using runtime::LoadedProgram;
using runtime::ParameterId;
using runtime::Program;

template <class Argument>
Result<std::vector<Shape>> shapes_of_results(const Program& program, const std::vector<Argument>& arguments,
                                             const LaunchOptions& options) {
  TENON_TRY_ASSIGN(std::vector<LaunchArgument> launch_arguments, api::launch_arguments(program, arguments));
  TENON_TRY_ASSIGN(Binding binding,
                   runtime::bind_arguments(program, launch_arguments, api::named_sizes(options)));
  std::vector<Shape> shapes;
  for (uint32_t i = 0; i < program.parameters.size(); ++i)
    if (program.parameters[ParameterId(i)].role == runtime::Role::kResult)
      shapes.push_back(std::move(binding.shapes[i]));
  return shapes;
}

Result<LaunchPlan> plan(LoadedProgram& loaded, const std::vector<DeviceArgument>& arguments,
                        const LaunchOptions& options) {
  TENON_TRY_ASSIGN(std::vector<LaunchArgument> launch_arguments,
                   api::launch_arguments(loaded.program(), arguments));
  return runtime::plan_launch(loaded, launch_arguments, {.sizes = api::named_sizes(options), .variants = {}});
}

Result<void> check_workspace(const Program& program, const LaunchPlan& plan, const LaunchOptions& options) {
  if (options.workspace % runtime::kWorkspaceAlignment != 0)
    return runtime::refuse(program, fmt::format("the workspace at {:#x} does not lie at a multiple of {}",
                                                options.workspace, runtime::kWorkspaceAlignment));
  if (options.workspace_bytes < plan.workspace_bytes)
    return runtime::refuse(program, fmt::format("it needs a workspace of {} bytes, and the one given has {}",
                                                plan.workspace_bytes, options.workspace_bytes));
  return {};
}

Result<void> start(LoadedProgram& loaded, const std::vector<DeviceArgument>& arguments,
                   const LaunchOptions& options) {
  TENON_TRY_ASSIGN(LaunchPlan launches, plan(loaded, arguments, options));
  auto stream = static_cast<runtime::CUstream>(options.stream);
  if (options.workspace == 0) return runtime::start(loaded.device(), launches, stream);
  TENON_TRY(check_workspace(loaded.program(), launches, options));
  return runtime::start(loaded.device(), launches, stream, options.workspace);
}

// One run on arrays of the host.
class HostRun {
 public:
  HostRun(LoadedProgram& loaded, const std::vector<HostArgument>& host)
      : device_(loaded.device()), program_(loaded.program()), loaded_(loaded), host_(host) {}

  Result<void> operator()(const std::vector<runtime::NamedSize>& sizes) {
    TENON_TRY_ASSIGN(arguments_, api::launch_arguments(program_, host_));
    TENON_TRY_ASSIGN(binding_, runtime::bind_arguments(program_, arguments_, sizes));
    TENON_TRY(runtime::check_addresses(program_, binding_, arguments_));
    TENON_TRY(check_writable());
    std::vector<LaunchArgument> host_arguments = arguments_;
    for (uint32_t i = 0; i < arguments_.size(); ++i) TENON_TRY(place(i));
    TENON_TRY_ASSIGN(LaunchPlan launches,
                     runtime::plan_launch(loaded_, arguments_, {.sizes = sizes, .variants = {}}));
    TENON_TRY(runtime::start(device_, launches, nullptr));
    TENON_TRY(device_.synchronize());
    for (uint32_t i = 0; i < arguments_.size(); ++i) TENON_TRY(fetch(i, host_arguments[i].address));
    return {};
  }

 private:
  const runtime::Parameter& parameter(uint32_t index) const {
    return program_.parameters[ParameterId(index)];
  }
  size_t bytes(uint32_t index) const { return static_cast<size_t>(binding_.bytes[index]); }

  Result<void> check_writable() const {
    for (const HostArgument& argument : host_) {
      const auto* tensor = std::get_if<HostTensor>(&argument.value);
      if (tensor == nullptr || tensor->writable() != nullptr || tensor->data() == nullptr) continue;
      for (const runtime::Parameter& parameter : program_.parameters)
        if (parameter.name == argument.name && parameter.role != runtime::Role::kInput)
          return runtime::refuse(program_,
                                 fmt::format("it writes to `{}`, whose array is const", parameter.source));
    }
    return {};
  }

  // Gives the parameter device memory with what it starts with.
  Result<void> place(uint32_t index) {
    buffers_.emplace_back();
    if (parameter(index).by_value()) return {};
    TENON_TRY_ASSIGN(buffers_.back(), Buffer::allocate(device_, bytes(index)));
    auto host = reinterpret_cast<const std::byte*>(arguments_[index].address);
    arguments_[index].address = buffers_.back().address();
    if (parameter(index).role == runtime::Role::kResult) return {};
    return device_.copy_to_device(buffers_.back().address(), {host, bytes(index)});
  }

  Result<void> fetch(uint32_t index, uint64_t host) {
    if (parameter(index).role == runtime::Role::kInput) return {};
    return device_.copy_to_host({reinterpret_cast<std::byte*>(host), bytes(index)},
                                buffers_[index].address());
  }

  runtime::Device& device_;
  const Program& program_;
  LoadedProgram& loaded_;
  const std::vector<HostArgument>& host_;
  std::vector<LaunchArgument> arguments_;
  Binding binding_;
  std::vector<Buffer> buffers_;
};

Result<void> load_all(LoadedProgram& loaded) {
  const std::vector<runtime::Step>& steps = loaded.program().steps;
  for (uint32_t step = 0; step < steps.size(); ++step)
    for (uint32_t variant = 0; variant < steps[step].variants.size(); ++variant)
      if (auto done = loaded.variant(step, variant); !done) return std::unexpected(std::move(done).error());
  return {};
}

}  // namespace

Expected<std::vector<Shape>> Kernel::result_shapes(const std::vector<HostArgument>& arguments,
                                                   const LaunchOptions& options) const {
  return api::expected(shapes_of_results(*impl_->program, arguments, options));
}

Expected<std::vector<Shape>> Kernel::result_shapes(const std::vector<DeviceArgument>& arguments,
                                                   const LaunchOptions& options) const {
  return api::expected(shapes_of_results(*impl_->program, arguments, options));
}

Status Kernel::run(Device device, const std::vector<HostArgument>& arguments,
                   const LaunchOptions& options) const {
  Result<LoadedProgram*> loaded = impl_->on(device.impl());
  if (!loaded) return api::failure(std::move(loaded).error());
  return api::status(HostRun(**loaded, arguments)(api::named_sizes(options)));
}

Status Kernel::launch(Device device, const std::vector<DeviceArgument>& arguments,
                      const LaunchOptions& options) const {
  Result<LoadedProgram*> loaded = impl_->on(device.impl());
  if (!loaded) return api::failure(std::move(loaded).error());
  return api::status(start(**loaded, arguments, options));
}

Status Kernel::warm_up(Device device) const {
  Result<LoadedProgram*> loaded = impl_->on(device.impl());
  if (!loaded) return api::failure(std::move(loaded).error());
  return api::status(load_all(**loaded));
}

Expected<size_t> Kernel::workspace_bytes(Device device, const std::vector<DeviceArgument>& arguments,
                                         const LaunchOptions& options) const {
  Result<LoadedProgram*> loaded = impl_->on(device.impl());
  if (!loaded) return api::failure(std::move(loaded).error());
  Result<LaunchPlan> launches = plan(**loaded, arguments, options);
  if (!launches) return api::failure(std::move(launches).error());
  return launches->workspace_bytes;
}

}  // namespace tenon
