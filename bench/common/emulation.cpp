#include "bench/common/emulation.h"

#include <fmt/format.h>

#include <utility>

#include "runtime/loaded_program.h"
#include "support/array_fill.h"

namespace tenon::bench {
namespace {

using runtime::Argument;
using runtime::ParameterId;
using runtime::Program;

constexpr double kScalar = 1.0 / 1024;

Argument argument_of(const Program& program, uint32_t index) {
  if (index == kScratch) return Argument::variant_workspace_buffer(0);
  const runtime::Parameter& parameter = program.parameters[ParameterId(index)];
  return parameter.by_value() ? Argument::scalar(ParameterId(index), runtime::PtxType::kF32)
                              : Argument::pointer(ParameterId(index));
}

// The kernel's record with the peer's launches as its only step.
Program peer_program(const Program& kernel, const Workload& workload, const std::string& ptx) {
  runtime::LoweredVariant code{.ptx = ptx, .workspace = {}, .launches = {}};
  if (workload.scratch_bytes > 0)
    code.workspace.push_back({"scratch", ElementType::kF32, runtime::SizeExpr(workload.scratch_bytes)});
  for (const PeerLaunch& peer : workload.launches) {
    runtime::Launch launch{
        .entry = peer.entry, .grid = peer.grid, .block = peer.block, .dynamic_shared = 0, .arguments = {}};
    for (uint32_t index : peer.arguments) launch.arguments.push_back(argument_of(kernel, index));
    code.launches.push_back(std::move(launch));
  }
  Program program = kernel;
  runtime::Variant variant;
  variant.name = "peer";
  variant.code = std::move(code);
  program.workspace.clear();
  program.steps = {runtime::Step{.name = "peer", .variants = {std::move(variant)}, .remarks = {}}};
  return program;
}

Result<std::vector<std::optional<Array>>> make_inputs(const Program& program, const Sizes& sizes) {
  TENON_TRY_ASSIGN(auto shapes, parameter_shapes(program, sizes));
  std::vector<std::optional<Array>> arrays(shapes.size());
  for (uint32_t i = 0; i < shapes.size(); ++i) {
    const runtime::Parameter& parameter = program.parameters[ParameterId(i)];
    if (parameter.role == runtime::Role::kResult) continue;
    TENON_TRY_ASSIGN(arrays[i], Array::zeros(parameter.type, shapes[i]));
    auto given = sizes.find(parameter.name);
    if (!parameter.by_value())
      fill_random(*arrays[i], 1, random_stream(parameter.name));
    else if (is_float(parameter.type))
      arrays[i]->set_double(0, kScalar);
    else
      arrays[i]->set_int64(0, given == sizes.end() ? 1 : given->second);
  }
  return arrays;
}

}  // namespace

emulator::Counters RunResult::total() const {
  emulator::Counters sum;
  for (const emulator::LaunchReport& report : reports) sum += report.total;
  return sum;
}

uint64_t RunResult::instructions_without_mov() const {
  uint64_t sum = 0;
  for (const emulator::LaunchReport& report : reports) sum += report.lane_instructions_without_mov();
  return sum;
}

Result<Emulation> Emulation::open() {
  Emulation emulation;
  auto device = std::make_shared<emulator::Device>();
  TENON_TRY_ASSIGN(emulation.installation_, emulator::Installation::create({device}));
  TENON_TRY_ASSIGN(emulation.device_, runtime::Device::open(emulation.installation_->table(), 0));
  return emulation;
}

Result<RunResult> Emulation::run(const CompiledSource& compiled, const Sizes& sizes) {
  return run(std::make_shared<const Program>(compiled.program()),
             api::CompiledKernel::source(compiled.kernel), sizes);
}

Result<RunResult> Emulation::run_peer(const CompiledSource& compiled, const Workload& workload,
                                      const std::string& ptx) {
  return run(std::make_shared<const Program>(peer_program(compiled.program(), workload, ptx)), {},
             workload.sizes);
}

Result<RunResult> Emulation::run(std::shared_ptr<const Program> program, runtime::VariantSource source,
                                 const Sizes& sizes) {
  RunResult result;
  TENON_TRY_ASSIGN(result.arrays, make_inputs(*program, sizes));
  TENON_TRY_ASSIGN(std::unique_ptr<runtime::LoadedProgram> loaded,
                   runtime::LoadedProgram::create(device_, program, std::move(source)));
  installation_->take_reports();
  TENON_TRY_ASSIGN(runtime::LaunchPlan plan, runtime::launch_on_host(*loaded, result.arrays));
  result.reports = installation_->take_reports();
  for (const emulator::LaunchReport& report : result.reports)
    if (!report.faults.empty()) return fail(ErrorKind::kDevice, emulator::render_text(report.faults[0]));
  for (uint32_t step = 0; step < plan.variants.size(); ++step) {
    result.variants.push_back(program->steps[step].variants[plan.variants[step]].name);
    TENON_TRY_ASSIGN(const runtime::LoadedVariant* variant, loaded->variant(step, plan.variants[step]));
    result.ptx.push_back(variant->code.ptx);
  }
  return result;
}

}  // namespace tenon::bench
