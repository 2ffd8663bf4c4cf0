// Rows: reductions along the axis that memory runs along, and everything around them. A row lives in
// registers, up to 32 values a thread, and is read once; rows that are longer are streamed, once for each
// reduction and each result. Few and long rows are split over blocks whose partial results a second launch
// merges.
#include <algorithm>

#include "passes/families/family.h"

namespace tenon::passes {
namespace {

constexpr int32_t kValuesPerThread = 32;

// Threads and repeats that hold one row.
struct RowClass {
  int32_t lanes;
  int32_t warps;
  int32_t repeat;
};

// Vectors are the common case and get a class every factor of two or so; single elements get a few.
std::vector<RowClass> row_classes(int32_t vector, Variety variety) {
  int32_t most = kValuesPerThread / vector;
  if (variety == Variety::kFew) return {{32, 1, most}};
  if (vector == 1) return {{32, 1, 1}, {32, 1, 8}, {32, 1, 32}, {32, 8, 16}, {32, 8, 32}, {32, 16, 32}};
  std::vector<RowClass> classes = {{8, 1, 1}, {16, 1, 1}, {32, 1, 1}};
  for (int32_t repeat = 2; repeat <= most; repeat *= 2) classes.push_back({32, 1, repeat});
  for (RowClass next : {RowClass{32, 4, most / 2}, RowClass{32, 8, most / 2}, RowClass{32, 8, most},
                        RowClass{32, 16, most}, RowClass{32, 32, most}})
    if (next.repeat > 0) classes.push_back(next);
  return classes;
}

// Values in flight of a streamed row: vectors of 16 bytes, four of them; single elements, which are the
// exception, eight.
int32_t streamed_repeat(int32_t vector) { return vector == 1 ? 8 : std::max(1, 16 / vector); }

// Whether a block of 1024 threads, which leaves 64 registers to each, holds a row of 32 values a thread: one
// input along the row, and states of one slot.
bool is_light(GroupInfo& info) {
  int reads = 0;
  for (const Access& access : info.accesses) {
    auto step = coefficient(info.kernel.index, access.offset, info.axes.row.back());
    if (access.read.valid() && !(step && info.kernel.index.is_constant(*step, 0))) ++reads;
  }
  bool wide_state = false;
  for (ir::TensorOpId id : info.group.ops)
    for (const ir::OpOutput& output : info.kernel.ops[id].outputs)
      wide_state = wide_state || (output.monoid && output.monoid->slots() > 1);
  return reads <= 2 && !wide_state;
}

Schedule row_schedule(const GroupInfo& info, const RowClass& row, int32_t vector, Placement placement) {
  Schedule schedule;
  schedule.family = "rows";
  // Short rows share a warp, and a block has four warps.
  int32_t lanes_left = 32 / row.lanes;
  int32_t row_warps = row.warps == 1 && !info.axes.parallel.empty() ? 4 : 1;
  schedule.warps = row.warps * row_warps;
  schedule.dims.push_back({info.axes.row, placement, vector, row.lanes, row.warps, row.repeat});
  if (!info.axes.parallel.empty())
    schedule.dims.push_back({info.axes.parallel, Placement::kGrid, 1, lanes_left, row_warps, 1});
  return schedule;
}

void add_vectorization(Proposal& proposal, const Vectorization& vectors) {
  proposal.divisible = vectors.divisible;
  proposal.aligned = vectors.aligned;
}

}  // namespace

std::vector<Proposal> row_proposals(GroupInfo& info, ir::IndexId guard, Variety variety) {
  ir::Kernel& kernel = info.kernel;
  ir::IndexId row = extent_of(kernel, info.axes.row);
  Vectorization vectors = vectorization(info, info.axes.row);
  std::vector<Proposal> proposals;
  std::vector<int32_t> widths = {1};
  if (vectors.width > 1) widths.insert(widths.begin(), vectors.width);
  if (splittable(info)) {
    ir::IndexId few = few_blocks(info, extent_of(kernel, info.axes.parallel));
    ir::IndexId is_long = kernel.index.less(kernel.index.constant(8192), row);
    for (int32_t width : widths) {
      Proposal proposal;
      proposal.name = width > 1 ? "split.vector" : "split";
      proposal.schedule = row_schedule(info, {32, 8, streamed_repeat(width)}, width, Placement::kSplit);
      proposal.schedule.split = split_blocks(info.target);
      proposal.guard = kernel.index.logical_and(guard, kernel.index.logical_and(few, is_long));
      if (width > 1) add_vectorization(proposal, vectors);
      proposals.push_back(std::move(proposal));
    }
  }
  for (int32_t width : widths) {
    for (const RowClass& row_class : row_classes(width, variety)) {
      if (row_class.warps == 32 && !is_light(info)) continue;
      Proposal proposal;
      proposal.schedule = row_schedule(info, row_class, width, Placement::kFit);
      int64_t tile = proposal.schedule.dims[0].tile();
      proposal.name = "row" + std::to_string(tile) + (width > 1 ? ".vector" : "");
      proposal.guard = kernel.index.logical_and(guard, at_most(kernel, row, tile));
      if (width > 1) add_vectorization(proposal, vectors);
      proposals.push_back(std::move(proposal));
    }
  }
  for (int32_t width : widths) {
    Proposal proposal;
    proposal.name = width > 1 ? "stream.vector" : "stream";
    proposal.schedule = row_schedule(info, {32, 8, streamed_repeat(width)}, width, Placement::kSerial);
    proposal.guard = guard;
    if (width > 1) add_vectorization(proposal, vectors);
    proposals.push_back(std::move(proposal));
  }
  return proposals;
}

std::vector<Proposal> propose_rows(GroupInfo& info, std::vector<std::string>& remarks) {
  if (!info.reduces || info.axes.row.empty() || !info.contractions.empty()) return {};
  if (!contiguous_along(info, info.axes.row.back()) || slides(info)) return {};
  remarks.push_back(is_light(info)
                        ? "rows in registers, read once, up to 32768 elements (16384 where single elements "
                          "move); streamed beyond"
                        : "rows in registers, read once, up to 16384 elements; streamed beyond");
  return row_proposals(info, info.kernel.index.constant(1));
}

}  // namespace tenon::passes
