// Sizes for a launch whose caller does not care: the command's defaults, and shapes for tests.
#pragma once

#include <array>
#include <cstdint>
#include <optional>
#include <span>
#include <vector>

#include "runtime/program.h"
#include "support/result.h"

namespace tenon::runtime {

inline constexpr std::array<int64_t, 12> kSmallSizes = {8, 4, 16, 2, 1, 3, 32, 64, 128, 256, 512, 1024};

// A value for every symbol, by index: what `known` has at that index (it may be shorter), what was fixed when
// compiling, and for the others the first of `candidates`, earlier symbols changing slowest, with which every
// clause holds, no tensor is empty and none has more than 2^24 elements. A symbol of a scalar parameter takes
// only values of its type. kUsage where a bounded search finds nothing.
Result<std::vector<int64_t>> choose_sizes(const Program& program,
                                          std::span<const std::optional<int64_t>> known = {},
                                          std::span<const int64_t> candidates = kSmallSizes);

}  // namespace tenon::runtime
