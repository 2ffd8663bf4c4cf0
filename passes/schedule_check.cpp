#include "passes/schedule_check.h"

#include <fmt/format.h>

#include <algorithm>
#include <bit>
#include <set>
#include <span>

#include "passes/analysis/row_reads.h"
#include "passes/schedule_text.h"

namespace tenon::passes {
namespace {

using Part = ScheduleProblem::Part;
using MaybeProblem = std::optional<ScheduleProblem>;

constexpr int32_t kWarpSize = 32;
constexpr int32_t kMostWarps = 32;
// How far the last tile of a dimension may reach beyond its extent; plan keeps 31-bit coordinates by so much
// below their end.
constexpr int64_t kMostOverrun = int64_t{1} << 22;
// What a warp that merges holds, 32 states a thread.
constexpr int32_t kMostParts = 1024;

// Values of a thread beyond which registers spill, as the families keep them; a contraction's are its
// accumulators.
constexpr int64_t kGoodValues = 32;
constexpr int64_t kGoodAccumulators = 64;
constexpr int64_t kMostValues = 256;
// Multiply-adds that an unrolled step of a contraction writes out, and instructions altogether.
constexpr int64_t kMostUnrolled = 4096;
constexpr int64_t kMostInstructions = 65536;

bool contains(std::span<const ir::AxisId> axes, ir::AxisId axis) {
  return std::find(axes.begin(), axes.end(), axis) != axes.end();
}

bool is_power_of_two(int32_t n) { return n > 0 && std::has_single_bit(static_cast<uint32_t>(n)); }

class Checker {
 public:
  Checker(const GroupInfo& info, const Schedule& schedule)
      : info_(info), schedule_(schedule), names_(info.kernel, info.group) {}

  MaybeProblem mistake() const {
    if (auto problem = wrong_axes()) return problem;
    for (size_t d = 0; d < schedule_.dims.size(); ++d)
      if (auto problem = wrong_placement(d)) return problem;
    if (auto problem = wrong_split()) return problem;
    if (auto problem = wrong_kept_row()) return problem;
    if (auto problem = wrong_contraction()) return problem;
    if (auto problem = wrong_threads()) return problem;
    for (size_t s = 0; s < schedule_.staged.size(); ++s)
      if (auto problem = wrong_staging(s)) return problem;
    return std::nullopt;
  }

  MaybeProblem excess() const {
    int64_t bytes = shared_bytes();
    if (bytes > info_.target.shared_per_block)
      return whole("it takes {} bytes of shared memory; a block on {} has {}", bytes, info_.target.name,
                   info_.target.shared_per_block);
    int64_t values = values_per_thread();
    if (values > kMostValues)
      return whole("a thread would hold {} values; at most {} are allowed", values, kMostValues);
    int64_t unrolled = values * serial_repeat();
    if (unrolled > kMostUnrolled)
      return whole("a thread would multiply {} times in one step; at most {} are allowed", unrolled,
                   kMostUnrolled);
    if (unrolled * static_cast<int64_t>(info_.instructions) > kMostInstructions)
      return whole("a thread would run {} instructions in a row; at most {} are allowed",
                   unrolled * static_cast<int64_t>(info_.instructions), kMostInstructions);
    return std::nullopt;
  }

  std::vector<ScheduleProblem> waste() const {
    std::vector<ScheduleProblem> problems;
    if (int64_t lanes = product(&LoopDim::lane); lanes < kWarpSize)
      problems.push_back(*whole("only {} of a warp's 32 lanes have work of their own", lanes));
    if (int64_t warps = product(&LoopDim::warp); warps < schedule_.warps)
      problems.push_back(*whole("only {} of {} warps have work of their own", warps, schedule_.warps));
    int64_t most = schedule_.contractions.empty() ? kGoodValues : kGoodAccumulators;
    if (int64_t values = values_per_thread(); values > most)
      problems.push_back(
          *whole("a thread holds {} values; beyond {} they may not fit its registers", values, most));
    return problems;
  }

 private:
  template <class... Args>
  MaybeProblem whole(fmt::format_string<Args...> text, Args&&... args) const {
    return ScheduleProblem{Part::kWhole, 0, fmt::format(text, std::forward<Args>(args)...)};
  }
  template <class... Args>
  MaybeProblem of(Part part, size_t index, fmt::format_string<Args...> text, Args&&... args) const {
    return ScheduleProblem{part, index, fmt::format(text, std::forward<Args>(args)...)};
  }

  std::string name(size_t d) const { return names_.dim(schedule_.dims[d]); }

  int64_t product(int32_t LoopDim::* factor) const {
    int64_t result = 1;
    for (const LoopDim& dim : schedule_.dims) result *= dim.*factor;
    return result;
  }

  MaybeProblem wrong_threads() const {
    for (size_t d = 0; d < schedule_.dims.size(); ++d) {
      const LoopDim& dim = schedule_.dims[d];
      if (!is_power_of_two(dim.vector) || !is_power_of_two(dim.lane) || !is_power_of_two(dim.warp) ||
          dim.repeat < 1)
        return of(Part::kDim, d, "vec, lane and warp of {} have to be powers of two", name(d));
      if (dim.tile() > kMostOverrun)
        return of(Part::kDim, d, "a tile of {} has {} positions; at most {} are allowed", name(d), dim.tile(),
                  kMostOverrun);
    }
    if (!is_power_of_two(schedule_.warps) || schedule_.warps > kMostWarps)
      return whole("a block has a power of two of warps, at most {}", kMostWarps);
    if (int64_t lanes = product(&LoopDim::lane); lanes > kWarpSize)
      return whole("lanes multiply to {}; a warp has {}", lanes, kWarpSize);
    if (int64_t warps = product(&LoopDim::warp); warps > schedule_.warps)
      return whole("warps of the dimensions multiply to {}; the block has {}", warps, schedule_.warps);
    return std::nullopt;
  }

  // Each axis of the group in one dimension, parallel and row axes apart.
  MaybeProblem wrong_axes() const {
    std::set<ir::AxisId> placed;
    for (size_t d = 0; d < schedule_.dims.size(); ++d) {
      const ir::AxisList& axes = schedule_.dims[d].axes;
      for (ir::AxisId axis : axes) {
        bool known = contains(info_.axes.parallel, axis) || contains(info_.axes.row, axis);
        if (!known || !placed.insert(axis).second || is_row(axis) != is_row(axes.front()))
          return of(Part::kDim, d, "its axes cannot be one dimension");
      }
    }
    for (const ir::AxisList* axes : {&info_.axes.parallel, &info_.axes.row})
      for (ir::AxisId axis : *axes)
        if (!placed.contains(axis)) return whole("axis {} is in no dimension", names_.axis(axis));
    return std::nullopt;
  }

  bool is_row(ir::AxisId axis) const { return contains(info_.axes.row, axis); }
  bool is_row(const LoopDim& dim) const { return !dim.axes.empty() && is_row(dim.axes.front()); }

  MaybeProblem wrong_placement(size_t d) const {
    const LoopDim& dim = schedule_.dims[d];
    if (is_row(dim)) {
      if (dim.placement == Placement::kGrid)
        return of(Part::kDim, d, "{} is reduced over, so it is serial, shared, fit or split", name(d));
      return std::nullopt;
    }
    if (dim.placement == Placement::kSplit || dim.placement == Placement::kShared)
      return of(Part::kDim, d, "{} is not reduced over, so it cannot be split or kept", name(d));
    if (dim.placement == Placement::kSerial && info_.reduces)
      return of(Part::kDim, d, "{} stands outside of a reduction, so it is grid or fit", name(d));
    return std::nullopt;
  }

  MaybeProblem wrong_split() const {
    for (size_t d = 0; d < schedule_.dims.size(); ++d) {
      const LoopDim& dim = schedule_.dims[d];
      if (dim.tiles != 1 && dim.placement != Placement::kSplit && dim.placement != Placement::kShared)
        return of(Part::kDim, d, "`tiles` is for a dimension that is split or kept in shared memory");
      if (dim.placement != Placement::kSplit) continue;
      if (least_parts(info_) == 0)
        return of(Part::kDim, d, "{} cannot be split: too much of it would be read again", name(d));
      auto rows = [&](const LoopDim& other) { return is_row(other); };
      if (std::ranges::count_if(schedule_.dims, rows) > 1)
        return of(Part::kDim, d, "{} is not all that is reduced over, so it cannot be split", name(d));
      if (schedule_.split < 2)
        return of(Part::kDim, d, "say how many blocks splitting {} is to give, as in split(256)", name(d));
      if (dim.tiles < 1 || schedule_.split > kMostParts || dim.tile() * schedule_.split > kMostOverrun)
        return of(Part::kDim, d, "{} parts with tiles of {} are more than {} positions", schedule_.split,
                  dim.tile(), kMostOverrun);
    }
    if (schedule_.split > 1 && !schedule_.splits())
      return whole("split({}) is for a dimension that is split", schedule_.split);
    return std::nullopt;
  }

  // A row in shared memory is one block's, and each element one thread's, which alone touches it.
  MaybeProblem wrong_kept_row() const {
    for (size_t d = 0; d < schedule_.dims.size(); ++d) {
      const LoopDim& dim = schedule_.dims[d];
      if (dim.placement != Placement::kShared) continue;
      bool alone = std::ranges::all_of(schedule_.dims, [&](const LoopDim& other) {
        return &other == &dim || (!is_row(other) && other.tile() == 1);
      });
      if (!alone || dim.lane != kWarpSize || dim.warp != schedule_.warps)
        return of(Part::kDim, d,
                  "{} in shared memory takes all lanes and warps of a block, and a block has one row",
                  name(d));
      if (dim.tiles < 1 || dim.tile() * dim.tiles > kMostOverrun)
        return of(Part::kDim, d, "a row in shared memory has at most {} positions", kMostOverrun);
    }
    return std::nullopt;
  }

  // The sum of a contraction goes over one serial dimension, which every thread walks by itself.
  MaybeProblem wrong_contraction() const {
    if (schedule_.stages != 0 && schedule_.contractions.empty())
      return whole("stages({}) is for contractions whose operands go through shared memory",
                   schedule_.stages);
    for (const Schedule::Contraction& contraction : schedule_.contractions) {
      const ir::TensorOp& op = info_.kernel.ops[contraction.op];
      int sums = 0;
      for (size_t d = 0; d < schedule_.dims.size(); ++d) {
        const LoopDim& dim = schedule_.dims[d];
        if (dim.axes.empty() || !contains(op.reduction, dim.axes.front())) continue;
        bool in_slices = dim.placement == Placement::kSerial || dim.placement == Placement::kSplit;
        if (!in_slices || ++sums > 1 || dim.vector * dim.lane * dim.warp > 1)
          return of(Part::kDim, d,
                    "{} is summed over in slices: serial or split, with no factor but `repeat`", name(d));
      }
      if (sums == 0) return whole("a contraction sums along nothing");
    }
    return std::nullopt;
  }

  MaybeProblem wrong_staging(size_t s) const {
    const StagedRead& staged = schedule_.staged[s];
    const ir::TensorOp& op = info_.kernel.ops[staged.op];
    std::set<uint32_t> copied;
    int64_t lanes = 1;
    int64_t warps = 1;
    for (const StagedRead::Factor& factor : staged.factors) {
      if (factor.dim >= schedule_.dims.size() || !copied.insert(factor.dim).second)
        return of(Part::kStaged, s, "a dimension of the copy is unknown or given twice");
      const LoopDim& dim = schedule_.dims[factor.dim];
      if (!is_power_of_two(factor.vector) || !is_power_of_two(factor.lane) || !is_power_of_two(factor.warp))
        return of(Part::kStaged, s, "vec, lane and warp of a copy have to be powers of two");
      if (factor.tile() != dim.tile())
        return of(Part::kStaged, s, "the copy has {} positions along {}, its tile {}", factor.tile(),
                  name(factor.dim), dim.tile());
      if (dim.tile() == 1)
        return of(Part::kStaged, s, "a tile in shared memory needs more than one position along {}",
                  name(factor.dim));
      lanes *= factor.lane;
      warps *= factor.warp;
    }
    if (lanes > kWarpSize)
      return of(Part::kStaged, s, "lanes of the copy multiply to {}; a warp has {}", lanes, kWarpSize);
    if (warps > schedule_.warps)
      return of(Part::kStaged, s, "warps of the copy multiply to {}; the block has {}", warps,
                schedule_.warps);
    std::set<uint32_t> held(staged.buffer_order.begin(), staged.buffer_order.end());
    if (held != copied || held.size() != staged.buffer_order.size() || held.empty())
      return of(Part::kStaged, s, "the copy and the buffer have to have the same dimensions");
    for (ir::AxisId axis : axes_of_value(info_.kernel, op, staged.value)) {
      for (uint32_t d = 0; d < schedule_.dims.size(); ++d) {
        const LoopDim& dim = schedule_.dims[d];
        if (contains(dim.axes, axis) && dim.tile() > 1 && !held.contains(d))
          return of(Part::kStaged, s,
                    "what is staged varies along {}, which has a tile, and the buffer does not", name(d));
      }
    }
    return std::nullopt;
  }

  // In registers at once: accumulators of a contraction, else elements of the tile.
  int64_t values_per_thread() const {
    int64_t values = 1;
    for (const LoopDim& dim : schedule_.dims)
      if (!is_summed(dim)) values *= int64_t{dim.vector} * dim.repeat;
    return values;
  }

  bool is_summed(const LoopDim& dim) const { return !schedule_.contractions.empty() && is_row(dim); }

  int64_t serial_repeat() const {
    int64_t repeat = 1;
    for (const LoopDim& dim : schedule_.dims)
      if (is_summed(dim)) repeat *= dim.repeat;
    return repeat;
  }

  // Staged tiles, and what warps leave for each other.
  int64_t shared_bytes() const {
    int64_t bytes = 0;
    for (const StagedRead& staged : schedule_.staged) {
      int64_t elements = 1;
      for (uint32_t d : staged.buffer_order) elements *= schedule_.dims[d].tile();
      bytes += elements * byte_size(info_.kernel.ops[staged.op].body.type(staged.value)) *
               std::max(1, schedule_.stages);
    }
    for (const LoopDim& dim : schedule_.dims) {
      if (dim.placement != Placement::kShared) continue;
      for (const RowRead& read : repeated_row_reads(info_.kernel, info_.group, info_.axes))
        bytes += dim.tile() * dim.tiles * byte_size(info_.kernel.tensors[read.tensor].element);
    }
    return bytes + scratch_bytes();
  }

  int64_t scratch_bytes() const {
    int64_t lanes = 1;
    int64_t warps = 1;
    int64_t kept = 1;
    for (const LoopDim& dim : schedule_.dims) {
      if (is_row(dim)) {
        lanes *= dim.lane;
        warps *= dim.warp;
      } else {
        kept *= int64_t{dim.vector} * dim.repeat;
      }
    }
    if (warps == 1 || !schedule_.contractions.empty()) return 0;
    int64_t states = kept * schedule_.warps * (lanes == kWarpSize ? 1 : kWarpSize);
    int64_t bytes = 0;
    for (ir::TensorOpId id : info_.group.ops)
      for (const ir::OpOutput& output : info_.kernel.ops[id].outputs)
        if (output.monoid)
          for (const ir::Constant& identity : output.monoid->identity)
            bytes += states * byte_size(identity.type);
    return bytes;
  }

  const GroupInfo& info_;
  const Schedule& schedule_;
  ScheduleNames names_;
};

}  // namespace

MaybeProblem find_mistake(const GroupInfo& info, const Schedule& schedule) {
  return Checker(info, schedule).mistake();
}

MaybeProblem find_excess(const GroupInfo& info, const Schedule& schedule) {
  return Checker(info, schedule).excess();
}

std::vector<ScheduleProblem> find_waste(const GroupInfo& info, const Schedule& schedule) {
  return Checker(info, schedule).waste();
}

ir::IndexId required_guard(ir::Kernel& kernel, const Schedule& schedule) {
  ir::IndexId guard = kernel.index.constant(1);
  for (const LoopDim& dim : schedule.dims)
    if (dim.placement == Placement::kFit || dim.placement == Placement::kShared)
      guard = kernel.index.logical_and(guard,
                                       at_most(kernel, extent_of(kernel, dim.axes), dim.tile() * dim.tiles));
  return guard;
}

}  // namespace tenon::passes
