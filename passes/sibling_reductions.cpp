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
  explicit Siblings(ir::Kernel& kernel) : kernel_(kernel), first_reader_(kernel.tensors.size()) {
    for (uint32_t i = 0; i < kernel.ops.size(); ++i)
      for (const ir::Instruction& read : kernel.ops[TensorOpId(i)].body)
        if (read.tensor.valid() && !first_reader_[read.tensor].valid())
          first_reader_[read.tensor] = TensorOpId(i);
  }

  void run() {
    for (uint32_t later = 0; later < kernel_.ops.size(); ++later) {
      if (!is_candidate(TensorOpId(later))) continue;
      std::vector<TensorOpId>& earlier = by_domain_[domain_of(kernel_.ops[TensorOpId(later)])];
      // The latest only, so that thousands of reductions do not take forever.
      auto begin = std::ssize(earlier) > kMostTried ? earlier.end() - kMostTried : earlier.begin();
      auto sibling =
          std::find_if(begin, earlier.end(), [&](TensorOpId id) { return join(id, TensorOpId(later)); });
      if (sibling != earlier.end()) *sibling = TensorOpId(later);
      if (sibling == earlier.end()) earlier.push_back(TensorOpId(later));
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

  // Whether an operation up to `last` reads results of `first`, which then cannot move there. If `last`
  // depends on `first` through others, one of them does.
  bool is_needed_before(TensorOpId first, TensorOpId last) const {
    const std::vector<ir::OpOutput>& outputs = kernel_.ops[first].outputs;
    return std::any_of(outputs.begin(), outputs.end(), [&](const ir::OpOutput& output) {
      TensorOpId reader = first_reader_[output.tensor];
      return reader.valid() && reader <= last;
    });
  }

  // Moves the earlier reduction into the later one, if they are siblings.
  bool join(TensorOpId first, TensorOpId second) {
    TensorOp& earlier = kernel_.ops[first];
    TensorOp& later = kernel_.ops[second];
    if (earlier.outputs.size() + later.outputs.size() > kMaxResults) return false;
    if (earlier.predicate.valid() != later.predicate.valid()) return false;
    std::set<TensorId> common = tensors_read(later);
    std::set<TensorId> own = tensors_read(earlier);
    if (std::none_of(own.begin(), own.end(), [&](TensorId tensor) { return common.contains(tensor); }))
      return false;
    if (is_needed_before(first, second)) return false;
    TensorOp joined = united(earlier, later);
    // The predicates are the same where their values are one, once equal values are.
    if (joined.predicate != predicate_of_later_) return false;
    later = std::move(joined);
    remove_op(earlier);
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
    std::map<std::vector<uint64_t>, ValueId> known;
    for (uint32_t i = 0; i < earlier.body.size(); ++i)
      known.emplace(value_key(earlier.body[ValueId(i)]), ValueId(i));
    for (uint32_t i = 0; i < later.body.size(); ++i) {
      ir::Instruction instruction = later.body[ValueId(i)];
      for (ValueId& operand : instruction.operands)
        if (operand.valid()) operand = image[operand.index()];
      if (instruction.index.valid()) instruction.index = renamed(instruction.index);
      for (ir::IndexId& subscript : instruction.subscripts) subscript = renamed(subscript);
      auto [at, is_new] = known.try_emplace(value_key(instruction));
      if (is_new) at->second = joined.body.add(std::move(instruction));
      image[i] = at->second;
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
  // The latest operation of each set of siblings.
  std::map<std::vector<ir::IndexId>, std::vector<TensorOpId>> by_domain_;
  // Reads only move to later operations, so this stays true or errs on the safe side.
  SideTable<ir::Tensor, TensorOpId> first_reader_;
  ValueId predicate_of_later_;
};

}  // namespace

void sibling_reductions(ir::Kernel& kernel, PassContext&) { Siblings(kernel).run(); }

}  // namespace tenon::passes
