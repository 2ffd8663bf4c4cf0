#include "api/stages.h"

#include <fmt/format.h>

#include <algorithm>
#include <map>
#include <string>
#include <utility>

#include "api/device_functions.h"
#include "ir/interpreter.h"
#include "ir/tile_interpreter.h"
#include "ir/tile_verifier.h"
#include "runtime/selection.h"
#include "support/check.h"

namespace tenon::api {
namespace {

using runtime::LaunchArgument;
using runtime::ParameterId;
using Arrays = std::vector<std::optional<Array>>;

// What memory starts with, so that an element which nobody writes shows.
constexpr std::byte kUnwritten{0xFF};

Result<Array> unwritten(ElementType type, std::vector<int64_t> shape) {
  TENON_TRY_ASSIGN(Array array, Array::zeros(type, std::move(shape)));
  std::fill(array.bytes().begin(), array.bytes().end(), kUnwritten);
  return array;
}

class TileRun {
 public:
  TileRun(const CompiledKernel& compiled, Arrays& arrays, const StageOptions& options)
      : compiled_(compiled), kernel_(compiled.kernel()), arrays_(arrays), options_(options) {}

  Result<std::vector<uint32_t>> run() {
    TENON_TRY(bind());
    std::vector<uint32_t> chosen;
    for (uint32_t step = 0; step < program().steps.size(); ++step) {
      std::optional<uint32_t> forced =
          step < options_.variants.size() ? options_.variants[step] : std::nullopt;
      TENON_TRY_ASSIGN(uint32_t variant,
                       runtime::select_variant(program(), step, binding_, arguments_, forced));
      TENON_TRY(run_variant(step, variant));
      chosen.push_back(variant);
    }
    return chosen;
  }

 private:
  const runtime::Program& program() const { return compiled_.program(); }

  Result<void> bind() {
    for (uint32_t i = 0; i < arrays_.size(); ++i) arguments_.push_back(argument(i));
    TENON_TRY_ASSIGN(binding_, runtime::bind_arguments(program(), arguments_, options_.sizes));
    for (runtime::Int128 symbol : binding_.symbols) symbols_.push_back(static_cast<int64_t>(symbol));
    of_kernel_.resize(kernel_.tensors.size());
    for (uint32_t i = 0; i < arrays_.size(); ++i) TENON_TRY(place(i));
    return {};
  }

  LaunchArgument argument(uint32_t i) const {
    if (!arrays_[i]) return LaunchArgument::absent();
    const Array& array = *arrays_[i];
    bool by_value = i < program().parameters.size() && program().parameters[ParameterId(i)].by_value();
    if (by_value && array.rank() == 0) return LaunchArgument::scalar_bytes(array.type(), array.bytes());
    return LaunchArgument::buffer(0, array.type(), array.shape());
  }

  // Gives a buffer the address that a device would, for guards, and its tensors their array.
  Result<void> place(uint32_t i) {
    const runtime::Parameter& parameter = program().parameters[ParameterId(i)];
    if (parameter.role == runtime::Role::kResult) {
      TENON_TRY_ASSIGN(arrays_[i], unwritten(parameter.type, binding_.shapes[i]));
    }
    if (!parameter.by_value()) {
      int64_t offset = i < options_.offsets.size() ? options_.offsets[i] : 0;
      auto address =
          (uint64_t{i} + 1) * (uint64_t{1} << 40) + static_cast<uint64_t>(offset) * byte_size(parameter.type);
      arguments_[i] = LaunchArgument::buffer(address, parameter.type, binding_.shapes[i]);
    }
    const ir::Parameter& declared = kernel_.parameters[i];
    for (ir::TensorId id : {declared.input, declared.output})
      if (id.valid()) of_kernel_[id.index()] = &*arrays_[i];
    return {};
  }

  Result<void> run_variant(uint32_t step, uint32_t variant) {
    ir::TileModule module = compiled_.lower_to_tile(step, variant);
    std::string violations = ir::to_text(ir::verify(module));
    TENON_CHECK(violations.empty(), violations);
    for (const ir::TileOp& op : module.ops)
      if (op.tensor.valid() && op.tensor.index() < of_kernel_.size()) TENON_TRY(allocate(module, op.tensor));
    // The variant's own workspace stands behind the kernel's tensors, and is the interpreter's to allocate.
    std::vector<Array*> tensors = of_kernel_;
    tensors.resize(module.tensors.size(), nullptr);
    ir::TileInterpreterOptions options;
    options.device = device_functions();
    options.threads = options_.threads;
    return ir::interpret(module, symbols_, tensors, options);
  }

  // Tensors that steps exchange live until the last.
  Result<void> allocate(const ir::TileModule& module, ir::TensorId id) {
    if (of_kernel_[id.index()] != nullptr) return {};
    const ir::Tensor& tensor = module.tensors[id];
    std::vector<int64_t> shape;
    for (ir::IndexId extent : tensor.shape) {
      auto value = module.index.evaluate(extent, [&](ir::IndexId atom) -> std::optional<int64_t> {
        return symbols_[module.index[atom].reference];
      });
      if (!value)
        return fail(ErrorKind::kRefused, fmt::format("the shape of {} leaves 64 bits", tensor.name));
      shape.push_back(*value);
    }
    TENON_TRY_ASSIGN(Array array, unwritten(tensor.element, std::move(shape)));
    of_kernel_[id.index()] = &exchanged_.emplace(id, std::move(array)).first->second;
    return {};
  }

  const CompiledKernel& compiled_;
  const ir::Kernel& kernel_;
  Arrays& arrays_;
  const StageOptions& options_;
  std::vector<LaunchArgument> arguments_;
  runtime::Binding binding_;
  std::vector<int64_t> symbols_;
  // By tensor of the kernel: its memory, if it has been used.
  std::vector<Array*> of_kernel_;
  std::map<ir::TensorId, Array> exchanged_;
};

Result<std::vector<uint32_t>> run_tensor(const ir::Kernel& kernel, Arrays& arrays,
                                         const StageOptions& options) {
  std::vector<const Array*> inputs;
  for (size_t i = 0; i < arrays.size(); ++i) {
    bool given = i < kernel.parameters.size() && kernel.parameters[i].input.valid() && arrays[i];
    inputs.push_back(given ? &*arrays[i] : nullptr);
  }
  std::map<std::string, int64_t> sizes;
  for (const runtime::NamedSize& size : options.sizes) sizes[size.name] = size.value;
  TENON_TRY_ASSIGN(std::vector<int64_t> symbols, ir::bind_symbols(kernel, inputs, sizes));
  ir::InterpreterOptions interpreter;
  interpreter.contraction_is_open = false;
  interpreter.threads = options.threads;
  TENON_TRY_ASSIGN(std::vector<ir::BoundedArray> results,
                   ir::interpret(kernel, symbols, inputs, interpreter));
  for (size_t i = 0; i < results.size(); ++i)
    if (kernel.parameters[i].output.valid()) arrays[i] = std::move(results[i].values);
  return std::vector<uint32_t>{};
}

}  // namespace

Result<std::vector<uint32_t>> run_at(Stage stage, const CompiledKernel& kernel, Arrays& arrays,
                                     const StageOptions& options) {
  if (stage == Stage::kTensor) return run_tensor(kernel.kernel(), arrays, options);
  return TileRun(kernel, arrays, options).run();
}

}  // namespace tenon::api
