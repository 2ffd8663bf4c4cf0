#include "passes/schedule_pins.h"

#include <fmt/format.h>
#include <fmt/ranges.h>

#include <algorithm>
#include <bit>
#include <numeric>
#include <optional>

#include "passes/schedule_check.h"

namespace tenon::passes {
namespace {

// Why a proposal cannot take the pins, as a diagnostic that is reported if no other proposal can.
struct Refusal {
  Span span;
  // Of something unknown: what it is, and its name; else `text` says what is wrong.
  std::string unknown;
  std::string text;
  std::vector<std::string> known;
};

void report(const Refusal& refusal, Diagnostics& diagnostics) {
  if (refusal.unknown.empty()) {
    diagnostics.report(DiagnosticId::kScheduleInvalid, refusal.span, refusal.text);
    return;
  }
  Diagnostic& diagnostic =
      diagnostics.report(DiagnosticId::kScheduleUnknown, refusal.span, refusal.unknown, refusal.text);
  std::string_view close = did_you_mean(refusal.text, {refusal.known.begin(), refusal.known.end()});
  if (!close.empty()) {
    diagnostic.fix(refusal.span, std::string(close), "perhaps this is meant");
  } else {
    diagnostic.note(refusal.known.empty() ? fmt::format("this step has no {}", refusal.unknown)
                                          : fmt::format("this step has {}", fmt::join(refusal.known, ", ")));
  }
}

int32_t power_of_two_in(int32_t n) { return n & -n; }

// The mapping of a copy whose tile has changed: vectors and lanes along its first dimension, the other lanes,
// and warps, along the second, what is left as repeats.
void restage(const Schedule& schedule, StagedRead& staged) {
  int32_t lanes = 32;
  int32_t warps = schedule.warps;
  bool first = true;
  for (StagedRead::Factor& factor : staged.factors) {
    auto rest = static_cast<int32_t>(schedule.dims[factor.dim].tile());
    auto take = [&](int32_t most) {
      int32_t taken = std::min(most, power_of_two_in(rest));
      rest /= taken;
      return taken;
    };
    factor.vector = first ? take(factor.vector) : 1;
    factor.lane = take(lanes);
    lanes /= factor.lane;
    factor.warp = first ? 1 : take(warps);
    factor.repeat = rest;
    if (!first) warps /= factor.warp;
    first = false;
  }
  // Warps that the others leave.
  StagedRead::Factor& front = staged.factors.front();
  int32_t taken = std::min(warps, power_of_two_in(front.repeat));
  front.warp = taken;
  front.repeat /= taken;
}

// Puts pins into one proposal's schedule.
class Pinning {
 public:
  Pinning(const GroupInfo& info, const SchedulePins::Step& pins, const Schedule& proposed)
      : info_(info), pins_(pins), names_(info.kernel, info.group), proposed_(proposed), schedule_(proposed) {
    for (const LoopDim& dim : schedule_.dims) dim_names_.push_back(names_.dim(dim));
    dim_spans_.resize(schedule_.dims.size());
    staged_spans_.resize(schedule_.staged.size());
  }

  std::optional<Refusal> run() {
    for (const SchedulePins::Field& field : pins_.fields)
      schedule_.*schedule_fields()[field.field].member = field.value;
    for (const SchedulePins::Dim& dim : pins_.dims)
      if (auto refusal = pin(dim)) return refusal;
    order_dims();
    if (!is_pinned(&Schedule::split) && !schedule_.splits()) schedule_.split = 1;
    settle_warps();
    for (const SchedulePins::Staged& staged : pins_.staged)
      if (auto refusal = pin(staged)) return refusal;
    for (size_t s = 0; s < schedule_.staged.size(); ++s)
      if (!staged_spans_[s].valid() && !fits(schedule_.staged[s])) restage(schedule_, schedule_.staged[s]);
    for (auto find : {find_mistake, find_excess})
      if (auto problem = find(info_, schedule_)) return Refusal{place(*problem), {}, problem->text, {}};
    return std::nullopt;
  }

  const Schedule& schedule() const { return schedule_; }

  Span place(const ScheduleProblem& problem) const {
    Span span;
    if (problem.part == ScheduleProblem::Part::kDim) span = dim_spans_[problem.index];
    if (problem.part == ScheduleProblem::Part::kStaged) span = staged_spans_[problem.index];
    return span.valid() ? span : pins_.span;
  }

 private:
  bool is_pinned(int32_t Schedule::* member) const {
    return std::ranges::any_of(pins_.fields, [&](const SchedulePins::Field& field) {
      return schedule_fields()[field.field].member == member;
    });
  }

  std::optional<Refusal> pin(const SchedulePins::Dim& dim) {
    std::optional<uint32_t> d = find(dim.name);
    if (!d) return unknown_dim(dim.name);
    LoopDim& to = schedule_.dims[*d];
    if (dim.placement) to.placement = *dim.placement;
    for (size_t i = 0; i < kTileFactors; ++i) to.*tile_factors()[i].of_dim = dim.factors[i];
    dim_spans_[*d] = dim.span;
    return std::nullopt;
  }

  // Lanes go to dimensions in their order: in that of the text, where it names all.
  void order_dims() {
    if (pins_.dims.size() != schedule_.dims.size()) return;
    std::vector<uint32_t> place(schedule_.dims.size());
    std::vector<LoopDim> dims;
    for (const SchedulePins::Dim& dim : pins_.dims) {
      uint32_t from = *find(dim.name);
      place[from] = static_cast<uint32_t>(dims.size());
      dims.push_back(std::move(schedule_.dims[from]));
    }
    schedule_.dims = std::move(dims);
    for (StagedRead& staged : schedule_.staged) {
      for (StagedRead::Factor& factor : staged.factors) factor.dim = place[factor.dim];
      for (uint32_t& d : staged.buffer_order) d = place[d];
    }
    for (size_t d = 0; d < pins_.dims.size(); ++d) {
      dim_names_[d] = pins_.dims[d].name.text;
      dim_spans_[d] = pins_.dims[d].span;
    }
  }

  std::optional<Refusal> pin(const SchedulePins::Staged& staged) {
    std::vector<std::string> known;
    for (size_t s = 0; s < schedule_.staged.size(); ++s) {
      StagedRead& to = schedule_.staged[s];
      known.push_back(names_.value(to.op, to.value));
      if (known.back() != staged.value.text) continue;
      staged_spans_[s] = staged.span;
      to.buffer_order.clear();
      to.factors.clear();
      for (const SchedulePins::Name& name : staged.buffer_order) {
        std::optional<uint32_t> d = find(name);
        if (!d) return unknown_dim(name);
        to.buffer_order.push_back(*d);
      }
      for (const SchedulePins::Copy& copy : staged.copies) {
        std::optional<uint32_t> d = find(copy.dim);
        if (!d) return unknown_dim(copy.dim);
        StagedRead::Factor factor{.dim = *d};
        for (size_t i = 0; i < kTileFactors; ++i)
          if (tile_factors()[i].of_copy != nullptr) factor.*tile_factors()[i].of_copy = copy.factors[i];
        to.factors.push_back(factor);
      }
      return std::nullopt;
    }
    return Refusal{staged.value.span, "staged value", staged.value.text, std::move(known)};
  }

  std::optional<uint32_t> find(const SchedulePins::Name& name) const {
    auto at = std::ranges::find(dim_names_, name.text);
    if (at == dim_names_.end()) return std::nullopt;
    return static_cast<uint32_t>(at - dim_names_.begin());
  }

  Refusal unknown_dim(const SchedulePins::Name& name) const {
    return {name.span, "dimension", name.text, dim_names_};
  }

  // Warps follow the dimensions, or dimensions that are open follow the warps.
  void settle_warps() {
    auto held = [&] {
      int32_t warps = 1;
      for (const LoopDim& dim : schedule_.dims) warps = std::min(warps * dim.warp, 1 << 20);
      return warps;
    };
    if (!is_pinned(&Schedule::warps)) {
      if (!pins_.dims.empty()) schedule_.warps = held();
      return;
    }
    // The one with the most has most to give, and takes what is to be had.
    LoopDim* open = nullptr;
    for (size_t d = 0; d < schedule_.dims.size(); ++d)
      if (!dim_spans_[d].valid() && (open == nullptr || schedule_.dims[d].warp > open->warp))
        open = &schedule_.dims[d];
    if (open == nullptr) return;
    int32_t others = held() / open->warp;
    open->warp = std::max(1, schedule_.warps / others);
  }

  // Whether the tile and the block are what the copy was proposed for.
  bool fits(const StagedRead& staged) const {
    return schedule_.warps == proposed_.warps && std::ranges::all_of(staged.factors, [&](const auto& factor) {
             return factor.tile() == schedule_.dims[factor.dim].tile();
           });
  }

  const GroupInfo& info_;
  const SchedulePins::Step& pins_;
  ScheduleNames names_;
  const Schedule& proposed_;
  Schedule schedule_;
  std::vector<std::string> dim_names_;
  // Where a dimension or copy is pinned.
  std::vector<Span> dim_spans_;
  std::vector<Span> staged_spans_;
};

// The last of equal proposals is the least particular about sizes.
void drop_repeated(std::vector<Proposal>& proposals) {
  std::vector<Proposal> kept;
  for (size_t i = 0; i < proposals.size(); ++i) {
    bool repeated = std::any_of(proposals.begin() + i + 1, proposals.end(), [&](const Proposal& later) {
      return later.schedule == proposals[i].schedule && later.divisible == proposals[i].divisible &&
             later.aligned == proposals[i].aligned;
    });
    if (!repeated) kept.push_back(std::move(proposals[i]));
  }
  proposals = std::move(kept);
}

}  // namespace

std::vector<Proposal> pinned_proposals(const GroupInfo& info, const std::vector<Proposal>& proposals,
                                       const SchedulePins::Step& pins, Diagnostics& diagnostics) {
  std::vector<Proposal> taken;
  std::optional<Refusal> refusal;
  for (const Proposal& proposal : proposals) {
    Pinning pinning(info, pins, proposal.schedule);
    if (auto problem = pinning.run()) {
      if (!refusal) refusal = std::move(problem);
      continue;
    }
    if (taken.empty())
      for (const ScheduleProblem& problem : find_waste(info, pinning.schedule()))
        diagnostics.report(DiagnosticId::kScheduleWasteful, pinning.place(problem), problem.text);
    taken.push_back(proposal);
    taken.back().schedule = pinning.schedule();
    if (taken.back().schedule != proposal.schedule) taken.back().name.clear();
  }
  if (taken.empty()) {
    if (refusal) report(*refusal, diagnostics);
    return taken;
  }
  // Sizes that an earlier proposal took may be nobody's now.
  for (Proposal& proposal : taken) proposal.bounded.clear();
  drop_repeated(taken);
  taken.back().guard = info.kernel.index.constant(1);
  int count = 0;
  for (Proposal& proposal : taken)
    if (proposal.name.empty())
      proposal.name = fmt::format("pinned{}{}", ++count, proposal.divisible.empty() ? "" : ".vector");
  return taken;
}

}  // namespace tenon::passes
