#include "passes/allocate_shared.h"
#include "passes/assign_layouts.h"
#include "passes/build_nest.h"
#include "passes/fuse_products.h"
#include "passes/place_barriers.h"
#include "passes/plan.h"
#include "passes/vectorize.h"

namespace tenon::passes {

ir::TileModule build_variant(const ir::Kernel& kernel, const StepPlan& step, const VariantPlan& variant) {
  const ir::Group& group = kernel.groups[step.group];
  ir::TileModule module = build_nest(kernel, group, variant.schedule, group.name + "." + variant.name);
  for (ir::TileKernel& launch : module.kernels) launch.narrow_index = variant.narrow_index;
  module.divisible = variant.divisible;
  for (const auto& [tensor, bytes] : variant.aligned) module.tensor_alignment[tensor] = bytes;
  return module;
}

ir::TileModule lower_variant(const ir::Kernel& kernel, const StepPlan& step, const VariantPlan& variant,
                             const Target& target) {
  ir::TileModule module = build_variant(kernel, step, variant);
  fuse_products(module);
  assign_layouts(module);
  vectorize(module);
  allocate_shared(module);
  place_barriers(module);
  return module;
}

}  // namespace tenon::passes
