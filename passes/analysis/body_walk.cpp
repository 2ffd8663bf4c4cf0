#include "passes/analysis/body_walk.h"

#include "passes/analysis/body_edit.h"

namespace tenon::passes {

using ir::IndexId;
using ir::ValueId;

std::vector<ValueId> values_under(const ir::IndexPool& pool, const ir::Body& body, ValueId value,
                                  const std::function<bool(ValueId)>& known) {
  std::vector<bool> needed(value.index() + 1, false);
  needed[value.index()] = true;
  for (uint32_t i = value.index() + 1; i-- > 0;) {
    if (!needed[i] || (known && known(ValueId(i)))) continue;
    for_each_used_value(pool, body[ValueId(i)], [&](ValueId used) { needed[used.index()] = true; });
  }
  std::vector<ValueId> values;
  for (uint32_t i = 0; i <= value.index(); ++i)
    if (needed[i]) values.push_back(ValueId(i));
  return values;
}

void for_each_index(const ir::Instruction& instruction, const std::function<void(IndexId)>& visit) {
  if (instruction.index.valid()) visit(instruction.index);
  for (IndexId subscript : instruction.subscripts) visit(subscript);
}

void for_each_axis(const ir::IndexPool& pool, IndexId index, const std::function<void(ir::AxisId)>& visit) {
  pool.for_each_atom(index, [&](IndexId atom) {
    const ir::IndexNode& node = pool[atom];
    if (node.kind == ir::IndexKind::kAxis) visit(ir::AxisId(node.reference));
  });
}

}  // namespace tenon::passes
