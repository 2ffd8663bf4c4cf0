// Needs: folded bodies without common subexpressions, so that reads can be counted; no groups.
// Gives: maps stand in the bodies of the operations that read them, at the subscripts of the reads and under
//        their predicates, where computing again costs less than memory. What stays is said in remarks.
// Why here: behind contract-fma, which must see statements as they were written; before sibling-reductions
// and
//        group, which have fewer operations to look at.
//
//   %t: f32[N] = map [i: N] { yield mul %x[i], %a }
//   %y: f32[N] = map [i: N] { yield add %t[i], %b }
// becomes
//   %y: f32[N] = map [i: N] { yield add (mul %x[i], %a), %b }
//
// Operations are visited from the last to the first. When one is met, all of its readers have been decided,
// so it is known at which elements, of which surviving operations, its value is wanted: its instances. It is
// then put into the surviving bodies at once, or survives itself. Every instruction is therefore copied once
// for each instance, and a chain of any length becomes one body in linear time. The number of instances is
// limited, so work grows by a constant factor at most.
//
// Reductions are never recomputed: a sum is one operation, and a name one value.
#include <fmt/format.h>

#include <algorithm>
#include <map>
#include <optional>
#include <set>
#include <tuple>

#include "passes/analysis/body_edit.h"
#include "passes/analysis/op_weight.h"
#include "passes/inline_draft.h"
#include "passes/pass.h"

namespace tenon::passes {
namespace {

using ir::AxisId;
using ir::IndexId;
using ir::TensorId;
using ir::TensorOp;
using ir::TensorOpId;
using ir::ValueId;

// What all instances together may cost, in instructions; see op_weight.h.
constexpr uint64_t kMostWork = 64;
// What a producer and all that could be inlined into it may cost to be computed by several operations.
constexpr uint64_t kMostSharedWork = 64;
// Instructions that take about as long as writing an element to memory and reading it back.
constexpr uint64_t kMemory = 48;
// Up to this, a value that the group has in registers is computed again as cheaply as it is kept.
constexpr uint64_t kTrivial = 2;

// An element of a producer that the body of a surviving operation reads.
struct Instance {
  TensorOpId home;
  ir::IndexList subscripts;
  // Invalid where the element is always read.
  ValueId predicate;
  struct Read {
    ValueId value;
    TensorId tensor;
  };
  std::vector<Read> reads;
};

class Inliner {
 public:
  Inliner(ir::Kernel& kernel, PassContext& context)
      : kernel_(kernel),
        context_(context),
        rewriter_(kernel.index),
        weights_(op_weights(kernel)),
        drafts_(kernel.ops.size()),
        reads_(kernel.tensors.size()) {}

  void run() {
    for (uint32_t i = static_cast<uint32_t>(kernel_.ops.size()); i-- > 0;) {
      TensorOpId id(i);
      if (!kernel_.ops[id].outputs.empty()) visit(id);
    }
    for (std::optional<Draft>& draft : drafts_)
      if (draft) draft->finish();
  }

 private:
  struct Reader {
    TensorOpId home;
    ValueId read;
  };

  void visit(TensorOpId id) {
    TensorOp& op = kernel_.ops[id];
    std::vector<Instance> instances = instances_of(op);
    bool is_result = std::any_of(op.outputs.begin(), op.outputs.end(), [&](const ir::OpOutput& output) {
      return kernel_.tensors[output.tensor].role == ir::Tensor::Role::kResult;
    });
    if (instances.empty() && !is_result) return remove_op(op);
    if (op.op == ir::Opcode::kMap && !instances.empty()) {
      std::string kept = is_result ? inline_into_others(id, instances) : inline_everywhere(id, instances);
      if (!is_result && kept.empty()) return remove_op(op);
      if (!kept.empty()) {
        std::string text =
            fmt::format("{} is computed once: {}", kernel_.tensors[op.outputs[0].tensor].name, kept);
        context_.remark("inline", op.spans.empty() ? Span() : op.spans[0], std::move(text));
      }
    }
    drafts_[id.index()].emplace(kernel_, rewriter_, id);
    add_readers(id, 0);
  }

  // Lists the reads of a draft from the `first`th value on.
  void add_readers(TensorOpId home, size_t first) {
    const Draft& draft = *drafts_[home.index()];
    for (size_t i = first; i < draft.size(); ++i) {
      ValueId value(static_cast<uint32_t>(i));
      if (draft[value].op == ir::Opcode::kRead) reads_[draft[value].tensor.index()].push_back({home, value});
    }
  }

  std::vector<Instance> instances_of(const TensorOp& op) const {
    std::vector<Instance> instances;
    std::map<std::tuple<TensorOpId, ir::IndexList, ValueId>, size_t> known;
    for (const ir::OpOutput& output : op.outputs) {
      for (const Reader& reader : reads_[output.tensor.index()]) {
        const ir::Instruction& read = (*drafts_[reader.home.index()])[reader.read];
        auto [at, is_new] =
            known.try_emplace({reader.home, read.subscripts, read.operands[0]}, instances.size());
        if (is_new) instances.push_back({reader.home, read.subscripts, read.operands[0], {}});
        instances[at->second].reads.push_back({reader.read, output.tensor});
      }
    }
    return instances;
  }

  // Whether the instance is one element at each point of its home's domain, so that the group which both
  // could be in has it in a register.
  bool is_pointwise(const Instance& instance) const {
    const TensorOp& home = kernel_.ops[instance.home];
    if (instance.predicate.valid()) return false;
    std::set<AxisId> axes;
    for (IndexId subscript : instance.subscripts) {
      const ir::IndexNode& node = kernel_.index[subscript];
      if (node.kind != ir::IndexKind::kAxis || !axes.insert(AxisId(node.reference)).second) return false;
    }
    return axes.size() == home.parallel.size() + home.reduction.size();
  }

  // Whether many points of the home's domain want the same element.
  bool is_broadcast(const Instance& instance) const {
    std::set<AxisId> axes;
    for (IndexId subscript : instance.subscripts) {
      kernel_.index.for_each_atom(subscript, [&](IndexId atom) {
        const ir::IndexNode& node = kernel_.index[atom];
        if (node.kind == ir::IndexKind::kAxis) axes.insert(AxisId(node.reference));
      });
    }
    const TensorOp& home = kernel_.ops[instance.home];
    return axes.size() < home.parallel.size() + home.reduction.size();
  }

  bool reduces(const Instance& instance) const {
    return kernel_.ops[instance.home].op == ir::Opcode::kReduce;
  }

  static size_t homes_of(const std::vector<Instance>& instances) {
    if (instances.size() == 1) return 1;
    std::set<TensorOpId> homes;
    for (const Instance& instance : instances) homes.insert(instance.home);
    return homes.size();
  }

  // Why a local is better stored, or kept in its group, than computed at every instance; empty if it is not.
  std::string reason_to_keep(TensorOpId id, const std::vector<Instance>& instances) const {
    const OpWeight& weight = weights_[id];
    const TensorOp& op = kernel_.ops[id];
    size_t homes = homes_of(instances);
    // A scalar that no reduction gives is the same in every thread, and not worth a launch.
    if (op.parallel.empty() && !weight.reads_reduction && weight.total <= kMostSharedWork) return {};
    if (instances.size() == 1) return reason_to_keep_single(weight, instances[0]);
    bool pointwise = homes == instances.size() &&
                     std::all_of(instances.begin(), instances.end(),
                                 [&](const Instance& instance) { return is_pointwise(instance); });
    if (pointwise) {
      if (weight.own <= kTrivial && weight.total <= kMostSharedWork) return {};
      return fmt::format("{} operations over the same elements share its value", homes);
    }
    if (homes > 1 && weight.total > kMostSharedWork)
      return fmt::format("{} operations would compute it and what it is made from again", homes);
    if (weight.expensive) {
      bool in_rows = weight.reads_reduction || std::any_of(instances.begin(), instances.end(),
                                                           [&](const Instance& i) { return reduces(i); });
      if (in_rows || homes > 1 || weight.own * (instances.size() - 1) > kMemory)
        return fmt::format("it is expensive and read at {} places", instances.size());
      return {};
    }
    if (weight.own * instances.size() > kMostWork)
      return fmt::format("{} places would compute it again", instances.size());
    return {};
  }

  std::string reason_to_keep_single(const OpWeight& weight, const Instance& instance) const {
    if (!weight.expensive || !is_broadcast(instance)) return {};
    if (weight.reads_reduction) return "it is expensive and computed once for many elements";
    if (reduces(instance) || weight.own > kMostWork) return "it is expensive and used for many elements";
    return {};
  }

  // Why not; empty if it was done.
  std::string inline_everywhere(TensorOpId id, const std::vector<Instance>& instances) {
    std::string reason = reason_to_keep(id, instances);
    if (reason.empty() && !put(id, instances)) reason = "its subscripts would become too complicated";
    return reason;
  }

  // A result is stored in any case; it is computed again where it cannot be had from its group. Why not;
  // empty if nothing more is to say.
  std::string inline_into_others(TensorOpId id, std::vector<Instance>& instances) {
    std::erase_if(instances, [&](const Instance& instance) { return is_pointwise(instance); });
    if (instances.empty()) return {};
    const OpWeight& weight = weights_[id];
    if (weight.expensive) return "it is an expensive result that is stored in any case";
    if (weight.own * instances.size() > kMostWork || weight.total > kMostSharedWork)
      return "it is a result, and what it is made from would be computed again";
    return put(id, instances) ? std::string() : "its subscripts would become too complicated";
  }

  // Puts the producer into all instances, or into none.
  bool put(TensorOpId id, const std::vector<Instance>& instances) {
    const TensorOp& op = kernel_.ops[id];
    std::map<TensorOpId, size_t> sizes;
    std::vector<std::vector<ValueId>> images(instances.size());
    for (size_t i = 0; i < instances.size(); ++i) {
      Draft& draft = *drafts_[instances[i].home.index()];
      sizes.try_emplace(instances[i].home, draft.size());
      if (draft.copy(op, instances[i].subscripts, instances[i].predicate, images[i])) continue;
      for (const auto& [home, size] : sizes) drafts_[home.index()]->truncate(size);
      return false;
    }
    for (size_t i = 0; i < instances.size(); ++i) {
      Draft& draft = *drafts_[instances[i].home.index()];
      for (const Instance::Read& read : instances[i].reads) {
        auto output = std::find_if(op.outputs.begin(), op.outputs.end(),
                                   [&](const ir::OpOutput& o) { return o.tensor == read.tensor; });
        draft.replace_read(read.value, images[i][output->values[0].index()]);
      }
    }
    for (const auto& [home, size] : sizes) {
      TensorOp& into = kernel_.ops[home];
      into.spans.insert(into.spans.end(), op.spans.begin(), op.spans.end());
      add_readers(home, size);
    }
    return true;
  }

  ir::Kernel& kernel_;
  PassContext& context_;
  BoundedRewriter rewriter_;
  SideTable<TensorOp, OpWeight> weights_;
  // Of the operations that survive.
  std::vector<std::optional<Draft>> drafts_;
  // The reads of each tensor in drafts.
  std::vector<std::vector<Reader>> reads_;
};

}  // namespace

void inline_producers(ir::Kernel& kernel, PassContext& context) { Inliner(kernel, context).run(); }

}  // namespace tenon::passes
