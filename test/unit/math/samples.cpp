#include "samples.h"

#include <bit>
#include <cmath>
#include <limits>
#include <numbers>

namespace tenon::test {
namespace {

void add_neighbourhood(std::vector<float>& out, float centre, int radius) {
  auto bits = std::bit_cast<uint32_t>(centre);
  for (int k = -radius; k <= radius; ++k) {
    float x = std::bit_cast<float>(bits + static_cast<uint32_t>(k));
    if (!std::isfinite(x)) continue;
    out.push_back(x);
    out.push_back(-x);
  }
}

std::vector<float> hard_centres(FunctionId id) {
  switch (id) {
    case FunctionId::kExp:
      return {1.0f, 0.34657359f, 88.7228394f, 87.3365448f, 103.972076f, 103.278931f};
    case FunctionId::kExp2:
      return {0.5f, 1.0f, 127.5f, 126.0f, 149.0f, 150.0f};
    case FunctionId::kExpm1:
      return {0.34657359f, 1.03972077f, 17.328680f, 25.0f, 88.0297f, 88.7228394f};
    case FunctionId::kLog:
    case FunctionId::kLog2:
      return {1.0f, 0.6666667f, 1.3333334f, 2.0f, 0x1p-126f, 0x1p-127f, 0.5f};
    case FunctionId::kLog1p:
      return {0x1p-24f, 0x1p-25f, 0.3333333f, 0.5f, 1.0f, 1.6666666f};
    case FunctionId::kTanh:
      return {0.55f, 9.01f, 0x1p-13f};
    case FunctionId::kSinh:
      return {1.0f, 88.7228394f, 89.4159851f};
    case FunctionId::kCosh:
      return {0.34657359f, 88.7228394f, 89.4159851f};
    case FunctionId::kErf:
      return {0.875f, 3.9192059f, 4.0f, 1e-20f};
    case FunctionId::kAsin:
    case FunctionId::kAcos:
      return {0.5f, 0.56f, 1.0f, 0.70710678f};
    case FunctionId::kAtan:
      return {1.0f, 0x1p126f, 0x1p24f};
    default:
      return {};
  }
}

}  // namespace

uint64_t Random::next() {
  uint64_t z = state_ += 0x9E3779B97F4A7C15;
  z = (z ^ (z >> 30)) * 0xBF58476D1CE4E5B9;
  z = (z ^ (z >> 27)) * 0x94D049BB133111EB;
  return z ^ (z >> 31);
}

float Random::any_float() { return std::bit_cast<float>(bits32()); }

double Random::uniform(double low, double high) {
  return low + (high - low) * (static_cast<double>(next() >> 11) * 0x1p-53);
}

std::vector<float> special_floats() {
  std::vector<float> magnitudes = {0.0f,
                                   1.0f,
                                   0x1p-149f,
                                   0x1.fffffcp-127f,
                                   0x1p-126f,
                                   0x1.fffffep127f,
                                   0.5f,
                                   2.0f,
                                   3.0f,
                                   2.5f,
                                   1e20f,
                                   0x1.fffffep-1f,
                                   0x1.000002p0f,
                                   8388607.0f,
                                   8388609.0f,
                                   16777215.0f,
                                   16777216.0f,
                                   33554436.0f,
                                   std::numeric_limits<float>::infinity(),
                                   std::numeric_limits<float>::quiet_NaN()};
  std::vector<float> out;
  for (float x : magnitudes) {
    out.push_back(x);
    out.push_back(-x);
  }
  return out;
}

std::vector<float> floats_of_all_exponents(unsigned count, uint64_t seed) {
  Random random(seed);
  std::vector<float> out;
  for (uint32_t field = 0; field < 512; ++field) {
    for (unsigned k = 0; k < count; ++k) {
      uint32_t fraction = k == 0 ? 0 : k == 1 ? 0x7FFFFF : random.bits32() & 0x7FFFFF;
      out.push_back(std::bit_cast<float>(field << 23 | fraction));
    }
  }
  return out;
}

std::vector<float> hard_floats(FunctionId id, int radius) {
  std::vector<float> out;
  for (float centre : hard_centres(id)) add_neighbourhood(out, centre, radius);
  if (id != FunctionId::kSin && id != FunctionId::kCos && id != FunctionId::kTan) return out;
  // Multiples of pi/4 and, from Kahan's program, floats very close to multiples of pi/2.
  add_neighbourhood(out, 0x1p16f, radius);
  for (float close :
       {16367173.0f * 0x1p72f, 0x1.f0a5d4p+118f, 0x1.47d0fep+34f, 0x1.f9cbe2p+7f, 0x1.ddebdep+120f})
    add_neighbourhood(out, close, 16);
  for (int k = 1; k < 100000; k += k < 200 ? 1 : 37)
    add_neighbourhood(out, static_cast<float>(k * (std::numbers::pi / 4)), 1);
  return out;
}

std::vector<std::array<float, 2>> float_pairs(FunctionId id, unsigned count, uint64_t seed) {
  std::vector<std::array<float, 2>> out;
  for (float x : special_floats())
    for (float y : special_floats()) out.push_back({x, y});
  Random random(seed);
  for (unsigned k = 0; k < count; ++k) {
    out.push_back({random.any_float(), random.any_float()});
    if (id != FunctionId::kPow) {
      out.push_back({static_cast<float>(random.uniform(-1, 1)), static_cast<float>(random.uniform(-1, 1))});
      continue;
    }
    // Around the borders of the reduced range, near 1, and anywhere.
    float bases[] = {
        std::bit_cast<float>(random.bits32() % 0x7F800000), static_cast<float>(random.uniform(0.65, 0.75)),
        static_cast<float>(random.uniform(1.35, 1.45)), static_cast<float>(random.uniform(0.999, 1.001))};
    for (float x : bases) {
      double logarithm = std::log2(static_cast<double>(x));
      if (logarithm != 0) out.push_back({x, static_cast<float>(random.uniform(-151, 129) / logarithm)});
    }
    out.push_back({-bases[0], static_cast<float>(static_cast<int>(random.bits32() % 41) - 20)});
  }
  return out;
}

}  // namespace tenon::test
