// What a user says about schedules, put into what the families propose.
#pragma once

#include <string>
#include <vector>

#include "passes/families/family.h"
#include "passes/schedule_text.h"
#include "support/diagnostics.h"

namespace tenon::passes {

// The proposals that can take the pins, with them: what a dimension, a field or a copy is not said about
// stays as it was proposed, or is made to fit. Warps that are not pinned are as many as the dimensions have;
// pinned ones are taken from or given to the dimensions that are not.
//
// A proposal that is changed loses its name, one that becomes equal to a later one is dropped, and the last
// one takes every size that its schedule can run. Where no proposal can take the pins the reason for the
// first is reported, and nothing is returned.
std::vector<Proposal> pinned_proposals(const GroupInfo& info, const std::vector<Proposal>& proposals,
                                       const SchedulePins::Step& pins, Diagnostics& diagnostics);

}  // namespace tenon::passes
