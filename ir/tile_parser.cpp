#include "ir/tile_parser.h"

#include <fmt/format.h>

#include <algorithm>
#include <bit>
#include <limits>
#include <string>
#include <utility>

#include "ir/body_text.h"
#include "ir/tile_declarations.h"

namespace tenon::ir {
namespace {

class ModuleParser : private TileDeclarations {
 public:
  explicit ModuleParser(TextScanner& scanner) : TileDeclarations(scanner) {}

  TileModule parse() {
    scanner_.expect("tile.module");
    module_.name = scanner_.expect(Token::Kind::kSymbol, "the name of a module, `@name`").text;
    if (scanner_.accept("<")) scanner_.list(">", [this] { symbol(); });
    if (scanner_.accept("shared")) module_.shared_bytes = in_parentheses(0, TileTextLimits::kExtent);
    scanner_.expect("{");
    while (!scanner_.at("}") && !scanner_.at_end()) item();
    scanner_.expect("}");
    return std::move(module_);
  }

 private:
  void item() {
    if (declaration()) return;
    if (scanner_.accept("tile.kernel")) return kernel();
    scanner_.fail_expected("a part of a module: tensor, tile, layout, tile.kernel, ...");
  }

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
    int64_t threads = in_parentheses(1, TileTextLimits::kWarps * 32);
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
    if (scanner_.accept("vector"))
      op.vector = static_cast<int32_t>(in_parentheses(1, TileTextLimits::kRegisters));
    op.places = module_.places.add({scanner_.span_from(begin)});
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
    if (module_.ops.size() > TileTextLimits::kEntities)
      scanner_.fail(DiagnosticId::kIrTooMany, scanner_.peek().span, TileTextLimits::kEntities,
                    "operations in a module");
  }

  TileValueId add_value(const Token& name, TileType type, TileOpId definition) {
    bool number =
        std::all_of(name.text.begin(), name.text.end(), [](char c) { return c >= '0' && c <= '9'; });
    TileValueId id = module_.values.add({std::move(type), definition});
    if (!number) module_.value_names[id] = name.text;
    define(values_, name, id.index(), "%");
    return id;
  }

  TileType type() {
    TileType type;
    type.element = parse_element_type(scanner_);
    if (scanner_.accept("["))
      scanner_.list("]", [&] {
        type.axes.push_back(axis_use());
        if (type.axes.size() > TileTextLimits::kRank)
          scanner_.fail(DiagnosticId::kIrTooMany, scanner_.peek().span, TileTextLimits::kRank, "axes");
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
        op.bits = static_cast<uint64_t>(integer(0, TileTextLimits::kStages));
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
    if (scanner_.accept("stages"))
      op.stages = static_cast<int32_t>(in_parentheses(2, TileTextLimits::kStages));
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
