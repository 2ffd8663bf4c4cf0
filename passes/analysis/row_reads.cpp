#include "passes/analysis/row_reads.h"

#include <algorithm>
#include <map>
#include <set>
#include <span>

#include "passes/analysis/access.h"

namespace tenon::passes {
namespace {

using ir::AxisId;
using ir::Opcode;
using ir::TensorId;
using ir::TensorOp;
using ir::TensorOpId;

bool contains(std::span<const AxisId> axes, AxisId axis) {
  return std::find(axes.begin(), axes.end(), axis) != axes.end();
}

class RowLoops {
 public:
  RowLoops(const ir::Kernel& kernel, const ir::Group& group, const GroupAxes& axes)
      : kernel_(kernel), axes_(axes), stored_(stored_tensors(kernel, group)) {
    for (TensorOpId id : group.ops)
      for (const ir::OpOutput& output : kernel.ops[id].outputs) producers_[output.tensor] = id;
  }

  // Whether an operation has a loop of its own.
  bool is_loop(const TensorOp& op) const {
    if (op.op == Opcode::kReduce) return !op.reduction.empty();
    return over_row(op) && std::any_of(op.outputs.begin(), op.outputs.end(), [&](const ir::OpOutput& output) {
             return stored_.contains(output.tensor);
           });
  }

  // The reads of an operation's loop, each once.
  std::vector<RowRead> reads(TensorOpId loop) const {
    std::vector<RowRead> found;
    std::set<TensorOpId> seen{loop};
    std::vector<TensorOpId> work{loop};
    while (!work.empty()) {
      const TensorOp& op = kernel_.ops[work.back()];
      work.pop_back();
      for (const ir::Instruction& read : op.body) {
        if (read.op != Opcode::kRead) continue;
        if (auto producer = producers_.find(read.tensor); producer != producers_.end()) {
          if (over_row(kernel_.ops[producer->second]) && seen.insert(producer->second).second)
            work.push_back(producer->second);
          continue;
        }
        RowRead one{read.tensor, read.subscripts};
        if (!read.operands[0].valid() && runs_along_row(read) &&
            std::find(found.begin(), found.end(), one) == found.end())
          found.push_back(std::move(one));
      }
    }
    return found;
  }

 private:
  bool over_row(const TensorOp& op) const {
    return op.op == Opcode::kMap && std::any_of(op.parallel.begin(), op.parallel.end(),
                                                [&](AxisId axis) { return contains(axes_.row, axis); });
  }

  bool runs_along_row(const ir::Instruction& read) const {
    bool along = false;
    bool through_data = false;
    for (ir::IndexId subscript : read.subscripts) {
      kernel_.index.for_each_atom(subscript, [&](ir::IndexId atom) {
        const ir::IndexNode& node = kernel_.index[atom];
        along = along || (node.kind == ir::IndexKind::kAxis && contains(axes_.row, AxisId(node.reference)));
        through_data = through_data || node.kind == ir::IndexKind::kValue;
      });
    }
    return along && !through_data;
  }

  const ir::Kernel& kernel_;
  const GroupAxes& axes_;
  std::set<TensorId> stored_;
  std::map<TensorId, TensorOpId> producers_;
};

}  // namespace

std::vector<RowRead> repeated_row_reads(const ir::Kernel& kernel, const ir::Group& group,
                                        const GroupAxes& axes) {
  RowLoops loops(kernel, group, axes);
  std::vector<RowRead> once;
  std::vector<RowRead> repeated;
  for (TensorOpId id : group.ops) {
    if (!loops.is_loop(kernel.ops[id])) continue;
    for (const RowRead& read : loops.reads(id)) {
      bool again = std::find(once.begin(), once.end(), read) != once.end();
      bool known = std::find(repeated.begin(), repeated.end(), read) != repeated.end();
      if (!again) once.push_back(read);
      if (again && !known) repeated.push_back(read);
    }
  }
  return repeated;
}

}  // namespace tenon::passes
