#include "passes/analysis/bank_conflicts.h"

#include <algorithm>

namespace tenon::passes {
namespace {

constexpr int kBanks = 32;
constexpr int kBankBytes = 4;

// Passes of one instruction, given each lane's byte address: the most different words that a bank must give.
int64_t passes_of(const std::array<int64_t, SharedPattern::kLanes>& address, int64_t bytes) {
  int lanes_at_once = bytes >= 16 ? 8 : bytes == 8 ? 16 : 32;
  int64_t words_of_lane = std::max<int64_t>(1, bytes / kBankBytes);
  int64_t passes = 0;
  for (int first = 0; first < SharedPattern::kLanes; first += lanes_at_once) {
    std::array<int64_t, SharedPattern::kLanes> words;
    size_t count = 0;
    for (int lane = first; lane < first + lanes_at_once; ++lane)
      for (int64_t word = 0; word < words_of_lane; ++word) words[count++] = address[lane] / kBankBytes + word;
    std::sort(words.begin(), words.begin() + count);
    size_t distinct = std::unique(words.begin(), words.begin() + count) - words.begin();
    std::array<int64_t, kBanks> in_bank{};
    for (size_t i = 0; i < distinct; ++i) ++in_bank[words[i] % kBanks];
    passes += std::max<int64_t>(1, *std::max_element(in_bank.begin(), in_bank.end()));
  }
  return passes;
}

}  // namespace

int64_t swizzled(const ir::Buffer& buffer, int64_t offset) {
  int64_t mask = (int64_t{1} << buffer.swizzle_bits) - 1;
  return offset ^ ((offset >> buffer.swizzle_from & mask) << buffer.swizzle_to);
}

std::optional<SharedPattern> shared_pattern(const ir::TileModule& module, const ir::TileOp& op,
                                            const ir::Buffer& buffer) {
  ir::TileType type = ir::accessed_type(module, op);
  const ir::IndexList& subscripts = op.op == ir::Opcode::kCopyAsync ? op.target_subscripts : op.subscripts;
  if (!type.layout) return std::nullopt;
  const ir::Layout& layout = *type.layout;
  SharedPattern pattern;
  pattern.bytes = int64_t{op.vector} * byte_size(buffer.element);
  for (int32_t reg = 0; reg < layout.register_count(); reg += op.vector) {
    std::array<int64_t, SharedPattern::kLanes> places{};
    for (int lane = 0; lane < SharedPattern::kLanes; ++lane) {
      ir::Layout::Position position = layout.position(reg, lane, 0);
      for (size_t i = 0; i < subscripts.size(); ++i) {
        auto subscript =
            module.index.evaluate(subscripts[i], [&](ir::IndexId atom) -> std::optional<int64_t> {
              const ir::IndexNode& node = module.index[atom];
              if (node.kind != ir::IndexKind::kAxis) return std::nullopt;
              ir::AxisId axis(node.reference);
              if (module.axes[axis].kind != ir::TileAxis::Kind::kTile) return 0;
              auto at = std::find(layout.axes().begin(), layout.axes().end(), axis);
              if (at == layout.axes().end()) return std::nullopt;
              return position[at - layout.axes().begin()];
            });
        // A counter at 0 may stand for a place before the buffer.
        if (!subscript || *subscript < 0) return std::nullopt;
        places[lane] += *subscript * buffer.strides[i];
      }
    }
    pattern.instructions.push_back(places);
  }
  return pattern;
}

int64_t wavefronts(const SharedPattern& pattern, const ir::Buffer& buffer) {
  int64_t passes = 0;
  for (std::array<int64_t, SharedPattern::kLanes> address : pattern.instructions) {
    for (int64_t& place : address) place = swizzled(buffer, place) * byte_size(buffer.element);
    passes += passes_of(address, pattern.bytes);
  }
  return passes;
}

}  // namespace tenon::passes
