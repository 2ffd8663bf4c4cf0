// Sizes for a run that does not give them all.
#pragma once

#include <cstdint>
#include <optional>
#include <vector>

#include "runtime/program.h"
#include "support/result.h"

namespace tenon::tools {

// By symbol index: what is known, from shapes, `--set` and scalars.
using KnownSizes = std::vector<std::optional<int64_t>>;

// Completes `known` with small sizes for which every clause holds and no shape is negative: different ones
// for different names where that is possible, so that a program that mixes up its axes shows it. A bounded
// search in a fixed order, so the same program always gets the same sizes. Fails (kUsage) with the clauses
// where it finds none. Sizes that are all known come back unchecked: the launch says better what does not
// fit.
Result<std::vector<int64_t>> complete_sizes(const runtime::Program& program, const KnownSizes& known);

}  // namespace tenon::tools
