#include "api/compiler.h"

#include <fmt/format.h>

#include <algorithm>
#include <map>
#include <set>
#include <utility>

#include "api/sizes.h"
#include "codegen/codegen.h"
#include "frontend/parse/parse.h"
#include "passes/analysis/conjuncts.h"
#include "passes/pipeline.h"
#include "support/check.h"
#include "support/ptx_limits.h"

namespace tenon::api {
namespace {

using runtime::Argument;
using runtime::ParameterId;
using runtime::PtxType;
using runtime::SizeExpr;

runtime::Role role_of(const ir::Parameter& parameter) {
  if (parameter.inout()) return runtime::Role::kInout;
  return parameter.output.valid() ? runtime::Role::kResult : runtime::Role::kInput;
}

std::string source_text(const ir::Kernel& kernel, const ir::Tensor& tensor, const std::string& name) {
  std::string text = fmt::format("{}: {}", name, tenon::name(tensor.element));
  if (tensor.shape.empty()) return text;
  std::string shape;
  for (ir::IndexId extent : tensor.shape) {
    if (!shape.empty()) shape += ", ";
    shape += ir::size_text(kernel, extent);
  }
  return text + "[" + shape + "]";
}

PtxType scalar_type(ElementType element) {
  if (element == ElementType::kF32) return PtxType::kF32;
  if (element == ElementType::kF64) return PtxType::kF64;
  switch (byte_size(element)) {
    case 1:
      return PtxType::kB8;
    case 2:
      return PtxType::kB16;
    case 4:
      return PtxType::kB32;
    default:
      return PtxType::kB64;
  }
}

// A launch can have more arguments than parameters: workspace, sizes, and what divisions need.
Result<void> check_parameter_bytes(const codegen::Entry& entry, const CompilerOptions& options) {
  uint64_t bytes = 0;
  for (const codegen::EntryArgument& argument : entry.arguments)
    bytes = (bytes + argument.bytes - 1) / argument.bytes * argument.bytes + argument.bytes;
  const unsigned isa = options.ptx_isa != 0 ? options.ptx_isa : options.target->ptx_isa;
  const uint32_t most = most_parameter_bytes(isa);
  if (bytes <= most) return {};
  return fail(ErrorKind::kRefused,
              fmt::format("the arguments of launch {} take {} bytes; in PTX {}.{} at most {} are allowed",
                          entry.name, bytes, isa / 10, isa % 10, most));
}

// The record of a kernel without its steps.
runtime::Program describe(const ir::Kernel& kernel, const Target& target) {
  runtime::Program program;
  program.name = kernel.name;
  program.target = std::string(target.name);
  for (const ir::Symbol& symbol : kernel.symbols) {
    runtime::Symbol to;
    to.name = symbol.name;
    to.kind = symbol.kind == ir::Symbol::Kind::kScalar ? runtime::SymbolKind::kScalar
                                                       : runtime::SymbolKind::kDimension;
    to.fixed = symbol.fixed;
    program.symbols.add(std::move(to));
  }
  for (const ir::Parameter& parameter : kernel.parameters) {
    const ir::Tensor& tensor = kernel.tensors[parameter.tensor()];
    runtime::Parameter to;
    to.name = parameter.name;
    to.type = tensor.element;
    to.role = role_of(parameter);
    for (ir::IndexId extent : tensor.shape) to.shape.push_back(size_expr(kernel.index, extent));
    to.source = source_text(kernel, tensor, parameter.name);
    ParameterId id = program.parameters.add(std::move(to));
    if (parameter.symbol.valid()) program.symbols[runtime::SymbolId(parameter.symbol.index())].parameter = id;
  }
  for (const ir::WhereClause& clause : kernel.where) {
    runtime::Clause to;
    to.condition = size_expr(kernel.index, clause.condition, ZeroDivision::kFault);
    to.text = clause.text;
    to.implicit = clause.implicit;
    program.clauses.push_back(std::move(to));
  }
  return program;
}

}  // namespace

CompiledKernel::CompiledKernel(ir::Kernel kernel, const CompilerOptions& options,
                               const SourceManager* sources)
    : kernel_(std::move(kernel)), options_(options), sources_(sources) {
  TENON_CHECK((options.schedule == nullptr) == (options.schedule_diagnostics == nullptr),
              "pins need diagnostics");
  DoingScope doing("compiling kernel " + kernel_.name);
  std::vector<passes::Remark> remarks = passes::run_tensor_passes(kernel_);
  plan_ = passes::plan(kernel_, *options_.target,
                       {.pins = options_.schedule,
                        .diagnostics = options_.schedule_diagnostics,
                        .keep_unreachable = options_.keep_unreachable});
  options_.schedule = nullptr;
  options_.schedule_diagnostics = nullptr;
  program_ = describe(kernel_, *options_.target);
  for (passes::Remark& remark : remarks) program_.remarks.push_back(std::move(remark.text));
  // Tensors that one group defines and another reads.
  SideTable<ir::Tensor, uint32_t> defined_in(kernel_.tensors.size(), UINT32_MAX);
  for (uint32_t g = 0; g < kernel_.groups.size(); ++g)
    for (ir::TensorOpId id : kernel_.groups[g].ops)
      for (const ir::OpOutput& output : kernel_.ops[id].outputs) defined_in[output.tensor] = g;
  std::set<ir::TensorId> exchanged;
  for (uint32_t g = 0; g < kernel_.groups.size(); ++g) {
    for (ir::TensorOpId id : kernel_.groups[g].ops) {
      for (const ir::Instruction& read : kernel_.ops[id].body) {
        if (read.op != ir::Opcode::kRead || kernel_.tensors[read.tensor].role != ir::Tensor::Role::kLocal)
          continue;
        if (defined_in[read.tensor] != g) exchanged.insert(read.tensor);
      }
    }
  }
  workspace_ = SideTable<ir::Tensor, uint32_t>(kernel_.tensors.size(), UINT32_MAX);
  for (ir::TensorId id : exchanged) {
    const ir::Tensor& tensor = kernel_.tensors[id];
    workspace_[id] = static_cast<uint32_t>(program_.workspace.size());
    ir::IndexId bytes =
        kernel_.index.scale(ir::element_count(kernel_, tensor.shape), byte_size(tensor.element));
    program_.workspace.push_back({tensor.name, tensor.element, size_expr(kernel_.index, bytes)});
  }
  for (const passes::StepPlan& step : plan_.steps) {
    runtime::Step to;
    to.name = kernel_.groups[step.group].name;
    to.remarks = step.remarks;
    passes::ScheduleNames names(kernel_, kernel_.groups[step.group]);
    for (const passes::VariantPlan& variant : step.variants) {
      runtime::Variant one;
      one.name = variant.name;
      for (ir::IndexId condition : passes::conjuncts(kernel_.index, variant.guard))
        one.guard.conditions.push_back(size_expr(kernel_.index, condition));
      for (const auto& [tensor, bytes] : variant.aligned) {
        for (uint32_t p = 0; p < kernel_.parameters.size(); ++p) {
          const ir::Parameter& parameter = kernel_.parameters[p];
          runtime::Alignment alignment{ParameterId(p), static_cast<uint32_t>(bytes)};
          bool listed = std::find(one.guard.alignments.begin(), one.guard.alignments.end(), alignment) !=
                        one.guard.alignments.end();
          if ((parameter.input == tensor || parameter.output == tensor) && !listed)
            one.guard.alignments.push_back(alignment);
        }
      }
      one.schedule = passes::to_text(variant.schedule, names);
      to.variants.push_back(std::move(one));
    }
    program_.steps.push_back(std::move(to));
  }
}

ir::TileModule CompiledKernel::lower_to_tile(uint32_t step, uint32_t variant,
                                             std::vector<passes::Remark>* remarks) const {
  const passes::StepPlan& plan = plan_.steps[step];
  DoingScope doing("lowering variant " + plan.variants[variant].name + " of " +
                   kernel_.groups[plan.group].name);
  return passes::lower_variant(kernel_, plan, plan.variants[variant], *options_.target,
                               {.verify_each = options_.verify_each, .remarks = remarks});
}

Result<std::string> CompiledKernel::lower_to_llvm(uint32_t step, uint32_t variant) const {
  ir::TileModule module = lower_to_tile(step, variant);
  return codegen::to_llvm_text(module, {options_.target, options_.ptx_isa, nullptr});
}

Result<runtime::LoweredVariant> CompiledKernel::lower(uint32_t step, uint32_t variant) const {
  return generate(lower_to_tile(step, variant));
}

Result<runtime::LoweredVariant> CompiledKernel::generate(ir::TileModule module) const {
  TENON_TRY_ASSIGN(
      codegen::Compiled compiled,
      codegen::compile(module, {options_.target, options_.ptx_isa, options_.line_info ? sources_ : nullptr}));
  runtime::LoweredVariant lowered;
  lowered.ptx = std::move(compiled.ptx);
  // Tensors past the kernel's are the variant's own. Those that launches touch have memory.
  std::map<ir::TensorId, uint32_t> own_workspace;
  auto own_buffer = [&](ir::TensorId id) {
    auto [at, is_new] = own_workspace.emplace(id, static_cast<uint32_t>(lowered.workspace.size()));
    if (is_new) {
      const ir::Tensor& tensor = module.tensors[id];
      ir::IndexId bytes = module.index.constant(byte_size(tensor.element));
      for (ir::IndexId extent : tensor.shape) bytes = module.index.mul(bytes, extent);
      lowered.workspace.push_back({tensor.name, tensor.element, size_expr(module.index, bytes)});
    }
    return Argument::variant_workspace_buffer(at->second);
  };
  auto pointer = [&](ir::TensorId tensor) {
    if (tensor.index() >= kernel_.tensors.size()) return own_buffer(tensor);
    for (uint32_t p = 0; p < kernel_.parameters.size(); ++p)
      if (kernel_.parameters[p].input == tensor || kernel_.parameters[p].output == tensor)
        return Argument::pointer(ParameterId(p));
    return Argument::workspace_buffer(workspace_[tensor]);
  };
  for (codegen::Entry& entry : compiled.entries) {
    TENON_TRY(check_parameter_bytes(entry, options_));
    runtime::Launch launch;
    launch.entry = std::move(entry.name);
    launch.grid = size_expr(module.index, entry.grid);
    launch.block = entry.threads;
    launch.dynamic_shared = SizeExpr(entry.shared_bytes);
    for (const codegen::EntryArgument& argument : entry.arguments) {
      using Kind = codegen::EntryArgument::Kind;
      PtxType size_type = argument.bytes == 4 ? PtxType::kB32 : PtxType::kB64;
      switch (argument.kind) {
        case Kind::kTensor:
          launch.arguments.push_back(pointer(argument.tensor));
          break;
        case Kind::kScalar: {
          ParameterId parameter = pointer(argument.tensor).parameter;
          launch.arguments.push_back(
              Argument::scalar(parameter, scalar_type(module.tensors[argument.tensor].element)));
          break;
        }
        case Kind::kIndex:
          launch.arguments.push_back(Argument::size(size_expr(module.index, argument.index), size_type));
          break;
        case Kind::kMagicMultiplier:
          launch.arguments.push_back(Argument::magic_multiplier(size_expr(module.index, argument.index)));
          break;
        case Kind::kMagicShift:
          launch.arguments.push_back(Argument::magic_shift(size_expr(module.index, argument.index)));
          break;
      }
    }
    lowered.launches.push_back(std::move(launch));
  }
  return lowered;
}

Result<runtime::Program> CompiledKernel::lower_all() const {
  runtime::Program program = program_;
  for (uint32_t step = 0; step < program.steps.size(); ++step) {
    for (uint32_t i = 0; i < program.steps[step].variants.size(); ++i) {
      runtime::Variant& variant = program.steps[step].variants[i];
      std::vector<passes::Remark> remarks;
      TENON_TRY_ASSIGN(variant.code, generate(lower_to_tile(step, i, &remarks)));
      for (passes::Remark& remark : remarks) variant.remarks.push_back(std::move(remark.text));
    }
  }
  return program;
}

runtime::VariantSource CompiledKernel::source(std::shared_ptr<const CompiledKernel> self) {
  return [self = std::move(self)](uint32_t step, uint32_t variant) { return self->lower(step, variant); };
}

frontend::CheckResult check_source(FileId file, SourceManager& sources, const frontend::CheckOptions& options,
                                   Diagnostics& diagnostics) {
  frontend::Module module = frontend::parse(file, sources, diagnostics);
  return frontend::check(module, sources, options, diagnostics);
}

}  // namespace tenon::api
