#include "emulator/ptx_type.h"

#include <array>

namespace tenon::emulator {
namespace {

struct Row {
  std::string_view name;
  unsigned bits;
  PtxTypeKind kind;
};

constexpr std::array kRows = {
#define TENON_PTX_TYPE(id, name, bits, kind) Row{name, bits, PtxTypeKind::k##kind},
#include "emulator/ptx_type.def"
};

const Row& row(PtxType type) { return kRows[static_cast<size_t>(type)]; }

}  // namespace

std::string_view name(PtxType type) { return row(type).name; }
PtxTypeKind kind(PtxType type) { return row(type).kind; }
unsigned bit_width(PtxType type) { return row(type).bits; }

std::optional<PtxType> ptx_type_by_name(std::string_view name) {
  for (size_t i = 0; i < kRows.size(); ++i) {
    if (kRows[i].name == name) return static_cast<PtxType>(i);
  }
  return std::nullopt;
}

}  // namespace tenon::emulator
