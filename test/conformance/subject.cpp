#include "subject.h"

#include <fmt/format.h>

#include <algorithm>
#include <cmath>
#include <fstream>
#include <iterator>
#include <span>
#include <utility>

#include "ir/comparison.h"
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
std::optional<Array> make_array(const ir::Kernel& kernel, const ir::Tensor& tensor, const Sizes& sizes) {
  std::vector<int64_t> shape;
  for (ir::IndexId extent : tensor.shape) {
    std::optional<int64_t> value = evaluate(kernel, extent, sizes);
    if (!value || *value < 0) return std::nullopt;
    shape.push_back(*value);
  }
  Result<Array> array = Array::zeros(tensor.element, std::move(shape));
  if (!array) return std::nullopt;
  return std::move(*array);
}

std::string faults_text(const std::vector<emulator::LaunchReport>& reports) {
  std::string text;
  for (const emulator::LaunchReport& report : reports)
    for (const emulator::Fault& fault : report.faults) text += emulator::render_text(fault) + "\n";
  return text;
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
  for (const ir::Symbol& symbol : reference_.symbols)
    if (symbol.kind == ir::Symbol::Kind::kDimension && trial.sizes.contains(symbol.name))
      launch.launch.sizes.push_back({symbol.name, trial.sizes.at(symbol.name)});
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

}  // namespace tenon::conformance
