// What a tensor module promises after every pass.
//
// Module: kernel names differ.
// Kernel:
//   - Its index pool has not overflowed. Symbols and parameters have names, different ones.
//   - Extents of axes, shapes of tensors and `where` conditions mention symbols only, and none that is fixed.
//   - A parameter has an input tensor, a result, or both, then of one type. Inputs come before results. A
//   tensor
//     belongs to one parameter at most, and to one exactly where its role is input or result; the role says
//     which. A parameter with a symbol is an index scalar that the caller gives, and the symbol is a scalar.
//   - A tensor has one definition: the caller's for inputs, one operation's for others. Every result has it.
//   - Groups, if there are any, hold every operation once, in program order within a group, and have names.
// Operation (a deleted one has no outputs and promises nothing):
//   - A map has no reduction axes, monoids or predicate; each result has one value.
//   - A reduction has a reduction axis; each result has a monoid, and a value of its type for each slot.
//   - Its axes differ. A result's shape is the extents of the parallel axes, in order; its element type is
//   that of
//     its value, or what its monoid projects to. The predicate is a bool of the body.
//   - What it reads is an input or defined by an operation before it; with groups, in the order of the
//   groups.
// Monoid: identity, merge and project have the slots of its kind; merge takes two states and gives one,
// project takes
//   one. Both consist of arguments, constants and pure scalar operations.
// Body:
//   - An instruction's operands come before it; number and types are by the rules of ops.def and
//   functions.def. A read
//     has the element type of its tensor and a subscript a dimension.
//   - Index expressions mention symbols (not fixed ones), axes of the operation, and values of type index
//   that come
//     before. Constants have no bits beyond their width; a bool is 0 or 1.
//   - `arg` stands only in monoids, within the state. Fields that an operation has no use for are unset.
//   - Approximate forms are used only where the kernel allows them.
#pragma once

#include <string>
#include <vector>

#include "ir/tensor.h"
#include "support/diagnostics.h"
#include "support/source.h"

namespace tenon::ir {

struct Violation {
  // "@softmax", "@softmax: %m", "@softmax: %m: %2 = exp": kernel, operation by its first result, instruction.
  std::string where;
  std::string message;
  Span span;

  std::string text() const { return where + ": " + message; }
};

std::vector<Violation> verify(const Kernel& kernel);
std::vector<Violation> verify(const Module& module);

// One line each.
std::string to_text(const std::vector<Violation>& violations);

// For IR that a user wrote: an error for each.
void report(const std::vector<Violation>& violations, Diagnostics& diagnostics);

}  // namespace tenon::ir
