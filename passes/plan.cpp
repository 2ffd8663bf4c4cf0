#include "passes/plan.h"

#include <algorithm>
#include <array>
#include <cstdlib>
#include <optional>
#include <set>
#include <utility>

#include "passes/analysis/conjuncts.h"
#include "passes/families/family.h"
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
  std::set<IndexId> bounded;
  auto bound = [&](IndexId expression, int64_t scale) {
    if (auto most = magnitude(kernel, expression)) bounded.insert(pool.scale(*most, scale));
  };
  bounded.insert(extent_of(kernel, info.axes.parallel));
  bounded.insert(extent_of(kernel, info.axes.row));
  for (ir::TensorOpId id : info.group.ops) {
    for (const ir::Instruction& instruction : kernel.ops[id].body) {
      if (instruction.index.valid()) bound(instruction.index, 1);
      for (IndexId subscript : instruction.subscripts) bound(subscript, 1);
    }
  }
  for (const Access& access : info.accesses) {
    const ir::Tensor& tensor = kernel.tensors[access.tensor];
    bounded.insert(pool.scale(ir::element_count(kernel, tensor.shape), byte_size(tensor.element)));
    bound(access.offset, byte_size(tensor.element));
  }
  IndexId guard = pool.constant(1);
  for (IndexId most : bounded) guard = pool.logical_and(guard, pool.less(most, pool.constant(kNarrowBound)));
  return guard;
}

// Adds what the proposal says about divisibility and least values to its guard.
IndexId full_guard(ir::Kernel& kernel, const Proposal& proposal) {
  ir::IndexPool& pool = kernel.index;
  IndexId guard = proposal.guard;
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

StepPlan plan_group(ir::Kernel& kernel, uint32_t index, const Target& target) {
  StepPlan step;
  step.group = index;
  GroupInfo info = describe(kernel, kernel.groups[index], target);
  std::vector<Proposal> proposals;
  for (ProposeFunction propose : kFamilies) {
    proposals = propose(info, step.remarks);
    if (!proposals.empty()) break;
  }
  TENON_CHECK(!proposals.empty(), "no family took a group");
  IndexId narrow = narrow_guard(info);
  bool complete = false;
  // Whether whatever a launch with this guard accepts has been accepted by a variant before it.
  auto unreachable = [&](IndexId guard, const Proposal& proposal) {
    std::set<IndexId> conditions = condition_set(kernel.index, guard);
    return std::any_of(step.variants.begin(), step.variants.end(), [&](const VariantPlan& earlier) {
      std::set<IndexId> needed = condition_set(kernel.index, earlier.guard);
      return std::includes(conditions.begin(), conditions.end(), needed.begin(), needed.end()) &&
             std::all_of(earlier.aligned.begin(), earlier.aligned.end(), [&](const auto& one) {
               return std::find(proposal.aligned.begin(), proposal.aligned.end(), one) !=
                      proposal.aligned.end();
             });
    });
  };
  for (Proposal& proposal : proposals) {
    if (complete) break;
    IndexId guard = kernel.index.logical_and(narrow, full_guard(kernel, proposal));
    if (kernel.index.is_constant(guard, 0) || unreachable(guard, proposal)) continue;
    complete = kernel.index.is_constant(guard, 1) && proposal.aligned.empty();
    step.variants.push_back({proposal.name, proposal.schedule, guard, proposal.aligned, proposal.divisible,
                             proposal.bounded, true});
  }
  if (complete) return step;
  // With 64-bit coordinates the last proposal takes what is left; before it come those that split, without
  // which one block would run through all of a huge tensor.
  for (const Proposal& proposal : proposals) {
    bool last = &proposal == &proposals.back();
    IndexId guard = full_guard(kernel, proposal);
    bool taken = kernel.index.is_constant(guard, 0) || unreachable(guard, proposal);
    if (last || (proposal.schedule.splits() && !taken))
      step.variants.push_back({proposal.name + ".wide", widened(proposal.schedule), guard, proposal.aligned,
                               proposal.divisible, proposal.bounded, false});
  }
  return step;
}

}  // namespace

Plan plan(ir::Kernel& kernel, const Target& target) {
  Plan plan;
  for (uint32_t i = 0; i < kernel.groups.size(); ++i) plan.steps.push_back(plan_group(kernel, i, target));
  return plan;
}

}  // namespace tenon::passes
