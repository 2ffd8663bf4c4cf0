#include <array>
#include <iterator>
#include <string>
#include <string_view>
#include <utility>

#include "ir/tile_printer.h"
#include "ir/tile_verifier.h"
#include "passes/build_nest.h"
#include "passes/plan.h"
#include "passes/registry.h"
#include "passes/split.h"
#include "support/check.h"

namespace tenon::passes {
namespace {

// Bytes of the widest access to memory.
constexpr int64_t kWidestAccess = 16;

constexpr std::array<std::string_view, 8> kTilePasses = {
    "bound-loops", "fuse-products", "assign-layouts",  "vectorize",
    "plan-async",  "lower-async",   "allocate-shared", "place-barriers",
};

void check(const ir::TileModule& module, std::string_view pass) {
  DoingScope doing("verifying what " + std::string(pass) + " made", [&] { return ir::print(module); });
  std::string violations = ir::to_text(ir::verify(module));
  TENON_CHECK(violations.empty(), violations);
}

// With what the guard promises, which build-nest uses already.
ir::TileModule promising_module(const ir::Kernel& kernel, const std::string& name,
                                const VariantPlan& variant) {
  ir::TileModule module = ir::make_tile_module(kernel, name);
  module.divisible = variant.divisible;
  module.bounded = variant.bounded;
  return module;
}

}  // namespace

ir::TileModule build_variant(const ir::Kernel& kernel, const StepPlan& step, const VariantPlan& variant) {
  const ir::Group& group = kernel.groups[step.group];
  std::string name = group.name + "." + variant.name;
  ir::TileModule module;
  if (variant.schedule.splits()) {
    SplitGroup split = split_group(kernel, group, variant.schedule);
    module = promising_module(split.kernel, name, variant);
    for (const SplitLaunch& launch : split.launches)
      build_nest(module, split.kernel, launch.group, launch.schedule, name + launch.suffix,
                 launch.states ? &*launch.states : nullptr);
  } else {
    module = promising_module(kernel, name, variant);
    build_nest(module, kernel, group, variant.schedule, name);
  }
  for (ir::TileKernel& launch : module.kernels) launch.narrow_index = variant.narrow_index;
  for (const auto& [tensor, bytes] : variant.aligned) module.tensor_alignment[tensor] = bytes;
  // A variant's own workspace starts where every access may.
  for (uint32_t own = kernel.tensors.size(); own < module.tensors.size(); ++own)
    module.tensor_alignment[ir::TensorId(own)] = kWidestAccess;
  return module;
}

ir::TileModule lower_variant(const ir::Kernel& kernel, const StepPlan& step, const VariantPlan& variant,
                             const Target& target, const LowerOptions& options) {
  ir::TileModule module = build_variant(kernel, step, variant);
  if (options.verify_each) check(module, "build-nest");
  PassContext context{.target = &target, .remarks = {}};
  for (std::string_view flag : kTilePasses) {
    pass_by_flag(flag)->tile(module, context);
    if (options.verify_each) check(module, flag);
  }
  if (options.remarks != nullptr)
    std::move(context.remarks.begin(), context.remarks.end(), std::back_inserter(*options.remarks));
  return module;
}

}  // namespace tenon::passes
