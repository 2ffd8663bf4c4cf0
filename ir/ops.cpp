#include "ir/ops.h"

#include <array>

namespace tenon::ir {
namespace {

constexpr std::array kRows = {
#define TENON_OP(id, mnemonic, arity, rule, stages, traits, doc) \
  OpRow{#id, mnemonic, arity, TypeRule::k##rule, Stage::k##stages, kTrait##traits, doc},
#include "ir/ops.def"
};

}  // namespace

const OpRow& row(Opcode op) { return kRows[static_cast<size_t>(op)]; }
unsigned opcode_count() { return kRows.size(); }

std::optional<Opcode> opcode_by_mnemonic(std::string_view mnemonic) {
  for (size_t i = 0; i < kRows.size(); ++i)
    if (kRows[i].mnemonic == mnemonic) return static_cast<Opcode>(i);
  return std::nullopt;
}

}  // namespace tenon::ir
