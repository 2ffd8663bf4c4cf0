#include "bench/common/kernel.h"

#include <fmt/format.h>

#include <optional>
#include <utility>

#include "runtime/binding.h"
#include "runtime/selection.h"
#include "support/array.h"
#include "support/diagnostics.h"
#include "support/targets.h"

namespace tenon::bench {
namespace {

// Well aligned, and too far apart to overlap.
constexpr uint64_t kBufferDistance = uint64_t{1} << 40;

std::vector<runtime::Int128> symbol_values(const runtime::Program& program, const Sizes& sizes) {
  std::vector<runtime::Int128> values;
  for (const runtime::Symbol& symbol : program.symbols) {
    auto size = sizes.find(symbol.name);
    values.push_back(size != sizes.end() ? size->second : symbol.fixed.value_or(1));
  }
  return values;
}

}  // namespace

Result<CompiledSource> compile_source(const std::string& source, const Sizes& fixed,
                                      const std::string& name) {
  CompiledSource compiled{.sources = std::make_unique<SourceManager>(), .kernel = nullptr};
  FileId file = compiled.sources->add("kernel.tn", source);
  Diagnostics diagnostics;
  frontend::CheckOptions options;
  options.sizes = fixed;
  if (!name.empty()) options.kernels.push_back(name);
  frontend::CheckResult checked = api::check_source(file, *compiled.sources, options, diagnostics);
  if (!checked.uninstantiated.empty()) {
    for (const auto& missing : checked.uninstantiated[0].missing)
      if (missing.kind != frontend::GenericKind::kDim) options.types[missing.name] = ElementType::kF16;
    checked = api::check_source(file, *compiled.sources, options, diagnostics);
  }
  if (diagnostics.has_errors() || checked.module.kernels.empty())
    return fail(ErrorKind::kUsage, render_text(diagnostics, *compiled.sources));
  api::CompilerOptions compiler_options{.target = target_by_name("sm_80")};
  compiled.kernel = std::make_shared<const api::CompiledKernel>(std::move(checked.module.kernels[0]),
                                                                compiler_options, compiled.sources.get());
  return compiled;
}

Result<std::vector<std::vector<int64_t>>> parameter_shapes(const runtime::Program& program,
                                                           const Sizes& sizes) {
  std::vector<runtime::Int128> symbols = symbol_values(program, sizes);
  std::vector<std::vector<int64_t>> shapes;
  for (const runtime::Parameter& parameter : program.parameters) {
    std::vector<int64_t>& shape = shapes.emplace_back();
    for (const runtime::SizeExpr& extent : parameter.shape) {
      std::optional<int64_t> value = evaluate(extent, symbols).as_int64();
      if (!value) return fail(ErrorKind::kUsage, fmt::format("{} has no shape", parameter.source));
      shape.push_back(*value);
    }
  }
  return shapes;
}

Result<std::vector<uint32_t>> selected_variants(const runtime::Program& program, const Sizes& sizes) {
  TENON_TRY_ASSIGN(auto shapes, parameter_shapes(program, sizes));
  runtime::Binding binding;
  binding.symbols = symbol_values(program, sizes);
  std::vector<runtime::LaunchArgument> arguments;
  for (uint32_t i = 0; i < shapes.size(); ++i) {
    const runtime::Parameter& parameter = program.parameters[runtime::ParameterId(i)];
    if (parameter.by_value()) {
      TENON_TRY_ASSIGN(Array value, Array::zeros(parameter.type, {}));
      arguments.push_back(
          runtime::LaunchArgument::scalar_bytes(parameter.type, std::as_const(value).bytes()));
    } else {
      arguments.push_back(
          runtime::LaunchArgument::buffer((i + 1) * kBufferDistance, parameter.type, shapes[i]));
    }
  }
  std::vector<uint32_t> variants;
  for (uint32_t step = 0; step < program.steps.size(); ++step) {
    TENON_TRY_ASSIGN(uint32_t variant, runtime::select_variant(program, step, binding, arguments));
    variants.push_back(variant);
  }
  return variants;
}

Result<size_t> compile_for_launch(const std::string& source, const Sizes& fixed, const Sizes& sizes) {
  TENON_TRY_ASSIGN(CompiledSource compiled, compile_source(source, fixed));
  TENON_TRY_ASSIGN(std::vector<uint32_t> variants, selected_variants(compiled.program(), sizes));
  size_t bytes = 0;
  for (uint32_t step = 0; step < variants.size(); ++step) {
    TENON_TRY_ASSIGN(runtime::LoweredVariant code, compiled.kernel->lower(step, variants[step]));
    bytes += code.ptx.size();
  }
  return bytes;
}

}  // namespace tenon::bench
