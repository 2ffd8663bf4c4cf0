#include "ir/printer.h"

#include <fmt/format.h>

#include <span>
#include <string_view>
#include <unordered_map>

#include "ir/body_text.h"
#include "ir/text_names.h"

namespace tenon::ir {
namespace {

struct PermissionName {
  Permission permission;
  std::string_view name;
};
constexpr PermissionName kPermissions[] = {
#define TENON_PERMISSION(id, name) {id, name},
#include "ir/permissions.def"
};

class KernelPrinter {
 public:
  KernelPrinter(const Kernel& kernel, const PrintOptions& options) : kernel_(kernel), options_(options) {
    for (const Symbol& symbol : kernel.symbols) symbol_names_.push_back(names_.add(symbol.name, "n"));
    name_tensors();
  }

  void print(std::string& out) {
    header(out);
    out += " {" + loc(kernel_.span) + "\n";
    if (kernel_.groups.empty()) {
      for (uint32_t i = 0; i < kernel_.ops.size(); ++i) print_op(out, TensorOpId(i), "  ");
    } else {
      TextNames groups;
      for (const Group& group : kernel_.groups) {
        begin_group();
        out += "  group @" + groups.add(group.name, "group") + " {\n";
        for (TensorOpId op : group.ops) print_op(out, op, "    ");
        out += "  }\n";
      }
    }
    out += "}\n";
  }

  void print_op(std::string& out, TensorOpId id, const std::string& indent) {
    const TensorOp& op = kernel_.ops[id];
    if (op.outputs.empty()) return;
    BodyPrinter body = body_printer(op);
    out += indent;
    for (size_t i = 0; i < op.outputs.size(); ++i) out += (i > 0 ? ", %" : "%") + typed(op.outputs[i].tensor);
    out += fmt::format(" = {}{} [{}] {{", row(op.op).mnemonic, monoids(op), domain(op));
    for (const Span& span : op.spans) out += loc(span);
    out += '\n';
    body.print(out, op.body, indent + "  ");
    out += indent + "  " + yield(op) + "\n" + indent + "}\n";
  }

  // Within a group a name stands for one axis.
  void begin_group() {
    group_names_ = names_;
    axis_of_.clear();
  }

 private:
  // A parameter's name is the caller's, so it comes before all others.
  void name_tensors() {
    tensor_names_.resize(kernel_.tensors.size());
    TextNames names;
    auto set = [&](TensorId id, std::string_view name) {
      if (id.valid() && tensor_names_[id.index()].empty()) tensor_names_[id.index()] = names.add(name, "t");
    };
    for (const Parameter& parameter : kernel_.parameters) set(parameter.tensor(), parameter.name);
    for (uint32_t i = 0; i < kernel_.tensors.size(); ++i) set(TensorId(i), kernel_.tensors[TensorId(i)].name);
  }

  std::string loc(Span span) const {
    if (options_.sources == nullptr || !span.valid()) return {};
    LineColumn at = options_.sources->position(span.file, span.begin);
    return fmt::format("  // loc({}:{}:{})", options_.sources->file(span.file).name, at.line, at.column);
  }

  std::string symbol_text(IndexId id) const {
    return index_text(kernel_.index, id, [&](const IndexNode& node) {
      return node.kind == IndexKind::kSymbol ? symbol_names_[node.reference] : std::string("?");
    });
  }

  std::string type(TensorId id) const {
    const Tensor& tensor = kernel_.tensors[id];
    std::string text(name(tensor.element));
    for (size_t i = 0; i < tensor.shape.size(); ++i)
      text += (i > 0 ? ", " : "[") + symbol_text(tensor.shape[i]);
    return tensor.shape.empty() ? text : text + "]";
  }
  std::string typed(TensorId id) const { return tensor_names_[id.index()] + ": " + type(id); }

  void header(std::string& out) const {
    std::string allowed;
    for (const PermissionName& row : kPermissions)
      if (kernel_.allows(row.permission)) allowed += (allowed.empty() ? "" : ", ") + std::string(row.name);
    if (!allowed.empty()) out += "@allow(" + allowed + ")\n";
    TextNames kernel_name;
    out += "kernel @" + kernel_name.add(kernel_.name, "kernel") + symbols() + "(" + inputs() + ")";
    std::string results;
    for (const Parameter& parameter : kernel_.parameters)
      if (!parameter.input.valid()) results += (results.empty() ? "%" : ", %") + typed(parameter.output);
    if (!results.empty()) out += " -> (" + results + ")";
    for (size_t i = 0; i < kernel_.where.size(); ++i)
      out += (i > 0 ? ", " : " where ") + clause(kernel_.where[i]);
  }

  std::string symbols() const {
    std::string text;
    for (uint32_t i = 0; i < kernel_.symbols.size(); ++i) {
      const Symbol& symbol = kernel_.symbols[SymbolId(i)];
      text += (i > 0 ? ", " : "<") + symbol_names_[i];
      if (symbol.kind == Symbol::Kind::kScalar) text += ": scalar";
      if (symbol.fixed) text += fmt::format(" = {}", *symbol.fixed);
    }
    return text.empty() ? text : text + ">";
  }

  std::string inputs() const {
    std::string text;
    for (const Parameter& parameter : kernel_.parameters) {
      if (!parameter.input.valid()) continue;
      text += text.empty() ? "%" : ", %";
      text += tensor_names_[parameter.input.index()] + (parameter.inout() ? ": inout " : ": ") +
              type(parameter.input);
      if (parameter.inout()) text += " as %" + tensor_names_[parameter.output.index()];
      if (parameter.symbol.valid()) text += " = " + symbol_names_[parameter.symbol.index()];
    }
    return text;
  }

  std::string clause(const WhereClause& where) const {
    std::string condition = symbol_text(where.condition);
    std::string text = (where.implicit ? "implicit " : "") + condition;
    return where.text == condition ? text : text + " as " + quoted(where.text);
  }

  // Outside of groups axes are local to their operation: their names need only differ there, and from the
  // symbols.
  BodyPrinter body_printer(const TensorOp& op) {
    if (kernel_.groups.empty()) begin_group();
    for (const auto* axes : {&op.parallel, &op.reduction})
      for (AxisId axis : *axes)
        if (!axis_of_.contains(axis.index()))
          axis_of_.emplace(axis.index(), group_names_.add(kernel_.axes[axis].name, "i"));
    auto atom = [this](const IndexNode& node) -> std::string {
      if (node.kind == IndexKind::kSymbol) return symbol_names_[node.reference];
      auto found = axis_of_.find(node.reference);
      return found == axis_of_.end() ? "?" : found->second;
    };
    auto tensor = [this](TensorId id) { return tensor_names_[id.index()]; };
    return {kernel_.index, atom, tensor, [this](Span span) { return loc(span); }};
  }

  std::string domain(const TensorOp& op) const {
    std::string text;
    auto list = [&](std::span<const AxisId> axes) {
      for (size_t i = 0; i < axes.size(); ++i)
        text += (i > 0 ? ", " : "") + axis_of_.at(axes[i].index()) + ": " +
                symbol_text(kernel_.axes[axes[i]].extent);
    };
    list(op.parallel);
    if (op.reduction.empty()) return text;
    text += text.empty() ? "| " : " | ";
    list(op.reduction);
    return text;
  }

  static std::string monoids(const TensorOp& op) {
    std::string text;
    for (const OpOutput& output : op.outputs)
      if (output.monoid) text += (text.empty() ? "<" : ", ") + std::string(name(output.monoid->kind));
    return text.empty() ? text : text + ">";
  }

  static std::string yield(const TensorOp& op) {
    std::string text = "yield";
    for (size_t i = 0; i < op.outputs.size(); ++i) {
      const ValueList& values = op.outputs[i].values;
      text += i > 0 ? ", " : " ";
      for (size_t k = 0; k < values.size(); ++k)
        text += fmt::format("{}%{}", k > 0 ? ", " : values.size() > 1 ? "(" : "", values[k].index());
      if (values.size() > 1) text += ")";
    }
    if (op.predicate.valid()) text += fmt::format(" where %{}", op.predicate.index());
    return text;
  }

  const Kernel& kernel_;
  const PrintOptions& options_;
  // Symbols.
  TextNames names_;
  // With the axes of the group or operation at hand.
  TextNames group_names_;
  std::vector<std::string> symbol_names_;
  std::vector<std::string> tensor_names_;
  std::unordered_map<uint32_t, std::string> axis_of_;
};

}  // namespace

std::string print(const Kernel& kernel, const PrintOptions& options) {
  std::string out;
  KernelPrinter(kernel, options).print(out);
  return out;
}

std::string print(const Module& module, const PrintOptions& options) {
  std::string out;
  for (const Kernel& kernel : module.kernels) {
    if (!out.empty()) out += '\n';
    out += print(kernel, options);
  }
  return out;
}

std::string print_op(const Kernel& kernel, TensorOpId op) {
  std::string out;
  PrintOptions options;
  KernelPrinter printer(kernel, options);
  printer.begin_group();
  printer.print_op(out, op, "");
  return out;
}

}  // namespace tenon::ir
