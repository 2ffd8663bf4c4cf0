#include "passes/pipeline.h"

#include <array>
#include <utility>

#include "passes/registry.h"

namespace tenon::passes {
namespace {

constexpr std::array<std::string_view, 10> kTensorPasses = {
    "contract-fma",       "fold", "cse",          "inline", "fold", "cse",
    "sibling-reductions", "dce",  "inout-copies", "group",
};

}  // namespace

std::span<const std::string_view> tensor_pipeline() { return kTensorPasses; }

std::vector<Remark> run_tensor_passes(ir::Kernel& kernel) {
  PassContext context;
  for (std::string_view flag : kTensorPasses) pass_by_flag(flag)->tensor(kernel, context);
  return std::move(context.remarks);
}

}  // namespace tenon::passes
