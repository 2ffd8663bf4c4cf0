// Contractions on CUDA cores: a block computes a tile of the result; slices of both operands go through
// shared memory, a thread multiplies 8 x 8 fragments out of it. Everything over the result's axes is fused
// behind the sum.
#include <fmt/format.h>

#include <algorithm>
#include <span>
#include <string_view>

#include "passes/analysis/body_walk.h"
#include "passes/families/family.h"
#include "passes/split.h"

namespace tenon::passes {
namespace {

using ir::AxisId;

// A block's tile of the result, M x N, and how many terms it sums at once.
struct TileShape {
  int32_t m_vector, m_lane, m_warp, m_repeat;
  int32_t n_vector, n_lane, n_warp, n_repeat;
  int32_t k;

  int32_t m() const { return m_vector * m_lane * m_warp * m_repeat; }
  int32_t n() const { return n_vector * n_lane * n_warp * n_repeat; }
  int32_t warps() const { return m_warp * n_warp; }
};

constexpr TileShape kLarge = {4, 4, 4, 2, 4, 8, 2, 2, 16};
// At most so many rows or columns are thin.
constexpr int64_t kThin = 8;
// Bytes that memory gives at once, and that an asynchronous copy moves at least.
constexpr int32_t kSector = 32;
constexpr unsigned kLeastCopy = 4;
constexpr TileShape kSmall = {4, 4, 2, 1, 4, 8, 2, 1, 16};
// Slices that a part of a split sum has at least, so that reading its operands outweighs writing its sums;
// and the length from which sums are split.
constexpr int32_t kLeastSlices = 8;
constexpr int64_t kLongSum = 1024;

// The reads that a value is computed from.
std::vector<const Access*> reads_under(const GroupInfo& info, const Contraction& contraction,
                                       ir::ValueId value) {
  const ir::TensorOp& op = info.kernel.ops[contraction.op];
  std::vector<const Access*> reads;
  for (ir::ValueId needed : values_under(info.kernel.index, op.body, value))
    for (const Access& access : info.accesses)
      if (access.op == contraction.op && access.read == needed) reads.push_back(&access);
  return reads;
}

// A cast that only widens what was read is done after the copy, so that shared memory holds the narrow type.
ir::ValueId staged_value(const ir::TensorOp& op, ir::ValueId value) {
  const ir::Instruction& cast = op.body[value];
  if (cast.op != ir::Opcode::kCast || !cast.operands[0].valid()) return value;
  const ir::Instruction& read = op.body[cast.operands[0]];
  bool widens = read.op == ir::Opcode::kRead && is_float(read.type) == is_float(cast.type) &&
                bit_width(read.type) < bit_width(cast.type);
  return widens ? cast.operands[0] : value;
}

// Whether a value is an element of memory as it is there, of a size that an asynchronous copy moves alone.
bool copied_alone(const ir::TensorOp& op, ir::ValueId value) {
  const ir::Instruction& read = op.body[value];
  return read.op == ir::Opcode::kRead && !read.operands[0].valid() && byte_size(read.type) >= kLeastCopy;
}

// How the slice `outer` x k of an operand is copied: along whichever of its axes memory runs. Where that is
// k, the copy transposes. Elements that can be copied alone then go one a lane, a sector of lanes along k, so
// that what a warp reads are whole sectors and what it writes are different banks. Others are read in vectors
// and written by their elements.
StagedRead staged_operand(GroupInfo& info, const Contraction& contraction, ir::ValueId value, uint32_t outer,
                          int32_t outer_tile, uint32_t k, int32_t k_tile, AxisId outer_axis, AxisId k_axis,
                          int32_t threads, int32_t widest, Proposal& proposal) {
  StagedRead staged;
  staged.op = contraction.op;
  staged.value = value;
  staged.buffer_order = {k, outer};
  std::vector<const Access*> reads = reads_under(info, contraction, value);
  bool along_k = !reads.empty() && contiguous_along(info, reads[0]->offset, k_axis);
  int32_t vector = 1;
  int32_t element_bytes = byte_size(info.kernel.ops[contraction.op].body.type(value));
  if (reads.size() == 1) {
    AxisId axis = along_k ? k_axis : outer_axis;
    unsigned bytes = byte_size(info.kernel.tensors[reads[0]->tensor].element);
    bool alone = along_k && copied_alone(info.kernel.ops[contraction.op], value);
    if (contiguous_along(info, reads[0]->offset, axis) && widest > 1 && !alone) {
      vector = std::min<int32_t>(widest, 16 / bytes);
      proposal.divisible.push_back({info.kernel.axes[axis].extent, vector});
      proposal.aligned.push_back({reads[0]->tensor, int64_t{vector} * bytes});
    }
  }
  int32_t warps = threads / 32;
  if (along_k) {
    vector = std::min(vector, k_tile);
    int32_t k_lanes = std::min(vector > 1 ? 32 : kSector / element_bytes, k_tile / vector);
    int32_t outer_lanes = std::min(32 / k_lanes, outer_tile);
    int32_t outer_warps = std::min(warps, outer_tile / outer_lanes);
    staged.factors = {{k, vector, k_lanes, 1, k_tile / (vector * k_lanes)},
                      {outer, 1, outer_lanes, outer_warps, outer_tile / (outer_lanes * outer_warps)}};
  } else {
    int32_t outer_lanes = std::min(32, outer_tile / vector);
    int32_t k_lanes = std::min(32 / outer_lanes, k_tile);
    int32_t k_warps = std::min(warps, k_tile / k_lanes);
    int32_t outer_warps = std::min(warps / k_warps, outer_tile / (vector * outer_lanes));
    staged.factors = {
        {outer, vector, outer_lanes, outer_warps, outer_tile / (vector * outer_lanes * outer_warps)},
        {k, 1, k_lanes, k_warps, k_tile / (k_lanes * k_warps)}};
  }
  return staged;
}

// `sum` is kSerial or kSplit: how the terms beyond a slice are run.
Proposal propose_tile(GroupInfo& info, const Contraction& contraction, const TileShape& tile, Placement sum,
                      int32_t widest) {
  ir::Kernel& kernel = info.kernel;
  Proposal proposal;
  proposal.name = fmt::format("tile{}x{}{}{}", tile.m(), tile.n(), sum == Placement::kSplit ? ".split" : "",
                              widest > 1 ? ".vector" : "");
  proposal.guard = kernel.index.constant(1);
  Schedule& schedule = proposal.schedule;
  schedule.family = "contractions";
  schedule.warps = tile.warps();
  schedule.dims.push_back(
      {contraction.n, Placement::kGrid, tile.n_vector, tile.n_lane, tile.n_warp, tile.n_repeat});
  schedule.dims.push_back(
      {contraction.m, Placement::kGrid, tile.m_vector, tile.m_lane, tile.m_warp, tile.m_repeat});
  if (!contraction.batch.empty()) schedule.dims.push_back({contraction.batch, Placement::kGrid, 1, 1, 1, 1});
  uint32_t k = static_cast<uint32_t>(schedule.dims.size());
  // One slice of the sum; its positions are no tile axis, the unrolled loop counts them.
  schedule.dims.push_back({.axes = contraction.k,
                           .placement = sum,
                           .repeat = tile.k,
                           .tiles = sum == Placement::kSplit ? kLeastSlices : 1});
  if (sum == Placement::kSplit) schedule.split = split_blocks(info.target);
  const ir::TensorOp& op = kernel.ops[contraction.op];
  ir::ValueId a = staged_value(op, contraction.a);
  ir::ValueId b = staged_value(op, contraction.b);
  int32_t threads = tile.warps() * 32;
  schedule.staged.push_back(staged_operand(info, contraction, a, 1, tile.m(), k, tile.k, contraction.m.back(),
                                           contraction.k.back(), threads, widest, proposal));
  schedule.staged.push_back(staged_operand(info, contraction, b, 0, tile.n(), k, tile.k, contraction.n.back(),
                                           contraction.k.back(), threads, widest, proposal));
  schedule.contractions.push_back({contraction.op, a, b});
  // The result and what is read with it.
  if (widest > 1) {
    for (const Access& access : info.accesses) {
      if (access.op == contraction.op && access.read.valid()) continue;
      if (!contiguous_along(info, access.offset, contraction.n.back())) continue;
      unsigned bytes = byte_size(kernel.tensors[access.tensor].element);
      proposal.aligned.push_back({access.tensor, int64_t{tile.n_vector} * bytes});
      proposal.divisible.push_back({kernel.axes[contraction.n.back()].extent, tile.n_vector});
    }
  }
  return proposal;
}

// A result of few rows or columns has no tile to share: it runs as reductions, along whichever axis the large
// operand runs in memory, so that it is read once with all lanes.
std::vector<Proposal> thin_proposals(GroupInfo& info, const Contraction& contraction) {
  ir::Kernel& kernel = info.kernel;
  std::vector<Proposal> proposals;
  auto add = [&](std::string_view kind, std::span<const AxisId> thin, std::span<const AxisId> wide,
                 ir::ValueId large) {
    ir::IndexId guard = at_most(kernel, extent_of(kernel, thin), kThin);
    if (kernel.index.is_constant(guard, 0)) return;
    std::vector<const Access*> reads = reads_under(info, contraction, large);
    bool along_wide = !reads.empty() && contiguous_along(info, reads[0]->offset, wide.back());
    std::vector<Proposal> more = along_wide ? column_proposals(info, wide.back(), guard, Variety::kFew)
                                            : row_proposals(info, guard, Variety::kFew);
    // Both kinds may be rows, or columns, and a step's variants have names of their own.
    for (Proposal& proposal : more) proposal.name = fmt::format("{}.{}", kind, proposal.name);
    std::move(more.begin(), more.end(), std::back_inserter(proposals));
  };
  add("few_rows", contraction.m, contraction.n, contraction.b);
  add("few_columns", contraction.n, contraction.m, contraction.a);
  return proposals;
}

}  // namespace

std::vector<Proposal> propose_contractions(GroupInfo& info, std::vector<std::string>& remarks) {
  if (info.contractions.size() != 1) return {};
  const Contraction& contraction = info.contractions[0];
  // One reduction, and maps over its result.
  for (ir::TensorOpId id : info.group.ops)
    if (id != contraction.op && info.kernel.ops[id].op == ir::Opcode::kReduce) return {};
  if (info.stores_rows) return {};
  ir::Kernel& kernel = info.kernel;
  ir::IndexId m = extent_of(kernel, contraction.m);
  ir::IndexId n = extent_of(kernel, contraction.n);
  // Small results: more blocks of smaller tiles. Both sides of 2 blocks of the large tile a multiprocessor.
  int64_t enough = int64_t{2} * info.target.multiprocessors * kLarge.m() * kLarge.n();
  ir::IndexId large =
      kernel.index.less(kernel.index.constant(enough - 1),
                        kernel.index.mul(extent_of(kernel, contraction.batch), kernel.index.mul(m, n)));
  std::vector<Proposal> proposals = thin_proposals(info, contraction);
  ir::IndexId is_long =
      kernel.index.less(kernel.index.constant(kLongSum - 1), extent_of(kernel, contraction.k));
  for (int32_t widest : {8, 1}) {
    proposals.push_back(propose_tile(info, contraction, kLarge, Placement::kSerial, widest));
    proposals.back().guard = large;
    Proposal split = propose_tile(info, contraction, kSmall, Placement::kSplit, widest);
    ir::IndexId few = few_blocks(info, grid_blocks(kernel, split.schedule), 2);
    split.guard = kernel.index.logical_and(few, is_long);
    proposals.push_back(std::move(split));
    proposals.push_back(propose_tile(info, contraction, kSmall, Placement::kSerial, widest));
  }
  remarks.push_back("contraction on CUDA cores; operands staged in shared memory");
  remarks.push_back(fmt::format("up to {} tiles of sums of {} terms or more are split over blocks",
                                split_blocks(info.target) / 2, kLongSum));
  return proposals;
}

}  // namespace tenon::passes
