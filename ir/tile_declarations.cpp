#include "ir/tile_declarations.h"

#include <algorithm>
#include <limits>
#include <span>
#include <utility>

#include "ir/body_text.h"

namespace tenon::ir {
namespace {

int64_t odd_part(int64_t extent) { return extent / (extent & -extent); }

}  // namespace

TileDeclarations::TileDeclarations(TextScanner& scanner) : scanner_(scanner) {
  module_.tensor_alignment = SideTable<Tensor, int64_t>(0, 1);
}

int64_t TileDeclarations::integer(int64_t least, int64_t most) {
  Span begin = scanner_.peek().span;
  int64_t value = scanner_.expect_integer("a number");
  if (scanner_.failed()) return least;
  if (value >= least && value <= most) return value;
  scanner_.fail(DiagnosticId::kIrBadConstant, scanner_.span_from(begin), value,
                fmt::format("a number from {} to {}", least, most));
  return least;
}

int64_t TileDeclarations::in_parentheses(int64_t least, int64_t most) {
  scanner_.expect("(");
  int64_t value = integer(least, most);
  scanner_.expect(")");
  return value;
}

void TileDeclarations::define(Map& map, const Token& name, uint32_t id, std::string_view sigil) {
  if (!map.emplace(name.text, id).second)
    scanner_.fail(DiagnosticId::kIrRedefinition, name.span,
                  fmt::format("{}{}", sigil, name.text.substr(0, 60)));
  if (map.size() > TileTextLimits::kEntities)
    scanner_.fail(DiagnosticId::kIrTooMany, name.span, TileTextLimits::kEntities, "definitions in a module");
}

void TileDeclarations::symbol() {
  Token name = scanner_.expect(Token::Kind::kWord, "a symbol");
  SymbolId id = module_.symbols.add(parse_symbol(scanner_, name));
  define(words_, name, module_.index.symbol(id).index(), "");
}

bool TileDeclarations::declaration() {
  static constexpr std::pair<std::string_view, void (TileDeclarations::*)()> kDeclarations[] = {
      {"tensor", &TileDeclarations::tensor},      {"same_memory", &TileDeclarations::same_memory},
      {"domain", &TileDeclarations::domain_axis}, {"tile", &TileDeclarations::tile_axis},
      {"layout", &TileDeclarations::layout},      {"home", &TileDeclarations::home},
      {"buffer", &TileDeclarations::buffer},      {"divisible", &TileDeclarations::divisible},
      {"bounded", &TileDeclarations::bounded},
  };
  for (const auto& [word, parse] : kDeclarations) {
    if (!scanner_.accept(word)) continue;
    (this->*parse)();
    return true;
  }
  return false;
}

IndexId TileDeclarations::expression() {
  return parse_index(scanner_, module_.index, [this](const Token& token) -> IndexId {
    if (token.kind == Token::Kind::kValue) {
      auto found = values_.find(token.text);
      return found == values_.end() ? IndexId() : module_.index.value(ValueId(found->second));
    }
    auto found = token.kind == Token::Kind::kWord ? words_.find(token.text) : words_.end();
    return found == words_.end() ? IndexId() : IndexId(found->second);
  });
}

std::vector<IndexId> TileDeclarations::expressions() {
  std::vector<IndexId> ids;
  scanner_.list("]", [&] {
    ids.push_back(expression());
    if (ids.size() > TileTextLimits::kRank)
      scanner_.fail(DiagnosticId::kIrTooMany, scanner_.peek().span, TileTextLimits::kRank, "dimensions");
  });
  return ids;
}

void TileDeclarations::tensor() {
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
  if (scanner_.accept("align")) module_.tensor_alignment[id] = in_parentheses(1, TileTextLimits::kExtent);
}

TensorId TileDeclarations::tensor_use() {
  return use<TensorId>(tensors_, scanner_.expect(Token::Kind::kValue, "a tensor"), "tensor");
}

void TileDeclarations::same_memory() {
  TensorId input = tensor_use();
  scanner_.expect(",");
  module_.same_memory.push_back({input, tensor_use()});
}

AxisId TileDeclarations::add_axis(const Token& name, TileAxis axis) {
  axis.name = name.text;
  AxisId id = module_.axes.add(std::move(axis));
  define(words_, name, module_.index.axis(id).index(), "");
  return id;
}

void TileDeclarations::domain_axis() {
  Token name = scanner_.expect(Token::Kind::kWord, "an axis");
  scanner_.expect(":");
  add_axis(name, {{}, TileAxis::Kind::kDomain, 0, expression()});
}

void TileDeclarations::tile_axis() {
  Token name = scanner_.expect(Token::Kind::kWord, "an axis");
  scanner_.expect(":");
  add_axis(name, {{}, TileAxis::Kind::kTile, integer(1, TileTextLimits::kExtent), {}});
}

AxisId TileDeclarations::axis_use() {
  Token name = scanner_.expect(Token::Kind::kWord, "an axis");
  if (scanner_.failed()) return {};
  IndexId atom = use<IndexId>(words_, name, "axis");
  if (!atom.valid()) return {};
  const IndexNode& node = module_.index[atom];
  if (node.kind == IndexKind::kAxis) return AxisId(node.reference);
  scanner_.fail(DiagnosticId::kIrUnknownName, name.span, "axis", name.text.substr(0, 60));
  return {};
}

Token TileDeclarations::layout_name() {
  scanner_.expect("#");
  return scanner_.expect(Token::Kind::kNumber, "the number of a layout, `#0`");
}

Layout TileDeclarations::layout_use() {
  Token name = layout_name();
  auto found = layouts_.find(name.text);
  if (found != layouts_.end()) return layout_store_[found->second];
  scanner_.fail(DiagnosticId::kIrUnknownName, name.span, "layout", name.text.substr(0, 60));
  return {};
}

void TileDeclarations::home() { module_.homes.push_back(layout_use()); }

void TileDeclarations::layout() {
  Token name = layout_name();
  std::vector<AxisId> axes;
  std::vector<int64_t> extents;
  scanner_.expect("[");
  scanner_.list("]", [&] {
    axes.push_back(axis_use());
    scanner_.expect(":");
    extents.push_back(integer(1, TileTextLimits::kExtent));
    if (std::find(axes.begin(), axes.end() - 1, axes.back()) != axes.end() - 1)
      scanner_.fail(DiagnosticId::kIrRedefinition, name.span, "an axis of this layout");
    if (axes.size() > TileTextLimits::kRank)
      scanner_.fail(DiagnosticId::kIrTooMany, scanner_.peek().span, TileTextLimits::kRank, "axes");
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
  for (int64_t extent : extents)
    registers = std::min(TileTextLimits::kRegisters + 1, registers * odd_part(extent));
  if (registers > TileTextLimits::kRegisters || (int64_t{1} << bases.warps.size()) > TileTextLimits::kWarps) {
    scanner_.fail(DiagnosticId::kIrTooMany, name.span, TileTextLimits::kRegisters,
                  "registers or 32 warps in a layout");
    return;
  }
  layout_store_.push_back(Layout::from_bases(std::move(axes), extents, std::move(bases)));
  define(layouts_, name, static_cast<uint32_t>(layout_store_.size() - 1), "#");
}

void TileDeclarations::positions(std::span<const AxisId> axes, const std::vector<int64_t>& extents,
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
    if (bits.size() > TileTextLimits::kBits)
      scanner_.fail(DiagnosticId::kIrTooMany, scanner_.peek().span, TileTextLimits::kBits, "bits");
  });
}

void TileDeclarations::buffer() {
  Token name = scanner_.expect(Token::Kind::kValue, "a buffer, `%name`");
  Buffer buffer;
  buffer.name = name.text;
  scanner_.expect(":");
  buffer.element = parse_element_type(scanner_);
  auto numbers = [&](std::string_view close, int64_t least, std::vector<int64_t>& to) {
    scanner_.list(close, [&] {
      to.push_back(integer(least, TileTextLimits::kExtent));
      if (to.size() > TileTextLimits::kRank)
        scanner_.fail(DiagnosticId::kIrTooMany, scanner_.peek().span, TileTextLimits::kRank, "dimensions");
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
  if (scanner_.accept("at")) buffer.offset = integer(0, TileTextLimits::kExtent);
  if (scanner_.failed()) return;
  if (tensors_.contains(name.text))
    scanner_.fail(DiagnosticId::kIrRedefinition, name.span, "%" + std::string(name.text.substr(0, 60)));
  define(buffers_, name, module_.buffers.add(std::move(buffer)).index(), "%");
}

void TileDeclarations::divisible() {
  IndexId of = expression();
  scanner_.expect("by");
  module_.divisible.push_back({of, integer(1, TileTextLimits::kExtent)});
}

void TileDeclarations::bounded() {
  IndexId what = expression();
  scanner_.expect("from");
  module_.bounded.push_back({what, integer(0, TileTextLimits::kExtent)});
}
}  // namespace tenon::ir
