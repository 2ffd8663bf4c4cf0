// Integer and floating-point arithmetic.
#include <fmt/format.h>

#include <optional>
#include <string>

#include "emulator/decoders.h"

namespace tenon::emulator::decoders {
namespace {

// The modifiers of floating-point instructions that change the result.
struct FloatModifiers {
  Rounding rounding = Rounding::kNearestEven;
  bool ftz = false;
  bool sat = false;
  bool relu = false;

  bool directed() const { return rounding != Rounding::kNearestEven; }
};

FloatModifiers take_float_modifiers(Decoder& decoder) {
  FloatModifiers modifiers;
  modifiers.rounding = decoder.take_rounding().value_or(Rounding::kNearestEven);
  modifiers.ftz = decoder.take("ftz");
  modifiers.sat = decoder.take("sat");
  modifiers.relu = decoder.take("relu");
  return modifiers;
}

// f16 for f16x2, and so on; the type itself if it is not packed.
PtxType half_of(PtxType type) {
  switch (type) {
    case PtxType::kF16X2:
      return PtxType::kF16;
    case PtxType::kBF16X2:
      return PtxType::kBF16;
    case PtxType::kU16X2:
      return PtxType::kU16;
    case PtxType::kS16X2:
      return PtxType::kS16;
    default:
      return type;
  }
}

// Performs `scalar(d, sources)` on one value, or on both halves of a packed one.
template <class F>
void on_halves(Decoder& decoder, PtxType type, LaneRef d, std::vector<LaneRef> sources, F scalar) {
  if (half_of(type) == type) return scalar(d, sources);
  LaneRef halves[2];
  for (unsigned half = 0; half < 2; ++half) {
    std::vector<LaneRef> parts;
    for (const LaneRef source : sources) {
      parts.push_back(decoder.temporary(32));
      decoder.emit(half == 0 ? "low16" : "high16", parts.back(), source);
    }
    halves[half] = decoder.temporary(32);
    scalar(halves[half], parts);
  }
  decoder.emit("pack16", d, halves[0], halves[1]);
}

LaneRef at(const std::vector<LaneRef>& refs, size_t index) {
  return index < refs.size() ? refs[index] : kNoOperand;
}

// The operation `op` of lanes.def, with denormals flushed before and after, and the result clamped.
void emit_scalar_float(Decoder& decoder, std::string op, std::string_view type,
                       const FloatModifiers& modifiers, LaneRef d, std::vector<LaneRef> sources) {
  if (!decoder.ok()) return;
  bool flush = modifiers.ftz;
  std::string name = fmt::format("{}{}.{}", op, modifiers.directed() ? ".directed" : "", type);
  if (const std::string fused = fmt::format("{}.ftz.{}", op, type);
      flush && !modifiers.directed() && decoder.has_lane_op(fused)) {
    name = fused;
    flush = false;
  }
  std::vector<std::string> after;
  if (flush) after.push_back(fmt::format("ftz.{}", type));
  if (modifiers.sat) after.push_back(fmt::format("sat.{}", type));
  if (modifiers.relu) after.push_back(fmt::format("relu.{}", type));
  if (flush) {
    for (LaneRef& source : sources) {
      const LaneRef flushed = decoder.temporary(32);
      decoder.emit(after.front(), flushed, source);
      source = flushed;
    }
  }
  LaneRef result = after.empty() ? d : decoder.temporary(32);
  decoder.emit(name, result, at(sources, 0), at(sources, 1), at(sources, 2)).flags =
      static_cast<uint32_t>(modifiers.rounding);
  for (size_t i = 0; i < after.size(); ++i) {
    const LaneRef next = i + 1 == after.size() ? d : decoder.temporary(32);
    decoder.emit(after[i], next, result);
    result = next;
  }
}

// The type behind `.f32` in `add.f32.f16` and the like: that of all operands but the last, which are widened.
// Source: PTX ISA 8.6, "Mixed Precision Floating-Point Instructions".
std::optional<PtxType> take_narrow_type(Decoder& decoder, PtxType type) {
  if (type != PtxType::kF32) return std::nullopt;
  std::optional<PtxType> narrow = decoder.take_type();
  if (narrow && narrow != PtxType::kF16 && narrow != PtxType::kBF16)
    decoder.fail(fmt::format("operands of type .{} are not added in f32", name(*narrow)));
  return narrow;
}

void emit_float(Decoder& decoder, const std::string& op, PtxType type, const FloatModifiers& modifiers,
                size_t operands, std::optional<PtxType> narrow = std::nullopt) {
  decoder.set_class(InstructionClass::kFloat);
  std::vector<LaneRef> sources;
  for (size_t i = 0; i < operands; ++i) {
    if (!narrow || i + 1 == operands) {
      sources.push_back(decoder.source(i + 1, type));
      continue;
    }
    sources.push_back(decoder.temporary(32));
    decoder.emit(fmt::format("cvt.f32.{}", name(*narrow)), sources.back(), decoder.source(i + 1, *narrow));
  }
  on_halves(decoder, type, decoder.destination(0, type), sources,
            [&](LaneRef d, const std::vector<LaneRef>& parts) {
              emit_scalar_float(decoder, op, name(half_of(type)), modifiers, d, parts);
            });
}

// i16, i32, i64: where the sign does not matter.
std::string any_sign(PtxType type) { return fmt::format("i{}", bit_width(half_of(type))); }

void emit_integer(Decoder& decoder, const std::string& op, PtxType type, size_t operands) {
  std::vector<LaneRef> sources;
  for (size_t i = 0; i < operands; ++i) sources.push_back(decoder.source(i + 1, type));
  on_halves(decoder, type, decoder.destination(0, type), sources,
            [&](LaneRef d, const std::vector<LaneRef>& parts) {
              decoder.emit(op, d, at(parts, 0), at(parts, 1), at(parts, 2));
            });
}

}  // namespace

void decode_add_sub(Decoder& decoder) {
  const bool subtract = decoder.opcode().starts_with("sub");
  const bool carry_in = decoder.opcode().ends_with("c");
  const std::string op = subtract ? "sub" : "add";
  const bool carry_out = decoder.take("cc");
  const FloatModifiers modifiers = take_float_modifiers(decoder);
  const PtxType type = decoder.expect_type();
  if (is_float(type)) return emit_float(decoder, op, type, modifiers, 2, take_narrow_type(decoder, type));
  if (carry_in || carry_out) {
    const LaneRef a = decoder.source(1, type);
    const LaneRef b = decoder.source(2, type);
    decoder.emit(fmt::format("carry.{}.{}", op, bit_width(type)), decoder.destination(0, type), a, b).flags =
        (carry_in ? kCarryIn : 0) | (carry_out ? kCarryOut : 0);
    return;
  }
  if (modifiers.sat) return emit_integer(decoder, fmt::format("{}.sat.{}", op, name(type)), type, 2);
  emit_integer(decoder, fmt::format("{}.{}", op, any_sign(type)), type, 2);
}

void decode_mul(Decoder& decoder) {
  const std::string_view part = decoder.take_any({"lo", "hi", "wide"});
  const FloatModifiers modifiers = take_float_modifiers(decoder);
  const PtxType type = decoder.expect_type();
  if (is_float(type)) return emit_float(decoder, "mul", type, modifiers, 2);
  if (part == "wide") {
    const PtxType wide = bit_width(type) == 16 ? PtxType::kB32 : PtxType::kB64;
    const LaneRef a = decoder.source(1, type);
    const LaneRef b = decoder.source(2, type);
    decoder.emit(fmt::format("mul.wide.{}", name(type)), decoder.destination(0, wide), a, b);
    return;
  }
  emit_integer(decoder,
               part == "hi" ? fmt::format("mul.hi.{}", name(type)) : fmt::format("mul.lo.{}", any_sign(type)),
               type, 2);
}

namespace {

// Product into a temporary, then the sum, with carries.
void emit_mad_in_two(Decoder& decoder, std::string_view part, PtxType type, uint32_t carry) {
  const LaneRef product = decoder.temporary(bit_width(type));
  const LaneRef a = decoder.source(1, type);
  const LaneRef b = decoder.source(2, type);
  const LaneRef c = decoder.source(3, type);
  const LaneRef d = decoder.destination(0, type);
  decoder.emit(part == "hi" ? fmt::format("mul.hi.{}", name(type)) : fmt::format("mul.lo.{}", any_sign(type)),
               product, a, b);
  if (carry != 0) {
    decoder.emit(fmt::format("carry.add.{}", bit_width(type)), d, product, c).flags = carry;
  } else {
    decoder.emit(fmt::format("add.{}", any_sign(type)), d, product, c);
  }
}

}  // namespace

void decode_mad(Decoder& decoder) {
  const std::string_view part = decoder.take_any({"lo", "hi", "wide"});
  const bool carry_out = decoder.take("cc");
  const FloatModifiers modifiers = take_float_modifiers(decoder);
  const PtxType type = decoder.expect_type();
  if (is_float(type)) return emit_float(decoder, "fma", type, modifiers, 3);
  const uint32_t carry = (decoder.opcode() == "madc" ? kCarryIn : 0) | (carry_out ? kCarryOut : 0);
  if (part == "wide") {
    const PtxType wide = bit_width(type) == 16 ? PtxType::kB32 : PtxType::kB64;
    const LaneRef a = decoder.source(1, type);
    const LaneRef b = decoder.source(2, type);
    const LaneRef c = decoder.source(3, wide);
    const LaneRef d = decoder.destination(0, wide);
    if (bit_width(type) == 32) {
      decoder.emit(fmt::format("mad.wide.{}", name(type)), d, a, b, c);
    } else {
      const LaneRef product = decoder.temporary(32);
      decoder.emit(fmt::format("mul.wide.{}", name(type)), product, a, b);
      decoder.emit("add.i32", d, product, c);
    }
    return;
  }
  if (part == "lo" && carry == 0 && bit_width(type) >= 32) {
    return emit_integer(decoder, fmt::format("mad.lo.{}", any_sign(type)), type, 3);
  }
  if (modifiers.sat) return decoder.fail("mad.hi.sat is not supported");
  emit_mad_in_two(decoder, part, type, carry);
}

void decode_mul24(Decoder& decoder) {
  const std::string_view part = decoder.take_any({"lo", "hi"});
  const PtxType type = decoder.expect_type();
  const bool add = decoder.opcode() == "mad24";
  const LaneRef a = decoder.source(1, type);
  const LaneRef b = decoder.source(2, type);
  const LaneRef d = decoder.destination(0, type);
  const LaneRef product = add ? decoder.temporary(32) : d;
  decoder.emit(fmt::format("mul24.{}.{}", part, name(type)), product, a, b);
  if (add) decoder.emit("add.i32", d, product, decoder.source(3, type));
}

void decode_div(Decoder& decoder) {
  const std::string_view approximate = decoder.take_any({"approx", "full"});
  const FloatModifiers modifiers = take_float_modifiers(decoder);
  const PtxType type = decoder.expect_type();
  if (!is_float(type)) return emit_integer(decoder, fmt::format("div.{}", name(type)), type, 2);
  emit_float(decoder, approximate.empty() ? "div" : fmt::format("div.{}", approximate), type, modifiers, 2);
  decoder.set_class(InstructionClass::kSpecial);
}

void decode_rem(Decoder& decoder) {
  const PtxType type = decoder.expect_type();
  emit_integer(decoder, fmt::format("rem.{}", name(type)), type, 2);
}

void decode_abs_neg(Decoder& decoder) {
  const FloatModifiers modifiers = take_float_modifiers(decoder);
  const PtxType type = decoder.expect_type();
  const std::string op(decoder.opcode());
  if (!is_float(type)) return emit_integer(decoder, fmt::format("{}.{}", op, name(type)), type, 1);
  emit_float(decoder, op, type, modifiers, 1);
}

void decode_min_max(Decoder& decoder) {
  FloatModifiers modifiers;
  modifiers.ftz = decoder.take("ftz");
  const bool nan = decoder.take("NaN");
  if (decoder.take("xorsign")) return decoder.fail(".xorsign is not supported");
  modifiers.relu = decoder.take("relu");
  const PtxType type = decoder.expect_type();
  const std::string op(decoder.opcode());
  if (is_float(type)) return emit_float(decoder, nan ? op + ".nan" : op, type, modifiers, 2);
  if (!modifiers.relu) return emit_integer(decoder, fmt::format("{}.{}", op, name(half_of(type))), type, 2);
  if (type != PtxType::kS32) return decoder.fail("integer .relu is supported for s32 alone");
  const LaneRef d = decoder.destination(0, type);
  const LaneRef raw = decoder.temporary(32);
  const LaneRef a = decoder.source(1, type);
  const LaneRef b = decoder.source(2, type);
  decoder.emit(op + ".s32", raw, a, b);
  decoder.emit("max.s32", d, raw, decoder.constant32(0));
}

void decode_sad(Decoder& decoder) {
  const PtxType type = decoder.expect_type();
  emit_integer(decoder, fmt::format("sad.{}", name(type)), type, 3);
}

void decode_dot(Decoder& decoder) {
  const bool upper = decoder.take("hi");
  decoder.take("lo");
  const PtxType a_type = decoder.expect_type();
  const PtxType b_type = decoder.expect_type();
  const LaneRef a = decoder.source(1, PtxType::kB32);
  const LaneRef b = decoder.source(2, PtxType::kB32);
  const LaneRef c = decoder.source(3, PtxType::kB32);
  decoder.emit(decoder.opcode(), decoder.destination(0, PtxType::kB32), a, b, c).flags =
      (is_signed(a_type) ? 1u : 0u) | (is_signed(b_type) ? 2u : 0u) | (upper ? 4u : 0u);
}

void decode_fma(Decoder& decoder) {
  const FloatModifiers modifiers = take_float_modifiers(decoder);
  const PtxType type = decoder.expect_type();
  emit_float(decoder, "fma", type, modifiers, 3, take_narrow_type(decoder, type));
}

void decode_copysign(Decoder& decoder) {
  const PtxType type = decoder.expect_type();
  emit_float(decoder, "copysign", type, {}, 2);
}

void decode_testp(Decoder& decoder) {
  constexpr std::string_view kTests[] = {"finite", "infinite", "number", "notanumber", "normal", "subnormal"};
  uint32_t test = 0;
  while (test < std::size(kTests) && !decoder.take(kTests[test])) ++test;
  const PtxType type = decoder.expect_type();
  const LaneRef a = decoder.source(1, type);
  decoder.emit(fmt::format("testp.{}", name(type)), decoder.destination_predicate(decoder.operand(0)), a)
      .flags = test;
}

void decode_root(Decoder& decoder) {
  const bool approximate = decoder.take("approx");
  const FloatModifiers modifiers = take_float_modifiers(decoder);
  const PtxType type = decoder.expect_type();
  const std::string op(decoder.opcode());
  emit_float(decoder, approximate ? op + ".approx" : op, type, modifiers, 1);
  decoder.set_class(InstructionClass::kSpecial);
}

void decode_approximate(Decoder& decoder) {
  if (!decoder.take("approx")) return decoder.fail("expected .approx");
  const FloatModifiers modifiers = take_float_modifiers(decoder);
  const PtxType type = decoder.expect_type();
  emit_float(decoder, std::string(decoder.opcode()) + ".approx", type, modifiers, 1);
  decoder.set_class(InstructionClass::kSpecial);
}

}  // namespace tenon::emulator::decoders
