#include "passes/fold_identities.h"

#include <algorithm>

#include "support/float_formats.h"

namespace tenon::passes {

using ir::Body;
using ir::Instruction;
using ir::Opcode;
using ir::ValueId;

namespace {

uint64_t sign_bit(ElementType type) { return uint64_t{1} << (bit_width(type) - 1); }

uint64_t all_ones(ElementType type) {
  if (type == ElementType::kBool) return 1;
  return bit_width(type) == 64 ? ~uint64_t{0} : (uint64_t{1} << bit_width(type)) - 1;
}

bool is_constant(const Instruction& instruction, uint64_t bits) {
  return instruction.op == Opcode::kConst && instruction.bits == bits;
}
bool is_minus_zero(const Instruction& instruction) {
  return is_float(instruction.type) && is_constant(instruction, sign_bit(instruction.type));
}

// Bits of the significand, the hidden one included.
unsigned precision(ElementType type) {
  return with_float_format(type, []<class Format>(Format) -> unsigned { return Format::kFractionBits + 1; });
}

// Whether every value of `from` is a value of `to`, NaN and infinities included, so that a conversion to `to`
// and on to any third type gives what the direct conversion gives.
bool embeds(ElementType from, ElementType to) {
  if (from == to) return true;
  bool is_f8 = to == ElementType::kF8E4M3 || to == ElementType::kF8E5M2;
  if (is_f8 || from == ElementType::kIndex) return false;
  if (from == ElementType::kBool) return to != ElementType::kBool;
  if (is_float(from)) {
    if (to == ElementType::kF64) return true;
    if (to == ElementType::kF32) return from != ElementType::kF64;
    return false;
  }
  unsigned magnitude = bit_width(from) - (is_signed(from) ? 1 : 0);
  // Floats of this precision reach far beyond its integers, but for f16.
  if (is_float(to)) return magnitude <= precision(to);
  if (to == ElementType::kBool) return false;
  // Conversions to index saturate at 47 bits.
  unsigned width = to == ElementType::kIndex ? 47 : bit_width(to) - (is_signed(to) ? 1 : 0);
  return magnitude <= width && (is_signed(to) || !is_signed(from));
}

class Identities {
 public:
  Identities(Body& body, const Instruction& instruction) : body_(body), instruction_(instruction) {}

  ValueId apply() {
    switch (instruction_.op) {
      case Opcode::kAdd:
        return add();
      case Opcode::kSub:
        return sub();
      case Opcode::kMul:
        return mul();
      case Opcode::kDiv:
        return is_one(operand(1)) ? id(0) : ValueId();
      case Opcode::kRem:
        return is_one(operand(1)) ? zero() : ValueId();
      case Opcode::kNeg:
      case Opcode::kNot:
        return operand(0).op == instruction_.op ? operand(0).operands[0] : ValueId();
      case Opcode::kMin:
      case Opcode::kMax:
        return id(0) == id(1) ? id(0) : ValueId();
      case Opcode::kAnd:
        return bitwise(0, all_ones(instruction_.type));
      case Opcode::kOr:
        return bitwise(all_ones(instruction_.type), 0);
      case Opcode::kXor:
        if (id(0) == id(1)) return zero();
        return neutral(0);
      case Opcode::kShl:
      case Opcode::kShr:
        return is_zero_bits(operand(1)) ? id(0) : ValueId();
      case Opcode::kEq:
      case Opcode::kLe:
      case Opcode::kGe:
        return reflexive(true);
      case Opcode::kNe:
      case Opcode::kLt:
      case Opcode::kGt:
        return reflexive(false);
      case Opcode::kSelect:
        return select();
      case Opcode::kCast:
        return cast();
      case Opcode::kAbs:
        return abs();
      default:
        return {};
    }
  }

 private:
  ValueId id(unsigned k) const { return instruction_.operands[k]; }
  const Instruction& operand(unsigned k) const { return body_[instruction_.operands[k]]; }
  ValueId zero() { return body_.constant({instruction_.type, 0}, instruction_.span); }
  ValueId truth(bool value) { return body_.constant({ElementType::kBool, value}, instruction_.span); }
  ValueId op(Opcode opcode, std::initializer_list<ValueId> operands) {
    return body_.op(opcode, operands, false, instruction_.span);
  }
  bool floats() const { return is_float(instruction_.type); }

  // The other operand where one is this constant.
  ValueId neutral(uint64_t bits) const {
    if (is_constant(operand(1), bits)) return id(0);
    if (is_constant(operand(0), bits)) return id(1);
    return {};
  }

  // x + -0 is x for every x; x + 0 is not for -0.
  ValueId add() {
    if (ValueId x = neutral(floats() ? sign_bit(instruction_.type) : 0); x.valid()) return x;
    if (operand(1).op == Opcode::kNeg) return op(Opcode::kSub, {id(0), operand(1).operands[0]});
    if (operand(0).op == Opcode::kNeg) return op(Opcode::kSub, {id(1), operand(0).operands[0]});
    return {};
  }

  ValueId sub() {
    if (is_zero_bits(operand(1))) return id(0);
    if (!floats() && id(0) == id(1)) return zero();
    if (operand(1).op == Opcode::kNeg) return op(Opcode::kAdd, {id(0), operand(1).operands[0]});
    // -0 - x is -x; 0 - x is not where x is 0.
    if (floats() ? is_minus_zero(operand(0)) : is_zero_bits(operand(0))) return op(Opcode::kNeg, {id(1)});
    return {};
  }

  ValueId mul() {
    if (is_one(operand(1))) return id(0);
    if (is_one(operand(0))) return id(1);
    if (floats()) return {};
    return is_zero_bits(operand(0)) || is_zero_bits(operand(1)) ? zero() : ValueId();
  }

  ValueId bitwise(uint64_t absorbing, uint64_t neutral_bits) {
    if (id(0) == id(1)) return id(0);
    for (unsigned k = 0; k < 2; ++k)
      if (is_constant(operand(k), absorbing)) return id(k);
    return neutral(neutral_bits);
  }

  ValueId reflexive(bool value) {
    return id(0) == id(1) && !is_float(operand(0).type) ? truth(value) : ValueId();
  }

  ValueId select() {
    if (id(1) == id(2)) return id(1);
    const Instruction& condition = operand(0);
    if (condition.op == Opcode::kConst) return id(condition.bits != 0 ? 1 : 2);
    if (condition.op == Opcode::kNot) return op(Opcode::kSelect, {condition.operands[0], id(2), id(1)});
    const Instruction& yes = operand(1);
    const Instruction& no = operand(2);
    if (yes.op == Opcode::kSelect && yes.operands[0] == id(0))
      return op(Opcode::kSelect, {id(0), yes.operands[1], id(2)});
    if (no.op == Opcode::kSelect && no.operands[0] == id(0))
      return op(Opcode::kSelect, {id(0), id(1), no.operands[2]});
    if (instruction_.type == ElementType::kBool && yes.op == Opcode::kConst && no.op == Opcode::kConst)
      return yes.bits != 0 ? id(0) : op(Opcode::kNot, {id(0)});
    return {};
  }

  ValueId cast() {
    const Instruction& from = operand(0);
    if (from.type == instruction_.type) return id(0);
    if (from.op != Opcode::kCast) return {};
    ValueId source = from.operands[0];
    if (!embeds(body_.type(source), from.type)) return {};
    return body_.type(source) == instruction_.type ? source
                                                   : body_.cast(instruction_.type, source, instruction_.span);
  }

  ValueId abs() {
    if (operand(0).op == Opcode::kAbs) return id(0);
    return operand(0).op == Opcode::kNeg ? op(Opcode::kAbs, {operand(0).operands[0]}) : ValueId();
  }

  Body& body_;
  const Instruction& instruction_;
};

}  // namespace

ir::Constant one_of(ElementType type) { return {type, is_float(type) ? float_bits(type, 1.0) : uint64_t{1}}; }

bool is_zero_bits(const Instruction& instruction) { return is_constant(instruction, 0); }

bool is_one(const Instruction& instruction) {
  return instruction.op == Opcode::kConst && instruction.bits == one_of(instruction.type).bits;
}

ValueId apply_identities(Body& body, const Instruction& instruction) {
  return Identities(body, instruction).apply();
}

}  // namespace tenon::passes
