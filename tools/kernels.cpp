#include "tools/kernels.h"

#include <fmt/format.h>
#include <fmt/ranges.h>

#include <algorithm>
#include <cstdio>
#include <optional>
#include <string_view>
#include <utility>

#include "frontend/parse/parse.h"
#include "support/check.h"
#include "tools/choice.h"

namespace tenon::tools {
namespace {

std::vector<std::string_view> kernel_names(const frontend::Module& module) {
  std::vector<std::string_view> names;
  for (const frontend::Kernel& kernel : module.kernels) names.push_back(kernel.signature.name.text);
  return names;
}

std::string joined(const std::vector<std::string_view>& names) {
  return names.empty() ? "none" : fmt::format("{}", fmt::join(names, ", "));
}

std::unexpected<Error> unknown_kernel(const frontend::Module& module, std::string_view name) {
  std::vector<std::string_view> names = kernel_names(module);
  std::string_view close = did_you_mean(name, names);
  return fail(ErrorKind::kUsage, fmt::format("--kernel {}: the file has no such kernel; {}", name,
                                             close.empty() ? "it has " + joined(names)
                                                           : fmt::format("did you mean {}?", close)));
}

// Names that --set may give: sizes, or types.
std::vector<std::string_view> settable(const frontend::Module& module, const frontend::CheckOptions& settings,
                                       bool types) {
  std::vector<std::string_view> names;
  auto add = [&](std::string_view name) {
    if (std::ranges::find(names, name) == names.end()) names.push_back(name);
  };
  for (const frontend::Kernel& kernel : module.kernels) {
    const frontend::Signature& signature = kernel.signature;
    if (!settings.kernels.empty() && settings.kernels[0] != signature.name.text) continue;
    for (const frontend::Generic& generic : signature.generics)
      if ((generic.kind != frontend::GenericKind::kDim) == types) add(generic.name.text);
    if (types) continue;
    for (const std::vector<frontend::Param>* params : {&signature.params, &signature.results})
      for (const frontend::Param& param : *params)
        for (frontend::ExprId root : module.exprs(param.type.shape))
          for (frontend::ExprId id : module.subtree(root))
            if (const auto* name = module.get_if<frontend::NameRef>(id)) add(name->name);
  }
  return names;
}

std::unexpected<Error> unused_setting(const frontend::Module& module, const frontend::CheckOptions& settings,
                                      const std::string& name) {
  const std::vector<std::string_view> sizes = settable(module, settings, false);
  const std::vector<std::string_view> types = settable(module, settings, true);
  auto refuse = [&](std::string_view why) {
    return fail(ErrorKind::kUsage, fmt::format("--set {}: {}", name, why));
  };
  if (std::ranges::find(sizes, name) != sizes.end()) return refuse("it is a size, as in --set N=4096");
  if (std::ranges::find(types, name) != types.end()) return refuse("it is a type, as in --set T=f16");
  std::vector<std::string_view> names = types;
  names.insert(names.end(), sizes.begin(), sizes.end());
  const std::string_view close = did_you_mean(name, names);
  return refuse(fmt::format(
      "no kernel has a size or generic of that name; {}",
      close.empty() ? fmt::format("there are {}", joined(names)) : fmt::format("did you mean {}?", close)));
}

// "T by --set T=f16, D by --set D=64": what a kernel lacks.
std::string missing_text(const frontend::Uninstantiated& kernel) {
  std::string text;
  for (const frontend::Uninstantiated::Missing& missing : kernel.missing) {
    const char* example = missing.kind == frontend::GenericKind::kDim   ? "64"
                          : missing.kind == frontend::GenericKind::kInt ? "i32"
                                                                        : "f16";
    text += fmt::format("{}{} by --set {}={}", text.empty() ? "" : ", ", missing.name, missing.name, example);
  }
  return text;
}

}  // namespace

void add_kernel_options(CLI::App& app, KernelOptions& options) {
  add_source_options(app, options.source, "The program, a .tn file");
  app.add_option("--kernel", options.kernel, "The kernel; by default every one of the file")
      ->type_name("NAME");
  std::vector<std::string> archs;
  for (const Target& target : targets()) archs.emplace_back(target.name);
  app.add_option("--arch", options.arch, "The target: " + fmt::format("{}", fmt::join(archs, " ")))
      ->check(one_of(archs))
      ->type_name("ARCH");
  app.add_option("--set", options.sets, "Fix a size or the type of a generic: N=4096, T=f16")
      ->type_name("NAME=VALUE")
      ->allow_extra_args(false);
}

Result<ParsedSource> parse_source(const SourceOptions& options) {
  ParsedSource parsed{.sources = std::make_unique<SourceManager>(), .module = {}, .diagnostics = {}};
  TENON_TRY_ASSIGN(FileId file, load_source(*parsed.sources, options));
  parsed.module = frontend::parse(file, *parsed.sources, parsed.diagnostics);
  return parsed;
}

Result<frontend::CheckOptions> settings_of(const KernelOptions& options) {
  frontend::CheckOptions settings;
  TENON_TRY_ASSIGN(std::vector<Assignment<SetValue>> sets, parse_sets(options.sets));
  for (const Assignment<SetValue>& set : sets) {
    if (const int64_t* size = std::get_if<int64_t>(&set.value))
      settings.sizes[set.name] = *size;
    else
      settings.types[set.name] = std::get<ElementType>(set.value);
  }
  if (!options.kernel.empty()) settings.kernels.push_back(options.kernel);
  return settings;
}

Result<CheckedKernels> check_kernels(ParsedSource& parsed, const KernelOptions& options,
                                     const frontend::CheckOptions& settings) {
  frontend::CheckResult result =
      frontend::check(parsed.module, *parsed.sources, settings, parsed.diagnostics);
  print_diagnostics(parsed.diagnostics, *parsed.sources, options.source);
  bool has_errors = parsed.diagnostics.has_errors();
  // A kernel with a syntax mistake may be missing for that reason.
  if (!result.unknown_kernels.empty() && !has_errors)
    return unknown_kernel(parsed.module, result.unknown_kernels[0]);
  if (!result.unused_settings.empty() && !has_errors)
    return unused_setting(parsed.module, settings, result.unused_settings[0]);
  for (const frontend::Uninstantiated& kernel : result.uninstantiated) {
    for (const frontend::Uninstantiated::Missing& missing : kernel.missing)
      if (settings.sizes.contains(missing.name) || settings.types.contains(missing.name))
        return unused_setting(parsed.module, settings, missing.name);
    std::string message = fmt::format("kernel {} is generic; give {}", kernel.kernel, missing_text(kernel));
    if (result.module.kernels.empty()) return fail(ErrorKind::kUsage, message);
    fmt::print(stderr, "tenon: left out: {}\n", message);
  }
  if (result.module.kernels.empty() && !has_errors) return fail(ErrorKind::kUsage, "the file has no kernel");
  return CheckedKernels{std::move(result.module.kernels), has_errors};
}

const Target& target_of(const KernelOptions& options, std::string_view fallback) {
  const Target* target = target_by_name(options.arch.empty() ? fallback : options.arch);
  TENON_CHECK(target != nullptr, "an unknown target passed the command line");
  return *target;
}

}  // namespace tenon::tools
