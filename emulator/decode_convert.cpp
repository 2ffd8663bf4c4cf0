// mov, cvt, cvta, isspacep.
#include <fmt/format.h>

#include <string>
#include <vector>

#include "emulator/control_flow.h"
#include "emulator/decoders.h"
#include "emulator/memory.h"
#include "emulator/thread_ops.h"

namespace tenon::emulator::decoders {
namespace {

// Operations of lanes.def applied one after the other; only the last one writes the destination.
class Chain {
 public:
  explicit Chain(Decoder& decoder) : decoder_(decoder) {}

  void add(std::string op, unsigned result_bits, uint32_t flags = 0) {
    steps_.push_back({std::move(op), result_bits, flags});
  }

  void emit(LaneRef source, LaneRef d, unsigned d_bits) {
    if (steps_.empty()) add(d_bits > 32 ? "mov.64" : "mov.32", d_bits);
    for (size_t i = 0; i < steps_.size(); ++i) {
      const LaneRef to = i + 1 == steps_.size() ? d : decoder_.temporary(std::max(steps_[i].bits, 32u));
      decoder_.emit(steps_[i].op, to, source).flags = steps_[i].flags;
      source = to;
    }
  }

 private:
  struct Step {
    std::string op;
    unsigned bits;
    uint32_t flags;
  };
  Decoder& decoder_;
  std::vector<Step> steps_;
};

PtxType bits_type(unsigned bits) {
  switch (bits) {
    case 8:
      return PtxType::kB8;
    case 16:
      return PtxType::kB16;
    case 32:
      return PtxType::kB32;
    default:
      return PtxType::kB64;
  }
}

// The values of a vector operand put together into one of `bits`.
LaneRef pack(Decoder& decoder, const std::vector<LaneRef>& parts, unsigned bits, LaneRef d) {
  if (parts.size() == 1) return parts[0];
  const size_t half = parts.size() / 2;
  const LaneRef low =
      pack(decoder, {parts.begin(), parts.begin() + static_cast<ptrdiff_t>(half)}, bits / 2, kNoOperand);
  const LaneRef high =
      pack(decoder, {parts.begin() + static_cast<ptrdiff_t>(half), parts.end()}, bits / 2, kNoOperand);
  if (d == kNoOperand) d = decoder.temporary(bits);
  decoder.emit(fmt::format("pack{}", bits / 2), d, low, high);
  return d;
}

void unpack(Decoder& decoder, LaneRef source, unsigned bits, std::span<const LaneRef> parts) {
  if (parts.size() == 1) {
    decoder.emit(bits > 32 ? "mov.64" : "mov.32", parts[0], source);
    return;
  }
  const size_t half = parts.size() / 2;
  for (const bool high : {false, true}) {
    const auto group = parts.subspan(high ? half : 0, half);
    const LaneRef to = half == 1 ? group[0] : decoder.temporary(bits / 2);
    decoder.emit(fmt::format("{}{}", high ? "high" : "low", bits / 2), to, source);
    if (half > 1) unpack(decoder, to, bits / 2, group);
  }
}

bool fits_vector(Decoder& decoder, const Operand& vector, PtxType type) {
  const size_t count = vector.elements.size();
  if ((count == 2 || count == 4) && bit_width(type) / count >= 8) return true;
  decoder.fail(vector.position, "a vector of 2 or 4 elements that fill the type is expected");
  return false;
}

void decode_vector_mov(Decoder& decoder, PtxType type) {
  const Operand& to = decoder.operand(0);
  const Operand& from = decoder.operand(1);
  const bool unpacks = to.kind == Operand::Kind::kVector;
  const Operand& vector = unpacks ? to : from;
  if (!fits_vector(decoder, vector, type)) return;
  const PtxType part = bits_type(bit_width(type) / static_cast<unsigned>(vector.elements.size()));
  std::vector<LaneRef> parts;
  for (const Operand& element : vector.elements) {
    parts.push_back(unpacks ? decoder.destination(element, part) : decoder.source(element, part));
  }
  if (unpacks) {
    unpack(decoder, decoder.source(from, type), bit_width(type), parts);
  } else {
    pack(decoder, parts, bit_width(type), decoder.destination(to, type));
  }
}

}  // namespace

void decode_mov(Decoder& decoder) {
  const PtxType type = decoder.expect_type();
  const Operand& to = decoder.operand(0);
  const Operand& from = decoder.operand(1);
  if (type == PtxType::kPred) {
    const LaneRef a = decoder.predicate(from);
    decoder.emit("pred", decoder.destination_predicate(to), a).flags =
        static_cast<uint32_t>(PredicateOp::kMov);
    return;
  }
  if (to.kind == Operand::Kind::kVector || from.kind == Operand::Kind::kVector)
    return decode_vector_mov(decoder, type);
  if (from.kind == Operand::Kind::kSymbol &&
      (from.name == "%clock" || from.name == "%clock64" || from.name == "%globaltimer" ||
       from.name == "%clock_hi" || from.name == "%globaltimer_lo" || from.name == "%globaltimer_hi")) {
    const LaneRef d = decoder.destination(to, type);
    Record& record = decoder.emit(bit_width(type) == 64 ? execute_clock64 : execute_clock);
    record.d = d;
    record.flags = from.name.ends_with("_hi") ? 32 : 0;
    return;
  }
  const LaneRef a = decoder.source(from, type);
  decoder.emit(bit_width(type) > 32 ? "mov.64" : "mov.32", decoder.destination(to, type), a);
}

namespace {

uint64_t window_of(StateSpace space) {
  return space == StateSpace::kShared ? kSharedWindow : space == StateSpace::kLocal ? kLocalWindow : 0;
}

}  // namespace

void decode_cvta(Decoder& decoder) {
  const bool to_space = decoder.take("to");
  const auto space = decoder.take_space();
  const PtxType type = decoder.expect_type();
  if (!space || bit_width(type) != 64) return decoder.fail("expected a state space and a 64-bit type");
  const LaneRef a = decoder.source(1, type);
  const LaneRef d = decoder.destination(0, type);
  // Parameters of functions lie in local memory.
  uint64_t window = window_of(*space);
  if (*space == StateSpace::kParam && !decoder.in_entry()) window = kLocalWindow;
  if (window == 0) {
    decoder.emit("mov.64", d, a);
  } else {
    decoder.emit(to_space ? "sub.i64" : "add.i64", d, a, decoder.constant64(window));
  }
}

void decode_isspacep(Decoder& decoder) {
  const auto space = decoder.take_space();
  if (!space) return decoder.fail("expected a state space");
  const LaneRef a = decoder.source(1, PtxType::kB64);
  const LaneRef d = decoder.destination_predicate(decoder.operand(0));
  Record& record = decoder.emit(execute_is_space);
  record.d = d;
  record.a = a;
  record.flags = static_cast<uint32_t>(*space);
}

namespace {

struct CvtModifiers {
  std::string_view to_integer;  // even, zero, down, up; empty without .rni and the like
  Rounding rounding = Rounding::kNearestEven;
  bool ftz = false;
  bool sat = false;
  bool satfinite = false;
  bool relu = false;

  uint32_t flags() const { return static_cast<uint32_t>(rounding); }
};

CvtModifiers take_cvt_modifiers(Decoder& decoder) {
  CvtModifiers result;
  if (decoder.take("rni")) result.to_integer = "even";
  if (decoder.take("rzi")) result.to_integer = "zero";
  if (decoder.take("rmi")) result.to_integer = "down";
  if (decoder.take("rpi")) result.to_integer = "up";
  result.rounding = decoder.take_rounding().value_or(Rounding::kNearestEven);
  result.ftz = decoder.take("ftz");
  result.satfinite = decoder.take("satfinite");
  result.sat = decoder.take("sat");
  result.relu = decoder.take("relu");
  return result;
}

std::string sign_letter(PtxType type) { return is_signed(type) ? "s" : "u"; }

// The source operand; a register may be wider than the type.
struct CvtSource {
  LaneRef ref = kNoOperand;
  unsigned register_bits = 0;
};

CvtSource read_source(Decoder& decoder, PtxType type) {
  const Operand& operand = decoder.operand(1);
  const unsigned bits = decoder.register_bits(operand);
  if (bits == 0) return {decoder.source(operand, type), bit_width(type)};
  if (bits < bit_width(type) || (is_float(type) && bits != bit_width(type))) {
    decoder.fail(operand.position, fmt::format("register '{}' has {} bits, the instruction wants {}",
                                               operand.name, bits, bit_width(type)));
  }
  return {decoder.register_ref(operand), bits};
}

// Brings an integer source to 32-bit lanes extended by its sign, or to 64-bit lanes.
void normalise_integer(Chain& chain, PtxType type, unsigned register_bits) {
  const unsigned bits = bit_width(type);
  if (bits == 64) return;
  if (register_bits == 64) chain.add("trunc32", 32);
  if (bits == 32) return;
  if (is_signed(type)) {
    chain.add(fmt::format("sext{}", bits), 32);
  } else if (register_bits > bits) {
    chain.add(fmt::format("zext{}", bits), 32);
  }
}

// From lanes of `lane_bits` with a value of `type` in them to a register of `register_bits`, which may be
// wider than the type; it is then extended by the type's sign. `exact` says that the lanes are extended
// already.
void finish_integer(Chain& chain, PtxType type, unsigned lane_bits, unsigned register_bits, bool exact) {
  const unsigned bits = bit_width(type);
  if (bits == 64) return;
  if (lane_bits == 64) chain.add("trunc32", 32);
  if (bits < 32 && !exact) chain.add(fmt::format("{}ext{}", is_signed(type) ? "s" : "z", bits), 32);
  if (register_bits == 64) {
    chain.add(is_signed(type) ? "sext32" : "zext32", 64);
  } else if (register_bits < 32 && (is_signed(type) || register_bits < bits)) {
    chain.add(fmt::format("zext{}", register_bits), 32);
  }
}

// Clamps 64-bit lanes to the range of `to`.
LaneRef clamp(Decoder& decoder, LaneRef value, PtxType from, PtxType to) {
  const unsigned bits = bit_width(to);
  const uint64_t greatest = is_signed(to) ? (uint64_t{1} << (bits - 1)) - 1
                            : bits == 64  ? UINT64_MAX
                                          : (uint64_t{1} << bits) - 1;
  const LaneRef result = decoder.temporary(64);
  if (!is_signed(from) && bit_width(from) == 64) {
    decoder.emit("min.u64", result, value, decoder.constant64(greatest));
    return result;
  }
  const uint64_t least = is_signed(to) ? ~greatest : 0;
  decoder.emit("max.s64", result, value, decoder.constant64(least));
  if (is_signed(to) || bits < 64) decoder.emit("min.s64", result, result, decoder.constant64(greatest));
  return result;
}

void convert_integers(Decoder& decoder, PtxType to, PtxType from, bool sat) {
  const CvtSource source = read_source(decoder, from);
  const Operand& target = decoder.operand(0);
  const unsigned target_bits = decoder.register_bits(target);
  if (target_bits < bit_width(to)) return decoder.fail(target.position, "the register is too narrow");
  const LaneRef d = decoder.register_ref(target);
  Chain chain(decoder);
  normalise_integer(chain, from, source.register_bits);
  unsigned lane_bits = bit_width(from) == 64 ? 64 : 32;
  if (sat) {
    if (lane_bits == 32) chain.add(is_signed(from) ? "sext32" : "zext32", 64);
    const LaneRef wide = decoder.temporary(64);
    chain.emit(source.ref, wide, 64);
    Chain rest(decoder);
    finish_integer(rest, to, 64, target_bits, false);
    return rest.emit(clamp(decoder, wide, from, to), d, target_bits);
  }
  if (bit_width(to) == 64 && lane_bits == 32) chain.add(is_signed(from) ? "sext32" : "zext32", 64);
  finish_integer(chain, to, lane_bits, target_bits, false);
  chain.emit(source.ref, d, target_bits);
}

// f16 and bf16 go through f32, which holds them exactly.
PtxType computed_in(PtxType type) { return bit_width(type) == 16 ? PtxType::kF32 : type; }

void add_widening(Chain& chain, PtxType from, bool ftz) {
  if (bit_width(from) == 16) chain.add(fmt::format("cvt.f32.{}", name(from)), 32);
  if (ftz && from == PtxType::kF32) chain.add("ftz.f32", 32);
}

void convert_float_to_integer(Decoder& decoder, PtxType to, PtxType from, const CvtModifiers& modifiers) {
  const CvtSource source = read_source(decoder, from);
  const Operand& target = decoder.operand(0);
  const unsigned target_bits = decoder.register_bits(target);
  if (target_bits < bit_width(to)) return decoder.fail(target.position, "the register is too narrow");
  const PtxType wide = computed_in(from);
  Chain chain(decoder);
  add_widening(chain, from, modifiers.ftz);
  if (modifiers.to_integer.empty()) return decoder.fail("a rounding to integer is expected");
  if (modifiers.to_integer != "zero") {
    chain.add(fmt::format("round.{}.{}", modifiers.to_integer, name(wide)), bit_width(wide));
  }
  chain.add(fmt::format("cvt.{}{}.{}", sign_letter(to), bit_width(to), name(wide)), bit_width(to));
  finish_integer(chain, to, bit_width(to) == 64 ? 64 : 32, target_bits, true);
  chain.emit(source.ref, decoder.register_ref(target), target_bits);
}

void add_final_steps(Chain& chain, PtxType to, const CvtModifiers& modifiers) {
  const unsigned bits = bit_width(to);
  if (modifiers.ftz && to == PtxType::kF32) chain.add("ftz.f32", bits);
  if (modifiers.satfinite) chain.add(fmt::format("satfinite.{}", name(to)), bits);
  if (modifiers.sat) chain.add(fmt::format("sat.{}", name(to)), bits);
  if (modifiers.relu) chain.add(fmt::format("relu.{}", name(to)), bits);
}

void convert_integer_to_float(Decoder& decoder, PtxType to, PtxType from, const CvtModifiers& modifiers) {
  const CvtSource source = read_source(decoder, from);
  Chain chain(decoder);
  normalise_integer(chain, from, source.register_bits);
  unsigned lane_bits = bit_width(from) == 64 ? 64 : 32;
  const bool nearest = modifiers.rounding == Rounding::kNearestEven;
  if (bit_width(to) == 16 || !nearest) {
    if (lane_bits == 32) chain.add(is_signed(from) ? "sext32" : "zext32", 64);
    chain.add(fmt::format("cvt.directed.{}.{}64", name(to), sign_letter(from)), bit_width(to),
              modifiers.flags());
  } else {
    chain.add(fmt::format("cvt.{}.{}{}", name(to), sign_letter(from), lane_bits), bit_width(to));
  }
  add_final_steps(chain, to, modifiers);
  chain.emit(source.ref, decoder.destination(0, to), bit_width(to));
}

void convert_floats(Decoder& decoder, PtxType to, PtxType from, const CvtModifiers& modifiers) {
  const CvtSource source = read_source(decoder, from);
  Chain chain(decoder);
  const bool nearest = modifiers.rounding == Rounding::kNearestEven;
  const bool same = to == from && modifiers.to_integer.empty();
  if (!same) {
    // f64 to a 16-bit type is rounded once; everything else passes f32 or stays.
    add_widening(chain, from, modifiers.ftz);
    PtxType current = computed_in(from);
    if (!modifiers.to_integer.empty()) {
      chain.add(fmt::format("round.{}.{}", modifiers.to_integer, name(current)), bit_width(current));
    }
    if (current != to) {
      const bool directed = !nearest || (current == PtxType::kF64 && bit_width(to) == 16);
      const bool exact = current == PtxType::kF32 && to == PtxType::kF64;
      chain.add(fmt::format("cvt.{}{}.{}", directed && !exact ? "directed." : "", name(to), name(current)),
                bit_width(to), modifiers.flags());
    }
  } else if (modifiers.ftz && to == PtxType::kF32) {
    chain.add("ftz.f32", 32);
  }
  add_final_steps(chain, to, modifiers);
  chain.emit(source.ref, decoder.destination(0, to), bit_width(to));
}

// cvt.rn.f16x2.f32 d, a, b and the like: a becomes the upper half.
void convert_pair(Decoder& decoder, PtxType to, PtxType half, const CvtModifiers& modifiers) {
  const LaneRef sources[] = {decoder.source(2, PtxType::kF32), decoder.source(1, PtxType::kF32)};
  LaneRef halves[2];
  const bool directed = modifiers.rounding != Rounding::kNearestEven;
  for (unsigned i = 0; i < 2; ++i) {
    Chain chain(decoder);
    chain.add(fmt::format("cvt.{}{}.f32", directed ? "directed." : "", name(half)), 32, modifiers.flags());
    if (bit_width(half) == 16) add_final_steps(chain, half, modifiers);
    halves[i] = decoder.temporary(32);
    chain.emit(sources[i], halves[i], 32);
  }
  decoder.emit(fmt::format("pack{}", bit_width(half)), decoder.destination(0, to), halves[0], halves[1]);
}

// Between packed f8 and packed f16.
void convert_packed(Decoder& decoder, PtxType to, PtxType from, PtxType to_half, PtxType from_half,
                    const CvtModifiers& modifiers) {
  const LaneRef source = decoder.source(1, from);
  LaneRef halves[2];
  for (unsigned i = 0; i < 2; ++i) {
    Chain chain(decoder);
    chain.add(fmt::format("{}{}", i == 0 ? "low" : "high", bit_width(from_half)), 32);
    if (bit_width(from_half) == 16) {
      chain.add(fmt::format("cvt.f32.{}", name(from_half)), 32);
      chain.add(fmt::format("cvt.{}.f32", name(to_half)), 32);
    } else {
      chain.add(fmt::format("cvt.{}.{}", name(to_half), name(from_half)), 32);
      if (modifiers.relu) chain.add(fmt::format("relu.{}", name(to_half)), 32);
    }
    halves[i] = decoder.temporary(32);
    chain.emit(source, halves[i], 32);
  }
  decoder.emit(fmt::format("pack{}", bit_width(to_half)), decoder.destination(0, to), halves[0], halves[1]);
}

std::optional<PtxType> half_type(PtxType type) {
  switch (type) {
    case PtxType::kF16X2:
      return PtxType::kF16;
    case PtxType::kBF16X2:
      return PtxType::kBF16;
    case PtxType::kE4M3X2:
      return PtxType::kE4M3;
    case PtxType::kE5M2X2:
      return PtxType::kE5M2;
    default:
      return std::nullopt;
  }
}

}  // namespace

void decode_cvt(Decoder& decoder) {
  const CvtModifiers modifiers = take_cvt_modifiers(decoder);
  const PtxType to = decoder.expect_type();
  const PtxType from = decoder.expect_type();
  if (!decoder.ok()) return;
  if (const auto to_half = half_type(to)) {
    if (from == PtxType::kF32) return convert_pair(decoder, to, *to_half, modifiers);
    const auto from_half = half_type(from);
    if (!from_half) return decoder.fail("this conversion is not supported");
    return convert_packed(decoder, to, from, *to_half, *from_half, modifiers);
  }
  if (to == PtxType::kTF32) {
    const LaneRef a = decoder.source(1, PtxType::kF32);
    decoder.emit("cvt.tf32.f32", decoder.destination(0, PtxType::kB32), a).flags = modifiers.flags();
    return;
  }
  const bool to_float = kind(to) == PtxTypeKind::kFloat;
  const bool from_float = kind(from) == PtxTypeKind::kFloat;
  if ((!to_float && !is_integer(to)) || (!from_float && !is_integer(from))) {
    return decoder.fail("this conversion is not supported");
  }
  if (to_float && from_float) return convert_floats(decoder, to, from, modifiers);
  if (to_float) return convert_integer_to_float(decoder, to, from, modifiers);
  if (from_float) return convert_float_to_integer(decoder, to, from, modifiers);
  convert_integers(decoder, to, from, modifiers.sat);
}

}  // namespace tenon::emulator::decoders
