// The algebraic half of fold: what a scalar operation equals without looking at more than its operands.
#pragma once

#include "ir/body.h"

namespace tenon::passes {

// The value of `instruction`, whose operands are in `body`, as a value that is already there or made of
// cheaper instructions that are added to it; invalid where no identity applies. Every identity holds for all
// values of the operands, NaN, infinities and minus zero included.
ir::ValueId apply_identities(ir::Body& body, const ir::Instruction& instruction);

// A literal's value is all zero bits, or one of the type.
bool is_zero_bits(const ir::Instruction& instruction);
bool is_one(const ir::Instruction& instruction);
ir::Constant one_of(ElementType type);

}  // namespace tenon::passes
