// Bit operations, comparisons and selections.
#include <fmt/format.h>

#include <string>

#include "emulator/decoders.h"

namespace tenon::emulator::decoders {
namespace {

// The unsigned name of a type of bits.
std::string unsigned_name(PtxType type) {
  return kind(type) == PtxTypeKind::kBits ? fmt::format("u{}", bit_width(type)) : std::string(name(type));
}

std::string bits_name(PtxType type) { return fmt::format("b{}", bit_width(type)); }

// Lanes are 32 or 64 bits.
unsigned lane_bits(PtxType type) { return bit_width(type) > 32 ? 64 : 32; }

struct ComparisonName {
  std::string_view name;
  Comparison comparison;
  bool forces_unsigned;
};

constexpr ComparisonName kComparisons[] = {
    {"eq", Comparison::kEq, false},   {"ne", Comparison::kNe, false},   {"lt", Comparison::kLt, false},
    {"le", Comparison::kLe, false},   {"gt", Comparison::kGt, false},   {"ge", Comparison::kGe, false},
    {"lo", Comparison::kLt, true},    {"ls", Comparison::kLe, true},    {"hi", Comparison::kGt, true},
    {"hs", Comparison::kGe, true},    {"equ", Comparison::kEqu, false}, {"neu", Comparison::kNeu, false},
    {"ltu", Comparison::kLtu, false}, {"leu", Comparison::kLeu, false}, {"gtu", Comparison::kGtu, false},
    {"geu", Comparison::kGeu, false}, {"num", Comparison::kNum, false}, {"nan", Comparison::kNan, false},
};

struct ComparisonModifiers {
  Comparison comparison = Comparison::kEq;
  bool forces_unsigned = false;
  Combination combination = Combination::kNone;
  bool ftz = false;

  uint32_t flags() const {
    return static_cast<uint32_t>(comparison) | static_cast<uint32_t>(combination) << 8;
  }
};

ComparisonModifiers take_comparison(Decoder& decoder) {
  ComparisonModifiers result;
  bool found = false;
  for (const ComparisonName& row : kComparisons) {
    if (!decoder.take(row.name)) continue;
    result.comparison = row.comparison;
    result.forces_unsigned = row.forces_unsigned;
    found = true;
    break;
  }
  if (!found) decoder.fail("expected a comparison");
  if (decoder.take("and")) result.combination = Combination::kAnd;
  if (decoder.take("or")) result.combination = Combination::kOr;
  if (decoder.take("xor")) result.combination = Combination::kXor;
  result.ftz = decoder.take("ftz");
  return result;
}

LaneRef flushed(Decoder& decoder, PtxType type, bool ftz, LaneRef source) {
  if (!ftz || bit_width(type) == 64) return source;
  const LaneRef result = decoder.temporary(32);
  decoder.emit(fmt::format("ftz.{}", type == PtxType::kF32 ? "f32" : "f16"), result, source);
  return result;
}

void emit_comparison(Decoder& decoder, PtxType type, const ComparisonModifiers& modifiers, LaneRef p,
                     LaneRef q, LaneRef a, LaneRef b, LaneRef c) {
  a = flushed(decoder, type, modifiers.ftz, a);
  b = flushed(decoder, type, modifiers.ftz, b);
  const std::string type_name =
      modifiers.forces_unsigned ? fmt::format("u{}", bit_width(type)) : unsigned_name(type);
  Record& record = decoder.emit(fmt::format("setp.{}", type_name), p, a, b, c);
  record.flags = modifiers.flags();
  record.extra = q;
}

}  // namespace

void decode_logic(Decoder& decoder) {
  const PtxType type = decoder.expect_type();
  const std::string_view op = decoder.opcode();
  if (type == PtxType::kPred) {
    const PredicateOp predicate_op = op == "not"   ? PredicateOp::kNot
                                     : op == "and" ? PredicateOp::kAnd
                                     : op == "or"  ? PredicateOp::kOr
                                                   : PredicateOp::kXor;
    const LaneRef a = decoder.predicate(decoder.operand(1));
    const LaneRef b = op == "not" ? kNoOperand : decoder.predicate(decoder.operand(2));
    decoder.emit("pred", decoder.destination_predicate(decoder.operand(0)), a, b).flags =
        static_cast<uint32_t>(predicate_op);
    return;
  }
  const LaneRef a = decoder.source(1, type);
  const LaneRef d = decoder.destination(0, type);
  if (op == "not") {
    decoder.emit(fmt::format("not.{}", bits_name(type)), d, a);
    return;
  }
  // 16-bit lanes are zero-extended, which these operations keep.
  decoder.emit(fmt::format("{}.b{}", op, lane_bits(type)), d, a, decoder.source(2, type));
}

void decode_unary_bits(Decoder& decoder) {
  const PtxType type = decoder.expect_type();
  const std::string_view op = decoder.opcode();
  const bool counts = op == "popc" || op == "clz";
  const LaneRef a = decoder.source(1, type);
  decoder.emit(fmt::format("{}.{}", op, bits_name(type)),
               decoder.destination(0, counts ? PtxType::kU32 : type), a);
}

void decode_bfind(Decoder& decoder) {
  const bool shift_amount = decoder.take("shiftamt");
  const PtxType type = decoder.expect_type();
  const LaneRef a = decoder.source(1, type);
  decoder.emit(fmt::format("bfind.{}", name(type)), decoder.destination(0, PtxType::kU32), a).flags =
      shift_amount;
}

void decode_shift(Decoder& decoder) {
  const PtxType type = decoder.expect_type();
  const bool left = decoder.opcode() == "shl";
  const LaneRef a = decoder.source(1, type);
  const LaneRef b = decoder.source(2, PtxType::kU32);
  decoder.emit(fmt::format("{}.{}", decoder.opcode(), left ? bits_name(type) : unsigned_name(type)),
               decoder.destination(0, type), a, b);
}

void decode_shf(Decoder& decoder) {
  const std::string_view direction = decoder.take_any({"l", "r"});
  const std::string_view mode = decoder.take_any({"wrap", "clamp"});
  const PtxType type = decoder.expect_type();
  const LaneRef a = decoder.source(1, type);
  const LaneRef b = decoder.source(2, type);
  const LaneRef c = decoder.source(3, PtxType::kU32);
  decoder.emit(fmt::format("shf.{}.{}", direction, mode), decoder.destination(0, type), a, b, c);
}

void decode_bfe(Decoder& decoder) {
  const PtxType type = decoder.expect_type();
  const LaneRef a = decoder.source(1, type);
  const LaneRef b = decoder.source(2, PtxType::kU32);
  const LaneRef c = decoder.source(3, PtxType::kU32);
  decoder.emit(fmt::format("bfe.{}", name(type)), decoder.destination(0, type), a, b, c);
}

void decode_bfi(Decoder& decoder) {
  const PtxType type = decoder.expect_type();
  const LaneRef a = decoder.source(1, type);
  const LaneRef b = decoder.source(2, type);
  const LaneRef position = decoder.source(3, PtxType::kU32);
  const LaneRef length = decoder.source(4, PtxType::kU32);
  decoder.emit(fmt::format("bfi.{}", bits_name(type)), decoder.destination(0, type), a, b, position).extra =
      length;
}

void decode_bmsk(Decoder& decoder) {
  const std::string_view mode = decoder.take_any({"clamp", "wrap"});
  const PtxType type = decoder.expect_type();
  const LaneRef a = decoder.source(1, type);
  const LaneRef b = decoder.source(2, type);
  decoder.emit(fmt::format("bmsk.{}", mode), decoder.destination(0, type), a, b);
}

void decode_lop3(Decoder& decoder) {
  const PtxType type = decoder.expect_type();
  const LaneRef a = decoder.source(1, type);
  const LaneRef b = decoder.source(2, type);
  const LaneRef c = decoder.source(3, type);
  const auto table = static_cast<uint32_t>(decoder.integer(4)) & 0xFF;
  decoder.emit("lop3", decoder.destination(0, type), a, b, c).flags = table;
}

void decode_prmt(Decoder& decoder) {
  const PtxType type = decoder.expect_type();
  constexpr std::string_view kModes[] = {"f4e", "b4e", "rc8", "ecl", "ecr", "rc16"};
  uint32_t mode = 0;
  while (mode < std::size(kModes) && !decoder.take(kModes[mode])) ++mode;
  const LaneRef a = decoder.source(1, type);
  const LaneRef b = decoder.source(2, type);
  const LaneRef c = decoder.source(3, type);
  const bool general = mode == std::size(kModes);
  decoder.emit(general ? "prmt" : "prmt.mode", decoder.destination(0, type), a, b, c).flags = mode;
}

void decode_setp(Decoder& decoder) {
  const ComparisonModifiers modifiers = take_comparison(decoder);
  const PtxType type = decoder.expect_type();
  const Operand& target = decoder.operand(0);
  const LaneRef a = decoder.source(1, type);
  const LaneRef b = decoder.source(2, type);
  const LaneRef c =
      modifiers.combination == Combination::kNone ? kNoOperand : decoder.predicate(decoder.operand(3));
  const LaneRef p = decoder.destination_predicate(target);
  const LaneRef q = target.has_second ? decoder.destination_predicate(target.elements[0]) : kNoOperand;
  if (type != PtxType::kF16X2 && type != PtxType::kBF16X2) {
    return emit_comparison(decoder, type, modifiers, p, q, a, b, c);
  }
  // p takes the lower halves, q the upper ones; both are read before either is written.
  const PtxType half = type == PtxType::kF16X2 ? PtxType::kF16 : PtxType::kBF16;
  const LaneRef parts[] = {decoder.temporary(32), decoder.temporary(32), decoder.temporary(32),
                           decoder.temporary(32)};
  const LaneRef low = decoder.temporary(1);
  decoder.emit("low16", parts[0], a);
  decoder.emit("low16", parts[1], b);
  decoder.emit("high16", parts[2], a);
  decoder.emit("high16", parts[3], b);
  emit_comparison(decoder, half, modifiers, low, kNoOperand, parts[0], parts[1], c);
  if (q != kNoOperand) emit_comparison(decoder, half, modifiers, q, kNoOperand, parts[2], parts[3], c);
  decoder.emit("pred", p, low).flags = static_cast<uint32_t>(PredicateOp::kMov);
}

void decode_set(Decoder& decoder) {
  const ComparisonModifiers modifiers = take_comparison(decoder);
  const PtxType to = decoder.expect_type();
  const PtxType type = decoder.expect_type();
  const LaneRef a = decoder.source(1, type);
  const LaneRef b = decoder.source(2, type);
  const LaneRef c =
      modifiers.combination == Combination::kNone ? kNoOperand : decoder.predicate(decoder.operand(3));
  if (bit_width(to) == 64 || kind(type) == PtxTypeKind::kPacked)
    return decoder.fail("this form of set is not supported");
  const LaneRef holds = decoder.temporary(1);
  emit_comparison(decoder, type, modifiers, holds, kNoOperand, a, b, c);
  uint32_t one = bit_width(to) == 16 ? 0xFFFF : 0xFFFFFFFF;
  if (to == PtxType::kF32) one = 0x3F800000;
  if (to == PtxType::kF16) one = 0x3C00;
  if (to == PtxType::kBF16) one = 0x3F80;
  decoder.emit("selp.32", decoder.destination(0, to), decoder.constant32(one), decoder.constant32(0), holds);
}

void decode_selp(Decoder& decoder) {
  const PtxType type = decoder.expect_type();
  const LaneRef a = decoder.source(1, type);
  const LaneRef b = decoder.source(2, type);
  const LaneRef c = decoder.predicate(decoder.operand(3));
  decoder.emit(fmt::format("selp.{}", lane_bits(type)), decoder.destination(0, type), a, b, c);
}

void decode_slct(Decoder& decoder) {
  decoder.take("ftz");
  const PtxType type = decoder.expect_type();
  const PtxType condition = decoder.expect_type();
  const LaneRef a = decoder.source(1, type);
  const LaneRef b = decoder.source(2, type);
  const LaneRef c = decoder.source(3, condition);
  decoder.emit(fmt::format("slct.{}.{}", lane_bits(type), name(condition)), decoder.destination(0, type), a,
               b, c);
}

}  // namespace tenon::emulator::decoders
