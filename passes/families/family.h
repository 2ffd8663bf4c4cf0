// What the families of schedules share: what they are told about a group, and what they propose.
#pragma once

#include <optional>
#include <span>
#include <string>
#include <utility>
#include <vector>

#include "passes/analysis/access.h"
#include "passes/analysis/contraction.h"
#include "passes/group.h"
#include "passes/schedule.h"
#include "support/targets.h"

namespace tenon::passes {

struct GroupInfo {
  ir::Kernel& kernel;
  const ir::Group& group;
  const Target& target;
  GroupAxes axes;
  std::vector<Access> accesses;
  std::vector<Contraction> contractions;
  // The parallel axes in order, in runs that every access walks as one axis.
  std::vector<std::vector<ir::AxisId>> runs;
  // Instructions of all bodies together.
  size_t instructions = 0;
  bool reduces = false;
  // A map over the row axes leaves the group: a row is needed again after its reductions.
  bool stores_rows = false;
};

// A schedule and the sizes for which it is meant; those that it can run at all follow from it. Conditions
// fold when sizes are known; one that cannot hold drops the proposal.
struct Proposal {
  std::string name;
  Schedule schedule;
  ir::IndexId guard;
  std::vector<std::pair<ir::IndexId, int64_t>> divisible;
  // Expressions over symbols and the least value of each: it excludes sizes that an earlier proposal takes,
  // so that fewer positions need a mask.
  std::vector<std::pair<ir::IndexId, int64_t>> bounded;
  std::vector<std::pair<ir::TensorId, int64_t>> aligned;
};

// Each gives its proposals in order of preference, the last one for every size; or none where the group is
// not of its kind.
using ProposeFunction = std::vector<Proposal> (*)(GroupInfo& info, std::vector<std::string>& remarks);
std::vector<Proposal> propose_contractions(GroupInfo& info, std::vector<std::string>& remarks);
std::vector<Proposal> propose_rows(GroupInfo& info, std::vector<std::string>& remarks);
std::vector<Proposal> propose_columns(GroupInfo& info, std::vector<std::string>& remarks);
std::vector<Proposal> propose_transposes(GroupInfo& info, std::vector<std::string>& remarks);
std::vector<Proposal> propose_maps(GroupInfo& info, std::vector<std::string>& remarks);
// Takes every group.
std::vector<Proposal> propose_generic(GroupInfo& info, std::vector<std::string>& remarks);

// Proposals for groups that reduce along the axis that memory runs along, and along others while memory runs
// along the parallel axis `contiguous`; each holds only where `guard` does. kFew leaves out the size classes
// between a warp's row and a streamed one, for groups that have other families too.
enum class Variety : uint8_t { kAll, kFew };
std::vector<Proposal> row_proposals(GroupInfo& info, ir::IndexId guard, Variety variety = Variety::kAll);
std::vector<Proposal> column_proposals(GroupInfo& info, ir::AxisId contiguous, ir::IndexId guard,
                                       Variety variety = Variety::kAll);

// Blocks that splitting aims at, about four a multiprocessor: the power of two that is next to it, so that
// parts of usual sizes are of equal length.
int32_t split_blocks(const Target& target);
// Whether there are so few blocks that each becomes so many parts at least.
ir::IndexId few_blocks(GroupInfo& info, ir::IndexId blocks, int32_t parts);
// The number of parts from which splitting the row axes pays. 2 where it takes two launches, which read what
// one would have read; more where later launches read it again; 0 where it is not possible.
int32_t least_parts(const GroupInfo& info);

// Whether one step along the axis moves the offset to the next element; whether it does so for some access of
// the group.
bool contiguous_along(GroupInfo& info, ir::IndexId offset, ir::AxisId axis);
bool contiguous_along(GroupInfo& info, ir::AxisId axis);

// Whether a read takes windows that overlap from one result to the next, as convolutions and pooling do: it
// moves by a small step along the last parallel axis as well as along the last row axis, and lanes belong to
// the results.
bool slides(GroupInfo& info);

// Vector width: how many consecutive elements along the last axis of `flattened`, `most` or fewer, the
// accesses of the group can move at once, up to 16 bytes, and what must hold for it. 1 where nothing is
// contiguous along the axis.
struct Vectorization {
  int32_t width = 1;
  std::vector<std::pair<ir::IndexId, int64_t>> divisible;
  std::vector<std::pair<ir::TensorId, int64_t>> aligned;
};
Vectorization vectorization(GroupInfo& info, std::span<const ir::AxisId> flattened, int32_t most = 8);

// Axis collapse: `axes` in order, in runs that each of the accesses walks as one axis, so that a position
// flattened over the run moves it by the same step everywhere.
std::vector<std::vector<ir::AxisId>> collapsed_axes(ir::Kernel& kernel, std::span<const ir::AxisId> axes,
                                                    const std::vector<Access>& accesses);

// The product of the axes' extents.
ir::IndexId extent_of(ir::Kernel& kernel, std::span<const ir::AxisId> axes);

// extent <= bound, as a guard.
ir::IndexId at_most(ir::Kernel& kernel, ir::IndexId extent, int64_t bound);

}  // namespace tenon::passes
