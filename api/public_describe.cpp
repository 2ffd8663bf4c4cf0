// What a kernel tells about itself.
#include <algorithm>
#include <utility>

#include "api/public_convert.h"
#include "api/public_kernel.h"

namespace tenon::api {
namespace {

using runtime::Program;

ParameterRole role_of(runtime::Role role) {
  switch (role) {
    case runtime::Role::kInput:
      return ParameterRole::kInput;
    case runtime::Role::kResult:
      return ParameterRole::kResult;
    case runtime::Role::kInout:
      return ParameterRole::kInout;
  }
  return ParameterRole::kInput;
}

ParameterInfo parameter_info(const Program& program, const runtime::Parameter& parameter) {
  ParameterInfo info;
  info.name = parameter.name;
  info.type = data_type(parameter.type);
  info.role = role_of(parameter.role);
  info.rank = parameter.shape.size();
  info.source = parameter.source;
  for (const runtime::SizeExpr& extent : parameter.shape)
    info.shape.push_back(runtime::to_text(extent, runtime::symbol_names(program)));
  info.by_value = parameter.by_value();
  return info;
}

bool stands_alone(const Program& program, runtime::SymbolId symbol) {
  return std::ranges::any_of(program.parameters, [&](const runtime::Parameter& parameter) {
    return std::ranges::any_of(parameter.shape,
                               [&](const runtime::SizeExpr& extent) { return extent.as_symbol() == symbol; });
  });
}

std::vector<SizeInfo> size_infos(const Program& program) {
  std::vector<SizeInfo> infos;
  for (uint32_t i = 0; i < program.symbols.size(); ++i) {
    runtime::SymbolId id(i);
    const runtime::Symbol& symbol = program.symbols[id];
    if (symbol.kind != runtime::SymbolKind::kDimension) continue;
    infos.push_back({symbol.name, symbol.fixed, stands_alone(program, id)});
  }
  return infos;
}

StepInfo step_info(const Program& program, const runtime::Step& step) {
  StepInfo info{step.name, {}, step.remarks};
  for (const runtime::Variant& variant : step.variants)
    info.variants.push_back({variant.name, runtime::to_text(variant.guard, program), variant.schedule});
  return info;
}

}  // namespace

void describe(Kernel::Impl& kernel) {
  const Program& program = *kernel.program;
  for (const runtime::Parameter& parameter : program.parameters)
    kernel.parameters.push_back(parameter_info(program, parameter));
  kernel.sizes = size_infos(program);
  for (const runtime::Clause& clause : program.clauses) kernel.conditions.push_back(clause.text);
  for (const runtime::Step& step : program.steps) kernel.steps.push_back(step_info(program, step));
}

}  // namespace tenon::api
