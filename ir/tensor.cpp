#include "ir/tensor.h"

#include <algorithm>

#include "ir/index_text.h"

namespace tenon::ir {

bool by_value(const Kernel& kernel, TensorId tensor) {
  if (!kernel.tensors[tensor].scalar_input()) return false;
  return std::ranges::none_of(kernel.parameters, [&](const Parameter& parameter) {
    return parameter.inout() && parameter.input == tensor;
  });
}

IndexId element_count(Kernel& kernel, std::span<const IndexId> shape) {
  IndexId count = kernel.index.constant(1);
  for (IndexId extent : shape) count = kernel.index.mul(count, extent);
  return count;
}

std::string size_text(const Kernel& kernel, IndexId size) {
  return index_text(kernel.index, size, [&](const IndexNode& atom) {
    return atom.kind == IndexKind::kSymbol ? kernel.symbols[SymbolId(atom.reference)].name : std::string("?");
  });
}

SideTable<Tensor, TensorOpId> defining_ops(const Kernel& kernel) {
  SideTable<Tensor, TensorOpId> table(kernel.tensors.size());
  for (uint32_t i = 0; i < kernel.ops.size(); ++i)
    for (const OpOutput& output : kernel.ops[TensorOpId(i)].outputs) table[output.tensor] = TensorOpId(i);
  return table;
}

}  // namespace tenon::ir
