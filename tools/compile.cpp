#include <fmt/format.h>

#include <memory>
#include <string>
#include <utility>
#include <vector>

#include "api/compiler.h"
#include "api/ptx_module.h"
#include "frontend/parse/print.h"
#include "ir/printer.h"
#include "ir/tile_printer.h"
#include "support/file.h"
#include "tools/choice.h"
#include "tools/command.h"
#include "tools/kernels.h"
#include "tools/ptxas.h"
#include "tools/schedule_option.h"
#include "tools/stopwatch.h"

namespace tenon::tools {
namespace {

struct Options {
  KernelOptions kernel;
  ScheduleOption schedule;
  std::string output = "-";
  std::string emit = "ptx";
  bool line_info = false;
  bool time = false;
};

using CompiledKernels = std::vector<std::unique_ptr<const api::CompiledKernel>>;

std::string ast_text(const ParsedSource& parsed) { return frontend::print_ast(parsed.module); }

std::string tensor_ir_text(const std::vector<ir::Kernel>& kernels) {
  std::string text;
  for (const ir::Kernel& kernel : kernels) text += (text.empty() ? "" : "\n") + ir::print(kernel);
  return text;
}

std::string tile_ir_text(const CompiledKernels& kernels) {
  std::string text;
  for (const auto& kernel : kernels) {
    const runtime::Program& program = kernel->program();
    for (uint32_t step = 0; step < program.steps.size(); ++step)
      for (uint32_t variant = 0; variant < program.steps[step].variants.size(); ++variant)
        text += (text.empty() ? "" : "\n") + ir::print(kernel->lower_to_tile(step, variant));
  }
  return text;
}

Result<std::string> llvm_text(const CompiledKernels& kernels) {
  std::string text;
  for (const auto& kernel : kernels) {
    const runtime::Program& program = kernel->program();
    for (uint32_t step = 0; step < program.steps.size(); ++step) {
      for (uint32_t variant = 0; variant < program.steps[step].variants.size(); ++variant) {
        TENON_TRY_ASSIGN(std::string one, kernel->lower_to_llvm(step, variant));
        text += fmt::format("; kernel {}, step {}, variant {}\n{}", program.name, step,
                            program.steps[step].variants[variant].name, one);
      }
    }
  }
  return text;
}

Result<std::vector<runtime::Program>> lower_all(const CompiledKernels& kernels) {
  std::vector<runtime::Program> programs;
  for (const auto& kernel : kernels) {
    TENON_TRY_ASSIGN(runtime::Program program, kernel->lower_all());
    programs.push_back(std::move(program));
  }
  return programs;
}

// An object for one kernel, an array for several.
std::string json_text(const std::vector<runtime::Program>& programs) {
  if (programs.size() == 1) return runtime::to_json(programs[0]);
  std::string text;
  for (const runtime::Program& program : programs)
    text += (text.empty() ? "[\n" : ",\n") + runtime::to_json(program);
  return text + "]\n";
}

// The kernels with their plans; nothing where --schedule made no sense, which has been printed.
Result<CompiledKernels> plan(Options& options, ParsedSource& parsed, std::vector<ir::Kernel> kernels) {
  api::CompilerOptions compiler_options{.target = &target_of(options.kernel), .line_info = options.line_info};
  TENON_TRY(options.schedule.apply(*parsed.sources, kernels, compiler_options));
  CompiledKernels compiled;
  for (ir::Kernel& kernel : kernels)
    compiled.push_back(std::make_unique<const api::CompiledKernel>(std::move(kernel), compiler_options,
                                                                   parsed.sources.get()));
  if (options.schedule.has_errors(*parsed.sources, options.kernel.source)) compiled.clear();
  return compiled;
}

Result<std::string> emit(const Options& options, const CompiledKernels& compiled, Stopwatch& stopwatch) {
  if (options.emit == "tile-ir") return tile_ir_text(compiled);
  if (options.emit == "llvm") return llvm_text(compiled);
  TENON_TRY_ASSIGN(std::vector<runtime::Program> programs, lower_all(compiled));
  stopwatch.lap("lower and generate code");
  if (options.emit == "json") return json_text(programs);
  std::string ptx = api::ptx_module(programs);
  if (options.emit == "ptx") return ptx;
  TENON_TRY_ASSIGN(Assembled assembled, assemble(ptx, programs[0].target));
  stopwatch.lap("ptxas");
  return std::move(assembled.cubin);
}

Result<ExitStatus> compile(Options& options) {
  Stopwatch stopwatch;
  TENON_TRY_ASSIGN(ParsedSource parsed, parse_source(options.kernel.source));
  stopwatch.lap("parse");
  if (options.emit == "ast") {
    if (!options.kernel.kernel.empty() || !options.kernel.sets.empty())
      return fail(ErrorKind::kUsage, "--emit ast shows the whole file as it is, without --kernel and --set");
    print_diagnostics(parsed.diagnostics, *parsed.sources, options.kernel.source);
    if (parsed.diagnostics.has_errors()) return kFailed;
    TENON_TRY(write_file(options.output, ast_text(parsed)));
    return kOk;
  }
  TENON_TRY_ASSIGN(frontend::CheckOptions settings, settings_of(options.kernel));
  TENON_TRY_ASSIGN(CheckedKernels checked, check_kernels(parsed, options.kernel, settings));
  stopwatch.lap("check");
  ExitStatus status = checked.has_errors ? kFailed : kOk;
  if (checked.kernels.empty()) return status;
  if (options.emit == "tensor-ir") {
    TENON_TRY(write_file(options.output, tensor_ir_text(checked.kernels)));
    return status;
  }
  TENON_TRY_ASSIGN(CompiledKernels compiled, plan(options, parsed, std::move(checked.kernels)));
  if (compiled.empty()) return kUsage;
  stopwatch.lap("plan");
  TENON_TRY_ASSIGN(std::string text, emit(options, compiled, stopwatch));
  TENON_TRY(write_file(options.output, text));
  stopwatch.lap("write");
  if (options.time) fmt::print(stderr, "{}", stopwatch.text());
  return status;
}

void add_options(CLI::App& app, Options& options) {
  add_kernel_options(app, options.kernel);
  options.schedule.add_to(app);
  app.add_option("-o,--output", options.output, "Where to write; the standard output by default")
      ->type_name("FILE")
      ->group("Output");
  app.add_option("--emit", options.emit,
                 "What to write: ast, tensor-ir, tile-ir, llvm, ptx (the default), json or cubin")
      ->check(one_of({"ast", "tensor-ir", "tile-ir", "llvm", "ptx", "json", "cubin"}))
      ->type_name("FORM")
      ->group("Output");
  app.add_flag("--line-info", options.line_info, "Let debuggers and profilers find the source lines")
      ->group("Output");
  app.add_flag("--time", options.time, "Print milliseconds by phase to the standard error")->group("Output");
}

}  // namespace

Command add_compile(CLI::App& parent) {
  CLI::App* app = parent.add_subcommand("compile", "Compile a program and write one of its forms");
  auto options = std::make_shared<Options>();
  add_options(*app, *options);
  app->footer(
      "Examples:\n"
      "  tenon compile examples/softmax.tn --arch sm_90a -o softmax.ptx\n"
      "  tenon compile examples/softmax.tn --set N=4096 --emit json");
  return {app, [options] {
            Result<ExitStatus> status = compile(*options);
            return status ? *status : failed(status.error());
          }};
}

}  // namespace tenon::tools
