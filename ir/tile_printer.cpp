#include "ir/tile_printer.h"

#include <fmt/format.h>

#include <algorithm>
#include <span>
#include <string_view>
#include <vector>

#include "ir/body_text.h"
#include "ir/text_names.h"

namespace tenon::ir {
namespace {

std::string_view role_name(Tensor::Role role) {
  switch (role) {
    case Tensor::Role::kInput:
      return "input";
    case Tensor::Role::kResult:
      return "result";
    case Tensor::Role::kLocal:
      return "local";
  }
  return {};
}

template <class Items, class Text>
std::string joined(const Items& items, Text text) {
  std::string result;
  bool first = true;
  for (const auto& item : items) {
    if (!first) result += ", ";
    first = false;
    result += text(item);
  }
  return result;
}

// A module that the verifier would refuse prints too: what is not there shows as `?`.
class TilePrinter {
 public:
  TilePrinter(const TileModule& module, const PrintOptions& options) : module_(module), options_(options) {
    for (const Symbol& symbol : module.symbols) symbol_names_.push_back(names_.add(symbol.name, "n"));
    for (const TileAxis& axis : module.axes) axis_names_.push_back(names_.add(axis.name, "i"));
    for (const Tensor& tensor : module.tensors) tensor_names_.push_back(value_names_.add(tensor.name, "t"));
    for (const Buffer& buffer : module.buffers) buffer_names_.push_back(value_names_.add(buffer.name, "s"));
    values_.resize(module.values.size());
  }

  std::string print() {
    for (const Layout& home : module_.homes) layout_name(home);
    std::string kernels;
    TextNames kernel_names;
    for (const TileKernel& kernel : module_.kernels) print_kernel(kernels, kernel, kernel_names);
    TextNames name;
    std::string out = "tile.module @" + name.add(module_.name, "module") + symbols();
    if (module_.shared_bytes != 0) out += fmt::format(" shared({})", module_.shared_bytes);
    out += " {\n";
    tensors(out);
    axes(out);
    layouts(out);
    buffers(out);
    facts(out);
    return out + kernels + "}\n";
  }

  std::string print_op(TileOpId id) {
    for (uint32_t i = 0; i < values_.size(); ++i) values_[i] = std::to_string(i);
    std::string out;
    op(out, id, "");
    return out;
  }

 private:
  std::string loc(Span span) const {
    if (options_.sources == nullptr || !span.valid()) return {};
    LineColumn at = options_.sources->position(span.file, span.begin);
    return fmt::format("  // loc({}:{}:{})", options_.sources->file(span.file).name, at.line, at.column);
  }

  template <class Names, class IdType>
  static std::string name_of(const Names& names, IdType id) {
    return id.valid() && id.index() < names.size() ? names[id.index()] : "?";
  }
  std::string axis_name(AxisId id) const { return name_of(axis_names_, id); }
  std::string value(TileValueId id) const {
    std::string name = name_of(values_, id);
    return "%" + (name.empty() ? "?" : name);
  }

  std::string index(IndexId id) const {
    if (!id.valid() || id.index() >= module_.index.size()) return "?";
    return index_text(module_.index, id, [&](const IndexNode& node) {
      if (node.kind == IndexKind::kSymbol) return name_of(symbol_names_, SymbolId(node.reference));
      if (node.kind == IndexKind::kAxis) return axis_name(AxisId(node.reference));
      return value(TileValueId(node.reference));
    });
  }
  std::string indices(std::span<const IndexId> ids) const {
    return "[" + joined(ids, [&](IndexId id) { return index(id); }) + "]";
  }

  std::string symbols() const {
    std::string text;
    for (uint32_t i = 0; i < module_.symbols.size(); ++i) {
      const Symbol& symbol = module_.symbols[SymbolId(i)];
      text += (i > 0 ? ", " : "<") + symbol_names_[i];
      if (symbol.kind == Symbol::Kind::kScalar) text += ": scalar";
      if (symbol.fixed) text += fmt::format(" = {}", *symbol.fixed);
    }
    return text.empty() ? text : text + ">";
  }

  void tensors(std::string& out) const {
    for (uint32_t i = 0; i < module_.tensors.size(); ++i) {
      const Tensor& tensor = module_.tensors[TensorId(i)];
      out += fmt::format("  tensor %{}: {}", tensor_names_[i], name(tensor.element));
      if (!tensor.shape.empty()) out += indices(tensor.shape);
      out += fmt::format(" {}", role_name(tensor.role));
      int64_t alignment = module_.tensor_alignment[TensorId(i)];
      if (alignment > 1) out += fmt::format(" align({})", alignment);
      out += '\n';
    }
    for (auto [input, output] : module_.same_memory)
      out += fmt::format("  same_memory %{}, %{}\n", name_of(tensor_names_, input),
                         name_of(tensor_names_, output));
  }

  void axes(std::string& out) const {
    for (uint32_t i = 0; i < module_.axes.size(); ++i) {
      const TileAxis& axis = module_.axes[AxisId(i)];
      if (axis.kind == TileAxis::Kind::kDomain)
        out += fmt::format("  domain {}: {}\n", axis_names_[i], index(axis.count));
      if (axis.kind == TileAxis::Kind::kTile)
        out += fmt::format("  tile {}: {}\n", axis_names_[i], axis.extent);
    }
  }

  // Named in the order in which they are first seen, homes before all.
  std::string layout_name(const Layout& layout) {
    auto found = std::find(layouts_.begin(), layouts_.end(), layout);
    auto number = found - layouts_.begin();
    if (found == layouts_.end()) layouts_.push_back(layout);
    return fmt::format("#{}", number);
  }

  std::string bases(const Layout& layout, const std::vector<Layout::Position>& bits) const {
    return "(" +
           joined(bits,
                  [&](const Layout::Position& position) {
                    std::string text;
                    for (size_t i = 0; i < position.size(); ++i)
                      if (position[i] != 0)
                        text += fmt::format("{}{}:{}", text.empty() ? "" : " + ", axis_name(layout.axes()[i]),
                                            position[i]);
                    return text.empty() ? "0" : text;
                  }) +
           ")";
  }

  void layouts(std::string& out) const {
    for (size_t i = 0; i < layouts_.size(); ++i) {
      const Layout& layout = layouts_[i];
      Layout::Bases all = layout.bases();
      std::string extents = joined(layout.axes(), [&](AxisId axis) {
        return fmt::format("{}: {}", axis_name(axis), layout.extent(axis));
      });
      out += fmt::format("  layout #{} [{}] register{} lane{} warp{}\n", i, extents,
                         bases(layout, all.registers), bases(layout, all.lanes), bases(layout, all.warps));
    }
    for (size_t i = 0; i < module_.homes.size(); ++i) {
      auto at = std::find(layouts_.begin(), layouts_.end(), module_.homes[i]) - layouts_.begin();
      out += fmt::format("  home #{}\n", at);
    }
  }

  void buffers(std::string& out) const {
    auto number = [](int64_t n) { return std::to_string(n); };
    for (uint32_t i = 0; i < module_.buffers.size(); ++i) {
      const Buffer& buffer = module_.buffers[BufferId(i)];
      out += fmt::format("  buffer %{}: {}[{}] strides({})", buffer_names_[i], name(buffer.element),
                         joined(buffer.shape, number), joined(buffer.strides, number));
      if (buffer.swizzle_bits != 0)
        out +=
            fmt::format(" swizzle({}, {}, {})", buffer.swizzle_bits, buffer.swizzle_from, buffer.swizzle_to);
      if (buffer.offset >= 0) out += fmt::format(" at {}", buffer.offset);
      out += '\n';
    }
  }

  void facts(std::string& out) const {
    for (auto [expression, by] : module_.divisible)
      out += fmt::format("  divisible {} by {}\n", index(expression), by);
    for (auto [expression, least] : module_.bounded)
      out += fmt::format("  bounded {} from {}\n", index(expression), least);
  }

  std::string counted(AxisId id) const {
    bool known = id.valid() && id.index() < module_.axes.size();
    return axis_name(id) + ": " + (known ? index(module_.axes[id].count) : "?");
  }

  void print_kernel(std::string& out, const TileKernel& kernel, TextNames& names) {
    out += fmt::format("  tile.kernel @{} threads({})", names.add(kernel.name, "kernel"),
                       int64_t{kernel.warps} * 32);
    if (!kernel.grid.empty())
      out += " grid(" + joined(kernel.grid, [&](AxisId axis) { return counted(axis); }) + ")";
    if (kernel.narrow_index) out += " narrow";
    out += " {\n";
    region(out, kernel.body, "    ");
    out += "  }\n";
  }

  void region(std::string& out, RegionId id, const std::string& indent) {
    if (!id.valid() || id.index() >= module_.regions.size()) return;
    for (TileOpId op_id : module_.regions[id].ops) op(out, op_id, indent);
  }

  // Names a value where it is defined.
  std::string defined(TileValueId id) {
    if (!id.valid() || id.index() >= values_.size()) return "%?";
    std::string& name = values_[id.index()];
    if (name.empty()) {
      const std::string& own = module_.value_names[id];
      name = own.empty() ? std::to_string(next_value_++) : value_names_.add(own, "v");
    }
    return "%" + name;
  }

  std::string type(TileValueId id) {
    if (!id.valid() || id.index() >= values_.size()) return "?";
    const TileType& type = module_.values[id].type;
    std::string text(name(type.element));
    if (!type.axes.empty())
      text += "[" + joined(type.axes, [&](AxisId axis) { return axis_name(axis); }) + "]";
    if (type.layout) text += " " + layout_name(*type.layout);
    return text;
  }

  std::string values(std::span<const TileValueId> ids) const {
    return joined(ids, [&](TileValueId id) { return value(id); });
  }

  std::string access(const TileOp& op) const {
    return "%" + (op.tensor.valid() ? name_of(tensor_names_, op.tensor) : name_of(buffer_names_, op.buffer)) +
           indices(op.subscripts);
  }

  void op(std::string& out, TileOpId id, const std::string& indent) {
    if (!id.valid() || id.index() >= module_.ops.size()) return;
    const TileOp& op = module_.ops[id];
    out += indent;
    if (op.op == Opcode::kLoop) {
      loop(out, op, indent);
    } else {
      // Operands first: a value that is used before its definition has no name yet.
      std::string right = right_side(op);
      if (!op.results.empty())
        out += joined(op.results, [&](TileValueId result) { return defined(result); }) + " = ";
      out += right;
      if (!op.results.empty())
        out += " : " + joined(op.results, [&](TileValueId result) { return type(result); });
      if (op.approx) out += " approx";
      if (op.vector != 1) out += fmt::format(" vector({})", op.vector);
    }
    for (const Span& span : places(module_, op)) out += loc(span);
    out += '\n';
  }

  std::string right_side(const TileOp& op) const {
    std::string text(row(op.op).mnemonic);
    auto operand = [&](size_t i) { return i < op.operands.size() ? value(op.operands[i]) : "%?"; };
    switch (op.op) {
      case Opcode::kConst: {
        if (op.results.empty() || op.results[0].index() >= module_.values.size()) return text + " ?";
        return text + " " + constant_text({module_.values[op.results[0]].type.element, op.bits});
      }
      case Opcode::kIndex:
        return text + " " + index(op.index);
      case Opcode::kLoad:
        text += " " + access(op);
        if (!op.operands.empty()) text += " where " + operand(0);
        if (op.operands.size() > 1) text += " else " + operand(1);
        return text;
      case Opcode::kStore:
        text += " " + operand(0) + " -> " + access(op);
        if (op.operands.size() > 1) text += " where " + operand(1);
        if (op.async) text += " async";
        return text;
      case Opcode::kCopyAsync:
        text += fmt::format(" %{}{} -> %{}{}", name_of(tensor_names_, op.tensor), indices(op.subscripts),
                            name_of(buffer_names_, op.buffer), indices(op.target_subscripts));
        if (!op.operands.empty()) text += " where " + operand(0);
        return text;
      case Opcode::kCopyWait:
        return text + fmt::format(" {}", op.bits);
      case Opcode::kTileReduce:
        text += fmt::format("<{}> {}{} along ", op.monoid ? name(op.monoid->kind) : "?",
                            op.product ? "product " : "", values(op.operands));
        return text + joined(op.reduced, [&](AxisId axis) { return axis_name(axis); });
      default:
        return op.operands.empty() ? text : text + " " + values(op.operands);
    }
  }

  void loop(std::string& out, const TileOp& op, const std::string& indent) {
    std::string initial;
    RegionId body = op.regions.empty() ? RegionId() : op.regions[0];
    if (body.valid() && body.index() < module_.regions.size()) {
      const std::vector<TileValueId>& arguments = module_.regions[body].arguments;
      for (size_t i = 0; i < arguments.size(); ++i)
        initial += fmt::format("{}{} = {} : {}", i > 0 ? ", " : "", defined(arguments[i]),
                               i < op.operands.size() ? value(op.operands[i]) : "%?", type(arguments[i]));
    }
    std::string inside;
    region(inside, body, indent + "  ");
    if (!op.results.empty())
      out += joined(op.results, [&](TileValueId result) { return defined(result); }) + " = ";
    out += "loop " + counted(op.axis);
    if (op.unroll) out += " unroll";
    if (op.stages != 0) out += fmt::format(" stages({})", op.stages);
    if (!initial.empty()) out += " carry(" + initial + ")";
    out += " {\n" + inside + indent + "}";
  }

  const TileModule& module_;
  const PrintOptions& options_;
  // Symbols and axes; tensors, buffers and values.
  TextNames names_;
  TextNames value_names_;
  std::vector<std::string> symbol_names_, axis_names_, tensor_names_, buffer_names_;
  // By id; empty until the definition.
  std::vector<std::string> values_;
  size_t next_value_ = 0;
  std::vector<Layout> layouts_;
};

}  // namespace

std::string print(const TileModule& module, const PrintOptions& options) {
  return TilePrinter(module, options).print();
}

std::string print_op(const TileModule& module, TileOpId op) {
  PrintOptions options;
  std::string text = TilePrinter(module, options).print_op(op);
  while (text.ends_with('\n')) text.pop_back();
  return text;
}

}  // namespace tenon::ir
