#include "ir/tile_parser.h"

#include <fmt/format.h>

#include <algorithm>
#include <bit>
#include <limits>
#include <string>
#include <unordered_map>
#include <utility>

#include "ir/body_text.h"

namespace tenon::ir {
namespace {

constexpr size_t kMaxEntities = size_t{1} << 20;
constexpr size_t kMaxRank = 64;
constexpr size_t kMaxBits = 16;
constexpr int64_t kMaxRegisters = int64_t{1} << 16;
constexpr int64_t kMaxWarps = 32;
constexpr int64_t kMaxExtent = int64_t{1} << 30;
constexpr int64_t kMaxStages = 64;

class ModuleParser {
 public:
  explicit ModuleParser(TextScanner& scanner) : scanner_(scanner) {
    module_.tensor_alignment = SideTable<Tensor, int64_t>(0, 1);
  }

  TileModule parse() {
    scanner_.expect("tile.module");
    module_.name = scanner_.expect(Token::Kind::kSymbol, "the name of a module, `@name`").text;
    if (scanner_.accept("<")) scanner_.list(">", [this] { symbol(); });
    if (scanner_.accept("shared")) module_.shared_bytes = in_parentheses(0, kMaxExtent);
    scanner_.expect("{");
    while (!scanner_.at("}") && !scanner_.at_end()) item();
    scanner_.expect("}");
    return std::move(module_);
  }

 private:
  using Map = std::unordered_map<std::string_view, uint32_t>;

  // ---- tokens ----

  int64_t integer(int64_t least, int64_t most) {
    Span begin = scanner_.peek().span;
    int64_t value = scanner_.expect_integer("a number");
    if (scanner_.failed()) return least;
    if (value >= least && value <= most) return value;
    scanner_.fail(DiagnosticId::kIrBadConstant, scanner_.span_from(begin), value,
                  fmt::format("a number from {} to {}", least, most));
    return least;
  }

  int64_t in_parentheses(int64_t least, int64_t most) {
    scanner_.expect("(");
    int64_t value = integer(least, most);
    scanner_.expect(")");
    return value;
  }

  void define(Map& map, const Token& name, uint32_t id, std::string_view sigil) {
    if (!map.emplace(name.text, id).second)
      scanner_.fail(DiagnosticId::kIrRedefinition, name.span,
                    fmt::format("{}{}", sigil, name.text.substr(0, 60)));
    if (map.size() > kMaxEntities)
      scanner_.fail(DiagnosticId::kIrTooMany, name.span, kMaxEntities, "definitions in a module");
  }

  template <class IdType>
  IdType use(const Map& map, const Token& name, std::string_view what) {
    if (auto found = map.find(name.text); found != map.end()) return IdType(found->second);
    scanner_.fail(DiagnosticId::kIrUnknownName, name.span, what, name.text.substr(0, 60));
    return {};
  }

  // ---- the head ----

  void symbol() {
    Token name = scanner_.expect(Token::Kind::kWord, "a symbol");
    Symbol symbol;
    symbol.name = name.text;
    symbol.span = name.span;
    if (scanner_.accept(":")) {
      scanner_.expect("scalar");
      symbol.kind = Symbol::Kind::kScalar;
    }
    if (scanner_.accept("=")) symbol.fixed = scanner_.expect_integer("the value of a symbol");
    define(words_, name, module_.index.symbol(module_.symbols.add(std::move(symbol))).index(), "");
  }

  void item() {
    if (scanner_.accept("tensor")) return tensor();
    if (scanner_.accept("same_memory")) return same_memory();
    if (scanner_.accept("domain")) return domain_axis();
    if (scanner_.accept("tile")) return tile_axis();
    if (scanner_.accept("layout")) return layout();
    if (scanner_.accept("home")) return module_.homes.push_back(layout_use());
    if (scanner_.accept("buffer")) return buffer();
    if (scanner_.accept("divisible")) return divisible();
    if (scanner_.accept("bounded")) return bounded();
    if (scanner_.accept("tile.kernel")) return kernel();
    scanner_.fail_expected("a part of a module: tensor, tile, layout, tile.kernel, ...");
  }

  IndexId expression() {
    return parse_index(scanner_, module_.index, [this](const Token& token) -> IndexId {
      if (token.kind == Token::Kind::kValue) {
        auto found = values_.find(token.text);
        return found == values_.end() ? IndexId() : module_.index.value(ValueId(found->second));
      }
      auto found = token.kind == Token::Kind::kWord ? words_.find(token.text) : words_.end();
      return found == words_.end() ? IndexId() : IndexId(found->second);
    });
  }

  std::vector<IndexId> expressions() {
    std::vector<IndexId> ids;
    scanner_.list("]", [&] {
      ids.push_back(expression());
      if (ids.size() > kMaxRank)
        scanner_.fail(DiagnosticId::kIrTooMany, scanner_.peek().span, kMaxRank, "dimensions");
    });
    return ids;
  }

  void tensor() {
    Token name = scanner_.expect(Token::Kind::kValue, "a tensor, `%name`");
    Tensor tensor;
    tensor.name = name.text;
    tensor.span = name.span;
    scanner_.expect(":");
    tensor.element = parse_element_type(scanner_);
    if (scanner_.accept("[")) tensor.shape = expressions();
    if (scanner_.accept("input")) {
      tensor.role = Tensor::Role::kInput;
    } else if (scanner_.accept("result")) {
      tensor.role = Tensor::Role::kResult;
    } else {
      scanner_.expect("local");
    }
    TensorId id = module_.tensors.add(std::move(tensor));
    define(tensors_, name, id.index(), "%");
    if (scanner_.accept("align")) module_.tensor_alignment[id] = in_parentheses(1, kMaxExtent);
  }

  TensorId tensor_use() {
    return use<TensorId>(tensors_, scanner_.expect(Token::Kind::kValue, "a tensor"), "tensor");
  }

  void same_memory() {
    TensorId input = tensor_use();
    scanner_.expect(",");
    module_.same_memory.push_back({input, tensor_use()});
  }

  AxisId add_axis(const Token& name, TileAxis axis) {
    axis.name = name.text;
    AxisId id = module_.axes.add(std::move(axis));
    define(words_, name, module_.index.axis(id).index(), "");
    return id;
  }

  void domain_axis() {
    Token name = scanner_.expect(Token::Kind::kWord, "an axis");
    scanner_.expect(":");
    add_axis(name, {{}, TileAxis::Kind::kDomain, 0, expression()});
  }

  void tile_axis() {
    Token name = scanner_.expect(Token::Kind::kWord, "an axis");
    scanner_.expect(":");
    add_axis(name, {{}, TileAxis::Kind::kTile, integer(1, kMaxExtent), {}});
  }

  AxisId axis_use() {
    Token name = scanner_.expect(Token::Kind::kWord, "an axis");
    if (scanner_.failed()) return {};
    IndexId atom = use<IndexId>(words_, name, "axis");
    if (!atom.valid()) return {};
    const IndexNode& node = module_.index[atom];
    if (node.kind == IndexKind::kAxis) return AxisId(node.reference);
    scanner_.fail(DiagnosticId::kIrUnknownName, name.span, "axis", name.text.substr(0, 60));
    return {};
  }

  // ---- layouts and buffers ----

  Token layout_name() {
    scanner_.expect("#");
    return scanner_.expect(Token::Kind::kNumber, "the number of a layout, `#0`");
  }

  Layout layout_use() {
    Token name = layout_name();
    auto found = layouts_.find(name.text);
    if (found != layouts_.end()) return layout_store_[found->second];
    scanner_.fail(DiagnosticId::kIrUnknownName, name.span, "layout", name.text.substr(0, 60));
    return {};
  }

  void layout() {
    Token name = layout_name();
    std::vector<AxisId> axes;
    std::vector<int64_t> extents;
    scanner_.expect("[");
    scanner_.list("]", [&] {
      axes.push_back(axis_use());
      scanner_.expect(":");
      extents.push_back(integer(1, kMaxExtent));
      if (std::find(axes.begin(), axes.end() - 1, axes.back()) != axes.end() - 1)
        scanner_.fail(DiagnosticId::kIrRedefinition, name.span, "an axis of this layout");
      if (axes.size() > kMaxRank)
        scanner_.fail(DiagnosticId::kIrTooMany, scanner_.peek().span, kMaxRank, "axes");
    });
    Layout::Bases bases;
    scanner_.expect("register");
    positions(axes, extents, bases.registers);
    scanner_.expect("lane");
    positions(axes, extents, bases.lanes);
    scanner_.expect("warp");
    positions(axes, extents, bases.warps);
    if (scanner_.failed()) return;
    if (bases.lanes.size() != kLaneBits) {
      scanner_.fail(DiagnosticId::kIrCount, name.span, "a layout has five lane bits: expected", kLaneBits,
                    bases.lanes.size());
      return;
    }
    int64_t registers = int64_t{1} << bases.registers.size();
    for (int64_t extent : extents) registers = std::min(kMaxRegisters + 1, registers * odd_part(extent));
    if (registers > kMaxRegisters || (int64_t{1} << bases.warps.size()) > kMaxWarps) {
      scanner_.fail(DiagnosticId::kIrTooMany, name.span, kMaxRegisters, "registers or 32 warps in a layout");
      return;
    }
    layout_store_.push_back(Layout::from_bases(std::move(axes), extents, std::move(bases)));
    define(layouts_, name, static_cast<uint32_t>(layout_store_.size() - 1), "#");
  }

  static int64_t odd_part(int64_t extent) { return extent / (extent & -extent); }

  // `(i:1 + k:4, 0)`
  void positions(const std::vector<AxisId>& axes, const std::vector<int64_t>& extents,
                 std::vector<Layout::Position>& bits) {
    scanner_.expect("(");
    scanner_.list(")", [&] {
      Layout::Position position(axes.size(), 0);
      if (scanner_.at(Token::Kind::kNumber)) {
        integer(0, 0);
      } else {
        do {
          Token word = scanner_.peek();
          auto at = std::find(axes.begin(), axes.end(), axis_use()) - axes.begin();
          scanner_.expect(":");
          if (scanner_.failed()) return;
          if (static_cast<size_t>(at) == axes.size()) {
            scanner_.fail(DiagnosticId::kIrUnknownName, word.span, "axis of this layout",
                          word.text.substr(0, 60));
            return;
          }
          position[at] = static_cast<int32_t>(integer(1, (extents[at] & -extents[at]) - 1));
        } while (scanner_.accept("+"));
      }
      bits.push_back(std::move(position));
      if (bits.size() > kMaxBits)
        scanner_.fail(DiagnosticId::kIrTooMany, scanner_.peek().span, kMaxBits, "bits");
    });
  }

  void buffer() {
    Token name = scanner_.expect(Token::Kind::kValue, "a buffer, `%name`");
    Buffer buffer;
    buffer.name = name.text;
    scanner_.expect(":");
    buffer.element = parse_element_type(scanner_);
    auto numbers = [&](std::string_view close, int64_t least, std::vector<int64_t>& to) {
      scanner_.list(close, [&] {
        to.push_back(integer(least, kMaxExtent));
        if (to.size() > kMaxRank)
          scanner_.fail(DiagnosticId::kIrTooMany, scanner_.peek().span, kMaxRank, "dimensions");
      });
    };
    scanner_.expect("[");
    numbers("]", 1, buffer.shape);
    scanner_.expect("strides");
    scanner_.expect("(");
    numbers(")", 0, buffer.strides);
    if (scanner_.accept("swizzle")) {
      scanner_.expect("(");
      buffer.swizzle_bits = static_cast<uint8_t>(integer(1, 30));
      scanner_.expect(",");
      buffer.swizzle_from = static_cast<uint8_t>(integer(0, 30));
      scanner_.expect(",");
      buffer.swizzle_to = static_cast<uint8_t>(integer(0, 30));
      scanner_.expect(")");
    }
    if (scanner_.accept("at")) buffer.offset = integer(0, kMaxExtent);
    if (scanner_.failed()) return;
    if (tensors_.contains(name.text))
      scanner_.fail(DiagnosticId::kIrRedefinition, name.span, "%" + std::string(name.text.substr(0, 60)));
    define(buffers_, name, module_.buffers.add(std::move(buffer)).index(), "%");
  }

  void divisible() {
    IndexId of = expression();
    scanner_.expect("by");
    module_.divisible.push_back({of, integer(1, kMaxExtent)});
  }

  void bounded() {
    IndexId what = expression();
    scanner_.expect("from");
    module_.bounded.push_back({what, integer(0, kMaxExtent)});
  }

  // ---- kernels and operations ----

  AxisId counted_axis(TileAxis::Kind kind) {
    Token name = scanner_.expect(Token::Kind::kWord, "an axis");
    scanner_.expect(":");
    return add_axis(name, {{}, kind, 0, expression()});
  }

  void kernel() {
    TileKernel kernel;
    kernel.name = scanner_.expect(Token::Kind::kSymbol, "the name of a kernel, `@name`").text;
    scanner_.expect("threads");
    Span begin = scanner_.peek().span;
    int64_t threads = in_parentheses(1, kMaxWarps * 32);
    if (threads % 32 != 0) scanner_.fail(DiagnosticId::kIrBadConstant, begin, threads, "a multiple of 32");
    kernel.warps = static_cast<int32_t>(threads / 32);
    if (scanner_.accept("grid")) {
      scanner_.expect("(");
      scanner_.list(")", [&] { kernel.grid.push_back(counted_axis(TileAxis::Kind::kGrid)); });
    }
    kernel.narrow_index = scanner_.accept("narrow");
    kernel.body = module_.regions.add({});
    region(kernel.body);
    module_.kernels.push_back(std::move(kernel));
  }

  void region(RegionId id) {
    TextScanner::Nesting nesting(scanner_);
    scanner_.expect("{");
    while (!scanner_.at("}") && !scanner_.at_end()) operation(id);
    scanner_.expect("}");
  }

  void operation(RegionId region) {
    Span begin = scanner_.peek().span;
    std::vector<Token> results;
    if (scanner_.at(Token::Kind::kValue)) {
      do {
        results.push_back(scanner_.expect(Token::Kind::kValue, "a value"));
      } while (scanner_.accept(","));
      scanner_.expect("=");
    }
    Token mnemonic = scanner_.expect(Token::Kind::kWord, "an operation");
    auto opcode = opcode_by_mnemonic(mnemonic.text);
    bool known =
        opcode && row(*opcode).stage != Stage::kTensor && *opcode != Opcode::kRead && *opcode != Opcode::kArg;
    if (!known)
      scanner_.fail(DiagnosticId::kIrUnknownName, mnemonic.span, "operation on tiles",
                    mnemonic.text.substr(0, 60));
    if (scanner_.failed()) return;
    TileOp op;
    op.op = *opcode;
    std::vector<TileType> types;
    std::optional<ConstantText> constant;
    if (op.op == Opcode::kLoop) {
      types = loop(op);
    } else {
      right_side(op, constant);
      if (!results.empty()) {
        scanner_.expect(":");
        types.push_back(type());
        while (scanner_.accept(",")) types.push_back(type());
      }
    }
    op.approx = scanner_.accept("approx");
    if (scanner_.accept("vector")) op.vector = static_cast<int32_t>(in_parentheses(1, kMaxRegisters));
    op.spans.push_back(scanner_.span_from(begin));
    if (scanner_.failed()) return;
    if (types.size() != results.size()) {
      scanner_.fail(DiagnosticId::kIrCount, mnemonic.span, "a type for each result: expected", results.size(),
                    types.size());
      return;
    }
    if (constant && !types.empty()) op.bits = constant->as(types[0].element, scanner_).bits;
    if (op.op == Opcode::kTileReduce && !op.operands.empty())
      op.monoid = make_monoid(reduction_, module_.values[op.operands[0]].type.element);
    finish(region, std::move(op), results, std::move(types));
  }

  void finish(RegionId region, TileOp op, const std::vector<Token>& results, std::vector<TileType> types) {
    TileOpId id = module_.ops.add(std::move(op));
    module_.regions[region].ops.push_back(id);
    for (size_t i = 0; i < results.size(); ++i)
      module_.ops[id].results.push_back(add_value(results[i], std::move(types[i]), id));
    if (module_.ops.size() > kMaxEntities)
      scanner_.fail(DiagnosticId::kIrTooMany, scanner_.peek().span, kMaxEntities, "operations in a module");
  }

  TileValueId add_value(const Token& name, TileType type, TileOpId definition) {
    bool number =
        std::all_of(name.text.begin(), name.text.end(), [](char c) { return c >= '0' && c <= '9'; });
    TileValueId id =
        module_.values.add({std::move(type), definition, number ? std::string() : std::string(name.text)});
    define(values_, name, id.index(), "%");
    return id;
  }

  TileType type() {
    TileType type;
    type.element = parse_element_type(scanner_);
    if (scanner_.accept("["))
      scanner_.list("]", [&] {
        type.axes.push_back(axis_use());
        if (type.axes.size() > kMaxRank)
          scanner_.fail(DiagnosticId::kIrTooMany, scanner_.peek().span, kMaxRank, "axes");
      });
    if (scanner_.at("#")) type.layout = layout_use();
    return type;
  }

  TileValueId operand() {
    return use<TileValueId>(values_, scanner_.expect(Token::Kind::kValue, "a value"), "value");
  }

  void right_side(TileOp& op, std::optional<ConstantText>& constant) {
    switch (op.op) {
      case Opcode::kConst:
        constant.emplace(scanner_);
        return;
      case Opcode::kIndex:
        op.index = expression();
        return;
      case Opcode::kLoad:
        access(op);
        if (!scanner_.accept("where")) return;
        op.operands.push_back(operand());
        if (scanner_.accept("else")) op.operands.push_back(operand());
        return;
      case Opcode::kStore:
        op.operands.push_back(operand());
        scanner_.expect("->");
        access(op);
        if (scanner_.accept("where")) op.operands.push_back(operand());
        op.async = scanner_.accept("async");
        return;
      case Opcode::kCopyAsync:
        copy(op);
        return;
      case Opcode::kCopyWait:
        op.bits = static_cast<uint64_t>(integer(0, kMaxStages));
        return;
      case Opcode::kTileReduce:
        reduction(op);
        return;
      default:
        operands(op);
    }
  }

  void operands(TileOp& op) {
    // `yield` ends a line without operands; what follows is no value but `}`.
    if (!scanner_.at(Token::Kind::kValue) || row(op.op).arity == 0) return;
    do {
      op.operands.push_back(operand());
    } while (scanner_.accept(","));
  }

  void access(TileOp& op) {
    Token name = scanner_.expect(Token::Kind::kValue, "a tensor or buffer");
    if (auto found = buffers_.find(name.text); found != buffers_.end()) {
      op.buffer = BufferId(found->second);
    } else {
      op.tensor = use<TensorId>(tensors_, name, "tensor or buffer");
    }
    scanner_.expect("[");
    op.subscripts = expressions();
  }

  void copy(TileOp& op) {
    op.tensor = use<TensorId>(tensors_, scanner_.expect(Token::Kind::kValue, "a tensor"), "tensor");
    scanner_.expect("[");
    op.subscripts = expressions();
    scanner_.expect("->");
    op.buffer = use<BufferId>(buffers_, scanner_.expect(Token::Kind::kValue, "a buffer"), "buffer");
    scanner_.expect("[");
    op.target_subscripts = expressions();
    if (scanner_.accept("where")) op.operands.push_back(operand());
  }

  void reduction(TileOp& op) {
    scanner_.expect("<");
    Token name = scanner_.expect(Token::Kind::kWord, "a monoid");
    auto kind = monoid_by_name(name.text);
    if (!kind) scanner_.fail(DiagnosticId::kIrUnknownName, name.span, "monoid", name.text.substr(0, 60));
    reduction_ = kind.value_or(MonoidKind::kSum);
    scanner_.expect(">");
    op.product = scanner_.accept("product");
    operands(op);
    scanner_.expect("along");
    do {
      op.reduced.push_back(axis_use());
    } while (scanner_.accept(","));
    if (op.operands.empty()) scanner_.fail_expected("a value");
  }

  // The types of its results, which are those of what it carries.
  std::vector<TileType> loop(TileOp& op) {
    op.axis = counted_axis(TileAxis::Kind::kLoop);
    op.unroll = scanner_.accept("unroll");
    if (scanner_.accept("stages")) op.stages = static_cast<int32_t>(in_parentheses(2, kMaxStages));
    RegionId body = module_.regions.add({});
    op.regions = {body};
    std::vector<TileType> types;
    if (scanner_.accept("carry")) {
      scanner_.expect("(");
      scanner_.list(")", [&] {
        Token name = scanner_.expect(Token::Kind::kValue, "a carried value, `%name`");
        scanner_.expect("=");
        op.operands.push_back(operand());
        scanner_.expect(":");
        types.push_back(type());
        if (scanner_.failed()) return;
        TileValueId argument = add_value(name, types.back(), {});
        module_.regions[body].arguments.push_back(argument);
      });
    }
    region(body);
    return types;
  }

  TextScanner& scanner_;
  TileModule module_;
  // Symbols and axes, by their atoms.
  Map words_;
  Map tensors_, buffers_, values_, layouts_;
  std::vector<Layout> layout_store_;
  // Of the reduction at hand.
  MonoidKind reduction_ = MonoidKind::kSum;
};

}  // namespace

std::optional<std::vector<TileModule>> parse_tile_modules(const SourceManager& sources, FileId file,
                                                          Diagnostics& diagnostics) {
  TextScanner scanner(sources, file, diagnostics);
  std::vector<TileModule> modules;
  while (!scanner.at_end()) modules.push_back(ModuleParser(scanner).parse());
  if (scanner.failed()) return std::nullopt;
  return modules;
}

}  // namespace tenon::ir
