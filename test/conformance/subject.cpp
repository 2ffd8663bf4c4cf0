#include "subject.h"

#include <fmt/format.h>

#include <algorithm>
#include <cmath>
#include <fstream>
#include <iterator>
#include <span>
#include <utility>

#include "api/stages.h"
#include "ir/comparison.h"
#include "runtime/selection.h"
#include "support/array_fill.h"
#include "support/check.h"

namespace tenon::conformance {
namespace {

// Whether small integers pass through an operation without rounding.
bool exact(ir::Opcode op) {
  switch (op) {
    case ir::Opcode::kRead:
    case ir::Opcode::kIndex:
    case ir::Opcode::kConst:
    case ir::Opcode::kArg:
    case ir::Opcode::kAdd:
    case ir::Opcode::kSub:
    case ir::Opcode::kMul:
    case ir::Opcode::kNeg:
    case ir::Opcode::kMin:
    case ir::Opcode::kMax:
    case ir::Opcode::kSelect:
    case ir::Opcode::kCast:
      return true;
    default:
      return false;
  }
}

bool exact(const ir::Kernel& kernel) {
  for (const ir::TensorOp& op : kernel.ops)
    for (const ir::Instruction& instruction : op.body)
      if (!exact(instruction.op)) return false;
  return true;
}

std::optional<int64_t> evaluate(const ir::Kernel& kernel, ir::IndexId expression, const Sizes& sizes) {
  return kernel.index.evaluate(expression, [&](ir::IndexId atom) -> std::optional<int64_t> {
    auto found = sizes.find(kernel.symbols[ir::SymbolId(kernel.index[atom].reference)].name);
    if (found == sizes.end()) return std::nullopt;
    return found->second;
  });
}

// Empty where an extent is negative or too large.
std::optional<std::vector<int64_t>> evaluate_shape(const ir::Kernel& kernel, const ir::Tensor& tensor,
                                                   const Sizes& sizes) {
  std::vector<int64_t> shape;
  for (ir::IndexId extent : tensor.shape) {
    std::optional<int64_t> value = evaluate(kernel, extent, sizes);
    if (!value || *value < 0) return std::nullopt;
    shape.push_back(*value);
  }
  return shape;
}

std::optional<Array> make_array(const ir::Kernel& kernel, const ir::Tensor& tensor, const Sizes& sizes) {
  std::optional<std::vector<int64_t>> shape = evaluate_shape(kernel, tensor, sizes);
  if (!shape) return std::nullopt;
  Result<Array> array = Array::zeros(tensor.element, std::move(*shape));
  if (!array) return std::nullopt;
  return std::move(*array);
}

std::string faults_text(const std::vector<emulator::LaunchReport>& reports) {
  std::string text;
  for (const emulator::LaunchReport& report : reports)
    for (const emulator::Fault& fault : report.faults) text += emulator::render_text(fault) + "\n";
  return text;
}

// The elements that differ, a few of them; empty where none does.
std::string difference(const Array& tile, const Array& device) {
  if (same_values(tile, device)) return "";
  std::string text;
  int shown = 0;
  for (int64_t i = 0; i < tile.element_count() && shown < 4; ++i) {
    if (tile.as_double(i) == device.as_double(i)) continue;
    text += fmt::format("element {}: {:a} by tiles, {:a} on the device\n", i, tile.as_double(i),
                        device.as_double(i));
    ++shown;
  }
  return text.empty() ? "only bits differ\n" : text;
}

std::string variants_text(const runtime::Program& program, const std::vector<uint32_t>& chosen) {
  std::string text;
  for (size_t s = 0; s < chosen.size(); ++s)
    text += fmt::format("{}{}: {}", s ? ", " : "", program.steps[s].name,
                        program.steps[s].variants[chosen[s]].name);
  return text;
}

}  // namespace

std::string to_text(const Sizes& sizes) {
  std::string text;
  for (const auto& [name, value] : sizes)
    text += fmt::format("{}{} = {}", text.empty() ? "" : ", ", name, value);
  return text;
}

SourceProgram::SourceProgram(std::string name, std::string text, const frontend::CheckOptions& options) {
  Diagnostics diagnostics;
  FileId file = sources_.add(std::move(name), std::move(text));
  checked_ = api::check_source(file, sources_, options, diagnostics);
  complaints_ = render_text(diagnostics, sources_);
}

const ir::Kernel* SourceProgram::kernel(std::string_view name) const {
  for (const ir::Kernel& kernel : kernels())
    if (kernel.name == name) return &kernel;
  return nullptr;
}

std::string read_text(const std::string& path) {
  std::ifstream file(std::string(TENON_ROOT "/") + path, std::ios::binary);
  return {std::istreambuf_iterator<char>(file), std::istreambuf_iterator<char>()};
}

Machine::Machine(unsigned sm) {
  emulator::DeviceConfig config;
  config.sm = sm;
  config.time_limit_seconds = 300;
  installation_ = emulator::Installation::create({std::make_shared<emulator::Device>(config)}).value();
  device_ = runtime::Device::open(installation_->table(), 0).value();
}

Subject::Subject(const SourceProgram& program, const ir::Kernel& kernel, Machine& machine,
                 api::CompilerOptions options)
    : reference_(kernel), machine_(machine), exact_on_integers_(exact(kernel)) {
  if (options.target == nullptr) options.target = target_by_name("sm_80");
  options.verify_each = true;
  compiled_ = std::make_shared<const api::CompiledKernel>(kernel, options, &program.sources());
  loaded_ = runtime::LoadedProgram::create(machine.device(),
                                           std::make_shared<runtime::Program>(compiled_->program()),
                                           api::CompiledKernel::source(compiled_))
                .value();
}

std::vector<runtime::NamedSize> Subject::named_sizes(const Sizes& sizes) const {
  std::vector<runtime::NamedSize> named;
  for (const ir::Symbol& symbol : reference_.symbols)
    if (symbol.kind == ir::Symbol::Kind::kDimension && sizes.contains(symbol.name))
      named.push_back({symbol.name, sizes.at(symbol.name)});
  return named;
}

std::optional<Subject::Bound> Subject::bind(const Sizes& sizes) const {
  Bound bound;
  for (const ir::Parameter& parameter : reference_.parameters) {
    const ir::Tensor& tensor = reference_.tensors[parameter.tensor()];
    std::optional<std::vector<int64_t>> shape = evaluate_shape(reference_, tensor, sizes);
    if (!shape) return std::nullopt;
    const runtime::CUdeviceptr address = (bound.arguments.size() + 1) << 50;
    if (shape->empty() && !parameter.output.valid()) {
      const int64_t value = parameter.symbol.valid() ? sizes.at(parameter.name) : 0;
      const auto bytes = std::as_bytes(std::span(&value, 1)).first(byte_size(tensor.element));
      bound.arguments.push_back(runtime::LaunchArgument::scalar_bytes(tensor.element, bytes));
    } else {
      bound.arguments.push_back(runtime::LaunchArgument::buffer(address, tensor.element, std::move(*shape)));
    }
  }
  Result<runtime::Binding> binding = runtime::bind_arguments(program(), bound.arguments, named_sizes(sizes));
  if (!binding) return std::nullopt;
  bound.binding = std::move(*binding);
  return bound;
}

std::vector<std::vector<uint32_t>> Subject::admitted_variants(const Sizes& sizes) const {
  std::optional<Bound> bound = bind(sizes);
  if (!bound) return {};
  std::vector<std::vector<uint32_t>> admitted;
  for (const runtime::Step& step : program().steps) {
    admitted.emplace_back();
    for (uint32_t v = 0; v < step.variants.size(); ++v)
      if (runtime::accepts(step.variants[v], bound->binding, bound->arguments)) admitted.back().push_back(v);
  }
  return admitted;
}

std::optional<Case> Subject::make_case(const Sizes& sizes, Fill fill, uint64_t seed,
                                       const std::map<std::string, Array>& given) const {
  Case trial{sizes, fill, {}, {}, {}};
  trial.text = fmt::format("{} at {}, {}, seed {}", reference_.name, to_text(sizes),
                           fill == Fill::kRandom ? "random" : "small integers", seed);
  std::vector<const Array*> pointers;
  for (const ir::Parameter& parameter : reference_.parameters) {
    std::optional<Array> array = make_array(reference_, reference_.tensors[parameter.tensor()], sizes);
    if (!array) return std::nullopt;
    if (!parameter.input.valid()) {
      trial.inputs.emplace_back();
      continue;
    }
    auto named = given.find(parameter.name);
    if (named != given.end()) {
      array = named->second;
    } else if (parameter.symbol.valid()) {
      array->set_int64(0, sizes.at(parameter.name));
    } else if (fill == Fill::kRandom) {
      fill_random(*array, seed, random_stream(parameter.name));
      // Most scalars are scales and epsilons, and mean little below 0.
      if (array->rank() == 0 && is_float(array->type())) array->set_double(0, std::fabs(array->as_double(0)));
    } else {
      fill_small_integers(*array, seed, random_stream(parameter.name));
    }
    trial.inputs.push_back(std::move(array));
  }
  for (const std::optional<Array>& input : trial.inputs) pointers.push_back(input ? &*input : nullptr);
  Result<std::vector<int64_t>> symbols = ir::bind_symbols(reference_, pointers, sizes);
  if (!symbols) return std::nullopt;
  trial.expected = ir::interpret(reference_, *symbols, pointers).value();
  return trial;
}

Outcome Subject::run(const Case& trial, const runtime::HostLaunchOptions& options) {
  Outcome outcome;
  outcome.arrays = trial.inputs;
  runtime::HostLaunchOptions launch = options;
  for (runtime::NamedSize& size : named_sizes(trial.sizes)) launch.launch.sizes.push_back(std::move(size));
  machine_.take_reports();
  Result<runtime::LaunchPlan> plan = runtime::launch_on_host(*loaded_, outcome.arrays, launch);
  outcome.reports = machine_.take_reports();
  std::string faults = faults_text(outcome.reports);
  if (!plan && plan.error().kind == ErrorKind::kRefused && faults.empty()) {
    outcome.refused = true;
    outcome.failure = plan.error().message;
    return outcome;
  }
  if (!plan || !faults.empty()) {
    outcome.failure = fmt::format("{}: {}\n{}", trial.text, plan ? "" : plan.error().message, faults);
    return outcome;
  }
  outcome.variants = plan->variants;
  for (size_t p = 0; p < reference_.parameters.size(); ++p) {
    const ir::Parameter& parameter = reference_.parameters[p];
    if (!parameter.output.valid()) continue;
    const Array& actual = *outcome.arrays[p];
    ir::Comparison comparison = ir::compare(actual, trial.expected[p]);
    outcome.elements += comparison.elements;
    outcome.ambiguous += comparison.ambiguous;
    bool must_be_equal = trial.fill == Fill::kSmallIntegers && exact_on_integers_;
    bool ok = must_be_equal ? ir::compare(actual, {trial.expected[p].values, {}}).ok() : comparison.ok();
    if (!ok)
      outcome.failure += fmt::format(
          "{}, {}: result {}: {}\n", trial.text, variants_text(program(), outcome.variants), parameter.name,
          must_be_equal ? ir::compare(actual, {trial.expected[p].values, {}}).text() : comparison.text());
  }
  return outcome;
}

std::string Subject::check_tensor_stage(const Case& trial) const {
  std::vector<std::optional<Array>> arrays = trial.inputs;
  api::StageOptions options;
  options.sizes = named_sizes(trial.sizes);
  Result<std::vector<uint32_t>> ran = api::run_at(api::Stage::kTensor, *compiled_, arrays, options);
  if (!ran) return fmt::format("{}, tensor stage: {}\n", trial.text, ran.error().message);
  std::string text;
  for (size_t p = 0; p < arrays.size(); ++p) {
    if (!reference_.parameters[p].output.valid()) continue;
    ir::Comparison comparison = ir::compare(*arrays[p], trial.expected[p]);
    if (!comparison.ok())
      text += fmt::format("{}, tensor stage: result {}: {}\n", trial.text, reference_.parameters[p].name,
                          comparison.text());
  }
  return text;
}

std::string Subject::check_tile_stage(const Case& trial, const Outcome& device) const {
  std::vector<std::optional<Array>> arrays = trial.inputs;
  api::StageOptions options;
  options.sizes = named_sizes(trial.sizes);
  options.variants.assign(device.variants.begin(), device.variants.end());
  Result<std::vector<uint32_t>> ran = api::run_at(api::Stage::kTile, *compiled_, arrays, options);
  const std::string place =
      fmt::format("{}, {}, tile stage", trial.text, variants_text(program(), device.variants));
  if (!ran) return fmt::format("{}: {}\n", place, ran.error().message);
  std::string text;
  for (size_t p = 0; p < arrays.size(); ++p) {
    if (!reference_.parameters[p].output.valid()) continue;
    std::string differs = difference(*arrays[p], *device.arrays[p]);
    if (!differs.empty())
      text += fmt::format("{}: result {}: {}", place, reference_.parameters[p].name, differs);
  }
  return text;
}

}  // namespace tenon::conformance
