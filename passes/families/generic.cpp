// The family that takes every group: a thread for each element of the parallel axes, loops over the row axes.
// Right for every shape, slow where a row is long or memory runs across the threads.
#include "passes/families/family.h"

namespace tenon::passes {

std::vector<Proposal> propose_generic(GroupInfo& info, std::vector<std::string>& remarks) {
  Proposal proposal;
  proposal.name = "generic";
  proposal.schedule.family = "generic";
  proposal.schedule.warps = info.axes.parallel.empty() ? 1 : 4;
  if (!info.axes.parallel.empty())
    proposal.schedule.dims.push_back({info.axes.parallel, Placement::kGrid, 1, 32, 4, 1});
  for (ir::AxisId axis : info.axes.row)
    proposal.schedule.dims.push_back({{axis}, Placement::kSerial, 1, 1, 1, 1});
  proposal.guard = info.kernel.index.constant(1);
  if (!info.axes.row.empty())
    remarks.push_back("generic plan: one thread an element, loops over the rest; right, and slow");
  std::vector<Proposal> proposals;
  proposals.push_back(std::move(proposal));
  return proposals;
}

}  // namespace tenon::passes
