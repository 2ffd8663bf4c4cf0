// Accesses to tensors, each of which is within bounds for all sizes, guarded, or tested: what compiles cannot
// read out of bounds.
#pragma once

#include <span>
#include <vector>

#include "frontend/check/instance.h"
#include "frontend/check/terms.h"
#include "frontend/check/typing.h"

namespace tenon::frontend {

class Accesses {
 public:
  Accesses(Instance& instance, Terms& terms, Typing& typing)
      : instance_(instance), terms_(terms), typing_(typing) {}

  // The element of `variable` at the subscripts; `fallback` is invalid without `|`. `guard` holds wherever
  // the access is made. Reports what cannot be proved, unless a launch check can settle it, which is then
  // added to the kernel.
  NodeId read(const Variable& variable, std::vector<NodeId> subscripts, NodeId fallback, GuardId guard,
              Span span);

  // Adds a launch check for a condition over dimensions and scalars; false if it cannot be said as
  // one, or never holds.
  bool add_clause(prove::ConditionId condition, Span span, bool implicit);

 private:
  bool has_mistake(GuardId guard) const;
  bool plainly_within(NodeId subscript, ir::IndexId dimension) const;
  bool within(const Variable& variable, const Read& read, size_t position, GuardId guard, Span span,
              bool& needs_guard);
  void test(const Variable& variable, Read& read, size_t position);
  void report_out_of_bounds(const Variable& variable, const Read& read, size_t position,
                            const prove::Verdict& verdict, Span span);

  Instance& instance_;
  Terms& terms_;
  Typing& typing_;
  std::vector<prove::ConditionId> clauses_;
};

}  // namespace tenon::frontend
