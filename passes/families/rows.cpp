// Rows: reductions along the axis that memory runs along, and everything around them. A row lives in
// registers, up to 32 values a thread; longer ones in shared memory, where the first loop over the row brings
// what others read again. Either way a row is read once. Those that are longer still are streamed, once for
// each reduction and each result. Few and long rows are split over blocks.
#include <fmt/format.h>

#include <algorithm>
#include <string_view>

#include "passes/analysis/row_reads.h"
#include "passes/families/family.h"

namespace tenon::passes {
namespace {

constexpr int32_t kValuesPerThread = 32;

// Rows of more elements than this are long enough to be split over blocks.
constexpr int64_t kLongRow = 8192;
// The same where several launches read a row, after rows that are read once.
constexpr int64_t kVeryLongRow = 65536;

// Threads and repeats that hold one row.
struct RowClass {
  int32_t lanes;
  int32_t warps;
  int32_t repeat;

  int64_t length(int32_t vector) const { return int64_t{vector} * lanes * warps * repeat; }
};

// Values in flight of a streamed row: vectors of 16 bytes, four of them; single elements, which are the
// exception, eight.
int32_t streamed_repeat(int32_t vector) { return vector == 1 ? 8 : std::max(1, 16 / vector); }

// Whether a block of 1024 threads, which leaves 64 registers to each, holds a row of 32 values a thread: one
// input along the row, which all accesses walk as one axis, so that values have no addresses of their own, and
// states of one slot.
bool is_light(GroupInfo& info) {
  if (collapsed_axes(info.kernel, info.axes.row, info.accesses).size() > 1) return false;
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

// Rows in registers, ascending. Vectors are the common case and get a class every factor of two or so; single
// elements get a few.
std::vector<RowClass> row_classes(GroupInfo& info, int32_t vector, Variety variety) {
  int32_t most = kValuesPerThread / vector;
  if (variety == Variety::kFew) return {{32, 1, most}};
  if (vector == 1) return {{32, 1, 1}, {32, 1, 8}, {32, 1, 32}, {32, 8, 16}, {32, 8, 32}, {32, 16, 32}};
  std::vector<RowClass> classes = {{8, 1, 1}, {16, 1, 1}, {32, 1, 1}};
  // Of repeats by four also three, so that a thread masks a quarter of its vectors at most.
  auto add = [&](int32_t warps, int32_t repeat) {
    if (repeat % 4 == 0) classes.push_back({32, warps, repeat / 4 * 3});
    if (repeat > 0) classes.push_back({32, warps, repeat});
  };
  for (int32_t repeat = 2; repeat <= most; repeat *= 2) add(1, repeat);
  add(4, most / 2);
  add(8, most / 2);
  add(8, most);
  add(16, most);
  if (is_light(info)) add(32, most);
  return classes;
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

// A block that keeps a row in shared memory: its warps, and the bytes that it may have.
struct SharedClass {
  int32_t warps;
  int64_t bytes;
};

// What the system takes of each block's shared memory. Source: CUDA C++ Programming Guide, "Shared Memory" of
// compute capabilities 8.x, 9.0, 10.x and 12.x.
constexpr int64_t kReservedPerBlock = 1024;

// Two blocks a multiprocessor, or one.
std::vector<SharedClass> shared_classes(const Target& target) {
  return {{8, target.shared_per_sm / 2 - kReservedPerBlock}, {16, target.shared_per_block}};
}

// How many tiles of all kept reads fit beside the scratch of the reductions, a state of each slot for each
// warp.
int32_t tiles_kept(const GroupInfo& info, const std::vector<RowRead>& kept, const SharedClass& shared,
                   int64_t tile) {
  // Of buffers; also at least the scratch of a slot's alignment.
  constexpr int64_t kAlignment = 128;
  int64_t per_tile = 0;
  for (const RowRead& read : kept) per_tile += tile * byte_size(info.kernel.tensors[read.tensor].element);
  int64_t other = kAlignment * static_cast<int64_t>(kept.size());
  for (ir::TensorOpId id : info.group.ops)
    for (const ir::OpOutput& output : info.kernel.ops[id].outputs)
      if (output.monoid) other += kAlignment * static_cast<int64_t>(output.monoid->slots());
  static_assert(kAlignment >= 16 * sizeof(uint64_t));
  return static_cast<int32_t>(std::max<int64_t>(0, shared.bytes - other) / per_tile);
}

// Rows in shared memory, ascending, where they are longer than those in registers and something is read
// again.
std::vector<Schedule> shared_schedules(GroupInfo& info, int32_t vector) {
  std::vector<RowRead> kept = repeated_row_reads(info.kernel, info.group, info.axes);
  if (kept.empty()) return {};
  int64_t longest = row_classes(info, vector, Variety::kAll).back().length(vector);
  std::vector<Schedule> schedules;
  for (const SharedClass& shared : shared_classes(info.target)) {
    Schedule schedule =
        row_schedule(info, {32, shared.warps, streamed_repeat(vector)}, vector, Placement::kShared);
    LoopDim& dim = schedule.dims[0];
    dim.tiles = tiles_kept(info, kept, shared, dim.tile());
    if (dim.tile() * dim.tiles <= longest) continue;
    longest = dim.tile() * dim.tiles;
    schedules.push_back(std::move(schedule));
  }
  return schedules;
}

std::string what_is_read_once(GroupInfo& info) {
  int32_t vector = vectorization(info, info.axes.row).width;
  int64_t most = row_classes(info, vector, Variety::kAll).back().length(vector);
  int64_t most_single = row_classes(info, 1, Variety::kAll).back().length(1);
  std::string single =
      most == most_single ? "" : fmt::format(" ({} where single elements move)", most_single);
  std::vector<Schedule> shared = shared_schedules(info, vector);
  std::string then = shared.empty() ? ""
                                    : fmt::format(", in shared memory up to {}",
                                                  shared.back().dims[0].tile() * shared.back().dims[0].tiles);
  return fmt::format("rows are read once: in registers up to {} elements{}{}; streamed beyond", most, single,
                     then);
}

}  // namespace

std::vector<Proposal> row_proposals(GroupInfo& info, ir::IndexId guard, Variety variety) {
  ir::Kernel& kernel = info.kernel;
  ir::IndexId row = extent_of(kernel, info.axes.row);
  Vectorization vectors = vectorization(info, info.axes.row);
  std::vector<int32_t> widths = {1};
  if (vectors.width > 1) widths.insert(widths.begin(), vectors.width);
  std::vector<Proposal> proposals;
  auto add = [&](std::string_view name, Schedule schedule, ir::IndexId condition, int64_t least = 0) {
    bool vector = schedule.dims[0].vector > 1;
    Proposal proposal;
    proposal.name = fmt::format("{}{}", name, vector ? ".vector" : "");
    proposal.schedule = std::move(schedule);
    proposal.guard = kernel.index.logical_and(guard, condition);
    if (vector) proposal.divisible = vectors.divisible;
    if (vector) proposal.aligned = vectors.aligned;
    if (least > 0) proposal.bounded.push_back({row, least});
    proposals.push_back(std::move(proposal));
  };
  ir::IndexId always = kernel.index.constant(1);
  int32_t parts = least_parts(info);
  auto add_split = [&](int64_t long_row) {
    ir::IndexId few = few_blocks(info, extent_of(kernel, info.axes.parallel), parts);
    ir::IndexId is_long = kernel.index.less(kernel.index.constant(long_row), row);
    for (int32_t width : widths) {
      Schedule schedule = row_schedule(info, {32, 8, streamed_repeat(width)}, width, Placement::kSplit);
      schedule.split = split_blocks(info.target);
      add("split", std::move(schedule), kernel.index.logical_and(few, is_long));
    }
  };
  if (parts == 2) add_split(kLongRow);
  for (int32_t width : widths) {
    // The class before takes shorter rows, under the same conditions.
    int64_t least = 0;
    for (const RowClass& row_class : row_classes(info, width, variety)) {
      int64_t most = row_class.length(width);
      add(fmt::format("row{}", most), row_schedule(info, row_class, width, Placement::kFit), always, least);
      least = most + 1;
    }
  }
  for (int32_t width : widths) {
    if (variety == Variety::kFew) break;
    for (Schedule& schedule : shared_schedules(info, width)) {
      int64_t most = schedule.dims[0].tile() * schedule.dims[0].tiles;
      add(fmt::format("shared{}", most), std::move(schedule), always);
    }
  }
  if (parts > 2) add_split(kVeryLongRow);
  for (int32_t width : widths)
    add("stream", row_schedule(info, {32, 8, streamed_repeat(width)}, width, Placement::kSerial), always);
  return proposals;
}

std::vector<Proposal> propose_rows(GroupInfo& info, std::vector<std::string>& remarks) {
  if (!info.reduces || info.axes.row.empty() || !info.contractions.empty()) return {};
  if (!contiguous_along(info, info.axes.row.back()) || slides(info)) return {};
  remarks.push_back(what_is_read_once(info));
  if (int32_t parts = least_parts(info); parts > 0)
    remarks.push_back(fmt::format("up to {} rows of more than {} elements are split over blocks",
                                  split_blocks(info.target) / parts, parts == 2 ? kLongRow : kVeryLongRow));
  return row_proposals(info, info.kernel.index.constant(1));
}

}  // namespace tenon::passes
