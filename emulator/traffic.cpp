#include "emulator/traffic.h"

#include <algorithm>
#include <bit>

namespace tenon::emulator {
namespace {

// The addresses of the lanes in `mask`, ascending and without duplicates.
unsigned distinct(const uint64_t* addresses, LaneMask mask, uint64_t (&sorted)[kLanes]) {
  unsigned count = 0;
  bool ascending = true;
  for (; mask != 0; mask &= mask - 1) {
    const uint64_t address = addresses[std::countr_zero(mask)];
    if (count > 0 && address == sorted[count - 1]) continue;
    ascending &= count == 0 || address > sorted[count - 1];
    sorted[count++] = address;
  }
  if (ascending) return count;
  std::sort(sorted, sorted + count);
  return static_cast<unsigned>(std::unique(sorted, sorted + count) - sorted);
}

uint64_t ceil_divide(uint64_t a, uint64_t b) { return (a + b - 1) / b; }

}  // namespace

Sectors count_sectors(const uint64_t* addresses, LaneMask mask, unsigned bytes) {
  uint64_t sorted[kLanes];
  const unsigned count = distinct(addresses, mask, sorted);
  Sectors result;
  uint64_t next = 0;
  for (unsigned i = 0; i < count; ++i) {
    const uint64_t first = std::max(sorted[i] / kSectorBytes, next);
    const uint64_t end = (sorted[i] + bytes - 1) / kSectorBytes + 1;
    if (end > first) result.touched += end - first;
    next = std::max(next, end);
  }
  result.least = ceil_divide(uint64_t{count} * bytes, kSectorBytes);
  return result;
}

Wavefronts count_wavefronts(const uint64_t* addresses, LaneMask mask, unsigned bytes) {
  Wavefronts result;
  const unsigned words = bytes <= 4 ? 1 : bytes / 4;
  const unsigned group_lanes = std::max(1u, kLanes / words);
  for (unsigned start = 0; start < kLanes; start += group_lanes) {
    const LaneMask lanes = group_lanes == kLanes ? kAllLanes : ((LaneMask{1} << group_lanes) - 1) << start;
    if ((mask & lanes) == 0) continue;
    uint64_t sorted[kLanes];
    const unsigned count = distinct(addresses, mask & lanes, sorted);
    uint8_t in_bank[kBanks] = {};
    uint64_t last_word = UINT64_MAX;
    unsigned most = 0;
    for (unsigned i = 0; i < count; ++i) {
      for (unsigned word = 0; word < words; ++word) {
        const uint64_t index = sorted[i] / 4 + word;
        // Accesses below a word share it.
        if (index == last_word) continue;
        last_word = index;
        most = std::max<unsigned>(most, ++in_bank[index % kBanks]);
      }
    }
    result.needed += most;
    result.ideal += ceil_divide(uint64_t{count} * bytes, 4 * kBanks);
  }
  return result;
}

}  // namespace tenon::emulator
