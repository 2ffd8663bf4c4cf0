// How many transactions a warp's memory request needs.
#pragma once

#include <cstdint>

#include "emulator/program.h"

namespace tenon::emulator {

inline constexpr uint64_t kSectorBytes = 32;
inline constexpr uint64_t kBanks = 32;

struct Sectors {
  // Distinct 32-byte sectors of the request.
  uint64_t touched = 0;
  // What its distinct bytes need when contiguous and aligned.
  uint64_t least = 0;
};
// The lanes of `mask` access `bytes` at their addresses, a power of two and aligned to it.
Sectors count_sectors(const uint64_t* addresses, LaneMask mask, unsigned bytes);

struct Wavefronts {
  // Passes over the banks: lanes are served together in groups of 128 bytes, and each bank gives one word a
  // pass.
  uint64_t needed = 0;
  // The distinct bytes of each group over 128, rounded up.
  uint64_t ideal = 0;
};
Wavefronts count_wavefronts(const uint64_t* addresses, LaneMask mask, unsigned bytes);

}  // namespace tenon::emulator
