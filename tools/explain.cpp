#include <fmt/format.h>
#include <fmt/ranges.h>

#include <algorithm>
#include <map>
#include <memory>
#include <optional>
#include <string>
#include <utility>
#include <vector>

#include "api/compiler.h"
#include "api/ptx_module.h"
#include "ir/printer.h"
#include "passes/schedule_text.h"
#include "passes/split.h"
#include "tools/command.h"
#include "tools/kernels.h"
#include "tools/ptxas.h"
#include "tools/schedule_option.h"
#include "tools/traffic.h"

namespace tenon::tools {
namespace {

struct Options {
  KernelOptions kernel;
  ScheduleOption schedule;
};

using Resources = std::map<std::string, EntryResources>;

std::string size_text(const runtime::Program& program, const runtime::SizeExpr& size) {
  return runtime::to_text(size, runtime::symbol_names(program));
}

std::string resources_text(const EntryResources& resources) {
  std::string text = fmt::format("{} registers", resources.registers);
  if (resources.static_shared > 0)
    text += fmt::format(", {} bytes of static shared memory", resources.static_shared);
  if (resources.stack > 0) text += fmt::format(", {} bytes of stack", resources.stack);
  if (resources.spill_stores + resources.spill_loads > 0)
    text +=
        fmt::format(", spills: {} bytes stored, {} loaded", resources.spill_stores, resources.spill_loads);
  return text;
}

// The schedules of the launches of a variant that splits its reductions; of any other that of the variant is
// all there is.
std::vector<std::string> launch_schedules(const ir::Kernel& kernel, const ir::Group& group,
                                          const passes::Schedule& schedule) {
  if (!schedule.splits()) return {};
  passes::SplitGroup split = passes::split_group(kernel, group, schedule);
  std::vector<std::string> schedules;
  for (const passes::SplitLaunch& launch : split.launches)
    schedules.push_back(passes::to_text(launch.schedule, passes::ScheduleNames(split.kernel, launch.group)));
  return schedules;
}

// `schedules`: of the launches, where they differ from the variant's.
void print_variant(const runtime::Program& program, const runtime::Variant& variant,
                   const std::vector<std::string>& schedules, const std::optional<std::string>& moved,
                   const Resources& resources) {
  fmt::print("    variant {}\n", variant.name);
  fmt::print("      guard     {}\n", runtime::to_text(variant.guard, program));
  fmt::print("      schedule  {}\n", variant.schedule);
  if (moved) fmt::print("      memory    {}\n", *moved);
  for (const std::string& remark : variant.remarks) fmt::print("      note      {}\n", remark);
  for (const runtime::WorkspaceBuffer& buffer : variant.code->workspace)
    fmt::print("      workspace {}: {} bytes\n", buffer.name, size_text(program, buffer.bytes));
  for (size_t i = 0; i < variant.code->launches.size(); ++i) {
    const runtime::Launch& launch = variant.code->launches[i];
    fmt::print("      launch    {}: grid {}, block {}, shared {} bytes\n", launch.entry,
               size_text(program, launch.grid), launch.block, size_text(program, launch.dynamic_shared));
    if (i > 0 && i < schedules.size()) fmt::print("                {}\n", schedules[i]);
    if (auto found = resources.find(launch.entry); found != resources.end())
      fmt::print("                {}\n", resources_text(found->second));
  }
}

void print_step(const api::CompiledKernel& compiled, const runtime::Program& program, size_t index,
                const Resources& resources) {
  const ir::Kernel& kernel = compiled.kernel();
  const runtime::Step& step = program.steps[index];
  fmt::print("  step {} {}\n", index, step.name);
  const passes::StepPlan& plan = compiled.plan().steps[index];
  const ir::Group& group = kernel.groups[plan.group];
  std::vector<std::string> names = defined_names(kernel, group);
  fmt::print("    computes {}{}\n", fmt::join(names, ", "), names.size() > 1 ? " in one pass" : "");
  fmt::print("    memory   {}\n", traffic_text(kernel, group));
  for (const std::string& remark : step.remarks) fmt::print("    note     {}\n", remark);
  for (size_t i = 0; i < step.variants.size(); ++i) {
    ir::TileModule nest = passes::build_variant(kernel, plan, plan.variants[i]);
    print_variant(program, step.variants[i], launch_schedules(kernel, group, plan.variants[i].schedule),
                  moved_text(kernel, group, std::move(nest)), resources);
  }
}

// Registers and spills of every entry, where ptxas is at hand; a failure of it is told and is none of ours.
Resources assembled_resources(const runtime::Program& program) {
  if (!has_ptxas()) return {};
  Result<Assembled> assembled = assemble(api::ptx_module({program}), program.target);
  if (assembled) return std::move(assembled->entries);
  print_error(assembled.error().message);
  return {};
}

Result<void> explain_kernel(const api::CompiledKernel& compiled) {
  TENON_TRY_ASSIGN(runtime::Program program, compiled.lower_all());
  Resources resources = assembled_resources(program);
  size_t steps = program.steps.size();
  fmt::print("kernel {} for {}: {} step{}\n", program.name, program.target, steps, steps == 1 ? "" : "s");
  fmt::print("  least memory traffic: {}\n", least_traffic_text(compiled.kernel()));
  for (const std::string& remark : program.remarks) fmt::print("  note {}\n", remark);
  for (const runtime::WorkspaceBuffer& buffer : program.workspace)
    fmt::print("  workspace {}: {} bytes\n", buffer.name, size_text(program, buffer.bytes));
  for (size_t i = 0; i < steps; ++i) print_step(compiled, program, i, resources);
  return {};
}

Result<ExitStatus> explain(Options& options) {
  TENON_TRY_ASSIGN(ParsedSource parsed, parse_source(options.kernel.source));
  TENON_TRY_ASSIGN(frontend::CheckOptions settings, settings_of(options.kernel));
  TENON_TRY_ASSIGN(CheckedKernels checked, check_kernels(parsed, options.kernel, settings));
  api::CompilerOptions compiler_options{.target = &target_of(options.kernel)};
  TENON_TRY(options.schedule.apply(*parsed.sources, checked.kernels, compiler_options));
  for (const ir::Kernel& kernel : checked.kernels) {
    api::CompiledKernel compiled(kernel, compiler_options, nullptr);
    if (options.schedule.has_errors(*parsed.sources, options.kernel.source)) return kUsage;
    TENON_TRY(explain_kernel(compiled));
  }
  return checked.has_errors ? kFailed : kOk;
}

}  // namespace

Command add_explain(CLI::App& parent) {
  CLI::App* app =
      parent.add_subcommand("explain", "Tell how a program is run: steps, fusion, schedules, memory");
  auto options = std::make_shared<Options>();
  add_kernel_options(*app, options->kernel);
  options->schedule.add_to(*app);
  app->footer("Example:\n  tenon explain examples/softmax.tn --set N=4096");
  return {app, [options] {
            Result<ExitStatus> status = explain(*options);
            return status ? *status : failed(status.error());
          }};
}

}  // namespace tenon::tools
