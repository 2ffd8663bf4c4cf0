// Needs: folded bodies; no groups.
// Gives: reductions over domains of the same extents, under the same predicate, that read a tensor in common
// and do
//        not depend on each other are one operation with several results.
// Why here: behind inline, when each reduction holds all that it computes; before group, which then reads the
//        common tensor once whatever the schedule.
//
//   %s = reduce<sum> [i: M | k: N] { yield %x[i, k] }
//   %q = reduce<sum> [i: M | k: N] { yield mul %x[i, k], %x[i, k] }
// becomes
//   %s, %q = reduce<sum, sum> [i: M | k: N] { yield %x[i, k], mul %x[i, k], %x[i, k] }
//
// Contractions stay apart: each has a tile of its own.
#include <algorithm>
#include <cstddef>
#include <map>
#include <set>
#include <utility>

#include "passes/analysis/body_edit.h"
#include "passes/analysis/contraction.h"
#include "passes/pass.h"

namespace tenon::passes {
namespace {

using ir::TensorId;
using ir::TensorOp;
using ir::TensorOpId;
using ir::ValueId;

// More results than these do not fit the registers of a row.
constexpr size_t kMaxResults = 8;
constexpr ptrdiff_t kMostTried = 16;

class Siblings {
 public:
  explicit Siblings(ir::Kernel& kernel)
      : kernel_(kernel), defined_by_(ir::defining_ops(kernel)), first_reader_(kernel.tensors.size()) {
    for (uint32_t i = 0; i < kernel.ops.size(); ++i) note_reads(TensorOpId(i));
  }

  void run() {
    for (uint32_t i = 0; i < kernel_.ops.size(); ++i) {
      TensorOpId later(i);
      if (!is_candidate(later)) continue;
      std::vector<TensorOpId>& others = by_domain_[domain_of(kernel_.ops[later])];
      // The latest only, so that thousands of reductions do not take forever.
      auto begin = std::ssize(others) > kMostTried ? others.end() - kMostTried : others.begin();
      auto sibling = std::find_if(begin, others.end(), [&](TensorOpId& id) { return join(id, later); });
      if (sibling == others.end()) others.push_back(later);
    }
  }

 private:
  bool is_candidate(TensorOpId id) const {
    const TensorOp& op = kernel_.ops[id];
    return op.op == ir::Opcode::kReduce && !op.outputs.empty() && !recognise_contraction(kernel_, id);
  }

  std::vector<ir::IndexId> domain_of(const TensorOp& op) const {
    std::vector<ir::IndexId> domain;
    for (ir::AxisId axis : op.parallel) domain.push_back(kernel_.axes[axis].extent);
    domain.push_back(ir::IndexId());
    for (ir::AxisId axis : op.reduction) domain.push_back(kernel_.axes[axis].extent);
    return domain;
  }

  std::set<TensorId> tensors_read(const TensorOp& op) const {
    std::set<TensorId> tensors;
    for (const ir::Instruction& instruction : op.body)
      if (instruction.tensor.valid()) tensors.insert(instruction.tensor);
    return tensors;
  }

  void note_reads(TensorOpId id) {
    for (const ir::Instruction& read : kernel_.ops[id].body) {
      if (!read.tensor.valid()) continue;
      TensorOpId& first = first_reader_[read.tensor];
      if (!first.valid() || id < first) first = id;
    }
  }

  // Whether all that `later` reads is there before `earlier` runs, so that it can move there.
  bool can_move_up(TensorOpId earlier, TensorOpId later) const {
    return std::ranges::none_of(kernel_.ops[later].body, [&](const ir::Instruction& read) {
      if (!read.tensor.valid()) return false;
      TensorOpId producer = defined_by_[read.tensor];
      return producer.valid() && producer >= earlier;
    });
  }

  // Whether nothing up to `later` reads results of `earlier`, so that it can move there. If `later` depends
  // on `earlier` through others, one of them does.
  bool can_move_down(TensorOpId earlier, TensorOpId later) const {
    return std::ranges::none_of(kernel_.ops[earlier].outputs, [&](const ir::OpOutput& output) {
      TensorOpId reader = first_reader_[output.tensor];
      return reader.valid() && reader <= later;
    });
  }

  // Makes one operation of two reductions if they are siblings; `earlier` is then where it stands.
  bool join(TensorOpId& earlier, TensorOpId later) {
    TensorOp& first = kernel_.ops[earlier];
    TensorOp& second = kernel_.ops[later];
    if (first.outputs.size() + second.outputs.size() > kMaxResults) return false;
    if (first.predicate.valid() != second.predicate.valid()) return false;
    std::set<TensorId> common = tensors_read(second);
    if (std::ranges::none_of(tensors_read(first), [&](TensorId tensor) { return common.contains(tensor); }))
      return false;
    bool up = can_move_up(earlier, later);
    if (!up && !can_move_down(earlier, later)) return false;
    TensorOp joined = united(first, second);
    // The predicates are the same where their values are one, once equal values are.
    if (joined.predicate != predicate_of_later_) return false;
    remove_op(up ? second : first);
    earlier = up ? earlier : later;
    for (const ir::OpOutput& output : joined.outputs) defined_by_[output.tensor] = earlier;
    kernel_.ops[earlier] = std::move(joined);
    note_reads(earlier);
    return true;
  }

  // Both bodies one after the other in the axes of the earlier operation, equal values computed once.
  TensorOp united(const TensorOp& earlier, const TensorOp& later) {
    TensorOp joined = earlier;
    std::map<ir::AxisId, ir::AxisId> axis_of;
    for (size_t i = 0; i < later.parallel.size(); ++i) axis_of[later.parallel[i]] = earlier.parallel[i];
    for (size_t i = 0; i < later.reduction.size(); ++i) axis_of[later.reduction[i]] = earlier.reduction[i];
    std::vector<ValueId> image(later.body.size());
    auto renamed = [&](ir::IndexId index) {
      return kernel_.index.substitute(index, [&](ir::IndexId atom) {
        const ir::IndexNode node = kernel_.index[atom];
        if (node.kind == ir::IndexKind::kAxis)
          return kernel_.index.axis(axis_of.at(ir::AxisId(node.reference)));
        if (node.kind == ir::IndexKind::kValue) return kernel_.index.value(image[node.reference]);
        return ir::IndexId();
      });
    };
    DistinctValues values(joined.body);
    for (uint32_t i = 0; i < later.body.size(); ++i) {
      ir::Instruction instruction = later.body[ValueId(i)];
      for (ValueId& operand : instruction.operands)
        if (operand.valid()) operand = image[operand.index()];
      if (instruction.index.valid()) instruction.index = renamed(instruction.index);
      for (ir::IndexId& subscript : instruction.subscripts) subscript = renamed(subscript);
      image[i] = values.add(std::move(instruction));
    }
    for (ir::OpOutput output : later.outputs) {
      for (ValueId& value : output.values) value = image[value.index()];
      joined.outputs.push_back(std::move(output));
    }
    joined.spans.insert(joined.spans.end(), later.spans.begin(), later.spans.end());
    predicate_of_later_ = later.predicate.valid() ? image[later.predicate.index()] : ValueId();
    return joined;
  }

  ir::Kernel& kernel_;
  // The operations of each domain that were met, after joining.
  std::map<std::vector<ir::IndexId>, std::vector<TensorOpId>> by_domain_;
  SideTable<ir::Tensor, TensorOpId> defined_by_;
  // No later than the first reader: reads that moved down are not looked for again.
  SideTable<ir::Tensor, TensorOpId> first_reader_;
  ValueId predicate_of_later_;
};

}  // namespace

void sibling_reductions(ir::Kernel& kernel, PassContext&) { Siblings(kernel).run(); }

}  // namespace tenon::passes
