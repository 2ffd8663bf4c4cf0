#include "frontend/check/instance.h"

#include <algorithm>
#include <span>

#include "ir/index_text.h"

namespace tenon::frontend {

bool FunctionTable::add(FunctionRef function) {
  const std::string_view name = function->signature.name.text;
  if (!functions_.emplace(name, function).second) return false;
  names_.push_back(name);
  return true;
}

const FunctionRef* FunctionTable::find(std::string_view name) const {
  auto found = functions_.find(name);
  return found == functions_.end() ? nullptr : &found->second;
}

std::string counted(size_t count, std::string_view noun) {
  return fmt::format("{} {}{}", count, noun, count == 1 ? "" : "s");
}

bool is_shapeless(const Module& module, const Function& function) {
  auto scalar = [](const Param& param) { return param.type.scalar(); };
  return std::ranges::all_of(function.signature.params, scalar) &&
         std::ranges::all_of(function.signature.results, scalar);
}

std::string Instance::unique_name(std::string_view name) {
  auto [entry, is_new] = taken_names_.try_emplace(std::string(name), 0);
  if (is_new) return std::string(name);
  // The number stays where it is while the table grows.
  unsigned& suffix = entry->second;
  for (;;) {
    std::string candidate = fmt::format("{}.{}", name, ++suffix);
    if (taken_names_.try_emplace(candidate, 0).second) return candidate;
  }
}

ir::TensorId Instance::add_tensor(std::string_view name, ElementType element, ir::IndexList shape,
                                  ir::Tensor::Role role, Span span) {
  ir::Tensor tensor;
  tensor.name = unique_name(name);
  tensor.element = element;
  tensor.shape = std::move(shape);
  tensor.role = role;
  tensor.span = span;
  return kernel.tensors.add(std::move(tensor));
}

ir::AxisId Instance::add_axis(std::string_view name, ir::IndexId extent, AxisRange range) {
  const ir::AxisId axis = kernel.axes.add({std::string(name), extent});
  axis_ranges[axis] = range;
  return axis;
}

std::string Instance::text(ir::IndexId index) const {
  return ir::index_text(kernel.index, index, [&](const ir::IndexNode& atom) -> std::string {
    switch (atom.kind) {
      case ir::IndexKind::kSymbol:
        return kernel.symbols[ir::SymbolId(atom.reference)].name;
      case ir::IndexKind::kAxis:
        return kernel.axes[ir::AxisId(atom.reference)].name;
      default:
        return "value";
    }
  });
}

std::string Instance::shape_text(std::span<const ir::IndexId> shape) const {
  if (shape.empty()) return "a scalar";
  std::string result = "[";
  for (ir::IndexId dimension : shape) {
    if (result.size() > 1) result += ", ";
    result += text(dimension);
  }
  return result + "]";
}

ir::IndexId Instance::index_op(ir::Opcode op, ir::IndexId a, ir::IndexId b) {
  ir::IndexPool& pool = kernel.index;
  const size_t a_terms = pool.terms(a).size();
  const size_t b_terms = pool.terms(b).size();
  const size_t size = op == ir::Opcode::kMul ? a_terms * b_terms : a_terms + b_terms;
  const bool nests =
      op == ir::Opcode::kDiv || op == ir::Opcode::kRem || op == ir::Opcode::kMin || op == ir::Opcode::kMax;
  const uint16_t a_depth = index_depth_[a];
  const uint16_t b_depth = index_depth_[b];
  const auto depth = static_cast<uint16_t>(std::max(a_depth, b_depth) + (nests ? 1 : 0));
  if (size > kMaxMonomials || depth > kMaxIndexDepth) return {};
  const ir::IndexId result = [&] {
    switch (op) {
      case ir::Opcode::kAdd:
        return pool.add(a, b);
      case ir::Opcode::kSub:
        return pool.sub(a, b);
      case ir::Opcode::kMul:
        return pool.mul(a, b);
      case ir::Opcode::kDiv:
        return pool.floor_div(a, b);
      case ir::Opcode::kRem:
        return pool.floor_mod(a, b);
      case ir::Opcode::kMin:
        return pool.min(a, b);
      case ir::Opcode::kMax:
        return pool.max(a, b);
      default:
        return ir::IndexId();
    }
  }();
  if (pool.overflowed()) return {};
  uint16_t& known_depth = index_depth_[result];
  known_depth = std::max(known_depth, depth);
  return result;
}

}  // namespace tenon::frontend
