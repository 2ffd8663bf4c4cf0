#include "passes/families/family.h"

#include <algorithm>
#include <bit>
#include <map>
#include <set>
#include <span>

#include "passes/split.h"

namespace tenon::passes {

using ir::AxisId;
using ir::IndexId;
using ir::IndexKind;

// Of the widest access.
constexpr unsigned kAccessBytes = 16;

IndexId extent_of(ir::Kernel& kernel, std::span<const AxisId> axes) {
  IndexId extent = kernel.index.constant(1);
  for (AxisId axis : axes) extent = kernel.index.mul(extent, kernel.axes[axis].extent);
  return extent;
}

int32_t split_blocks(const Target& target) {
  return static_cast<int32_t>(std::bit_floor(4 * target.multiprocessors * 4 / 3));
}

IndexId few_blocks(GroupInfo& info, IndexId blocks, int32_t parts) {
  return at_most(info.kernel, blocks, split_blocks(info.target) / parts);
}

int32_t least_parts(const GroupInfo& info) {
  size_t launches = split_launch_count(info.kernel, info.group, info.axes.row);
  if (launches > 2 && !may_split(info.kernel, info.group, info.axes.row)) return 0;
  return launches > 2 ? 16 : 2;
}

IndexId at_most(ir::Kernel& kernel, IndexId extent, int64_t bound) {
  return kernel.index.less(extent, kernel.index.constant(bound + 1));
}

bool contiguous_along(GroupInfo& info, IndexId offset, AxisId axis) {
  auto step = coefficient(info.kernel.index, offset, axis);
  return step && info.kernel.index.is_constant(*step, 1);
}

bool contiguous_along(GroupInfo& info, AxisId axis) {
  return std::any_of(info.accesses.begin(), info.accesses.end(),
                     [&](const Access& access) { return contiguous_along(info, access.offset, axis); });
}

bool slides(GroupInfo& info) {
  if (info.axes.parallel.empty() || info.axes.row.empty()) return false;
  ir::Kernel& kernel = info.kernel;
  auto window = kernel.index.as_constant(kernel.axes[info.axes.row.back()].extent);
  return std::any_of(info.accesses.begin(), info.accesses.end(), [&](const Access& access) {
    auto along_row = coefficient(kernel.index, access.offset, info.axes.row.back());
    auto along_result = coefficient(kernel.index, access.offset, info.axes.parallel.back());
    if (!along_row || !along_result || !kernel.index.is_constant(*along_row, 1)) return false;
    auto step = kernel.index.as_constant(*along_result);
    return step && *step > 0 && (!window || *step < *window);
  });
}

namespace {

// An offset as a function of one flattened position, for which the last of the axes stands.
IndexId over_flattened(ir::IndexPool& pool, const ir::Kernel& kernel, std::span<const AxisId> flattened,
                       IndexId offset) {
  std::map<AxisId, IndexId> image;
  IndexId rest = pool.axis(flattened.back());
  for (size_t i = flattened.size(); i-- > 0;) {
    IndexId extent = kernel.axes[flattened[i]].extent;
    image[flattened[i]] = i == 0 ? rest : pool.floor_mod(rest, extent);
    rest = pool.floor_div(rest, extent);
  }
  return pool.substitute(offset, [&](IndexId atom) {
    const ir::IndexNode& node = pool[atom];
    auto at = node.kind == IndexKind::kAxis ? image.find(AxisId(node.reference)) : image.end();
    return at == image.end() ? IndexId() : at->second;
  });
}

// What a step of the flattened position adds to an offset; empty where that depends on where an axis ends.
std::optional<IndexId> flattened_step(ir::Kernel& kernel, std::span<const AxisId> flattened, IndexId offset) {
  IndexId flat = over_flattened(kernel.index, kernel, flattened, offset);
  return coefficient(kernel.index, flat, flattened.back());
}

}  // namespace

std::vector<std::vector<AxisId>> collapsed_axes(ir::Kernel& kernel, std::span<const AxisId> axes,
                                                const std::vector<Access>& accesses) {
  std::vector<std::vector<AxisId>> runs;
  for (size_t i = axes.size(); i-- > 0;) {
    std::vector<AxisId> longer{axes[i]};
    if (!runs.empty()) longer.insert(longer.end(), runs.front().begin(), runs.front().end());
    bool one = std::all_of(accesses.begin(), accesses.end(), [&](const Access& access) {
      return flattened_step(kernel, longer, access.offset).has_value();
    });
    if (one && !runs.empty()) {
      runs.front() = std::move(longer);
    } else {
      runs.insert(runs.begin(), {axes[i]});
    }
  }
  return runs;
}

Vectorization vectorization(GroupInfo& info, std::span<const AxisId> flattened, int32_t most) {
  Vectorization result;
  if (flattened.empty()) return result;
  ir::Kernel& kernel = info.kernel;
  unsigned smallest = kAccessBytes;
  unsigned largest = 1;
  // Whether a vector may not go beyond the end of the last axis.
  bool crossing = false;
  std::vector<ir::TensorId> contiguous;
  for (const Access& access : info.accesses) {
    crossing = crossing || !flattened_step(kernel, flattened, access.offset);
    if (!contiguous_along(info, access.offset, flattened.back())) continue;
    unsigned bytes = byte_size(kernel.tensors[access.tensor].element);
    smallest = std::min(smallest, bytes);
    largest = std::max(largest, bytes);
    if (std::find(contiguous.begin(), contiguous.end(), access.tensor) == contiguous.end())
      contiguous.push_back(access.tensor);
  }
  if (contiguous.empty()) return result;
  // Of the widest elements a thread takes two accesses at most, so that those of a warp still lie close
  // together.
  result.width = static_cast<int32_t>(std::min(kAccessBytes / smallest, 2 * kAccessBytes / largest));
  result.width = std::clamp(result.width, 1, most);
  if (result.width == 1) return result;
  IndexId extent = crossing ? kernel.axes[flattened.back()].extent : extent_of(kernel, flattened);
  result.divisible.push_back({extent, result.width});
  for (ir::TensorId tensor : contiguous) {
    int64_t bytes =
        std::min<int64_t>(kAccessBytes, int64_t{result.width} * byte_size(kernel.tensors[tensor].element));
    result.aligned.push_back({tensor, bytes});
  }
  return result;
}

}  // namespace tenon::passes
