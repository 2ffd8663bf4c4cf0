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

namespace {

// The distinct words that a group of lanes takes from each bank.
class Banks {
 public:
  Banks() {
    for (uint8_t& head : heads_) head = kNone;
  }

  void add(uint64_t word) {
    const auto bank = static_cast<size_t>(word % kBanks);
    unsigned depth = 1;
    for (uint8_t entry = heads_[bank]; entry != kNone; entry = next_[entry], ++depth) {
      if (words_[entry] == word) return;
    }
    words_[count_] = word;
    next_[count_] = heads_[bank];
    heads_[bank] = count_++;
    most_ = std::max(most_, depth);
  }

  unsigned distinct_words() const { return count_; }
  // Of the fullest bank.
  unsigned most() const { return most_; }

 private:
  static constexpr uint8_t kNone = 0xFF;
  // A group takes 128 bytes at most, so 32 words, or 64 where lanes are wider than that.
  uint64_t words_[64];
  uint8_t next_[64];
  uint8_t heads_[kBanks];
  uint8_t count_ = 0;
  unsigned most_ = 0;
};

}  // namespace

Wavefronts count_wavefronts(const uint64_t* addresses, LaneMask mask, unsigned bytes) {
  Wavefronts result;
  const unsigned words = bytes <= 4 ? 1 : bytes / 4;
  const unsigned group_lanes = std::max(1u, kLanes / words);
  for (unsigned start = 0; start < kLanes; start += group_lanes) {
    const LaneMask lanes = group_lanes == kLanes ? kAllLanes : ((LaneMask{1} << group_lanes) - 1) << start;
    if ((mask & lanes) == 0) continue;
    Banks banks;
    for (LaneMask rest = mask & lanes; rest != 0; rest &= rest - 1) {
      const uint64_t address = addresses[std::countr_zero(rest)];
      for (unsigned word = 0; word < words; ++word) banks.add(address / 4 + word);
    }
    uint64_t distinct_bytes = uint64_t{banks.distinct_words()} * 4;
    if (bytes < 4) {
      uint64_t sorted[kLanes];
      distinct_bytes = uint64_t{distinct(addresses, mask & lanes, sorted)} * bytes;
    }
    result.needed += banks.most();
    result.ideal += ceil_divide(distinct_bytes, 4 * kBanks);
  }
  return result;
}

}  // namespace tenon::emulator
