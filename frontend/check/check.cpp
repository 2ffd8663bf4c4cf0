#include "frontend/check/check.h"

#include <algorithm>
#include <memory>
#include <set>

#include "frontend/check/kernel_check.h"
#include "frontend/check/library.h"
#include "frontend/parse/parse.h"
#include "support/functions.h"

namespace tenon::frontend {
namespace {

// What the declarations of one file, and of the library modules that it uses, amount to.
class Declarations {
 public:
  Declarations(const Module& module, SourceManager& sources, Diagnostics& diagnostics)
      : module_(module), sources_(sources), diagnostics_(diagnostics) {}

  void collect();
  const FunctionTable& functions() const { return functions_; }
  // The kernels whose name is theirs alone.
  const std::vector<KernelId>& kernels() const { return kernels_; }

 private:
  void use(const Use& use);
  void add_function(const Module& module, FunctionId id);
  void add_kernel(KernelId id);
  void check_schedule(const Schedule& schedule);

  const Module& module_;
  SourceManager& sources_;
  Diagnostics& diagnostics_;
  FunctionTable functions_;
  std::vector<KernelId> kernels_;
  std::set<std::string_view> kernel_names_;
  std::map<std::string, std::unique_ptr<Module>> library_;
};

void Declarations::collect() {
  // A function may be used before the line that brings it in.
  for (const Declaration& declaration : module_.declarations)
    if (const auto* id = std::get_if<UseId>(&declaration)) use(module_[*id]);
  for (const Declaration& declaration : module_.declarations) {
    if (const auto* function = std::get_if<FunctionId>(&declaration)) add_function(module_, *function);
    if (const auto* kernel = std::get_if<KernelId>(&declaration)) add_kernel(*kernel);
  }
  for (const Declaration& declaration : module_.declarations)
    if (const auto* schedule = std::get_if<ScheduleId>(&declaration)) check_schedule(module_[*schedule]);
}

void Declarations::use(const Use& use) {
  std::string path;
  for (const Name& part : use.path) {
    if (!path.empty()) path += '.';
    path += part.text;
  }
  if (library_.contains(path)) return;
  const std::optional<std::string_view> source = library_source(path);
  if (!source) {
    Diagnostic& d = diagnostics_.report(DiagnosticId::kUnknownModule, use.span, path);
    std::vector<std::string_view> names;
    for (const LibraryModule& known : library_modules()) names.push_back(known.name);
    d.note(fmt::format("there is {}", fmt::join(names, " and ")));
    return;
  }
  const FileId file = sources_.add(path, std::string(*source));
  auto module = std::make_unique<Module>(parse(file, sources_, diagnostics_));
  for (const Declaration& declaration : module->declarations)
    if (const auto* function = std::get_if<FunctionId>(&declaration)) add_function(*module, *function);
  library_.emplace(path, std::move(module));
}

void Declarations::add_function(const Module& module, FunctionId id) {
  const Name& name = module[id].signature.name;
  const bool is_builtin = function_by_name(name.text) || name.text == "wide";
  if (is_builtin) {
    diagnostics_.report(DiagnosticId::kBuiltinRedefined, name.span, name.text);
    return;
  }
  if (functions_.add({&module, id})) return;
  const FunctionRef& known = *functions_.find(name.text);
  Diagnostic& d = diagnostics_.report(DiagnosticId::kDeclaredTwice, name.span, name.text);
  if (known.module == &module) {
    d.label(known->signature.name.span, "declared here first");
  } else {
    d.note(fmt::format("`{}` comes from {}", name.text, sources_.file(known.module->file).name));
  }
}

void Declarations::add_kernel(KernelId id) {
  const Name& name = module_[id].signature.name;
  if (kernel_names_.insert(name.text).second) {
    kernels_.push_back(id);
    functions_.add_kernel(name.text);
    return;
  }
  Diagnostic& d = diagnostics_.report(DiagnosticId::kDeclaredTwice, name.span, name.text);
  for (KernelId known : kernels_)
    if (module_[known].signature.name.text == name.text)
      d.label(module_[known].signature.name.span, "declared here first");
}

void Declarations::check_schedule(const Schedule& schedule) {
  if (!kernel_names_.contains(schedule.kernel.text)) {
    Diagnostic& d =
        diagnostics_.report(DiagnosticId::kUnknownKernel, schedule.kernel.span, schedule.kernel.text);
    const std::string_view similar =
        did_you_mean(schedule.kernel.text, {kernel_names_.begin(), kernel_names_.end()});
    if (!similar.empty())
      d.fix(schedule.kernel.span, std::string(similar), fmt::format("did you mean `{}`?", similar));
    return;
  }
  diagnostics_.report(DiagnosticId::kNotBuiltSchedule, schedule.span, schedule.kernel.text);
}

std::vector<Uninstantiated::Missing> missing_generics(const Kernel& kernel, const CheckOptions& options) {
  std::vector<Uninstantiated::Missing> missing;
  for (const Generic& generic : kernel.signature.generics) {
    const bool given = generic.kind == GenericKind::kDim ? options.sizes.contains(generic.name.text)
                                                         : options.types.contains(generic.name.text);
    if (!given) missing.push_back({std::string(generic.name.text), generic.kind});
  }
  return missing;
}

void list_unused(const CheckOptions& options, const UsedSettings& used, CheckResult& result) {
  for (const auto& [name, size] : options.sizes)
    if (!used.contains(name)) result.unused_settings.push_back(name);
  for (const auto& [name, type] : options.types)
    if (!used.contains(name)) result.unused_settings.push_back(name);
}

}  // namespace

CheckResult check(const Module& module, SourceManager& sources, const CheckOptions& options,
                  Diagnostics& diagnostics) {
  CheckResult result;
  Reported reported;
  UsedSettings used;
  Declarations declarations(module, sources, diagnostics);
  declarations.collect();
  std::set<std::string_view> found;
  for (KernelId id : declarations.kernels()) {
    const Kernel& kernel = module[id];
    const std::string_view name = kernel.signature.name.text;
    if (!options.kernels.empty() && std::ranges::find(options.kernels, name) == options.kernels.end())
      continue;
    found.insert(name);
    if (std::vector<Uninstantiated::Missing> missing = missing_generics(kernel, options); !missing.empty()) {
      for (const Generic& generic : kernel.signature.generics) used.insert(std::string(generic.name.text));
      result.uninstantiated.push_back({std::string(name), kernel.signature.name.span, std::move(missing)});
      continue;
    }
    std::optional<ir::Kernel> checked =
        check_kernel(module, kernel, sources, declarations.functions(), options, used, reported, diagnostics);
    if (checked) result.module.kernels.push_back(std::move(*checked));
  }
  for (const std::string& name : options.kernels)
    if (!found.contains(name)) result.unknown_kernels.push_back(name);
  list_unused(options, used, result);
  return result;
}

}  // namespace tenon::frontend
