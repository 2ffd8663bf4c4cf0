// Tests under a sanitizer take ten times as long, and look for other mistakes: those of memory, arithmetic
// and threads, which a path shows at whichever size it is walked.
#pragma once

#include <cstddef>

#if __has_feature(address_sanitizer) || __has_feature(thread_sanitizer)
#define TENON_THIN true
#else
#define TENON_THIN false
#endif

namespace tenon {

// Whether sweeps over sizes, seeds and values take a selection: every kind of size, every variant at least
// once.
inline constexpr bool kThin = TENON_THIN;

// Of `count` trials, how many are made.
constexpr int thinned(int count, int thin) { return kThin ? thin : count; }

}  // namespace tenon
