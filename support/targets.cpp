#include "support/targets.h"

#include <array>

namespace tenon {
namespace {

constexpr std::array kTargets = {
#define TENON_TARGET(name, sm, codegen, ptx_isa, shared_per_block, shared_per_sm, sms, async_copy, tma_wgmma) \
  Target{name, sm, codegen, ptx_isa, shared_per_block, shared_per_sm, sms, async_copy, tma_wgmma},
#include "support/targets.def"
};

// An `a` target runs on its own architecture only.
bool architecture_specific(const Target& target) { return target.name.back() == 'a'; }

}  // namespace

std::span<const Target> targets() { return kTargets; }

const Target* target_by_name(std::string_view name) {
  for (const Target& target : kTargets)
    if (target.name == name) return &target;
  return nullptr;
}

const Target* target_for_capability(unsigned sm) {
  const Target* best = nullptr;
  for (const Target& target : kTargets) {
    if (target.sm > sm || (architecture_specific(target) && target.sm != sm)) continue;
    if (best == nullptr || target.sm >= best->sm) best = &target;
  }
  return best;
}

}  // namespace tenon
