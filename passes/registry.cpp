#include "passes/registry.h"

#include <fmt/format.h>

#include <algorithm>
#include <array>

#include "ir/tile_verifier.h"
#include "ir/verifier.h"
#include "passes/plan.h"
#include "support/check.h"

namespace tenon::passes {

namespace {

constexpr std::array kPasses = {
#define TENON_TENSOR_PASS(id, function, flag, doc) \
  Pass{#id, flag, PassStage::kTensor, PassStage::kTensor, doc, function, nullptr},
#define TENON_NEST_PASS(id, function, flag, doc) \
  Pass{#id, flag, PassStage::kTensor, PassStage::kTile, doc, nullptr, nullptr},
#define TENON_TILE_PASS(id, function, flag, doc) \
  Pass{#id, flag, PassStage::kTile, PassStage::kTile, doc, nullptr, function},
#include "passes/passes.def"
};

const VariantPlan& chosen_variant(const StepPlan& step, std::string_view name) {
  auto named = std::find_if(step.variants.begin(), step.variants.end(),
                            [&](const VariantPlan& variant) { return variant.name == name; });
  return named == step.variants.end() ? step.variants.back() : *named;
}

Result<void> build_nests(PassRun& run, const RunOptions& options) {
  if (options.target == nullptr) return fail(ErrorKind::kUsage, "build-nest needs a target");
  for (ir::Kernel& kernel : run.module.kernels) {
    bool is_grouped =
        !kernel.groups.empty() || std::all_of(kernel.ops.begin(), kernel.ops.end(),
                                              [](const ir::TensorOp& op) { return op.outputs.empty(); });
    if (!is_grouped)
      return fail(ErrorKind::kUsage, fmt::format("build-nest needs groups, and @{} has none", kernel.name));
    Plan steps = plan(kernel, *options.target);
    for (const StepPlan& step : steps.steps)
      run.tiles.push_back(build_variant(kernel, step, chosen_variant(step, options.variant)));
  }
  return {};
}

Result<void> run_one(const Pass& pass, PassRun& run, const RunOptions& options) {
  if (pass.tensor != nullptr) {
    for (ir::Kernel& kernel : run.module.kernels) pass.tensor(kernel, run.context);
  } else if (pass.tile != nullptr) {
    for (ir::TileModule& module : run.tiles) pass.tile(module, run.context);
  } else {
    TENON_TRY(build_nests(run, options));
  }
  run.stage = pass.to;
  return {};
}

std::vector<ir::Violation> violations_of(const PassRun& run) {
  if (run.stage == PassStage::kTensor) return ir::verify(run.module);
  std::vector<ir::Violation> violations;
  for (const ir::TileModule& module : run.tiles) {
    std::vector<ir::Violation> more = ir::verify(module);
    violations.insert(violations.end(), more.begin(), more.end());
  }
  return violations;
}

}  // namespace

std::string_view name(PassStage stage) { return stage == PassStage::kTensor ? "tensor" : "tile"; }

std::span<const Pass> all_passes() { return kPasses; }

const Pass* pass_by_flag(std::string_view flag) {
  auto pass = std::find_if(kPasses.begin(), kPasses.end(), [&](const Pass& row) { return row.flag == flag; });
  return pass == kPasses.end() ? nullptr : &*pass;
}

Result<void> run_passes(PassRun& run, std::span<const std::string_view> flags, const RunOptions& options) {
  run.context.target = options.target;
  for (std::string_view flag : flags) {
    const Pass* pass = pass_by_flag(flag);
    if (pass == nullptr) return fail(ErrorKind::kUsage, fmt::format("there is no pass {}", flag));
    if (pass->from != run.stage) {
      return fail(ErrorKind::kUsage, fmt::format("{} works on {} IR, but stands where the program is {} IR",
                                                 flag, name(pass->from), name(run.stage)));
    }
    TENON_TRY(run_one(*pass, run, options));
    if (options.after) options.after(*pass, run);
    if (!options.verify_each) continue;
    std::vector<ir::Violation> violations = violations_of(run);
    if (!violations.empty())
      return fail(ErrorKind::kMachine, fmt::format("after {}: {}", flag, ir::to_text(violations)));
  }
  return {};
}

}  // namespace tenon::passes
