// Transposes and permutes: maps that read along one run of axes and write along another. Tiles of both runs
// are read in the order of the input, go through shared memory, and are written in the order of the output.
#include <algorithm>
#include <utility>

#include "passes/families/family.h"

namespace tenon::passes {
namespace {

using ir::AxisId;

constexpr int32_t kTile = 64;
constexpr int32_t kWarps = 8;

// The run of parallel axes that an offset is contiguous along; empty where there is none.
std::vector<AxisId> contiguous_run(GroupInfo& info, ir::IndexId offset) {
  for (const std::vector<AxisId>& run : info.runs)
    if (contiguous_along(info, offset, run.back())) return run;
  return {};
}

// Lanes along the contiguous axis: whole lines of 128 bytes. With vectors the other lanes go across, so that
// the elements which a warp takes out of shared memory at once lie in different banks.
int32_t lanes_along(int32_t vector) { return vector > 1 ? 8 : 32; }

}  // namespace

std::vector<Proposal> propose_transposes(GroupInfo& info, std::vector<std::string>& remarks) {
  if (info.reduces || !info.axes.row.empty() || info.runs.size() < 2) return {};
  ir::Kernel& kernel = info.kernel;
  std::vector<AxisId> inner;
  for (const Access& access : info.accesses)
    if (!access.read.valid()) inner = contiguous_run(info, access.offset);
  if (inner.empty()) return {};
  // One other run, the same for all reads that go across.
  std::vector<AxisId> across;
  std::vector<const Access*> crossing;
  for (const Access& access : info.accesses) {
    if (!access.read.valid() || kernel.ops[access.op].body[access.read].operands[0].valid()) continue;
    auto step = coefficient(kernel.index, access.offset, inner.back());
    if (!step || kernel.index.is_constant(*step, 0) || kernel.index.is_constant(*step, 1)) continue;
    std::vector<AxisId> run = contiguous_run(info, access.offset);
    if (run.empty() || (!across.empty() && across != run)) continue;
    across = std::move(run);
    crossing.push_back(&access);
  }
  if (crossing.empty()) return {};

  std::vector<Proposal> proposals;
  Vectorization along_inner = vectorization(info, inner);
  Vectorization along_across = vectorization(info, across);
  int32_t widest = std::min(along_inner.width, along_across.width);
  // Sizes that tiles fill need no masks, and no tests for them.
  for (auto [vector, whole] : {std::pair(widest, true), std::pair(widest, false), std::pair(1, false)}) {
    if (widest == 1 && (whole || !proposals.empty())) continue;
    Proposal proposal;
    proposal.name = std::string("transpose") + (whole ? ".whole" : "") + (vector > 1 ? ".vector" : "");
    proposal.guard = kernel.index.constant(1);
    std::vector<ir::IndexId> filled;
    if (whole) filled = {extent_of(kernel, inner), extent_of(kernel, across)};
    for (ir::IndexId extent : filled) proposal.divisible.push_back({extent, kTile});
    if (vector > 1) {
      for (const Vectorization* one : {&along_inner, &along_across}) {
        for (const auto& condition : one->divisible)
          if (std::find(filled.begin(), filled.end(), condition.first) == filled.end())
            proposal.divisible.push_back(condition);
        proposal.aligned.insert(proposal.aligned.end(), one->aligned.begin(), one->aligned.end());
      }
    }
    Schedule& schedule = proposal.schedule;
    schedule.family = "transposes";
    schedule.warps = kWarps;
    int32_t lanes = lanes_along(vector);
    int32_t repeat = kTile / (vector * lanes);
    int32_t other_lanes = 32 / lanes;
    int32_t other_repeat = kTile / (other_lanes * kWarps);
    schedule.dims.push_back({inner, Placement::kGrid, vector, lanes, 1, repeat});
    schedule.dims.push_back({across, Placement::kGrid, 1, other_lanes, kWarps, other_repeat});
    std::vector<AxisId> others;
    for (const std::vector<AxisId>& run : info.runs)
      if (run != inner && run != across) others.insert(others.end(), run.begin(), run.end());
    if (!others.empty()) schedule.dims.push_back({others, Placement::kGrid, 1, 1, 1, 1});
    for (const Access* access : crossing) {
      StagedRead staged;
      staged.op = access->op;
      staged.value = access->read;
      staged.factors = {{1, vector, lanes, 1, repeat}, {0, 1, other_lanes, kWarps, other_repeat}};
      staged.buffer_order = {0, 1};
      schedule.staged.push_back(std::move(staged));
    }
    proposals.push_back(std::move(proposal));
  }
  remarks.push_back("reads run across the result: tiles of 64 x 64 go through shared memory");
  return proposals;
}

}  // namespace tenon::passes
