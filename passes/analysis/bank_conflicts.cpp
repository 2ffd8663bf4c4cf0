#include "passes/analysis/bank_conflicts.h"

#include <algorithm>
#include <array>
#include <set>
#include <vector>

namespace tenon::passes {
namespace {

constexpr int kBanks = 32;
constexpr int kBankBytes = 4;
constexpr int kWarp = 32;

// Passes of one instruction, given the byte address of each lane.
int64_t passes_of(const std::array<int64_t, kWarp>& address, int64_t bytes) {
  int lanes_at_once = bytes >= 16 ? 8 : bytes == 8 ? 16 : 32;
  int64_t passes = 0;
  for (int first = 0; first < kWarp; first += lanes_at_once) {
    std::array<std::set<int64_t>, kBanks> words;
    for (int lane = first; lane < first + lanes_at_once; ++lane)
      for (int64_t byte = address[lane]; byte < address[lane] + bytes;
           byte += std::min<int64_t>(bytes, kBankBytes))
        words[byte / kBankBytes % kBanks].insert(byte / kBankBytes);
    size_t most = 1;
    for (const auto& bank : words) most = std::max(most, bank.size());
    passes += static_cast<int64_t>(most);
  }
  return passes;
}

}  // namespace

int64_t swizzled(const ir::Buffer& buffer, int64_t offset) {
  int64_t mask = (int64_t{1} << buffer.swizzle_bits) - 1;
  return offset ^ ((offset >> buffer.swizzle_from & mask) << buffer.swizzle_to);
}

std::optional<int64_t> wavefronts(const ir::TileModule& module, const ir::TileOp& op,
                                  const ir::Buffer& buffer) {
  const ir::TileType& type = module.values[op.op == ir::Opcode::kLoad ? op.results[0] : op.operands[0]].type;
  if (!type.layout) return std::nullopt;
  const ir::Layout& layout = *type.layout;
  int64_t bytes = int64_t{op.vector} * byte_size(buffer.element);
  int64_t passes = 0;
  for (int32_t reg = 0; reg < layout.register_count(); reg += op.vector) {
    std::array<int64_t, kWarp> address{};
    for (int lane = 0; lane < kWarp; ++lane) {
      ir::Layout::Position position = layout.position(reg, lane, 0);
      int64_t offset = 0;
      for (size_t i = 0; i < op.subscripts.size(); ++i) {
        auto subscript =
            module.index.evaluate(op.subscripts[i], [&](ir::IndexId atom) -> std::optional<int64_t> {
              const ir::IndexNode& node = module.index[atom];
              if (node.kind != ir::IndexKind::kAxis) return std::nullopt;
              ir::AxisId axis(node.reference);
              if (module.axes[axis].kind != ir::TileAxis::Kind::kTile) return 0;
              auto at = std::find(layout.axes().begin(), layout.axes().end(), axis);
              if (at == layout.axes().end()) return std::nullopt;
              return position[at - layout.axes().begin()];
            });
        if (!subscript) return std::nullopt;
        offset += *subscript * buffer.strides[i];
      }
      address[lane] = swizzled(buffer, offset) * byte_size(buffer.element);
    }
    passes += passes_of(address, bytes);
  }
  return passes;
}

}  // namespace tenon::passes
