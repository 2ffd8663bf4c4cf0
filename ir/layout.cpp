#include "ir/layout.h"

#include <algorithm>
#include <bit>

#include "support/check.h"

namespace tenon::ir {
namespace {

bool is_zero(const Layout::Position& position) {
  return std::all_of(position.begin(), position.end(), [](int32_t x) { return x == 0; });
}

int32_t bits_of(int32_t power) { return std::countr_zero(static_cast<uint32_t>(power)); }

bool is_power(int32_t n) { return n > 0 && (n & (n - 1)) == 0; }

}  // namespace

Layout Layout::blocked(std::span<const Block> blocks, int32_t warps) {
  TENON_CHECK(is_power(warps), "the number of warps is a power of two");
  Layout layout;
  size_t rank = blocks.size();
  for (const Block& block : blocks) {
    TENON_CHECK(is_power(block.vector) && is_power(block.lane) && is_power(block.warp) && block.repeat > 0,
                "vector, lane and warp factors are powers of two");
    layout.axes_.push_back(block.axis);
    int32_t repeat_power = block.repeat & -block.repeat;
    layout.powers_.push_back(block.vector * block.lane * block.warp * repeat_power);
    layout.odds_.push_back(block.repeat / repeat_power);
  }
  auto bits = [&](std::vector<Position>& to, size_t axis, int32_t first, int32_t factor) {
    for (int32_t bit = 0; bit < bits_of(factor); ++bit) {
      Position position(rank, 0);
      position[axis] = first << bit;
      to.push_back(std::move(position));
    }
  };
  for (size_t i = 0; i < rank; ++i) bits(layout.registers_, i, 1, blocks[i].vector);
  for (size_t i = 0; i < rank; ++i) bits(layout.lanes_, i, blocks[i].vector, blocks[i].lane);
  for (size_t i = 0; i < rank; ++i) bits(layout.warps_, i, blocks[i].vector * blocks[i].lane, blocks[i].warp);
  for (size_t i = 0; i < rank; ++i) {
    const Block& block = blocks[i];
    bits(layout.registers_, i, block.vector * block.lane * block.warp, block.repeat & -block.repeat);
  }
  TENON_CHECK(
      layout.lanes_.size() <= kLaneBits && static_cast<int32_t>(layout.warps_.size()) <= bits_of(warps),
      "a layout asks for more threads than the block has");
  layout.lanes_.resize(kLaneBits, Position(rank, 0));
  layout.warps_.resize(bits_of(warps), Position(rank, 0));
  return layout;
}

Layout Layout::from_bases(std::vector<AxisId> axes, std::span<const int64_t> extents, Bases bases) {
  TENON_CHECK(extents.size() == axes.size() && bases.lanes.size() == kLaneBits,
              "a layout has an extent for each axis and five lane bits");
  Layout layout;
  layout.axes_ = std::move(axes);
  for (int64_t extent : extents) {
    int64_t power = extent & -extent;
    layout.powers_.push_back(static_cast<int32_t>(power));
    layout.odds_.push_back(static_cast<int32_t>(extent / power));
  }
  layout.registers_ = std::move(bases.registers);
  layout.lanes_ = std::move(bases.lanes);
  layout.warps_ = std::move(bases.warps);
  return layout;
}

int32_t Layout::axis_index(AxisId axis) const {
  auto at = std::find(axes_.begin(), axes_.end(), axis);
  TENON_CHECK(at != axes_.end(), "the layout does not have this axis");
  return static_cast<int32_t>(at - axes_.begin());
}

bool Layout::has(AxisId axis) const { return std::find(axes_.begin(), axes_.end(), axis) != axes_.end(); }

int64_t Layout::extent(AxisId axis) const {
  int32_t i = axis_index(axis);
  return int64_t{powers_[i]} * odds_[i];
}

int32_t Layout::register_count() const {
  int32_t count = 1 << registers_.size();
  for (int32_t odd : odds_) count *= odd;
  return count;
}

int32_t Layout::register_offset(int32_t reg, AxisId axis) const {
  int32_t index = axis_index(axis);
  int32_t offset = 0;
  for (size_t bit = 0; bit < registers_.size(); ++bit)
    if (reg >> bit & 1) offset ^= registers_[bit][index];
  int32_t repeats = reg >> registers_.size();
  for (size_t i = 0; i < axes_.size(); ++i) {
    int32_t repeat = repeats % odds_[i];
    repeats /= odds_[i];
    if (static_cast<int32_t>(i) == index) offset += repeat * powers_[i];
  }
  return offset;
}

Layout::Position Layout::position(int32_t reg, int32_t lane, int32_t warp) const {
  Position position(axes_.size(), 0);
  for (size_t i = 0; i < axes_.size(); ++i) {
    int32_t offset = register_offset(reg, axes_[i]);
    int32_t low = offset % powers_[i];
    for (size_t bit = 0; bit < lanes_.size(); ++bit)
      if (lane >> bit & 1) low ^= lanes_[bit][i];
    for (size_t bit = 0; bit < warps_.size(); ++bit)
      if (warp >> bit & 1) low ^= warps_[bit][i];
    position[i] = low + offset / powers_[i] * powers_[i];
  }
  return position;
}

int32_t Layout::lane_basis(unsigned bit, AxisId axis) const { return lanes_[bit][axis_index(axis)]; }
int32_t Layout::warp_basis(unsigned bit, AxisId axis) const { return warps_[bit][axis_index(axis)]; }

bool Layout::separable() const {
  for (size_t i = 0; i < axes_.size(); ++i) {
    int32_t seen = 0;
    for (const auto* bits : {&registers_, &lanes_, &warps_}) {
      for (const Position& basis : *bits) {
        if ((seen & basis[i]) != 0) return false;
        seen |= basis[i];
      }
    }
  }
  return true;
}

Layout Layout::project(std::span<const AxisId> axes) const {
  Layout result;
  std::vector<int32_t> kept;
  for (AxisId axis : axes) {
    kept.push_back(axis_index(axis));
    result.axes_.push_back(axis);
    result.powers_.push_back(powers_[kept.back()]);
    result.odds_.push_back(odds_[kept.back()]);
  }
  auto restrict = [&](const Position& basis) {
    Position position;
    for (int32_t i : kept) position.push_back(basis[i]);
    return position;
  };
  for (const Position& basis : registers_) {
    Position position = restrict(basis);
    if (!is_zero(position)) result.registers_.push_back(std::move(position));
  }
  for (const Position& basis : lanes_) result.lanes_.push_back(restrict(basis));
  for (const Position& basis : warps_) result.warps_.push_back(restrict(basis));
  return result;
}

std::vector<int32_t> Layout::projected_registers(std::span<const AxisId> axes) const {
  Layout projected = project(axes);
  std::vector<int32_t> map(register_count());
  for (int32_t reg = 0; reg < register_count(); ++reg) {
    int32_t to = 0;
    int32_t next = 0;
    for (size_t bit = 0; bit < registers_.size(); ++bit) {
      bool kept = false;
      for (AxisId axis : axes) kept = kept || registers_[bit][axis_index(axis)] != 0;
      if (!kept) continue;
      if (reg >> bit & 1) to |= 1 << next;
      ++next;
    }
    // The odd repeats of the kept axes, in the order of the projection.
    std::vector<int32_t> repeat(axes_.size());
    int32_t repeats = reg >> registers_.size();
    for (size_t i = 0; i < axes_.size(); ++i) {
      repeat[i] = repeats % odds_[i];
      repeats /= odds_[i];
    }
    int32_t scale = 1 << next;
    for (AxisId axis : axes) {
      int32_t i = axis_index(axis);
      to += repeat[i] * scale;
      scale *= odds_[i];
    }
    map[reg] = to;
  }
  return map;
}

int32_t Layout::contiguous_registers(AxisId axis) const {
  int32_t index = axis_index(axis);
  int32_t width = 1;
  for (const Position& basis : registers_) {
    Position wanted(axes_.size(), 0);
    wanted[index] = width;
    if (basis != wanted) break;
    width *= 2;
  }
  return width;
}

}  // namespace tenon::ir
