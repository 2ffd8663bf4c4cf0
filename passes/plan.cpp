#include "passes/plan.h"

#include <fmt/format.h>
#include <fmt/ranges.h>

#include <algorithm>
#include <array>
#include <cstdlib>
#include <map>
#include <optional>
#include <set>
#include <utility>

#include "passes/analysis/conjuncts.h"
#include "passes/families/family.h"
#include "passes/schedule_check.h"
#include "passes/schedule_pins.h"
#include "support/check.h"

namespace tenon::passes {
namespace {

using ir::IndexId;

// In the order in which they are asked; the first that proposes something takes the group.
constexpr std::array<ProposeFunction, 6> kFamilies = {propose_contractions, propose_rows, propose_columns,
                                                      propose_transposes,   propose_maps, propose_generic};

// Below 2^31 by more than the tiles of all parts of a split dimension, so that positions beyond the extent
// fit as well.
constexpr int64_t kNarrowBound = (int64_t{1} << 31) - (int64_t{1} << 22);

GroupInfo describe(ir::Kernel& kernel, const ir::Group& group, const Target& target) {
  GroupInfo info{kernel, group, target, group_axes(kernel, group), group_accesses(kernel, group), {}, {},
                 0,      false, false};
  info.runs = collapsed_axes(kernel, info.axes.parallel, info.accesses);
  for (ir::TensorOpId id : group.ops) {
    const ir::TensorOp& op = kernel.ops[id];
    info.instructions += op.body.size();
    info.reduces = info.reduces || op.op == ir::Opcode::kReduce;
    if (auto contraction = recognise_contraction(kernel, id)) info.contractions.push_back(*contraction);
    bool over_rows = op.op == ir::Opcode::kMap && op.parallel.size() > info.axes.parallel.size();
    info.stores_rows = info.stores_rows || over_rows;
  }
  return info;
}

// An expression over symbols that is at least the magnitude of `expression` and of all its parts, whatever
// the axes' positions; empty where it reads data.
std::optional<IndexId> magnitude(ir::Kernel& kernel, IndexId expression) {
  ir::IndexPool& pool = kernel.index;
  const ir::IndexNode node = pool[expression];
  switch (node.kind) {
    case ir::IndexKind::kValue:
      return std::nullopt;
    case ir::IndexKind::kAxis:
      return kernel.axes[ir::AxisId(node.reference)].extent;
    case ir::IndexKind::kSymbol:
      if (kernel.symbols[ir::SymbolId(node.reference)].kind == ir::Symbol::Kind::kDimension)
        return expression;
      return pool.max(expression, pool.scale(expression, -1));
    case ir::IndexKind::kPolynomial: {
      IndexId sum = pool.constant(0);
      for (const ir::Monomial& term : node.terms) {
        IndexId product = pool.constant(std::abs(term.coefficient));
        for (IndexId factor : term.factors) {
          auto of_factor = magnitude(kernel, factor);
          if (!of_factor) return std::nullopt;
          product = pool.mul(product, *of_factor);
        }
        sum = pool.add(sum, product);
      }
      return sum;
    }
    default: {
      auto a = magnitude(kernel, node.a);
      auto b = node.b.valid() ? magnitude(kernel, node.b) : std::optional(pool.constant(0));
      if (!a || !b) return std::nullopt;
      return pool.add(*a, *b);
    }
  }
}

// Holds where every coordinate, every index expression that reads no data, and every byte offset fits 31
// bits.
IndexId narrow_guard(const GroupInfo& info) {
  ir::Kernel& kernel = info.kernel;
  ir::IndexPool& pool = kernel.index;
  // Expressions, none of them negative, and the most bytes that one stands for.
  std::map<IndexId, int64_t> bounded;
  auto bound_most = [&](IndexId most, int64_t scale) {
    int64_t& largest = bounded[most];
    largest = std::max(largest, scale);
  };
  auto bound = [&](IndexId expression, int64_t scale) {
    if (auto most = magnitude(kernel, expression)) bound_most(*most, scale);
  };
  bound_most(extent_of(kernel, info.axes.parallel), 1);
  bound_most(extent_of(kernel, info.axes.row), 1);
  for (ir::TensorOpId id : info.group.ops) {
    for (const ir::Instruction& instruction : kernel.ops[id].body) {
      if (instruction.index.valid()) bound(instruction.index, 1);
      for (IndexId subscript : instruction.subscripts) bound(subscript, 1);
    }
  }
  for (const Access& access : info.accesses) {
    const ir::Tensor& tensor = kernel.tensors[access.tensor];
    bound_most(ir::element_count(kernel, tensor.shape), byte_size(tensor.element));
    bound(access.offset, byte_size(tensor.element));
  }
  IndexId guard = pool.constant(1);
  for (const auto& [most, scale] : bounded)
    guard = pool.logical_and(guard, pool.less(pool.scale(most, scale), pool.constant(kNarrowBound)));
  return guard;
}

// The sizes that a proposal is meant for and can run.
IndexId full_guard(ir::Kernel& kernel, const Proposal& proposal) {
  ir::IndexPool& pool = kernel.index;
  IndexId guard = pool.logical_and(proposal.guard, required_guard(kernel, proposal.schedule));
  for (const auto& [expression, by] : proposal.divisible) {
    IndexId rest = pool.floor_mod(expression, pool.constant(by));
    guard = pool.logical_and(guard, pool.equal(rest, pool.constant(0)));
  }
  for (const auto& [expression, least] : proposal.bounded)
    guard = pool.logical_and(guard, pool.less_equal(pool.constant(least), expression));
  return guard;
}

std::set<IndexId> condition_set(const ir::IndexPool& pool, IndexId guard) {
  std::vector<IndexId> conditions = conjuncts(pool, guard);
  return {conditions.begin(), conditions.end()};
}

// The schedule with 64-bit coordinates, which take two registers each: a thread has half as many positions.
// Copies to shared memory are made for the tiles that they have.
Schedule widened(Schedule schedule) {
  if (!schedule.staged.empty()) return schedule;
  for (LoopDim& dim : schedule.dims) dim.repeat = std::max(1, dim.repeat / 2);
  return schedule;
}

// What the families propose for a group, and why.
struct Proposed {
  std::vector<Proposal> proposals;
  std::vector<std::string> remarks;
};

// Of the first family that takes the group, or of the one that is asked for; nothing where that does not take
// it.
Proposed propose(GroupInfo& info, std::string_view family, std::vector<std::string>& families) {
  for (ProposeFunction of_family : kFamilies) {
    Proposed result;
    result.proposals = of_family(info, result.remarks);
    for (const Proposal& proposal : result.proposals)
      if (std::ranges::find(families, proposal.schedule.family) == families.end())
        families.push_back(proposal.schedule.family);
    if (!family.empty())
      std::erase_if(result.proposals, [&](const Proposal& one) { return one.schedule.family != family; });
    if (!result.proposals.empty()) return result;
  }
  return {};
}

// As `propose`, with the pins; nothing where they make no sense, which is reported.
Proposed propose_pinned(GroupInfo& info, const SchedulePins::Step& pins, Diagnostics& diagnostics) {
  std::vector<std::string> families;
  Proposed result = propose(info, pins.family.text, families);
  if (result.proposals.empty()) {
    diagnostics.report(DiagnosticId::kScheduleUnknown, pins.family.span, "family", pins.family.text)
        .note(fmt::format("this step is taken by {}", fmt::join(families, ", ")));
    return {};
  }
  result.proposals = pinned_proposals(info, result.proposals, pins, diagnostics);
  return result;
}

// Whether whatever a launch with this guard accepts is accepted by a variant before it.
bool is_unreachable(const ir::IndexPool& pool, const StepPlan& step, IndexId guard,
                    const Proposal& proposal) {
  std::set<IndexId> conditions = condition_set(pool, guard);
  return std::ranges::any_of(step.variants, [&](const VariantPlan& earlier) {
    std::set<IndexId> needed = condition_set(pool, earlier.guard);
    return std::ranges::includes(conditions, needed) &&
           std::ranges::all_of(earlier.aligned, [&](const auto& one) {
             return std::ranges::find(proposal.aligned, one) != proposal.aligned.end();
           });
  });
}

StepPlan plan_group(ir::Kernel& kernel, uint32_t index, const Target& target, const SchedulePins::Step* pins,
                    const PlanOptions& options) {
  StepPlan step;
  step.group = index;
  GroupInfo info = describe(kernel, kernel.groups[index], target);
  Proposed proposed;
  if (pins != nullptr) proposed = propose_pinned(info, *pins, *options.diagnostics);
  std::vector<std::string> families;
  if (proposed.proposals.empty()) proposed = propose(info, {}, families);
  TENON_CHECK(!proposed.proposals.empty(), "no family took a group");
  step.remarks = std::move(proposed.remarks);
  IndexId narrow = narrow_guard(info);
  bool complete = false;
  for (const Proposal& proposal : proposed.proposals) {
    if (auto mistake = find_mistake(info, proposal.schedule))
      TENON_UNREACHABLE("the schedule of " + proposal.name + " is wrong: " + mistake->text);
    if (complete && !options.keep_unreachable) break;
    IndexId guard = kernel.index.logical_and(narrow, full_guard(kernel, proposal));
    bool unreachable = !options.keep_unreachable && is_unreachable(kernel.index, step, guard, proposal);
    if (kernel.index.is_constant(guard, 0) || unreachable) continue;
    complete = complete || (kernel.index.is_constant(guard, 1) && proposal.aligned.empty());
    step.variants.push_back({proposal.name, proposal.schedule, guard, proposal.aligned, proposal.divisible,
                             proposal.bounded, true});
  }
  if (complete) return step;
  // With 64-bit coordinates the last proposal takes what is left; before it come those that split, without
  // which one block would run through all of a huge tensor.
  for (Proposal& proposal : proposed.proposals) {
    bool last = &proposal == &proposed.proposals.back();
    if (pins == nullptr) proposal.schedule = widened(std::move(proposal.schedule));
    IndexId guard = full_guard(kernel, proposal);
    bool taken = kernel.index.is_constant(guard, 0) || is_unreachable(kernel.index, step, guard, proposal);
    if (last || (proposal.schedule.splits() && !taken))
      step.variants.push_back({proposal.name + ".wide", proposal.schedule, guard, proposal.aligned,
                               proposal.divisible, proposal.bounded, false});
  }
  return step;
}

// What is said about each step; null where nothing is.
std::vector<const SchedulePins::Step*> pins_by_step(const ir::Kernel& kernel, const PlanOptions& options) {
  std::vector<const SchedulePins::Step*> pins(kernel.groups.size(), nullptr);
  if (options.pins == nullptr) return pins;
  for (const SchedulePins::Step& step : options.pins->steps) {
    if (!step.step && pins.size() != 1) {
      options.diagnostics->report(DiagnosticId::kScheduleWhichStep, step.span, pins.size())
          .note("`step 0: ...` is about the first");
    } else if (uint32_t at = step.step.value_or(0); at >= pins.size()) {
      options.diagnostics
          ->report(DiagnosticId::kScheduleUnknown, step.step ? step.step_span : step.span, "step", at)
          .note(fmt::format("the kernel has {} step{}", pins.size(), pins.size() == 1 ? "" : "s"));
    } else if (pins[at] != nullptr) {
      options.diagnostics->report(DiagnosticId::kScheduleTwice, step.step ? step.step_span : step.span,
                                  fmt::format("step {}", at));
    } else {
      pins[at] = &step;
    }
  }
  return pins;
}

}  // namespace

Plan plan(ir::Kernel& kernel, const Target& target, const PlanOptions& options) {
  Plan plan;
  std::vector<const SchedulePins::Step*> pins = pins_by_step(kernel, options);
  for (uint32_t i = 0; i < kernel.groups.size(); ++i)
    plan.steps.push_back(plan_group(kernel, i, target, pins[i], options));
  return plan;
}

}  // namespace tenon::passes
