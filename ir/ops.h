// The operations of the IR, from the table ops.def.
#pragma once

#include <cstdint>
#include <optional>
#include <string_view>

namespace tenon::ir {

enum class Opcode : uint8_t {
#define TENON_OP(id, mnemonic, arity, rule, stages, traits, doc) k##id,
#include "ir/ops.def"
};

// How operand and result types relate.
enum class TypeRule : uint8_t {
  kNone,      // no operands, no results
  kLeaf,      // no operands
  kRead,      // predicate bool, default of the result type
  kSame,      // operands and result of one numeric type
  kSameInt,   // the same, an integer type or index
  kSameBits,  // the same, an integer type, index or bool
  kShift,     // result and first operand of one integer type, second any integer type
  kCompare,   // operands of one type, result bool
  kSelect,    // bool, then two operands of the result type
  kCast,      // any operand and result
  kFunction,  // by the row of support/functions.def of that name
  kDomain,
  kLoad,
  kStore,
  kTileReduce,
  kMma,
  kLoop,
  kYield,
  kCopyAsync,
};

enum class Stage : uint8_t { kBody, kTensor, kTile };

enum Trait : uint8_t { kTraitNone = 0, kTraitCommutative = 1, kTraitTerminator = 2, kTraitEffect = 4 };

struct OpRow {
  std::string_view id;
  std::string_view mnemonic;
  int arity;
  TypeRule rule;
  Stage stage;
  uint8_t traits;
  std::string_view doc;
};

const OpRow& row(Opcode op);
unsigned opcode_count();
std::optional<Opcode> opcode_by_mnemonic(std::string_view mnemonic);
inline bool is_commutative(Opcode op) { return (row(op).traits & kTraitCommutative) != 0; }
inline bool has_effect(Opcode op) { return (row(op).traits & kTraitEffect) != 0; }

}  // namespace tenon::ir
