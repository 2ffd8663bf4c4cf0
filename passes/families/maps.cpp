// Maps: every element on its own. The domain is flattened to one dimension, whatever its rank, so that any
// shape keeps all lanes busy; a thread moves vectors of 16 bytes, two of them where the body is short.
#include <algorithm>

#include "passes/families/family.h"

namespace tenon::passes {
namespace {

// Longer bodies get one element a thread: LLVM's scheduler takes time that grows with the square of a block.
constexpr size_t kLongBody = 500;
constexpr size_t kShortBody = 60;
// The most elements of a vector: 16 bytes of the smallest type.
constexpr int32_t kWidest = 16;

Proposal flat_map(const GroupInfo& info, std::string name, int32_t vector, int32_t repeat) {
  Proposal proposal;
  proposal.name = std::move(name);
  proposal.schedule.family = "maps";
  proposal.schedule.warps = 8;
  proposal.schedule.dims = {{info.axes.parallel, Placement::kGrid, vector, 32, 8, repeat}};
  proposal.guard = info.kernel.index.constant(1);
  return proposal;
}

}  // namespace

std::vector<Proposal> propose_maps(GroupInfo& info, std::vector<std::string>& remarks) {
  if (info.reduces || !info.axes.row.empty()) return {};
  std::vector<Proposal> proposals;
  int32_t repeat = info.instructions <= kShortBody ? 2 : 1;
  Vectorization wide = vectorization(info, info.axes.parallel, kWidest);
  if (wide.width > 1 && info.instructions <= kLongBody) {
    Proposal proposal = flat_map(info, "vector", wide.width, repeat);
    proposal.divisible = std::move(wide.divisible);
    proposal.aligned = std::move(wide.aligned);
    proposals.push_back(std::move(proposal));
  }
  proposals.push_back(flat_map(info, "scalar", 1, info.instructions <= kShortBody ? 4 : 1));
  if (info.instructions > kLongBody) remarks.push_back("one element a thread: the body is long");
  return proposals;
}

}  // namespace tenon::passes
