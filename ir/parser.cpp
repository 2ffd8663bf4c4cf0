#include "ir/parser.h"

#include <fmt/format.h>

#include <string>
#include <unordered_map>

#include "ir/body_text.h"

namespace tenon::ir {
namespace {

constexpr size_t kMaxRank = 64;
constexpr size_t kMaxEntities = size_t{1} << 20;

struct PermissionName {
  Permission permission;
  std::string_view name;
};
constexpr PermissionName kPermissions[] = {
#define TENON_PERMISSION(id, name) {id, name},
#include "ir/permissions.def"
};

class KernelParser {
 public:
  explicit KernelParser(TextScanner& scanner) : scanner_(scanner) {}

  Kernel parse() {
    permissions();
    Span begin = scanner_.peek().span;
    scanner_.expect("kernel");
    kernel_.name = scanner_.expect(Token::Kind::kSymbol, "the name of a kernel, `@name`").text;
    kernel_.span = scanner_.span_from(begin);
    if (scanner_.accept("<")) scanner_.list(">", [this] { symbol(); });
    scanner_.expect("(");
    scanner_.list(")", [this] { input(); });
    if (scanner_.accept("->")) {
      scanner_.expect("(");
      scanner_.list(")", [this] { result(); });
    }
    if (scanner_.accept("where")) clauses();
    scanner_.expect("{");
    while (!scanner_.at("}") && !scanner_.at_end()) scanner_.at("group") ? group() : op(nullptr);
    scanner_.expect("}");
    return std::move(kernel_);
  }

 private:
  using Map = std::unordered_map<std::string_view, uint32_t>;

  void permissions() {
    if (!scanner_.at(Token::Kind::kSymbol) || scanner_.peek().text != "allow") return;
    scanner_.take();
    scanner_.expect("(");
    scanner_.list(")", [this] {
      Token name = scanner_.expect(Token::Kind::kWord, "a permission");
      for (const PermissionName& row : kPermissions) {
        if (row.name != name.text) continue;
        kernel_.permissions |= row.permission;
        return;
      }
      scanner_.fail(DiagnosticId::kIrUnknownName, name.span, "permission", name.text.substr(0, 60));
    });
  }

  template <class Items>
  void define(Map& map, const Token& name, uint32_t id, const Items& items, std::string_view sigil) {
    if (!map.emplace(name.text, id).second)
      scanner_.fail(DiagnosticId::kIrRedefinition, name.span,
                    fmt::format("{}{}", sigil, name.text.substr(0, 60)));
    if (items.size() > kMaxEntities)
      scanner_.fail(DiagnosticId::kIrTooMany, name.span, kMaxEntities, "definitions in a kernel");
  }

  void symbol() {
    Token name = scanner_.expect(Token::Kind::kWord, "a symbol");
    SymbolId id = kernel_.symbols.add(parse_symbol(scanner_, name));
    define(symbols_, name, id.index(), kernel_.symbols, "");
  }

  IndexId symbol_expression() {
    return parse_index(scanner_, kernel_.index, [this](const Token& token) { return symbol_atom(token); });
  }

  IndexId symbol_atom(const Token& token) {
    auto found = token.kind == Token::Kind::kWord ? symbols_.find(token.text) : symbols_.end();
    return found == symbols_.end() ? IndexId() : kernel_.index.symbol(SymbolId(found->second));
  }

  Tensor type() {
    Tensor tensor;
    tensor.element = parse_element_type(scanner_);
    if (!scanner_.accept("[")) return tensor;
    scanner_.list("]", [&] {
      tensor.shape.push_back(symbol_expression());
      if (tensor.shape.size() > kMaxRank)
        scanner_.fail(DiagnosticId::kIrTooMany, scanner_.peek().span, kMaxRank, "dimensions");
    });
    return tensor;
  }

  TensorId add_tensor(const Token& name, Tensor tensor, Tensor::Role role) {
    tensor.name = name.text;
    tensor.role = role;
    tensor.span = name.span;
    TensorId id = kernel_.tensors.add(std::move(tensor));
    define(tensors_, name, id.index(), kernel_.tensors, "%");
    return id;
  }

  void input() {
    Token name = scanner_.expect(Token::Kind::kValue, "a parameter, `%name`");
    Parameter parameter;
    parameter.name = name.text;
    parameter.span = name.span;
    scanner_.expect(":");
    bool inout = scanner_.accept("inout");
    Tensor tensor = type();
    parameter.input = add_tensor(name, tensor, Tensor::Role::kInput);
    if (inout) {
      scanner_.expect("as");
      parameter.output = add_tensor(scanner_.expect(Token::Kind::kValue, "the new value's name"), tensor,
                                    Tensor::Role::kResult);
    }
    if (scanner_.accept("=")) {
      Token symbol = scanner_.expect(Token::Kind::kWord, "a symbol");
      auto found = symbols_.find(symbol.text);
      if (found == symbols_.end()) {
        scanner_.fail(DiagnosticId::kIrUnknownName, symbol.span, "symbol", symbol.text.substr(0, 60));
        return;
      }
      parameter.symbol = SymbolId(found->second);
    }
    kernel_.parameters.push_back(std::move(parameter));
  }

  void result() {
    Token name = scanner_.expect(Token::Kind::kValue, "a result, `%name`");
    Parameter parameter;
    parameter.name = name.text;
    parameter.span = name.span;
    scanner_.expect(":");
    parameter.output = add_tensor(name, type(), Tensor::Role::kResult);
    kernel_.parameters.push_back(std::move(parameter));
  }

  void clauses() {
    do {
      WhereClause clause;
      Span begin = scanner_.peek().span;
      clause.implicit = scanner_.accept("implicit");
      clause.condition = symbol_expression();
      clause.span = scanner_.span_from(begin);
      clause.text = scanner_.accept("as") ? scanner_.expect_string() : symbol_text(clause.condition);
      kernel_.where.push_back(std::move(clause));
    } while (scanner_.accept(","));
  }

  std::string symbol_text(IndexId id) const {
    return index_text(kernel_.index, id,
                      [&](const IndexNode& node) { return kernel_.symbols[SymbolId(node.reference)].name; });
  }

  void group() {
    scanner_.expect("group");
    group_axes_.clear();
    Group group;
    group.name = scanner_.expect(Token::Kind::kSymbol, "the name of a group, `@name`").text;
    scanner_.expect("{");
    while (!scanner_.at("}") && !scanner_.at_end()) op(&group);
    scanner_.expect("}");
    kernel_.groups.push_back(std::move(group));
  }

  struct Definition {
    Token name;
    Tensor type;
  };

  void op(Group* group) {
    Span begin = scanner_.peek().span;
    std::vector<Definition> definitions;
    do {
      Token name = scanner_.expect(Token::Kind::kValue, "an operation's result, `%name`");
      scanner_.expect(":");
      definitions.push_back({name, type()});
    } while (scanner_.accept(","));
    scanner_.expect("=");
    TensorOp op;
    Token mnemonic = scanner_.expect(Token::Kind::kWord, "an operation");
    auto opcode = opcode_by_mnemonic(mnemonic.text);
    if (!opcode || row(*opcode).stage != Stage::kTensor)
      scanner_.fail(DiagnosticId::kIrUnknownName, mnemonic.span, "operation on tensors",
                    mnemonic.text.substr(0, 60));
    if (scanner_.failed()) return;
    op.op = *opcode;
    std::vector<MonoidKind> monoids;
    if (scanner_.accept("<")) scanner_.list(">", [&] { monoids.push_back(monoid()); });
    if (op.op == Opcode::kReduce && monoids.size() != definitions.size()) {
      scanner_.fail(DiagnosticId::kIrCount, mnemonic.span,
                    "a reduction has a monoid for each result: expected", definitions.size(), monoids.size());
      return;
    }
    domain(op, group != nullptr);
    op.spans.push_back(scanner_.span_from(begin));
    scanner_.expect("{");
    BodyParser body(
        scanner_, kernel_.index, [this](const Token& token) { return atom(token); },
        [this](std::string_view name) { return tensor(name); });
    op.body = body.parse();
    yield(op, body, definitions, monoids);
    scanner_.expect("}");
    if (scanner_.failed()) return;
    TensorOpId id = kernel_.ops.add(std::move(op));
    if (kernel_.ops.size() > kMaxEntities)
      scanner_.fail(DiagnosticId::kIrTooMany, begin, kMaxEntities, "operations in a kernel");
    if (group != nullptr) group->ops.push_back(id);
  }

  MonoidKind monoid() {
    Token name = scanner_.expect(Token::Kind::kWord, "a monoid");
    auto kind = monoid_by_name(name.text);
    if (!kind) scanner_.fail(DiagnosticId::kIrUnknownName, name.span, "monoid", name.text.substr(0, 60));
    return kind.value_or(MonoidKind::kSum);
  }

  // In a group, axes of one name and extent are one axis.
  void domain(TensorOp& op, bool grouped) {
    axes_.clear();
    scanner_.expect("[");
    auto axes = [&](AxisList& list) {
      while (scanner_.at(Token::Kind::kWord)) {
        Token name = scanner_.take();
        if (symbols_.contains(name.text))
          scanner_.fail(DiagnosticId::kIrRedefinition, name.span, name.text.substr(0, 60));
        scanner_.expect(":");
        list.push_back(grouped ? group_axis(name) : new_axis(name, symbol_expression()));
        define(axes_, name, list.back().index(), kernel_.axes, "");
        if (!scanner_.accept(",")) break;
      }
    };
    axes(op.parallel);
    if (scanner_.accept("|")) axes(op.reduction);
    scanner_.expect("]");
  }

  AxisId new_axis(const Token& name, IndexId extent) {
    return kernel_.axes.add({std::string(name.text), extent});
  }

  AxisId group_axis(const Token& name) {
    IndexId extent = symbol_expression();
    auto found = group_axes_.find(name.text);
    if (found != group_axes_.end() && kernel_.axes[AxisId(found->second)].extent == extent)
      return AxisId(found->second);
    AxisId axis = new_axis(name, extent);
    group_axes_[name.text] = axis.index();
    return axis;
  }

  IndexId atom(const Token& token) {
    auto found = axes_.find(token.text);
    return found == axes_.end() ? symbol_atom(token) : kernel_.index.axis(AxisId(found->second));
  }

  TensorId tensor(std::string_view name) const {
    auto found = tensors_.find(name);
    return found == tensors_.end() ? TensorId() : TensorId(found->second);
  }

  void yield(TensorOp& op, BodyParser& body, const std::vector<Definition>& definitions,
             const std::vector<MonoidKind>& monoids) {
    scanner_.expect("yield");
    for (size_t i = 0; i < definitions.size() && !scanner_.failed(); ++i) {
      if (i > 0) scanner_.expect(",");
      OpOutput output;
      if (scanner_.accept("(")) {
        scanner_.list(")", [&] { output.values.push_back(body.parse_value()); });
      } else {
        output.values.push_back(body.parse_value());
      }
      if (output.values.empty()) scanner_.fail_expected("a value");
      if (scanner_.failed()) return;
      if (op.op == Opcode::kReduce) output.monoid = make_monoid(monoids[i], op.body.type(output.values[0]));
      output.tensor = target(definitions[i]);
      op.outputs.push_back(std::move(output));
    }
    if (scanner_.accept("where")) op.predicate = body.parse_value();
  }

  // The tensor that an operation defines: a result declared in the kernel's head, or a new one.
  TensorId target(const Definition& definition) {
    TensorId known = tensor(definition.name.text);
    if (!known.valid()) return add_tensor(definition.name, definition.type, Tensor::Role::kLocal);
    const Tensor& declared = kernel_.tensors[known];
    if (declared.role != Tensor::Role::kResult || !defined_.emplace(definition.name.text, 0).second)
      scanner_.fail(DiagnosticId::kIrRedefinition, definition.name.span,
                    "%" + std::string(definition.name.text.substr(0, 60)));
    if (declared.element != definition.type.element || declared.shape != definition.type.shape)
      scanner_.fail(DiagnosticId::kIrTypeDiffers, definition.name.span, definition.name.text.substr(0, 60),
                    type_text(declared), type_text(definition.type));
    return known;
  }

  std::string type_text(const Tensor& tensor) const {
    std::string text(name(tensor.element));
    for (size_t i = 0; i < tensor.shape.size(); ++i)
      text += (i > 0 ? ", " : "[") + symbol_text(tensor.shape[i]);
    return tensor.shape.empty() ? text : text + "]";
  }

  TextScanner& scanner_;
  Kernel kernel_;
  Map symbols_;
  Map tensors_;
  // Of the operation at hand, and of the group.
  Map axes_;
  Map group_axes_;
  // Results that have their definition.
  Map defined_;
};

}  // namespace

std::optional<Module> parse_module(const SourceManager& sources, FileId file, Diagnostics& diagnostics) {
  TextScanner scanner(sources, file, diagnostics);
  Module module;
  while (!scanner.at_end()) module.kernels.push_back(KernelParser(scanner).parse());
  if (scanner.failed()) return std::nullopt;
  return module;
}

}  // namespace tenon::ir
