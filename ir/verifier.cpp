#include "ir/verifier.h"

#include <fmt/format.h>

#include <algorithm>
#include <string_view>
#include <unordered_set>

#include "ir/verifier_body.h"

namespace tenon::ir {
namespace {

class KernelVerifier {
 public:
  KernelVerifier(const Kernel& kernel, std::vector<Violation>& violations)
      : kernel_(kernel),
        violations_(violations),
        owner_(kernel.tensors.size(), 0),
        defined_(kernel.tensors.size(), 0) {}

  void verify() {
    where_ = "@" + kernel_.name;
    span_ = kernel_.span;
    if (kernel_.index.overflowed()) report("the index pool has overflowed");
    names();
    for (uint32_t i = 0; i < kernel_.axes.size(); ++i)
      symbols_only(kernel_.axes[AxisId(i)].extent,
                   fmt::format("the extent of axis {}", kernel_.axes[AxisId(i)].name));
    tensors();
    for (const Parameter& parameter : kernel_.parameters) verify_parameter(parameter);
    parameter_order();
    roles();
    for (const WhereClause& clause : kernel_.where) symbols_only(clause.condition, "a `where` clause");
    for (TensorOpId id : order()) operation(id);
    results();
  }

 private:
  void report(std::string message) { violations_.push_back({where_, std::move(message), span_}); }

  bool known(TensorId id) const { return id.valid() && id.index() < kernel_.tensors.size(); }
  std::string name_of(TensorId id) const {
    return known(id) ? "%" + kernel_.tensors[id].name : std::string("a tensor that there is not");
  }

  void symbols_only(IndexId id, std::string_view what) {
    std::string error = index_error(kernel_, id, nullptr, nullptr, 0);
    if (!error.empty()) report(fmt::format("{} {}", what, error));
  }

  void names() {
    std::unordered_set<std::string_view> seen;
    for (const Symbol& symbol : kernel_.symbols) {
      if (symbol.name.empty())
        report("a symbol has no name");
      else if (!seen.insert(symbol.name).second)
        report(fmt::format("two symbols are called {}", symbol.name));
    }
    seen.clear();
    for (const Parameter& parameter : kernel_.parameters) {
      if (parameter.name.empty())
        report("a parameter has no name");
      else if (!seen.insert(parameter.name).second)
        report(fmt::format("two parameters are called {}", parameter.name));
    }
  }

  void tensors() {
    for (uint32_t i = 0; i < kernel_.tensors.size(); ++i)
      for (IndexId extent : kernel_.tensors[TensorId(i)].shape)
        symbols_only(extent, fmt::format("the shape of {}", name_of(TensorId(i))));
  }

  void verify_parameter(const Parameter& parameter) {
    auto complain = [&](std::string_view what) {
      report(fmt::format("parameter {} {}", parameter.name, what));
    };
    if (!parameter.input.valid() && !parameter.output.valid()) return complain("has no tensor");
    for (TensorId id : {parameter.input, parameter.output}) {
      if (!id.valid()) continue;
      if (!known(id)) return complain("has a tensor that there is not");
      if (owner_[id.index()]++ != 0) complain(fmt::format("shares {} with another", name_of(id)));
      Tensor::Role role = id == parameter.input ? Tensor::Role::kInput : Tensor::Role::kResult;
      if (kernel_.tensors[id].role != role) complain(fmt::format("has {} of another role", name_of(id)));
    }
    if (parameter.inout()) {
      const Tensor& before = kernel_.tensors[parameter.input];
      const Tensor& after = kernel_.tensors[parameter.output];
      if (before.element != after.element || before.shape != after.shape) complain("changes its type");
    }
    if (!parameter.symbol.valid()) return;
    const Tensor& value = kernel_.tensors[parameter.tensor()];
    bool scalar = parameter.input.valid() && value.element == ElementType::kIndex && value.shape.empty();
    if (!scalar) complain("has a symbol and is no index scalar that the caller gives");
    if (parameter.symbol.index() >= kernel_.symbols.size() ||
        kernel_.symbols[parameter.symbol].kind != Symbol::Kind::kScalar)
      complain("has a symbol that is no scalar");
  }

  void parameter_order() {
    bool results = false;
    for (const Parameter& parameter : kernel_.parameters) {
      if (parameter.input.valid() && results)
        report(fmt::format("parameter {} stands behind a result", parameter.name));
      results = results || !parameter.input.valid();
    }
  }

  void roles() {
    for (uint32_t i = 0; i < kernel_.tensors.size(); ++i) {
      Tensor::Role role = kernel_.tensors[TensorId(i)].role;
      if (role != Tensor::Role::kLocal && owner_[i] == 0)
        report(fmt::format("{} has the role of a parameter and belongs to none", name_of(TensorId(i))));
      if (role == Tensor::Role::kInput) defined_[i] = 1;
    }
  }

  // Operations as they run, and what is wrong with the groups.
  std::vector<TensorOpId> order() {
    std::vector<TensorOpId> ids;
    if (kernel_.groups.empty()) {
      for (uint32_t i = 0; i < kernel_.ops.size(); ++i) ids.push_back(TensorOpId(i));
      return ids;
    }
    std::vector<int> count(kernel_.ops.size(), 0);
    for (const Group& group : kernel_.groups) {
      if (group.name.empty()) report("a group has no name");
      for (size_t i = 0; i < group.ops.size(); ++i) {
        TensorOpId id = group.ops[i];
        if (!id.valid() || id.index() >= kernel_.ops.size()) {
          report(fmt::format("group {} holds an operation that there is not", group.name));
          continue;
        }
        if (i > 0 && id <= group.ops[i - 1])
          report(fmt::format("group {} is not in program order", group.name));
        if (count[id.index()]++ == 0) ids.push_back(id);
      }
    }
    for (uint32_t i = 0; i < kernel_.ops.size(); ++i) {
      int expected = kernel_.ops[TensorOpId(i)].outputs.empty() ? 0 : 1;
      if (count[i] != expected)
        report(fmt::format("{} is in {} groups, not {}", op_name(kernel_.ops[TensorOpId(i)]), count[i],
                           expected));
    }
    return ids;
  }

  std::string op_name(const TensorOp& op) const {
    return op.outputs.empty() ? "a deleted operation" : name_of(op.outputs[0].tensor);
  }

  void operation(TensorOpId id) {
    const TensorOp& op = kernel_.ops[id];
    if (op.outputs.empty()) return;
    where_ = fmt::format("@{}: {}", kernel_.name, op_name(op));
    span_ = op.spans.empty() ? Span() : op.spans[0];
    domain(op);
    body(op);
    for (const OpOutput& output : op.outputs) verify_output(op, output);
    if (op.op == Opcode::kMap) {
      if (op.predicate.valid()) report("a map has no predicate");
    } else if (op.predicate.valid()) {
      if (op.predicate.index() >= op.body.size())
        report("the predicate is no value of the body");
      else if (op.body.type(op.predicate) != ElementType::kBool)
        report(fmt::format("the predicate is {}, not bool", name(op.body.type(op.predicate))));
    }
    where_ = "@" + kernel_.name;
    span_ = kernel_.span;
  }

  void domain(const TensorOp& op) {
    if (op.op != Opcode::kMap && op.op != Opcode::kReduce) report("is neither map nor reduce");
    if (op.op == Opcode::kMap && !op.reduction.empty()) report("a map has no reduction axes");
    if (op.op == Opcode::kReduce && op.reduction.empty()) report("a reduction has no reduction axis");
    std::unordered_set<uint32_t> seen;
    for (const auto* axes : {&op.parallel, &op.reduction}) {
      for (AxisId axis : *axes) {
        if (!axis.valid() || axis.index() >= kernel_.axes.size())
          report("has an axis that there is not");
        else if (!seen.insert(axis.index()).second)
          report(fmt::format("has axis {} twice", kernel_.axes[axis].name));
      }
    }
  }

  void body(const TensorOp& op) {
    BodyContext context{kernel_, {}, {}, {}, {}};
    context.has_axis = [&](AxisId axis) {
      return std::find(op.parallel.begin(), op.parallel.end(), axis) != op.parallel.end() ||
             std::find(op.reduction.begin(), op.reduction.end(), axis) != op.reduction.end();
    };
    context.read_error = [&](TensorId id) {
      return defined_[id.index()] != 0 ? std::string()
                                       : fmt::format("reads {} before its definition", name_of(id));
    };
    context.report = [&](ValueId value, std::string message) {
      in_instruction(op.body, value, std::move(message));
    };
    verify_body(op.body, context);
  }

  void in_instruction(const Body& body, ValueId value, std::string message) {
    std::string where = fmt::format("{}: %{} = {}", where_, value.index(), row(body[value].op).mnemonic);
    violations_.push_back(
        {std::move(where), std::move(message), body[value].span.valid() ? body[value].span : span_});
  }

  void verify_output(const TensorOp& op, const OpOutput& output) {
    if (!known(output.tensor)) return report("defines a tensor that there is not");
    if (defined_[output.tensor.index()]++ != 0)
      report(fmt::format("defines {} again", name_of(output.tensor)));
    for (ValueId value : output.values)
      if (!value.valid() || value.index() >= op.body.size())
        return report("has a result that is no value of its body");
    std::optional<ElementType> type =
        op.op == Opcode::kMap ? map_type(op, output) : reduction_type(op, output);
    const Tensor& tensor = kernel_.tensors[output.tensor];
    if (type && *type != tensor.element)
      report(
          fmt::format("gives {}, but {} has {}", name(*type), name_of(output.tensor), name(tensor.element)));
    if (tensor.shape.size() != op.parallel.size())
      return report(fmt::format("has {} parallel axes, but {} has {} dimensions", op.parallel.size(),
                                name_of(output.tensor), tensor.shape.size()));
    for (size_t i = 0; i < op.parallel.size(); ++i)
      if (op.parallel[i].index() < kernel_.axes.size() &&
          kernel_.axes[op.parallel[i]].extent != tensor.shape[i])
        report(fmt::format("dimension {} of {} is not the extent of axis {}", i, name_of(output.tensor),
                           kernel_.axes[op.parallel[i]].name));
  }

  std::optional<ElementType> map_type(const TensorOp& op, const OpOutput& output) {
    if (output.monoid) report("a map has no monoid");
    if (output.values.size() == 1) return op.body.type(output.values[0]);
    report(fmt::format("a map has one value for a result, not {}", output.values.size()));
    return std::nullopt;
  }

  std::optional<ElementType> reduction_type(const TensorOp& op, const OpOutput& output) {
    if (!output.monoid) return report("a reduction has a monoid for each result"), std::nullopt;
    const Monoid& monoid = *output.monoid;
    if (!monoid_is_sound(monoid)) return std::nullopt;
    if (output.values.size() != monoid.slots()) {
      report(fmt::format("lifts {} values into a state of {} slots", output.values.size(), monoid.slots()));
      return std::nullopt;
    }
    for (size_t i = 0; i < monoid.slots(); ++i) {
      ElementType type = op.body.type(output.values[i]);
      if (type != monoid.identity[i].type)
        report(
            fmt::format("lifts {} into slot {}, which is {}", name(type), i, name(monoid.identity[i].type)));
    }
    return monoid.result_type();
  }

  // Reports what is wrong with a monoid.
  bool monoid_is_sound(const Monoid& monoid) {
    size_t before = violations_.size();
    if (monoid.slots() != slots(monoid.kind))
      report(fmt::format("{} has {} slots, not {}", name(monoid.kind), slots(monoid.kind), monoid.slots()));
    if (monoid.merged.size() != monoid.slots()) report("merging does not give a value for each slot");
    std::vector<ElementType> state;
    for (const Constant& slot : monoid.identity) state.push_back(slot.type);
    monoid_body(monoid.project, state);
    size_t slots = state.size();
    for (size_t i = 0; i < slots; ++i) state.push_back(state[i]);
    monoid_body(monoid.merge, state);
    for (size_t i = 0; i < std::min(slots, monoid.merged.size()); ++i)
      if (!monoid.merged[i].valid() || monoid.merged[i].index() >= monoid.merge.size())
        report("merging gives no value of its body");
      else if (monoid.merge.type(monoid.merged[i]) != state[i])
        report(fmt::format("merging gives {} for slot {}, which is {}",
                           name(monoid.merge.type(monoid.merged[i])), i, name(state[i])));
    if (!monoid.projected.valid() || monoid.projected.index() >= monoid.project.size())
      report("projecting gives no value of its body");
    return violations_.size() == before;
  }

  void monoid_body(const Body& body, std::span<const ElementType> arguments) {
    BodyContext context{kernel_, {}, {}, arguments, {}};
    context.report = [&](ValueId value, std::string message) {
      in_instruction(body, value, std::move(message));
    };
    verify_body(body, context);
  }

  void results() {
    for (const Parameter& parameter : kernel_.parameters)
      if (known(parameter.output) && defined_[parameter.output.index()] == 0)
        report(fmt::format("result {} is defined nowhere", name_of(parameter.output)));
  }

  const Kernel& kernel_;
  std::vector<Violation>& violations_;
  // How many parameters a tensor belongs to, and definitions it has had so far.
  std::vector<int> owner_;
  std::vector<int> defined_;
  std::string where_;
  Span span_;
};

}  // namespace

std::vector<Violation> verify(const Kernel& kernel) {
  std::vector<Violation> violations;
  KernelVerifier(kernel, violations).verify();
  return violations;
}

std::vector<Violation> verify(const Module& module) {
  std::vector<Violation> violations;
  std::unordered_set<std::string_view> names;
  for (const Kernel& kernel : module.kernels) {
    if (!names.insert(kernel.name).second)
      violations.push_back({"@" + kernel.name, "two kernels have this name", kernel.span});
    KernelVerifier(kernel, violations).verify();
  }
  return violations;
}

void report(const std::vector<Violation>& violations, Diagnostics& diagnostics) {
  for (const Violation& violation : violations)
    diagnostics.report(DiagnosticId::kIrInvalid, violation.span, violation.text());
}

std::string to_text(const std::vector<Violation>& violations) {
  std::string text;
  for (const Violation& violation : violations) text += violation.text() + "\n";
  return text;
}

}  // namespace tenon::ir
