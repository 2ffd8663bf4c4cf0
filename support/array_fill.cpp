#include "support/array_fill.h"

#include <cstring>

namespace tenon {
namespace {

constexpr uint64_t kGoldenGamma = 0x9E3779B97F4A7C15;

// The finaliser of SplitMix64: a bijection of 64 bits whose output bits all depend on all input bits.
uint64_t mix(uint64_t x) {
  x = (x ^ (x >> 30)) * 0xBF58476D1CE4E5B9;
  x = (x ^ (x >> 27)) * 0x94D049BB133111EB;
  return x ^ (x >> 31);
}

// Uniform in [-1, 1), a multiple of 2^(1-bits).
double uniform(uint64_t random, unsigned bits) {
  double steps = static_cast<double>(uint64_t{1} << (bits - 1));
  return static_cast<double>(random >> (64 - bits)) / steps - 1.0;
}

template <class Value>
void fill_each(Array& array, Value value) {
  for (int64_t i = 0; i < array.element_count(); ++i) {
    if constexpr (std::is_same_v<decltype(value(i)), double>)
      array.set_double(i, value(i));
    else
      array.set_int64(i, value(i));
  }
}

}  // namespace

uint64_t random_bits(uint64_t seed, uint64_t stream, uint64_t counter) {
  uint64_t start = mix(seed + kGoldenGamma) ^ mix(stream);
  return mix(start + (counter + 1) * kGoldenGamma);
}

uint64_t random_stream(std::string_view name) {
  uint64_t hash = 0xCBF29CE484222325;
  for (unsigned char c : name) hash = (hash ^ c) * 0x100000001B3;
  return hash;
}

void fill_random(Array& array, uint64_t seed, uint64_t stream) {
  switch (kind(array.type())) {
    case ElementKind::kFloat: {
      unsigned bits = array.type() == ElementType::kF64 ? 53 : 24;
      return fill_each(array, [&](int64_t i) { return uniform(random_bits(seed, stream, i), bits); });
    }
    case ElementKind::kSigned:
      return fill_each(array, [&](int64_t i) { return int64_t(random_bits(seed, stream, i) >> 56) - 128; });
    case ElementKind::kUnsigned:
      return fill_each(array, [&](int64_t i) { return int64_t(random_bits(seed, stream, i) >> 56); });
    case ElementKind::kBool:
      return fill_each(array, [&](int64_t i) { return int64_t(random_bits(seed, stream, i) >> 63); });
  }
}

void fill_small_integers(Array& array, uint64_t seed, uint64_t stream) {
  // The high half scaled by the number of values: no value is more likely than another by more than 2^-29.
  auto below = [&](int64_t i, uint64_t values) {
    return static_cast<int64_t>(((random_bits(seed, stream, i) >> 32) * values) >> 32);
  };
  switch (kind(array.type())) {
    case ElementKind::kFloat:
    case ElementKind::kSigned:
      return fill_each(array, [&](int64_t i) { return below(i, 9) - 4; });
    case ElementKind::kUnsigned:
      return fill_each(array, [&](int64_t i) { return below(i, 9); });
    case ElementKind::kBool:
      return fill_each(array, [&](int64_t i) { return below(i, 2); });
  }
}

void fill_iota(Array& array) {
  fill_each(array, [](int64_t i) { return i; });
}

void fill_constant(Array& array, double value) {
  fill_each(array, [=](int64_t) { return value; });
}

void fill_constant(Array& array, int64_t value) {
  fill_each(array, [=](int64_t) { return value; });
}

void fill_poison(Array& array) { std::memset(array.bytes().data(), 0xFF, array.bytes().size()); }

}  // namespace tenon
