#include "passes/analysis/conjuncts.h"

namespace tenon::passes {

std::vector<ir::IndexId> conjuncts(const ir::IndexPool& pool, ir::IndexId guard) {
  std::vector<ir::IndexId> conditions;
  std::vector<ir::IndexId> work{guard};
  while (!work.empty()) {
    ir::IndexId next = work.back();
    work.pop_back();
    const ir::IndexNode& node = pool[next];
    if (pool.is_constant(next, 1)) continue;
    if (node.kind == ir::IndexKind::kAnd) {
      work.push_back(node.b);
      work.push_back(node.a);
    } else {
      conditions.push_back(next);
    }
  }
  return conditions;
}

}  // namespace tenon::passes
