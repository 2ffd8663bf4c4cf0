#include "passes/analysis/index_bounds.h"

#include <gtest/gtest.h>

#include "ir/tile_builder.h"

namespace tenon::passes {
namespace {

using ir::IndexId;

class IndexBounds : public testing::Test {
 protected:
  IndexBounds() {
    n_ = pool().symbol(module_.symbols.add({"N", ir::Symbol::Kind::kDimension}));
    offset_ = pool().symbol(module_.symbols.add({"offset", ir::Symbol::Kind::kScalar}));
    tile_ = module_.axes.add({"t", ir::TileAxis::Kind::kTile, 64, {}});
    t_ = pool().axis(tile_);
  }

  ir::IndexPool& pool() { return module_.index; }
  IndexId number(int64_t value) { return pool().constant(value); }
  std::optional<int64_t> least(IndexId index) { return least_value(module_, index, interval()); }
  bool ordered(IndexId a, IndexId b) { return never_above(module_, a, b, interval()); }
  AxisInterval interval() {
    return [this](ir::AxisId axis) -> std::optional<Interval> {
      return axis == tile_ ? std::optional(Interval{0, 63}) : std::nullopt;
    };
  }

  ir::TileModule module_;
  IndexId n_, offset_, t_;
  ir::AxisId tile_;
};

TEST_F(IndexBounds, SizesAreNotNegativeAndScalarsMayBe) {
  EXPECT_EQ(least(pool().add(pool().scale(n_, 3), number(5))), 5);
  EXPECT_EQ(least(pool().mul(n_, n_)), 0);
  EXPECT_EQ(least(pool().scale(n_, -1)), std::nullopt);
  EXPECT_EQ(least(offset_), std::nullopt);
}

TEST_F(IndexBounds, AxesTakeTheEndThatIsLeast) {
  EXPECT_EQ(least(pool().scale(t_, 2)), 0);
  EXPECT_EQ(least(pool().sub(number(100), t_)), 37);
}

TEST_F(IndexBounds, PromisesCount) {
  module_.bounded = {{pool().scale(n_, 2), 100}};
  EXPECT_EQ(least(pool().sub(pool().scale(n_, 4), t_)), 137);
  // Half of what is promised is not.
  EXPECT_EQ(least(n_), 0);
}

TEST_F(IndexBounds, QuotientsRoundDown) {
  IndexId below = pool().sub(t_, number(70));
  EXPECT_EQ(least(pool().floor_div(pool().sub(n_, number(70)), number(64))), -2);
  EXPECT_EQ(least(pool().max(number(3), offset_)), 3);
  EXPECT_EQ(least(pool().min(number(3), offset_)), std::nullopt);
  EXPECT_EQ(least(below), -70);
}

TEST_F(IndexBounds, QuotientsByOneNumberAreOrderedAsTheirDividends) {
  IndexId whole = pool().floor_div(n_, number(64));
  IndexId all = pool().ceil_div(n_, 64);
  EXPECT_TRUE(ordered(whole, all));
  EXPECT_FALSE(ordered(all, whole));
  EXPECT_FALSE(ordered(whole, pool().floor_div(n_, number(65))));
}

TEST_F(IndexBounds, MarginsAreZeroWhereComparisonsJustHold) {
  EXPECT_EQ(margin(pool(), ir::Opcode::kLt, number(3), number(4)), number(0));
  EXPECT_EQ(margin(pool(), ir::Opcode::kLe, number(4), number(4)), number(0));
  EXPECT_EQ(margin(pool(), ir::Opcode::kGt, number(5), number(4)), number(0));
  EXPECT_EQ(margin(pool(), ir::Opcode::kGe, number(4), number(4)), number(0));
  EXPECT_EQ(margin(pool(), ir::Opcode::kEq, n_, n_), std::nullopt);
  EXPECT_EQ(margin(pool(), ir::Opcode::kLt, number(INT64_MIN), number(INT64_MAX)), std::nullopt);
  EXPECT_FALSE(pool().overflowed());
}

}  // namespace
}  // namespace tenon::passes
