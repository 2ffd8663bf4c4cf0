// Choices of the generator: the same ones for a seed, on every machine.
#pragma once

#include <cstddef>
#include <cstdint>
#include <iterator>

#include "support/array_fill.h"

namespace tenon::fuzz {

class Random {
 public:
  explicit Random(uint64_t seed) : seed_(seed) {}

  // Less than `bound`, which is not 0.
  size_t below(size_t bound) { return random_bits(seed_, 0x66757A7A, counter_++) % bound; }
  bool chance(unsigned percent) { return below(100) < percent; }
  template <class Range>
  const auto& pick(const Range& range) {
    return *std::next(std::begin(range), static_cast<ptrdiff_t>(below(std::size(range))));
  }

 private:
  uint64_t seed_;
  uint64_t counter_ = 0;
};

}  // namespace tenon::fuzz
