// What stands before the kernels in the text of a tile module: symbols, tensors, axes, layouts, buffers.
#pragma once

#include <fmt/format.h>

#include <span>
#include <string>
#include <string_view>
#include <unordered_map>
#include <vector>

#include "ir/text_scanner.h"
#include "ir/tile.h"

namespace tenon::ir {

// Limits of what a module may hold; text that exceeds one is refused.
struct TileTextLimits {
  static constexpr size_t kEntities = size_t{1} << 20;
  static constexpr size_t kRank = 64;
  static constexpr size_t kBits = 16;
  static constexpr int64_t kRegisters = int64_t{1} << 16;
  static constexpr int64_t kWarps = 32;
  static constexpr int64_t kExtent = int64_t{1} << 30;
  static constexpr int64_t kStages = 64;
};

// Fills a module with declarations; the names that it has met serve the parser of the kernels, which derives
// from it.
class TileDeclarations {
 protected:
  using Map = std::unordered_map<std::string_view, uint32_t>;

  explicit TileDeclarations(TextScanner& scanner);

  // ---- tokens ----

  int64_t integer(int64_t least, int64_t most);
  int64_t in_parentheses(int64_t least, int64_t most);
  void define(Map& map, const Token& name, uint32_t id, std::string_view sigil);
  template <class IdType>
  IdType use(const Map& map, const Token& name, std::string_view what) {
    if (auto found = map.find(name.text); found != map.end()) return IdType(found->second);
    scanner_.fail(DiagnosticId::kIrUnknownName, name.span, what, name.text.substr(0, 60));
    return {};
  }

  // ---- the head ----

  void symbol();
  // Takes a declaration; false where the next token begins none.
  bool declaration();
  IndexId expression();
  std::vector<IndexId> expressions();
  void tensor();
  TensorId tensor_use();
  void same_memory();
  AxisId add_axis(const Token& name, TileAxis axis);
  void domain_axis();
  void tile_axis();
  AxisId axis_use();

  // ---- layouts and buffers ----

  Token layout_name();
  Layout layout_use();
  void layout();
  void home();
  // `(i:1 + k:4, 0)`
  void positions(std::span<const AxisId> axes, const std::vector<int64_t>& extents,
                 std::vector<Layout::Position>& bits);
  void buffer();
  void divisible();
  void bounded();

  TextScanner& scanner_;
  TileModule module_;
  // Symbols and axes, by their atoms.
  Map words_;
  Map tensors_, buffers_, values_, layouts_;
  std::vector<Layout> layout_store_;
};

}  // namespace tenon::ir
