#include <fmt/format.h>

#include <map>
#include <memory>
#include <optional>
#include <string>
#include <utility>
#include <vector>

#include "api/compiler.h"
#include "api/stages.h"
#include "ir/comparison.h"
#include "ir/interpreter.h"
#include "runtime/host_launch.h"
#include "runtime/selection.h"
#include "support/file.h"
#include "tools/array_files.h"
#include "tools/choice.h"
#include "tools/command.h"
#include "tools/generics.h"
#include "tools/kernels.h"
#include "tools/run_arguments.h"
#include "tools/run_device.h"
#include "tools/schedule_option.h"

namespace tenon::tools {
namespace {

using runtime::ParameterId;
using runtime::Program;
using Arrays = std::vector<std::optional<Array>>;

struct Options {
  KernelOptions kernel;
  ScheduleOption schedule;
  std::vector<std::string> inputs;
  std::vector<std::string> outputs;
  std::vector<std::string> offsets;
  uint64_t seed = 0;
  std::string device = "auto";
  std::string stage = "ptx";
  std::string variant;
  std::string report;
  bool check = false;
};

// The options' values, parsed.
struct Request {
  std::vector<Assignment<InputSpec>> inputs;
  std::vector<Assignment<std::string>> outputs;
  std::vector<Assignment<int64_t>> offsets;
};

Result<Request> parse_request(const Options& options) {
  Request request;
  TENON_TRY_ASSIGN(request.inputs, parse_inputs(options.inputs));
  TENON_TRY_ASSIGN(request.outputs, parse_outputs(options.outputs));
  TENON_TRY_ASSIGN(request.offsets, parse_offsets(options.offsets));
  return request;
}

Result<std::vector<int64_t>> offsets_by_parameter(const Program& program, const Request& request) {
  std::vector<int64_t> offsets(program.parameters.size(), 0);
  for (const Assignment<int64_t>& offset : request.offsets) {
    TENON_TRY_ASSIGN(ParameterId id, find_buffer(program, offset.name));
    offsets[id.index()] = offset.value;
  }
  return offsets;
}

// A variant by name or index, forced in every step that has it.
Result<std::vector<std::optional<uint32_t>>> forced_variants(const Program& program,
                                                             const std::string& variant) {
  std::vector<std::optional<uint32_t>> forced(program.steps.size());
  if (variant.empty()) return forced;
  std::optional<Error> error;
  bool any = false;
  for (size_t step = 0; step < program.steps.size(); ++step) {
    Result<uint32_t> found = runtime::find_variant(program.steps[step], variant);
    if (found)
      forced[step] = *found;
    else if (!error)
      error = found.error();
    any |= found.has_value();
  }
  if (!any && error) return std::unexpected(*error);
  return forced;
}

// One kernel's run, from arguments to results.
class Run {
 public:
  // `report` takes the objects of the launches, whatever becomes of the run.
  Run(const Options& options, const Request& request, RunDevice& device, const ir::Kernel& kernel,
      std::shared_ptr<const api::CompiledKernel> compiled, std::string& report)
      : options_(options),
        request_(request),
        device_(device),
        report_(report),
        kernel_(kernel),
        compiled_(std::move(compiled)) {}

  Result<ExitStatus> operator()() {
    TENON_TRY_ASSIGN(RunArguments arguments,
                     make_run_arguments(program(), {.inputs = request_.inputs, .seed = options_.seed}));
    TENON_TRY(check_names());
    // The launch overwrites inouts.
    inputs_ = arguments.arrays;
    arrays_ = std::move(arguments.arrays);
    sizes_ = std::move(arguments.sizes);
    TENON_TRY(options_.stage == "ptx" ? launch() : interpret());
    TENON_TRY(write_results());
    if (options_.check) return check();
    return kOk;
  }

 private:
  const Program& program() const { return compiled_->program(); }

  Result<void> check_names() const {
    for (const Assignment<std::string>& output : request_.outputs)
      TENON_TRY(find_output(program(), output.name));
    return {};
  }

  Result<void> launch() {
    TENON_TRY_ASSIGN(
        std::unique_ptr<runtime::LoadedProgram> loaded,
        runtime::LoadedProgram::create(device_.device(), std::make_shared<const Program>(program()),
                                       api::CompiledKernel::source(compiled_)));
    runtime::HostLaunchOptions launch_options;
    launch_options.launch.sizes = sizes_;
    TENON_TRY_ASSIGN(launch_options.launch.variants, forced_variants(program(), options_.variant));
    TENON_TRY_ASSIGN(launch_options.offsets, offsets_by_parameter(program(), request_));
    Result<runtime::LaunchPlan> plan = runtime::launch_on_host(*loaded, arrays_, launch_options);
    std::vector<emulator::LaunchReport> reports = device_.take_reports();
    print_faults(reports);
    if (!options_.report.empty()) add_to_report(reports, plan);
    if (!plan) return std::unexpected(plan.error());
    return {};
  }

  static void print_faults(const std::vector<emulator::LaunchReport>& reports) {
    for (const emulator::LaunchReport& report : reports)
      for (const emulator::Fault& fault : report.faults)
        fmt::print(stderr, "tenon: {}\n", emulator::render_text(fault));
  }

  // One object a launch: all that the emulated device counted, or what a GPU was asked to do.
  void add_to_report(const std::vector<emulator::LaunchReport>& reports,
                     const Result<runtime::LaunchPlan>& plan) const {
    auto add = [&](std::string object) {
      while (object.ends_with('\n')) object.pop_back();
      report_ += (report_.empty() ? "" : ",\n") + object;
    };
    for (const emulator::LaunchReport& report : reports) add(emulator::render_json(report));
    if (!device_.emulated() && plan)
      for (const runtime::PlannedLaunch& launch : plan->launches)
        add(fmt::format(
            R"({{"kernel": "{}", "grid": [{}, 1, 1], "block": [{}, 1, 1], "dynamic_shared_bytes": {}}})",
            launch.entry(), launch.grid, launch.block, launch.dynamic_shared));
  }

  // The kernel as checked, before any pass, on the inputs.
  Result<std::vector<ir::BoundedArray>> reference() const {
    std::vector<const Array*> inputs;
    for (const std::optional<Array>& array : inputs_) inputs.push_back(array ? &*array : nullptr);
    std::map<std::string, int64_t> sizes;
    for (const runtime::NamedSize& size : sizes_) sizes[size.name] = size.value;
    TENON_TRY_ASSIGN(std::vector<int64_t> symbols, ir::bind_symbols(kernel_, inputs, sizes));
    return ir::interpret(kernel_, symbols, inputs);
  }

  Result<void> interpret() {
    api::StageOptions stage_options{.sizes = sizes_};
    TENON_TRY_ASSIGN(stage_options.variants, forced_variants(program(), options_.variant));
    TENON_TRY_ASSIGN(stage_options.offsets, offsets_by_parameter(program(), request_));
    api::Stage stage = options_.stage == "tile" ? api::Stage::kTile : api::Stage::kTensor;
    TENON_TRY(api::run_at(stage, *compiled_, arrays_, stage_options));
    return {};
  }

  bool is_output(size_t parameter) const {
    return program().parameters[ParameterId(static_cast<uint32_t>(parameter))].role != runtime::Role::kInput;
  }

  const std::string& name_of(size_t parameter) const {
    return program().parameters[ParameterId(static_cast<uint32_t>(parameter))].name;
  }

  Result<void> write_results() const {
    std::vector<OutputFile> files;
    for (const Assignment<std::string>& output : request_.outputs) {
      TENON_TRY_ASSIGN(ParameterId id, find_output(program(), output.name));
      files.push_back({output.value, output.name, &*arrays_[id.index()]});
    }
    TENON_TRY(write_arrays(files));
    if (!files.empty()) return {};
    for (size_t i = 0; i < arrays_.size(); ++i)
      if (is_output(i)) fmt::print("{}", shown(name_of(i), *arrays_[i]));
    return {};
  }

  Result<ExitStatus> check() const {
    TENON_TRY_ASSIGN(std::vector<ir::BoundedArray> results, reference());
    ExitStatus status = kOk;
    for (size_t i = 0; i < results.size(); ++i) {
      if (!is_output(i)) continue;
      ir::Comparison comparison = ir::compare(*arrays_[i], results[i]);
      fmt::print("check {}: {}\n", name_of(i), comparison.text());
      if (!comparison.ok()) status = kFailed;
    }
    return status;
  }

  const Options& options_;
  const Request& request_;
  RunDevice& device_;
  std::string& report_;
  const ir::Kernel& kernel_;
  const std::shared_ptr<const api::CompiledKernel> compiled_;
  Arrays inputs_;
  Arrays arrays_;
  std::vector<runtime::NamedSize> sizes_;
};

// The values that generics of the chosen kernel, or of all, take.
Result<frontend::CheckOptions> complete_settings(const ParsedSource& parsed, const Options& options,
                                                 const Request& request) {
  TENON_TRY_ASSIGN(frontend::CheckOptions settings, settings_of(options.kernel));
  for (const frontend::Kernel& kernel : parsed.module.kernels) {
    if (!options.kernel.kernel.empty() && kernel.signature.name.text != options.kernel.kernel) continue;
    TENON_TRY_ASSIGN(std::string chosen, complete_generics(parsed.module, kernel, request.inputs, settings));
    if (!chosen.empty()) fmt::print(stderr, "tenon: {} runs with {}\n", kernel.signature.name.text, chosen);
  }
  return settings;
}

Result<ExitStatus> run_kernels(Options& options, std::string& report) {
  TENON_TRY_ASSIGN(Request request, parse_request(options));
  TENON_TRY_ASSIGN(ParsedSource parsed, parse_source(options.kernel.source));
  TENON_TRY_ASSIGN(frontend::CheckOptions settings, complete_settings(parsed, options, request));
  TENON_TRY_ASSIGN(CheckedKernels checked, check_kernels(parsed, options.kernel, settings));
  bool names = !request.inputs.empty() || !request.outputs.empty() || !request.offsets.empty();
  if (checked.kernels.size() > 1 && names)
    return fail(ErrorKind::kUsage,
                "the file has several kernels; choose one by --kernel to name its parameters");
  ExitStatus status = checked.has_errors ? kFailed : kOk;
  const Target* wanted = options.kernel.arch.empty() ? nullptr : target_by_name(options.kernel.arch);
  TENON_TRY_ASSIGN(RunDevice device, RunDevice::open(options.device, wanted));
  api::CompilerOptions compiler_options{.target = &device.target()};
  TENON_TRY(options.schedule.apply(*parsed.sources, checked.kernels, compiler_options));
  for (const ir::Kernel& kernel : checked.kernels) {
    if (checked.kernels.size() > 1) fmt::print("kernel {}\n", kernel.name);
    auto compiled = std::make_shared<const api::CompiledKernel>(kernel, compiler_options, nullptr);
    if (options.schedule.has_errors(*parsed.sources, options.kernel.source)) return kUsage;
    TENON_TRY_ASSIGN(ExitStatus one, Run(options, request, device, kernel, std::move(compiled), report)());
    if (one != kOk) status = one;
  }
  return status;
}

Result<ExitStatus> run_and_report(Options& options) {
  if (!options.report.empty() && options.stage != "ptx")
    return fail(ErrorKind::kUsage,
                "--report tells of launches, which --stage " + options.stage + " has none of");
  std::string report;
  Result<ExitStatus> status = run_kernels(options, report);
  if (!options.report.empty() && (status || !report.empty()))
    TENON_TRY(write_file(options.report, fmt::format("[\n{}\n]\n", report)));
  return status;
}

void add_options(CLI::App& app, Options& options) {
  add_kernel_options(app, options.kernel);
  options.schedule.add_to(app);
  app.add_option("--in", options.inputs, "An input: a file, random, integers, zeros, ones, iota or a number")
      ->type_name("NAME=VALUE")
      ->allow_extra_args(false)
      ->group("Arguments");
  app.add_option("--out", options.outputs,
                 "Where a result goes, an .npy or .npz file; without, results are shown")
      ->type_name("NAME=FILE")
      ->allow_extra_args(false)
      ->group("Arguments");
  app.add_option("--seed", options.seed, "Seed of random inputs, by default 0")
      ->check(whole_number())
      ->type_name("N")
      ->group("Arguments");
  app.add_option("--offset", options.offsets, "Move a buffer by so many elements from an aligned address")
      ->type_name("NAME=N")
      ->allow_extra_args(false)
      ->group("Arguments");
  app.add_option("--device", options.device, "auto (a GPU if there is one), cuda or emulator")
      ->check(one_of({"auto", "cuda", "emulator"}))
      ->type_name("DEVICE")
      ->group("Execution");
  app.add_option("--stage", options.stage,
                 "What is run: ptx on the device, or tensor or tile IR by its interpreter")
      ->check(one_of({"tensor", "tile", "ptx"}))
      ->type_name("STAGE")
      ->group("Execution");
  app.add_option("--variant", options.variant, "Force a variant, by name or number; see tenon explain")
      ->type_name("VARIANT")
      ->group("Execution");
  app.add_flag("--check", options.check, "Hold the results against the reference interpreter")
      ->group("Output");
  app.add_option("--report", options.report, "Write counters and faults of each launch as JSON")
      ->type_name("FILE")
      ->group("Output");
}

}  // namespace

Command add_run(CLI::App& parent) {
  CLI::App* app = parent.add_subcommand("run", "Compile a program and run it on a device");
  auto options = std::make_shared<Options>();
  add_options(*app, *options);
  app->footer(
      "Inputs that are not given are random, in [-1, 1), scalars in [0, 1); sizes that nothing gives are\n"
      "small ones that fit.\n"
      "Examples:\n"
      "  tenon run examples/axpy.tn --set N=8 --in a=2 --in x=iota\n"
      "  tenon run examples/softmax.tn --in x=a.npy --out y=b.npy --check");
  return {app, [options] {
            Result<ExitStatus> status = run_and_report(*options);
            return status ? *status : failed(status.error());
          }};
}

}  // namespace tenon::tools
