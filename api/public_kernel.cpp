#include "api/public_kernel.h"

#include <fmt/format.h>
#include <fmt/ranges.h>

#include <algorithm>
#include <string_view>
#include <utility>

#include "api/ptx_module.h"
#include "api/public_convert.h"
#include "support/targets.h"

namespace tenon {
namespace {

constexpr std::string_view kDefaultTarget = "sm_80";
// Places in a source are 32-bit offsets.
constexpr size_t kMaxSourceBytes = size_t{1} << 30;

Result<const Target*> target_of(const CompileOptions& options) {
  std::string_view wanted = options.target.empty() ? kDefaultTarget : std::string_view(options.target);
  if (const Target* target = target_by_name(wanted)) return target;
  std::vector<std::string_view> names;
  for (const Target& target : targets()) names.push_back(target.name);
  return fail(ErrorKind::kUsage,
              fmt::format("there is no target `{}`; there are {}", wanted, fmt::join(names, ", ")));
}

Result<frontend::CheckOptions> settings_of(const CompileOptions& options) {
  frontend::CheckOptions settings;
  auto given = [&](const std::string& name) {
    return settings.sizes.contains(name) || settings.types.contains(name);
  };
  for (const NamedValue& size : options.sizes) {
    if (given(size.name)) return fail(ErrorKind::kUsage, fmt::format("`{}` is given twice", size.name));
    settings.sizes[size.name] = size.value;
  }
  for (const NamedType& type : options.types) {
    if (given(type.name)) return fail(ErrorKind::kUsage, fmt::format("`{}` is given twice", type.name));
    std::optional<ElementType> element = api::element_type(type.type);
    if (!element) return fail(ErrorKind::kUsage, fmt::format("the type of `{}` is no data type", type.name));
    settings.types[type.name] = *element;
  }
  if (!options.kernel.empty()) settings.kernels.push_back(options.kernel);
  return settings;
}

std::string missing_text(const frontend::Uninstantiated& kernel) {
  std::vector<std::string_view> names;
  for (const frontend::Uninstantiated::Missing& missing : kernel.missing) names.push_back(missing.name);
  return fmt::format("kernel `{}` is generic; give {}", kernel.kernel, fmt::join(names, ", "));
}

// The one kernel that was asked for; `checked` has no mistakes.
Result<ir::Kernel> only_kernel(frontend::CheckResult& checked) {
  if (!checked.unknown_kernels.empty())
    return fail(ErrorKind::kUsage, fmt::format("the source has no kernel `{}`", checked.unknown_kernels[0]));
  std::vector<std::string_view> names;
  for (const ir::Kernel& kernel : checked.module.kernels) names.push_back(kernel.name);
  for (const frontend::Uninstantiated& kernel : checked.uninstantiated) names.push_back(kernel.kernel);
  if (names.empty()) return fail(ErrorKind::kUsage, "the source has no kernel");
  if (names.size() > 1)
    return fail(ErrorKind::kUsage,
                fmt::format("the source has several kernels; name one of {}", fmt::join(names, ", ")));
  if (!checked.uninstantiated.empty())
    return fail(ErrorKind::kUsage, missing_text(checked.uninstantiated[0]));
  if (!checked.unused_settings.empty())
    return fail(ErrorKind::kUsage,
                fmt::format("kernel `{}` has no size or generic `{}`", names[0], checked.unused_settings[0]));
  return std::move(checked.module.kernels[0]);
}

}  // namespace

Kernel::Kernel(std::shared_ptr<const Impl> impl) : impl_(std::move(impl)) {}

Expected<Kernel> Kernel::compile(std::string_view source, const CompileOptions& options) {
  if (source.size() > kMaxSourceBytes)
    return api::usage_failure(fmt::format("the source has more than {} bytes", kMaxSourceBytes));
  Result<const Target*> target = target_of(options);
  if (!target) return api::failure(std::move(target).error());
  Result<frontend::CheckOptions> settings = settings_of(options);
  if (!settings) return api::failure(std::move(settings).error());

  auto impl = std::make_shared<Impl>();
  Diagnostics diagnostics;
  FileId file = impl->sources.add(options.file_name, std::string(source));
  frontend::CheckResult checked = api::check_source(file, impl->sources, *settings, diagnostics);
  if (diagnostics.has_errors()) return api::program_failure(diagnostics, impl->sources);
  Result<ir::Kernel> kernel = only_kernel(checked);
  if (!kernel) return api::failure(std::move(kernel).error());

  api::CompilerOptions compiler{.target = *target, .line_info = options.line_info};
  passes::SchedulePins pins;
  if (!options.schedule.empty()) {
    FileId text = impl->sources.add("schedule", options.schedule);
    pins = passes::parse_schedule(text, impl->sources, diagnostics);
    compiler.schedule = &pins;
    compiler.schedule_diagnostics = &diagnostics;
  }
  if (diagnostics.has_errors()) return api::program_failure(diagnostics, impl->sources);
  impl->compiled = std::make_shared<const api::CompiledKernel>(*std::move(kernel), compiler, &impl->sources);
  if (diagnostics.has_errors()) return api::program_failure(diagnostics, impl->sources);
  // Shares its owner with the compiled kernel.
  impl->program = std::shared_ptr<const runtime::Program>(impl->compiled, &impl->compiled->program());
  impl->messages = api::messages(diagnostics, impl->sources);
  api::describe(*impl);
  return Kernel(std::move(impl));
}

const std::string& Kernel::name() const { return impl_->program->name; }

const std::string& Kernel::target() const { return impl_->program->target; }

const std::vector<ParameterInfo>& Kernel::parameters() const { return impl_->parameters; }

const std::vector<SizeInfo>& Kernel::sizes() const { return impl_->sizes; }

const std::vector<std::string>& Kernel::conditions() const { return impl_->conditions; }

const std::vector<StepInfo>& Kernel::steps() const { return impl_->steps; }

const std::vector<Message>& Kernel::messages() const { return impl_->messages; }

Expected<std::string> Kernel::ptx() const {
  Result<runtime::Program> program = impl_->compiled->lower_all();
  if (!program) return api::failure(std::move(program).error());
  return api::ptx_module({*std::move(program)});
}

Expected<std::string> Kernel::record() const {
  Result<runtime::Program> program = impl_->compiled->lower_all();
  if (!program) return api::failure(std::move(program).error());
  return runtime::to_json(*program);
}

// Launches may still run the code that is unloaded here.
Kernel::Impl::~Impl() {
  for (const Loaded& loaded : loaded_) static_cast<void>(loaded.program->device().synchronize());
}

Result<runtime::LoadedProgram*> Kernel::Impl::on(const std::shared_ptr<Device::Impl>& device) const {
  std::lock_guard lock(mutex_);
  for (const Loaded& loaded : loaded_)
    if (loaded.device.lock() == device) return loaded.program.get();
  std::erase_if(loaded_, [](const Loaded& loaded) {
    if (!loaded.device.expired()) return false;
    static_cast<void>(loaded.program->device().synchronize());
    return true;
  });
  TENON_TRY_ASSIGN(
      std::unique_ptr<runtime::LoadedProgram> made,
      runtime::LoadedProgram::create(device->device, program, api::CompiledKernel::source(compiled)));
  loaded_.push_back({device, std::move(made)});
  return loaded_.back().program.get();
}

}  // namespace tenon
