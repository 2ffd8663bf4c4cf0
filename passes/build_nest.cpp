#include "passes/build_nest.h"

#include <utility>

#include "passes/nest/nest.h"

namespace tenon::passes {

ir::TileModule build_nest(const ir::Kernel& kernel, const ir::Group& group, const Schedule& schedule,
                          std::string name) {
  return Nest(kernel, group, schedule, std::move(name)).build();
}

}  // namespace tenon::passes
