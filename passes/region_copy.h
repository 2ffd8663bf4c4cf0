// Copies regions of tile IR, with masks that are known to be true taken out.
#pragma once

#include <map>
#include <set>
#include <span>
#include <utility>
#include <vector>

#include "ir/tile.h"

namespace tenon::passes {

class RegionCopy {
 public:
  // `truths` are bools that are true wherever the copy runs. `atoms` says what takes the place of axes of the
  // original, as in IndexPool::substitute; loops inside get counters of their own.
  RegionCopy(ir::TileModule& module, std::set<ir::TileValueId> truths, ir::IndexPool::AtomMap atoms)
      : module_(module), truths_(std::move(truths)), atoms_(std::move(atoms)) {}

  // Tiles have no layouts yet.
  ir::RegionId copy(ir::RegionId region);

 private:
  void copy_op(ir::TileOp op);
  void copy_and(const ir::TileOp& op);
  void copy_masked(ir::TileOp op);
  // Appends an operation whose operands are copies; its expressions and results are the original's.
  void append(ir::TileOp op);

  bool is_true(ir::TileValueId value) const { return truths_.contains(value); }
  // The copy of a value; that of a mask may have lost axes.
  ir::TileValueId lean(ir::TileValueId value) const;
  // The copy of a value with all its axes, a constant where it is known.
  ir::TileValueId full(ir::TileValueId value);
  std::vector<ir::TileValueId> full(std::span<const ir::TileValueId> values);
  ir::IndexId expression(ir::IndexId index);
  const ir::AxisList& axes(ir::TileValueId value) const { return module_.values[value].type.axes; }
  // The axes of the operands and of the tile axes that the subscripts mention.
  std::vector<ir::AxisId> union_axes(const ir::TileOp& op) const;

  ir::TileModule& module_;
  std::set<ir::TileValueId> truths_;
  ir::IndexPool::AtomMap atoms_;
  std::map<ir::TileValueId, ir::TileValueId> image_;
  std::map<ir::AxisId, ir::AxisId> counters_;
  std::vector<ir::TileOpId> ops_;
};

// Removes operations without effects, loads among them, whose results nothing uses.
void remove_unused(ir::TileModule& module, ir::RegionId region);

}  // namespace tenon::passes
