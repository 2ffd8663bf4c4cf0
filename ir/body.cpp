#include "ir/body.h"

#include <algorithm>
#include <utility>

#include "support/check.h"
#include "support/functions.h"

namespace tenon::ir {
namespace {

ElementType result_type(Opcode opcode, const Body& body, std::initializer_list<ValueId> operands) {
  switch (row(opcode).rule) {
    case TypeRule::kSame:
    case TypeRule::kSameInt:
    case TypeRule::kSameBits:
    case TypeRule::kShift:
      return body.type(*operands.begin());
    case TypeRule::kCompare:
      return ElementType::kBool;
    case TypeRule::kSelect:
      return body.type(*(operands.begin() + 1));
    case TypeRule::kFunction: {
      auto function = function_by_name(row(opcode).mnemonic);
      return row(*function).result == FunctionResult::kBool ? ElementType::kBool
                                                            : body.type(*operands.begin());
    }
    default:
      TENON_UNREACHABLE("the result type of this op does not follow from its operands");
  }
}

}  // namespace

ValueId Body::constant(Constant constant, Span span) {
  Instruction instruction;
  instruction.op = Opcode::kConst;
  instruction.type = constant.type;
  instruction.bits = constant.bits;
  instruction.span = span;
  return add(std::move(instruction));
}

ValueId Body::index(IndexId index, Span span) {
  Instruction instruction;
  instruction.op = Opcode::kIndex;
  instruction.type = ElementType::kIndex;
  instruction.index = index;
  instruction.span = span;
  return add(std::move(instruction));
}

ValueId Body::op(Opcode opcode, std::initializer_list<ValueId> operands, bool approx, Span span) {
  Instruction instruction;
  instruction.op = opcode;
  instruction.type = result_type(opcode, *this, operands);
  instruction.approx = approx;
  std::copy(operands.begin(), operands.end(), instruction.operands.begin());
  instruction.span = span;
  return add(std::move(instruction));
}

ValueId Body::cast(ElementType to, ValueId value, Span span) {
  Instruction instruction;
  instruction.op = Opcode::kCast;
  instruction.type = to;
  instruction.operands[0] = value;
  instruction.span = span;
  return add(std::move(instruction));
}

ValueId Body::argument(ElementType type, unsigned position) {
  Instruction instruction;
  instruction.op = Opcode::kArg;
  instruction.type = type;
  instruction.bits = position;
  return add(std::move(instruction));
}

}  // namespace tenon::ir
