// Where the elements of a tile live: a map from (register, lane, warp) to a position on every axis of the
// tile.
//
// Every extent is odd * 2^k. On the power-of-two part the map is linear over GF(2): each bit of the register,
// lane and warp number contributes a fixed position on each axis, and contributions are joined by exclusive
// or. The odd parts are outermost repeats of registers. Blocked layouts, mma fragments and their projections
// are all of this form; see "Linear Layouts" (arXiv 2505.23819).
//
// A bit whose contribution is zero on every axis means that its threads hold copies.
#pragma once

#include <cstdint>
#include <memory>
#include <span>
#include <utility>
#include <vector>

#include "ir/index.h"

namespace tenon::ir {

inline constexpr unsigned kLaneBits = 5;

class Layout {
 public:
  // A position on each axis of the layout, in the order of `axes()`.
  using Position = std::vector<int32_t>;

  // One axis of a blocked layout, from the fastest factor to the slowest:
  // `vector` registers, `lane` lanes, `warp` warps, `repeat` registers. All but `repeat` are powers of two.
  struct Block {
    AxisId axis;
    int32_t vector = 1;
    int32_t lane = 1;
    int32_t warp = 1;
    int32_t repeat = 1;

    int64_t extent() const { return int64_t{vector} * lane * warp * repeat; }
  };

  Layout() = default;

  // Lanes and warps go to the blocks in the order given, the first taking the low bits; what the blocks leave
  // of the 32 lanes and `warps` warps (a power of two) holds copies. Register numbers: the vector bits of all
  // blocks in the order given, then their repeats.
  static Layout blocked(std::span<const Block> blocks, int32_t warps);

  // What each bit of the register, lane and warp number contributes, low bits first, on the power-of-two
  // part of each axis; the odd rests of the extents are outermost repeats of registers.
  struct Bases {
    std::vector<Position> registers, lanes, warps;
    bool operator==(const Bases&) const = default;
  };
  // There are five lane bits, positions have a coordinate for each axis, within its power-of-two part.
  static Layout from_bases(std::vector<AxisId> axes, std::span<const int64_t> extents, Bases bases);
  Bases bases() const { return {registers_, lanes_, warps_}; }

  const std::vector<AxisId>& axes() const { return axes_; }
  // The number of positions on an axis of the layout.
  int64_t extent(AxisId axis) const;
  bool has(AxisId axis) const;

  int32_t register_count() const;
  int32_t warp_count() const { return 1 << warps_.size(); }

  Position position(int32_t reg, int32_t lane, int32_t warp) const;
  // The part of a position that depends on the register alone; a position is the thread's part combined with
  // it by exclusive or, which is addition wherever `separable()` holds.
  int32_t register_offset(int32_t reg, AxisId axis) const;
  // What lane bit `bit` (or warp bit) contributes on the axis.
  int32_t lane_basis(unsigned bit, AxisId axis) const;
  int32_t warp_basis(unsigned bit, AxisId axis) const;
  // Whether no position bit of an axis is fed by two input bits.
  bool separable() const;

  // The layout without the other axes: what a value over fewer axes has where it meets this one. Register
  // bits that become copies are dropped; lanes and warps keep them.
  Layout project(std::span<const AxisId> axes) const;
  // For each register of this layout the register of `project(axes)` that holds the same position.
  std::vector<int32_t> projected_registers(std::span<const AxisId> axes) const;

  // The number of consecutive registers, from register 0 in steps of one, that hold consecutive positions on
  // the axis and equal ones on all others: the widest access that this layout offers. A power of two.
  int32_t contiguous_registers(AxisId axis) const;

  bool operator==(const Layout&) const = default;

 private:
  int32_t axis_index(AxisId axis) const;

  std::vector<AxisId> axes_;
  // Per axis: the power-of-two part of its extent, and the odd rest.
  std::vector<int32_t> powers_;
  std::vector<int32_t> odds_;
  // Each bit's contribution, a Position.
  std::vector<Position> registers_;
  std::vector<Position> lanes_;
  std::vector<Position> warps_;
};

// A layout that many tiles have, or none. Copies share it; equality is that of the layouts.
class SharedLayout {
 public:
  SharedLayout() = default;
  SharedLayout(Layout layout) : layout_(std::make_shared<const Layout>(std::move(layout))) {}

  bool has_value() const { return layout_ != nullptr; }
  explicit operator bool() const { return has_value(); }
  const Layout& operator*() const { return *layout_; }
  const Layout* operator->() const { return layout_.get(); }
  void reset() { layout_.reset(); }

  bool operator==(const SharedLayout& other) const {
    if (layout_ == other.layout_) return true;
    return layout_ && other.layout_ && *layout_ == *other.layout_;
  }

 private:
  std::shared_ptr<const Layout> layout_;
};

}  // namespace tenon::ir
