// The scalar body of a tensor op: a straight-line list of instructions in SSA form. Operands come before
// their uses, so every walk is a loop over the list and shared values are computed once.
#pragma once

#include <array>
#include <cstdint>
#include <vector>

#include "ir/index.h"
#include "ir/ops.h"
#include "support/element_type.h"
#include "support/ids.h"
#include "support/source.h"

namespace tenon::ir {

struct Tensor;
using TensorId = Id<Tensor>;

// A value of an element type as its bytes in memory, zero-extended to 64 bits.
struct Constant {
  ElementType type = ElementType::kF32;
  uint64_t bits = 0;
  bool operator==(const Constant&) const = default;
};

struct Instruction {
  Opcode op = Opcode::kConst;
  ElementType type = ElementType::kF32;
  // The kernel allows the hardware's approximate form here (@allow(approx)).
  bool approx = false;
  // Used from the front; the rest are invalid.
  std::array<ValueId, 3> operands;
  // kConst: the bits. kArg: the position.
  uint64_t bits = 0;
  // kIndex: the expression.
  IndexId index;
  // kRead: the element; a subscript may mention the op's axes, symbols and index-typed values of this body.
  TensorId tensor;
  IndexList subscripts;
  Span span;

  unsigned operand_count() const {
    unsigned count = 0;
    while (count < operands.size() && operands[count].valid()) ++count;
    return count;
  }
};

class Body {
 public:
  ValueId add(Instruction instruction) { return instructions_.add(std::move(instruction)); }
  void reserve(size_t size) { instructions_.reserve(size); }
  ValueId constant(Constant constant, Span span = {});
  ValueId index(IndexId index, Span span = {});
  // An op whose result type follows from its operands by its rule; kCast and kRead have functions of their
  // own.
  ValueId op(Opcode opcode, std::initializer_list<ValueId> operands, bool approx = false, Span span = {});
  ValueId cast(ElementType to, ValueId value, Span span = {});
  ValueId argument(ElementType type, unsigned position);

  Instruction& operator[](ValueId id) { return instructions_[id]; }
  const Instruction& operator[](ValueId id) const { return instructions_[id]; }
  size_t size() const { return instructions_.size(); }
  ElementType type(ValueId id) const { return instructions_[id].type; }

  auto begin() { return instructions_.begin(); }
  auto end() { return instructions_.end(); }
  auto begin() const { return instructions_.begin(); }
  auto end() const { return instructions_.end(); }

 private:
  Store<Instruction> instructions_;
};

}  // namespace tenon::ir
