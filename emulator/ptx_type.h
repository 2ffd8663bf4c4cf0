// The types of PTX, from the table ptx_type.def.
#pragma once

#include <cstdint>
#include <optional>
#include <string_view>

namespace tenon::emulator {

enum class PtxType : uint8_t {
#define TENON_PTX_TYPE(id, name, bits, kind) k##id,
#include "emulator/ptx_type.def"
};

enum class PtxTypeKind : uint8_t { kBits, kUnsigned, kSigned, kFloat, kPacked, kPredicate };

std::string_view name(PtxType type);
PtxTypeKind kind(PtxType type);
unsigned bit_width(PtxType type);
// Bytes in memory; a predicate has none.
inline unsigned byte_size(PtxType type) { return bit_width(type) / 8; }
std::optional<PtxType> ptx_type_by_name(std::string_view name);

inline bool is_float(PtxType type) {
  return kind(type) == PtxTypeKind::kFloat || type == PtxType::kF16X2 || type == PtxType::kBF16X2;
}
inline bool is_signed(PtxType type) { return kind(type) == PtxTypeKind::kSigned; }
inline bool is_integer(PtxType type) {
  return kind(type) == PtxTypeKind::kBits || kind(type) == PtxTypeKind::kUnsigned || is_signed(type);
}

}  // namespace tenon::emulator
