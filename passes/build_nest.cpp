#include "passes/build_nest.h"

#include <utility>

#include "passes/nest/nest.h"

namespace tenon::passes {

void build_nest(ir::TileModule& module, const ir::Kernel& kernel, const ir::Group& group,
                const Schedule& schedule, std::string name, const PartialStates* states) {
  Nest(module, kernel, group, schedule, states).build(std::move(name));
}

}  // namespace tenon::passes
