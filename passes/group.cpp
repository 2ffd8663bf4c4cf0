#include "passes/group.h"

#include <algorithm>
#include <map>
#include <optional>
#include <set>
#include <span>

#include "passes/pass.h"
#include "support/check.h"

namespace tenon::passes {
namespace {

using ir::AxisId;
using ir::IndexId;
using ir::Kernel;
using ir::TensorOp;
using ir::TensorOpId;

// Classes of axes that run together; the representative is the axis of the earliest operation.
class AxisClasses {
 public:
  AxisId find(AxisId axis) const {
    for (auto at = parent_.find(axis); at != parent_.end(); at = parent_.find(axis)) axis = at->second;
    return axis;
  }
  void unite(AxisId earlier, AxisId later) {
    earlier = find(earlier);
    later = find(later);
    if (earlier != later) parent_[later] = earlier;
  }

 private:
  std::map<AxisId, AxisId> parent_;
};

// The axes of a read's subscripts where each is one axis of its own; empty optional otherwise.
std::optional<std::vector<AxisId>> plain_axes(const Kernel& kernel, std::span<const IndexId> subscripts) {
  std::vector<AxisId> axes;
  for (IndexId subscript : subscripts) {
    const ir::IndexNode& node = kernel.index[subscript];
    if (node.kind != ir::IndexKind::kAxis) return std::nullopt;
    axes.push_back(AxisId(node.reference));
  }
  std::set<AxisId> distinct(axes.begin(), axes.end());
  if (distinct.size() != axes.size()) return std::nullopt;
  return axes;
}

std::vector<AxisId> classes_of(const AxisClasses& classes, std::span<const AxisId> axes) {
  std::vector<AxisId> result;
  for (AxisId axis : axes) result.push_back(classes.find(axis));
  return result;
}

bool contains(std::span<const AxisId> axes, AxisId axis) {
  return std::find(axes.begin(), axes.end(), axis) != axes.end();
}

// Tries to run `ops` as one group. Empty where they do not fit.
std::optional<AxisClasses> fit(const Kernel& kernel, const std::vector<TensorOpId>& ops,
                               const SideTable<ir::Tensor, TensorOpId>& defined_by) {
  AxisClasses classes;
  for (TensorOpId id : ops) {
    const TensorOp& op = kernel.ops[id];
    for (const ir::Instruction& read : op.body) {
      if (read.op != ir::Opcode::kRead) continue;
      TensorOpId producer = defined_by[read.tensor];
      if (!producer.valid() || std::find(ops.begin(), ops.end(), producer) == ops.end()) continue;
      auto axes = plain_axes(kernel, read.subscripts);
      if (!axes) return std::nullopt;
      const ir::AxisList& produced = kernel.ops[producer].parallel;
      for (size_t i = 0; i < axes->size(); ++i) {
        if (kernel.axes[produced[i]].extent != kernel.axes[(*axes)[i]].extent) return std::nullopt;
        classes.unite(produced[i], (*axes)[i]);
      }
    }
  }
  // Operations that share no tensor of the group run over the same parallel axes if their extents say so.
  const TensorOp& first = kernel.ops[ops.front()];
  for (TensorOpId id : ops) {
    const TensorOp& op = kernel.ops[id];
    bool linked = std::any_of(op.parallel.begin(), op.parallel.end(), [&](AxisId axis) {
      return contains(classes_of(classes, first.parallel), classes.find(axis));
    });
    if (linked) continue;
    for (size_t i = 0; i < std::min(op.parallel.size(), first.parallel.size()); ++i) {
      if (kernel.axes[op.parallel[i]].extent != kernel.axes[first.parallel[i]].extent) break;
      classes.unite(first.parallel[i], op.parallel[i]);
    }
  }
  std::vector<AxisId> parallel = classes_of(classes, first.parallel);
  for (TensorOpId id : ops) {
    std::vector<AxisId> own = classes_of(classes, kernel.ops[id].parallel);
    std::erase_if(parallel, [&](AxisId axis) { return !contains(own, axis); });
  }
  std::optional<std::vector<AxisId>> row;
  bool reduces = false;
  for (TensorOpId id : ops) {
    const TensorOp& op = kernel.ops[id];
    reduces = reduces || op.op == ir::Opcode::kReduce;
    std::vector<AxisId> rest = classes_of(classes, op.parallel);
    std::erase_if(rest, [&](AxisId axis) { return contains(parallel, axis); });
    std::vector<AxisId> reduced = classes_of(classes, op.reduction);
    if (!rest.empty() && !reduced.empty()) return std::nullopt;
    if (rest.empty()) rest = reduced;
    if (rest.empty()) continue;
    if (!row) {
      row = rest;
      continue;
    }
    if (row->size() != rest.size()) return std::nullopt;
    for (size_t i = 0; i < rest.size(); ++i) {
      if (kernel.axes[(*row)[i]].extent != kernel.axes[rest[i]].extent) return std::nullopt;
      classes.unite((*row)[i], rest[i]);
    }
  }
  // Maps of different ranks alone have nothing to share but the launch, and fit no family.
  if (row && !reduces) return std::nullopt;
  // What was united must still be two axes within one operation.
  for (TensorOpId id : ops) {
    std::vector<AxisId> all = classes_of(classes, kernel.ops[id].parallel);
    std::vector<AxisId> reduced = classes_of(classes, kernel.ops[id].reduction);
    all.insert(all.end(), reduced.begin(), reduced.end());
    if (std::set<AxisId>(all.begin(), all.end()).size() != all.size()) return std::nullopt;
  }
  return classes;
}

bool shares_a_tensor(const Kernel& kernel, const std::vector<TensorOpId>& ops, const TensorOp& op) {
  std::set<ir::TensorId> touched;
  for (TensorOpId id : ops) {
    for (const ir::Instruction& read : kernel.ops[id].body)
      if (read.op == ir::Opcode::kRead) touched.insert(read.tensor);
    for (const ir::OpOutput& output : kernel.ops[id].outputs) touched.insert(output.tensor);
  }
  return std::any_of(op.body.begin(), op.body.end(), [&](const ir::Instruction& read) {
    return read.op == ir::Opcode::kRead && touched.contains(read.tensor);
  });
}

// What inout parameters forbid. Their new values overwrite those at launch, element by element as blocks come
// to them, so within a group an element may only be read by whom writes it, and before.
class InoutRules {
 public:
  explicit InoutRules(const Kernel& kernel) : kernel_(kernel), overwrites_(kernel.tensors.size()) {
    for (const ir::Parameter& parameter : kernel.parameters)
      if (parameter.inout()) overwrites_[parameter.output] = parameter.input;
  }

  // The operations before `writer` that read what it overwrites: it runs no earlier than they do.
  std::vector<TensorOpId> earlier_readers(TensorOpId writer) const {
    std::vector<TensorOpId> readers;
    for (const ir::OpOutput& output : kernel_.ops[writer].outputs) {
      ir::TensorId old = overwrites_[output.tensor];
      if (!old.valid()) continue;
      for (uint32_t i = 0; i < writer.index(); ++i)
        if (reads(TensorOpId(i), old)) readers.push_back(TensorOpId(i));
    }
    return readers;
  }

  // Whether all of the group read what `id` overwrites at the element that it writes.
  bool writes_in_place(TensorOpId id, const std::vector<TensorOpId>& ops, const AxisClasses& classes) const {
    for (const ir::OpOutput& output : kernel_.ops[id].outputs) {
      ir::TensorId old = overwrites_[output.tensor];
      if (!old.valid()) continue;
      std::vector<AxisId> written = classes_of(classes, kernel_.ops[id].parallel);
      for (TensorOpId reader : ops) {
        for (const ir::Instruction& read : kernel_.ops[reader].body) {
          if (read.tensor != old) continue;
          auto axes = plain_axes(kernel_, read.subscripts);
          if (!axes || classes_of(classes, *axes) != written) return false;
        }
      }
    }
    return true;
  }

  // Whether an operation of the group overwrites what another has read: one that joined behind it could have
  // that computed again.
  bool is_closed(const ir::Group& group) const {
    for (TensorOpId writer : group.ops) {
      for (const ir::OpOutput& output : kernel_.ops[writer].outputs) {
        ir::TensorId old = overwrites_[output.tensor];
        if (!old.valid()) continue;
        for (TensorOpId reader : group.ops)
          if (reader != writer && reads(reader, old)) return true;
      }
    }
    return false;
  }

 private:
  bool reads(TensorOpId op, ir::TensorId tensor) const {
    return std::any_of(kernel_.ops[op].body.begin(), kernel_.ops[op].body.end(),
                       [&](const ir::Instruction& read) { return read.tensor == tensor; });
  }

  const Kernel& kernel_;
  // The launch value of each inout parameter's new value.
  SideTable<ir::Tensor, ir::TensorId> overwrites_;
};

void rename_axes(Kernel& kernel, TensorOp& op, const AxisClasses& classes) {
  for (AxisId& axis : op.parallel) axis = classes.find(axis);
  for (AxisId& axis : op.reduction) axis = classes.find(axis);
  auto renamed = [&](IndexId index) {
    return kernel.index.substitute(index, [&](IndexId atom) {
      const ir::IndexNode node = kernel.index[atom];
      return node.kind == ir::IndexKind::kAxis ? kernel.index.axis(classes.find(AxisId(node.reference)))
                                               : IndexId();
    });
  };
  for (ir::Instruction& instruction : op.body) {
    if (instruction.index.valid()) instruction.index = renamed(instruction.index);
    for (IndexId& subscript : instruction.subscripts) subscript = renamed(subscript);
  }
}

}  // namespace

void group(Kernel& kernel, PassContext&) {
  kernel.groups.clear();
  InoutRules inouts(kernel);
  SideTable<ir::Tensor, TensorOpId> defined_by = ir::defining_ops(kernel);
  SideTable<TensorOp, uint32_t> group_of(kernel.ops.size(), 0);
  std::vector<std::optional<AxisClasses>> classes;
  for (uint32_t i = 0; i < kernel.ops.size(); ++i) {
    TensorOpId id(i);
    const TensorOp& op = kernel.ops[id];
    if (op.outputs.empty()) continue;
    // The operation runs no earlier than what it reads.
    uint32_t earliest = 0;
    bool depends = false;
    for (const ir::Instruction& read : op.body) {
      if (read.op != ir::Opcode::kRead || !defined_by[read.tensor].valid()) continue;
      earliest = std::max(earliest, group_of[defined_by[read.tensor]]);
      depends = true;
    }
    for (TensorOpId reader : inouts.earlier_readers(id)) {
      earliest = std::max(earliest, group_of[reader]);
      depends = true;
    }
    if (!kernel.groups.empty()) {
      uint32_t candidate = depends ? earliest : static_cast<uint32_t>(kernel.groups.size() - 1);
      std::vector<TensorOpId> joined = kernel.groups[candidate].ops;
      joined.push_back(id);
      if (!inouts.is_closed(kernel.groups[candidate]) &&
          shares_a_tensor(kernel, kernel.groups[candidate].ops, op)) {
        auto fits = fit(kernel, joined, defined_by);
        if (fits && inouts.writes_in_place(id, joined, *fits)) {
          kernel.groups[candidate].ops = std::move(joined);
          classes[candidate] = std::move(fits);
          group_of[id] = candidate;
          continue;
        }
      }
    }
    group_of[id] = static_cast<uint32_t>(kernel.groups.size());
    kernel.groups.push_back({kernel.name + "." + std::to_string(kernel.groups.size()), {id}});
    classes.push_back(fit(kernel, {id}, defined_by));
    TENON_CHECK(classes.back().has_value(), "an operation does not fit a group of its own");
  }
  for (size_t i = 0; i < kernel.groups.size(); ++i)
    for (TensorOpId id : kernel.groups[i].ops) rename_axes(kernel, kernel.ops[id], *classes[i]);
}

GroupAxes group_axes(const Kernel& kernel, const ir::Group& group) {
  GroupAxes axes;
  axes.parallel = kernel.ops[group.ops.front()].parallel;
  for (TensorOpId id : group.ops)
    erase_if(axes.parallel, [&](AxisId axis) { return !contains(kernel.ops[id].parallel, axis); });
  for (TensorOpId id : group.ops) {
    const TensorOp& op = kernel.ops[id];
    if (!axes.row.empty()) break;
    axes.row = op.reduction;
    if (!axes.row.empty()) break;
    for (AxisId axis : op.parallel)
      if (!contains(axes.parallel, axis)) axes.row.push_back(axis);
  }
  return axes;
}

}  // namespace tenon::passes
