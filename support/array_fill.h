// Values to fill a tensor with. Random ones come from a counter: element i of a tensor depends only on the
// seed, the stream and i, so they are the same on every machine and in any order of evaluation.
#pragma once

#include <cstdint>
#include <string_view>

#include "support/array.h"

namespace tenon {

// 64 random bits: SplitMix64 (Steele, Lea, Flood: "Fast splittable pseudorandom number generators", OOPSLA
// 2014) at position `counter` of the sequence whose start is a hash of seed and stream.
uint64_t random_bits(uint64_t seed, uint64_t stream, uint64_t counter);

// A stream number for a name, so that each parameter of a kernel has values of its own (FNV-1a, 64 bits).
uint64_t random_stream(std::string_view name);

// Floats: uniform in [-1, 1) with 24 random bits (f64: 53), rounded to the type (so the narrow ones may reach
// 1). Signed integers: uniform in -128..127. Unsigned: 0..255. Bool: a fair coin.
void fill_random(Array& array, uint64_t seed, uint64_t stream);

// Integers in -4..4 for every type (0..8 for unsigned ones, 0 and 1 for bool): sums and products of few
// thousand of them are exact in f32, so every order gives the same bits.
void fill_small_integers(Array& array, uint64_t seed, uint64_t stream);

// 0, 1, 2, ... in row-major order, converted to the type (integers wrap, floats round).
void fill_iota(Array& array);

void fill_constant(Array& array, double value);
void fill_constant(Array& array, int64_t value);

// The bytes 0xFF repeated: a NaN in every float type, -1 in the signed ones. For outputs that a kernel must
// write.
void fill_poison(Array& array);

}  // namespace tenon
