// Whether a schedule fits its group: what build-nest relies on. Families propose only what does; what a user
// pins is looked at first.
#pragma once

#include <optional>
#include <string>
#include <vector>

#include "passes/families/family.h"
#include "passes/schedule.h"

namespace tenon::passes {

struct ScheduleProblem {
  enum class Part : uint8_t { kWhole, kDim, kStaged };
  Part part = Part::kWhole;
  // Of the schedule's dims or staged reads.
  size_t index = 0;
  std::string text;
};

// The first reason why the schedule gives wrong values or no code at all; `required_guard` says for which
// sizes.
std::optional<ScheduleProblem> find_mistake(const GroupInfo& info, const Schedule& schedule);

// The first reason why nobody should want to run it: more shared memory than a block of the target has, or
// more unrolled code than a thread can hold and LLVM take in reasonable time.
std::optional<ScheduleProblem> find_excess(const GroupInfo& info, const Schedule& schedule);

// What it leaves idle or overfills.
std::vector<ScheduleProblem> find_waste(const GroupInfo& info, const Schedule& schedule);

// The sizes that the schedule can run, as a condition over symbols.
ir::IndexId required_guard(ir::Kernel& kernel, const Schedule& schedule);

}  // namespace tenon::passes
