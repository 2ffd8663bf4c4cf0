#include "emulator/traffic.h"

#include <gtest/gtest.h>

#include <functional>

namespace tenon::emulator::test {
namespace {

struct Lanes {
  explicit Lanes(const std::function<uint64_t(uint64_t)>& address) {
    for (unsigned lane = 0; lane < kLanes; ++lane) addresses[lane] = address(lane);
  }
  uint64_t addresses[kLanes];
};

TEST(Traffic, Sectors) {
  const auto count = [](unsigned bytes, LaneMask mask, const std::function<uint64_t(uint64_t)>& address) {
    const Sectors sectors = count_sectors(Lanes(address).addresses, mask, bytes);
    return std::pair(sectors.touched, sectors.least);
  };
  using Pair = std::pair<uint64_t, uint64_t>;
  EXPECT_EQ(count(4, kAllLanes, [](uint64_t l) { return 4096 + 4 * l; }), Pair(4, 4));
  EXPECT_EQ(count(4, kAllLanes, [](uint64_t l) { return 4100 + 4 * l; }), Pair(5, 4));
  EXPECT_EQ(count(16, kAllLanes, [](uint64_t l) { return 4096 + 16 * (31 - l); }), Pair(16, 16));
  EXPECT_EQ(count(4, kAllLanes, [](uint64_t l) { return 4096 + 128 * l; }), Pair(32, 4));
  EXPECT_EQ(count(4, kAllLanes, [](uint64_t) { return 4096; }), Pair(1, 1));
  EXPECT_EQ(count(1, 0xFF, [](uint64_t l) { return 4096 + 2 * l; }), Pair(1, 1));
}

TEST(Traffic, Wavefronts) {
  const auto count = [](unsigned bytes, LaneMask mask, const std::function<uint64_t(uint64_t)>& address) {
    const Wavefronts wavefronts = count_wavefronts(Lanes(address).addresses, mask, bytes);
    return std::pair(wavefronts.needed, wavefronts.ideal);
  };
  using Pair = std::pair<uint64_t, uint64_t>;
  EXPECT_EQ(count(4, kAllLanes, [](uint64_t l) { return 4 * l; }), Pair(1, 1));
  EXPECT_EQ(count(4, kAllLanes, [](uint64_t l) { return 128 * l; }), Pair(32, 1));
  EXPECT_EQ(count(4, kAllLanes, [](uint64_t l) { return 8 * l; }), Pair(2, 1));
  EXPECT_EQ(count(4, kAllLanes, [](uint64_t l) { return 132 * l; }), Pair(1, 1)) << "a padded column";
  EXPECT_EQ(count(4, kAllLanes, [](uint64_t l) { return 128 * (l / 16); }), Pair(2, 1))
      << "equal words are one";
  EXPECT_EQ(count(8, kAllLanes, [](uint64_t l) { return 8 * l; }), Pair(2, 2));
  EXPECT_EQ(count(16, kAllLanes, [](uint64_t l) { return 16 * l; }), Pair(4, 4));
  EXPECT_EQ(count(16, kAllLanes, [](uint64_t l) { return 128 * l; }), Pair(32, 4));
  EXPECT_EQ(count(2, kAllLanes, [](uint64_t l) { return 2 * l; }), Pair(1, 1));
  EXPECT_EQ(count(16, 0xFF000000, [](uint64_t l) { return 16 * l; }), Pair(1, 1));
}

}  // namespace
}  // namespace tenon::emulator::test
