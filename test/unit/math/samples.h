// Arguments to test functions of floats with.
#pragma once

#include <array>
#include <cstdint>
#include <vector>

#include "support/functions.h"

namespace tenon::test {

// The same sequence on every machine (splitmix64).
class Random {
 public:
  explicit Random(uint64_t seed) : state_(seed) {}
  uint64_t next();
  uint32_t bits32() { return static_cast<uint32_t>(next() >> 32); }
  float any_float();
  // In [low, high).
  double uniform(double low, double high);

 private:
  uint64_t state_;
};

// Zeros, ones, infinities, NaN, the ends of normal and denormal numbers, integers around 2^23 and 2^24, of
// both signs.
std::vector<float> special_floats();

// `count` floats from each of the 512 binades of both signs (denormals included), their ends always among
// them.
std::vector<float> floats_of_all_exponents(unsigned count, uint64_t seed);

// Arguments where this function is hard: its zeros, poles, borders of under- and overflow, the points where
// an expansion changes its formula; `radius` floats to each side of each.
std::vector<float> hard_floats(FunctionId id, int radius);

// Pairs for functions of two operands: all pairs of special floats, random bits, and for pow exponents that
// bring the result everywhere between underflow and overflow.
std::vector<std::array<float, 2>> float_pairs(FunctionId id, unsigned count, uint64_t seed);

}  // namespace tenon::test
