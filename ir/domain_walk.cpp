#include "ir/domain_walk.h"

#include <algorithm>
#include <span>

#include "ir/body_runner.h"

namespace tenon::ir {
namespace {

// Rows this long make strips of their own, in which axes are affine.
constexpr int64_t kLongRow = 64;

}  // namespace

AxisBox::AxisBox(const Kernel& kernel, std::span<const AxisId> axes, std::vector<int64_t> extents,
                 LaneIndexEvaluator& indices)
    : extents_(std::move(extents)), atoms_(axes.size()), indices_(&indices) {
  for (int64_t extent : extents_) points_ *= extent;
  for (IndexId atom : indices.axes()) {
    auto found = std::find(axes.begin(), axes.end(), AxisId(kernel.index[atom].reference));
    if (found != axes.end()) atoms_[static_cast<size_t>(found - axes.begin())] = atom;
  }
}

size_t AxisBox::strip(int64_t position, int64_t most) const {
  int64_t count = std::min<int64_t>({most, points_ - position, kStripLanes});
  if (!extents_.empty() && extents_.back() >= kLongRow)
    count = std::min(count, extents_.back() - position % extents_.back());
  return static_cast<size_t>(count);
}

std::vector<int64_t> AxisBox::coordinates(int64_t position) const {
  std::vector<int64_t> at(extents_.size());
  for (size_t d = extents_.size(); d-- > 0;) {
    at[d] = position % extents_[d];
    position /= extents_[d];
  }
  return at;
}

void AxisBox::set_uniform(int64_t position) {
  std::vector<int64_t> at = coordinates(position);
  for (size_t d = 0; d < at.size(); ++d)
    if (atoms_[d].valid()) indices_->at(atoms_[d]).set_affine(at[d], 0);
}

void AxisBox::set_lanes(int64_t position, size_t lanes) {
  std::vector<int64_t> at = coordinates(position);
  if (at.empty()) return;
  if (at.back() + static_cast<int64_t>(lanes) <= extents_.back()) {
    for (size_t d = 0; d < at.size(); ++d)
      if (atoms_[d].valid()) indices_->at(atoms_[d]).set_affine(at[d], d + 1 == at.size());
    return;
  }
  for (IndexId atom : atoms_) {
    if (!atom.valid()) continue;
    LaneInteger& axis = indices_->at(atom);
    axis.listed = true;
    axis.values.resize(lanes);
  }
  for (size_t i = 0; i < lanes; ++i) {
    for (size_t d = 0; d < at.size(); ++d)
      if (atoms_[d].valid()) indices_->at(atoms_[d]).values[i] = at[d];
    for (size_t d = at.size(); d-- > 0;) {
      if (++at[d] < extents_[d]) break;
      at[d] = 0;
    }
  }
}

}  // namespace tenon::ir
