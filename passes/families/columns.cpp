// Columns: reductions along an axis that memory does not run along, while it does along a parallel one. Lanes
// go along memory, warps and registers along the reduction; a column that fits is read once. Few and long
// columns are split over blocks.
#include <fmt/format.h>

#include <algorithm>

#include "passes/families/family.h"
#include "passes/split.h"

namespace tenon::passes {
namespace {

using ir::AxisId;

// Columns of more elements than this are long enough to be split over blocks.
constexpr int64_t kLongColumn = 512;
// The same where several launches read a column.
constexpr int64_t kVeryLongColumn = 8192;

struct ColumnClass {
  int32_t warps;
  int32_t repeat;
};

Proposal column_proposal(GroupInfo& info, AxisId contiguous, const ColumnClass& column, int32_t vector,
                         Placement placement) {
  Proposal proposal;
  Schedule& schedule = proposal.schedule;
  schedule.family = "columns";
  schedule.warps = column.warps;
  schedule.dims.push_back({{contiguous}, Placement::kGrid, vector, 32, 1, 1});
  schedule.dims.push_back({info.axes.row, placement, 1, 1, column.warps, column.repeat});
  std::vector<AxisId> others;
  for (AxisId axis : info.axes.parallel)
    if (axis != contiguous) others.push_back(axis);
  if (!others.empty()) schedule.dims.push_back({others, Placement::kGrid, 1, 1, 1, 1});
  return proposal;
}

}  // namespace

std::vector<Proposal> column_proposals(GroupInfo& info, AxisId contiguous, ir::IndexId guard,
                                       Variety variety) {
  ir::Kernel& kernel = info.kernel;
  ir::IndexId column = extent_of(kernel, info.axes.row);
  Vectorization vectors = vectorization(info, std::span(&contiguous, 1));
  std::vector<int32_t> widths = {1};
  if (vectors.width > 1) widths.insert(widths.begin(), vectors.width);
  std::vector<Proposal> proposals;
  auto add = [&](Proposal proposal, std::string name, int32_t width, ir::IndexId condition,
                 int64_t least = 0) {
    if (least > 0) proposal.bounded.push_back({column, least});
    proposal.name = std::move(name) + (width > 1 ? ".vector" : "");
    proposal.guard = kernel.index.logical_and(guard, condition);
    if (width > 1) {
      proposal.divisible = vectors.divisible;
      proposal.aligned = vectors.aligned;
    }
    proposals.push_back(std::move(proposal));
  };
  int32_t parts = least_parts(info);
  auto add_split = [&](int64_t long_column) {
    for (int32_t width : widths) {
      ir::IndexId is_long = kernel.index.less(kernel.index.constant(long_column), column);
      Proposal proposal =
          column_proposal(info, contiguous, {8, std::max(1, 16 / width)}, width, Placement::kSplit);
      proposal.schedule.split = split_blocks(info.target);
      ir::IndexId few = few_blocks(info, grid_blocks(kernel, proposal.schedule), parts);
      add(std::move(proposal), "column.split", width, kernel.index.logical_and(few, is_long));
    }
  };
  if (parts == 2) add_split(kLongColumn);
  for (int32_t width : widths) {
    if (variety == Variety::kFew) break;
    // What the class before takes, under the same conditions.
    int64_t taken = 0;
    for (ColumnClass column_class :
         {ColumnClass{4, 8 / width}, ColumnClass{8, 32 / width}, ColumnClass{32, 32 / width}}) {
      if (column_class.repeat < 1) continue;
      Proposal proposal = column_proposal(info, contiguous, column_class, width, Placement::kFit);
      int64_t tile = proposal.schedule.dims[1].tile();
      add(std::move(proposal), "column" + std::to_string(tile), width, kernel.index.constant(1),
          taken == 0 ? 0 : taken + 1);
      taken = tile;
    }
  }
  if (parts > 2) add_split(kVeryLongColumn);
  for (int32_t width : widths)
    add(column_proposal(info, contiguous, {8, std::max(1, 16 / width)}, width, Placement::kSerial),
        "column.stream", width, kernel.index.constant(1));
  return proposals;
}

std::vector<Proposal> propose_columns(GroupInfo& info, std::vector<std::string>& remarks) {
  if (!info.reduces || info.axes.row.empty() || info.axes.parallel.empty() || !info.contractions.empty())
    return {};
  AxisId contiguous = info.axes.parallel.back();
  if (!contiguous_along(info, contiguous) || slides(info)) return {};
  remarks.push_back("columns: lanes along memory, warps along the reduction");
  if (int32_t parts = least_parts(info); parts > 0)
    remarks.push_back(fmt::format("up to {} blocks of columns of more than {} elements are split",
                                  split_blocks(info.target) / parts,
                                  parts == 2 ? kLongColumn : kVeryLongColumn));
  return column_proposals(info, contiguous, info.kernel.index.constant(1));
}

}  // namespace tenon::passes
