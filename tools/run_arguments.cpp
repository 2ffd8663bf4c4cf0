#include "tools/run_arguments.h"

#include <fmt/format.h>

#include <algorithm>
#include <cmath>
#include <functional>
#include <string_view>
#include <utility>

#include "support/diagnostics.h"
#include "tools/array_files.h"
#include "tools/default_sizes.h"

namespace tenon::tools {
namespace {

using runtime::Parameter;
using runtime::ParameterId;
using runtime::Program;
using runtime::Role;
using runtime::SizeExpr;
using runtime::SymbolId;
using runtime::SymbolKind;

// "kernel f has no input z; it has x, y", and the name that was perhaps meant.
std::unexpected<Error> unknown_name(const Program& program, std::string_view what, std::string_view name,
                                    const std::vector<std::string_view>& candidates) {
  std::string_view close = did_you_mean(name, candidates);
  std::string hint = close.empty() ? "" : fmt::format("; did you mean {}?", close);
  if (close.empty() && !candidates.empty()) {
    std::string list;
    for (std::string_view candidate : candidates)
      list += fmt::format("{}{}", list.empty() ? "" : ", ", candidate);
    hint = fmt::format("; it has {}", list);
  }
  return fail(ErrorKind::kUsage, fmt::format("kernel {} has no {} {}{}", program.name, what, name, hint));
}

Result<ParameterId> find_parameter(const Program& program, const std::string& name, std::string_view what,
                                   const std::function<bool(const Parameter&)>& eligible) {
  std::vector<std::string_view> candidates;
  for (uint32_t i = 0; i < program.parameters.size(); ++i) {
    const Parameter& parameter = program.parameters[ParameterId(i)];
    if (!eligible(parameter)) continue;
    if (parameter.name == name) return ParameterId(i);
    candidates.push_back(parameter.name);
  }
  return unknown_name(program, what, name, candidates);
}

class Builder {
 public:
  Builder(const Program& program, const RunInputs& inputs) : program_(program), inputs_(inputs) {
    known_.resize(program.symbols.size());
    specs_.resize(program.parameters.size());
    result_.arrays.resize(program.parameters.size());
  }

  Result<RunArguments> run() {
    TENON_TRY(take_inputs());
    take_shapes();
    TENON_TRY_ASSIGN(sizes_, complete_sizes(program_, known_));
    TENON_TRY(fill_inputs());
    for (uint32_t i = 0; i < sizes_.size(); ++i) {
      const runtime::Symbol& symbol = program_.symbols[SymbolId(i)];
      if (symbol.kind == SymbolKind::kDimension) result_.sizes.push_back({symbol.name, sizes_[i]});
    }
    return std::move(result_);
  }

 private:
  Result<void> take_inputs() {
    for (const Assignment<InputSpec>& input : inputs_.inputs) {
      TENON_TRY_ASSIGN(ParameterId id, find_input(program_, input.name));
      specs_[id.index()] = &input.value;
      if (input.value.kind != InputSpec::Kind::kFile) continue;
      TENON_TRY_ASSIGN(Array array, read_array(input.value.text, input.name, program_.parameters[id].type));
      result_.arrays[id.index()] = std::move(array);
    }
    return {};
  }

  // What is known from the program, from the shapes of files and from constants.
  void take_shapes() {
    for (uint32_t i = 0; i < known_.size(); ++i) {
      const runtime::Symbol& symbol = program_.symbols[SymbolId(i)];
      known_[i] = symbol.fixed;
      if (!known_[i] && symbol.kind == SymbolKind::kScalar) known_[i] = scalar_value(symbol.parameter);
    }
    for (uint32_t i = 0; i < program_.parameters.size(); ++i) {
      const std::vector<SizeExpr>& shape = program_.parameters[ParameterId(i)].shape;
      const std::optional<Array>& array = result_.arrays[i];
      if (!array || array->rank() != shape.size()) continue;
      for (size_t axis = 0; axis < shape.size(); ++axis)
        if (std::optional<SymbolId> symbol = shape[axis].as_symbol(); symbol && !known_[symbol->index()])
          known_[symbol->index()] = array->extent(axis);
    }
  }

  // The value of a scalar parameter, if the command line tells it.
  std::optional<int64_t> scalar_value(ParameterId id) const {
    const std::optional<Array>& array = result_.arrays[id.index()];
    if (array && array->rank() == 0) return array->as_int64(0);
    const InputSpec* spec = specs_[id.index()];
    if (array || spec == nullptr) return std::nullopt;
    Result<Array> filled =
        make_array(*spec, program_.parameters[id].name, program_.parameters[id].type, {}, inputs_.seed);
    if (!filled) return std::nullopt;
    return filled->as_int64(0);
  }

  Result<void> fill_inputs() {
    for (uint32_t i = 0; i < program_.parameters.size(); ++i) {
      const Parameter& parameter = program_.parameters[ParameterId(i)];
      if (parameter.role == Role::kResult || result_.arrays[i]) continue;
      TENON_TRY_ASSIGN(std::vector<int64_t> shape, shape_of(parameter));
      InputSpec spec;
      if (specs_[i] != nullptr) spec = *specs_[i];
      TENON_TRY_ASSIGN(Array array,
                       make_array(spec, parameter.name, parameter.type, std::move(shape), inputs_.seed));
      if (specs_[i] == nullptr) choose_scalar(ParameterId(i), array);
      result_.arrays[i] = std::move(array);
    }
    return {};
  }

  Result<std::vector<int64_t>> shape_of(const Parameter& parameter) const {
    std::vector<runtime::Int128> symbols(sizes_.begin(), sizes_.end());
    std::vector<int64_t> shape;
    for (const SizeExpr& extent : parameter.shape) {
      std::optional<int64_t> value = runtime::evaluate(extent, symbols).as_int64();
      if (!value)
        return fail(ErrorKind::kRefused,
                    fmt::format("the shape of `{}` has no value for these sizes", parameter.source));
      shape.push_back(*value);
    }
    if (std::ranges::any_of(shape, [](int64_t extent) { return extent < 0; }))
      return fail(ErrorKind::kRefused,
                  fmt::format("the shape {} of `{}` is negative", shape_text(shape), parameter.source));
    return shape;
  }

  // A scalar that sizes or clauses depend on got its value with the sizes. Most floats are scales and
  // epsilons, which mean little below 0.
  void choose_scalar(ParameterId id, Array& array) const {
    if (array.rank() == 0 && is_float(array.type())) array.set_double(0, std::fabs(array.as_double(0)));
    for (uint32_t i = 0; i < sizes_.size(); ++i) {
      const runtime::Symbol& symbol = program_.symbols[SymbolId(i)];
      if (symbol.kind == SymbolKind::kScalar && symbol.parameter == id) array.set_int64(0, sizes_[i]);
    }
  }

  const Program& program_;
  const RunInputs& inputs_;
  KnownSizes known_;
  // By parameter; null where the command line does not name it.
  std::vector<const InputSpec*> specs_;
  std::vector<int64_t> sizes_;
  RunArguments result_;
};

}  // namespace

Result<ParameterId> find_input(const Program& program, const std::string& name) {
  return find_parameter(program, name, "input",
                        [](const Parameter& parameter) { return parameter.role != Role::kResult; });
}

Result<ParameterId> find_output(const Program& program, const std::string& name) {
  return find_parameter(program, name, "result",
                        [](const Parameter& parameter) { return parameter.role != Role::kInput; });
}

Result<ParameterId> find_buffer(const Program& program, const std::string& name) {
  return find_parameter(program, name, "buffer", [](const Parameter& parameter) {
    return parameter.role != Role::kInput || !parameter.shape.empty();
  });
}

Result<RunArguments> make_run_arguments(const Program& program, const RunInputs& inputs) {
  return Builder(program, inputs).run();
}

}  // namespace tenon::tools
