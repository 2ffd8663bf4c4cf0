// The bridge to the bounds prover: terms and conditions for index expressions and typed expressions, and
// back.
//
// Everything has a term. What the prover has no structure for becomes an opaque value of its operands, so
// that the same expression over the same elements has the same term wherever it stands. Definitions of index
// and bool tensors are looked through. Terms are made when they are asked for; a kernel whose accesses are
// plain asks for none.
#pragma once

#include <map>
#include <optional>
#include <string>
#include <unordered_map>
#include <vector>

#include "frontend/check/instance.h"
#include "frontend/prove/context.h"

namespace tenon::frontend {

class Terms {
 public:
  explicit Terms(Instance& instance) : instance_(instance) {}

  prove::TermStore& store() { return context_.terms(); }

  prove::TermId term(ir::IndexId index);
  // The value of a typed node that is not a bool; a bool counts as 0 or 1.
  prove::TermId term(NodeId node);
  // A node of type bool.
  prove::ConditionId condition(NodeId node);

  // A fact for the rest of the kernel. A clause divides by nothing that is 0.
  void assume(prove::ConditionId fact, prove::FactKind kind = prove::FactKind::kClause);

  // Under the clauses, the ranges of indices, and the guard with all those around it.
  bool holds(prove::ConditionId goal, GuardId guard = {});
  prove::Verdict prove(prove::ConditionId goal, GuardId guard = {});
  bool equal(ir::IndexId a, ir::IndexId b);

  // Back to an index expression; empty if it mentions anything but dimensions and index scalars, or a choice.
  std::optional<ir::IndexId> to_index(prove::TermId term);
  std::optional<ir::IndexId> to_index(prove::ConditionId condition);

 private:
  void compute(NodeId root);
  void compute_one(NodeId id);
  prove::TermId atom(const ir::IndexNode& node, ir::IndexId id);
  prove::TermId index_operation(const Node& node);
  prove::TermId value_term(NodeId id);
  prove::ConditionId bool_condition(NodeId id);
  prove::TermId cast_term(const Node& node);
  prove::TermId read_term(NodeId id);
  prove::ConditionId read_condition(NodeId id);
  prove::TermId reduce_term(NodeId id);
  prove::TermId opaque_operation(NodeId id, std::string_view name);
  std::vector<prove::TermId> free_axes(NodeId id);
  std::string reduction_name(NodeId id);
  std::optional<prove::Substitution> look_through(NodeId read);
  std::vector<prove::TermId> subscript_terms(const Read& read);
  void hold_guards(GuardId guard);
  void release_guards();

  Instance& instance_;
  prove::Context context_;
  SideTable<ir::IndexNode, prove::TermId> index_terms_;
  // Terms of what is not bool; conditions of what is.
  SideTable<Node, prove::TermId> node_terms_;
  SideTable<Node, prove::ConditionId> node_conditions_;
  SideTable<ir::Axis, prove::TermId> axis_symbols_;
  std::map<prove::AtomId, ir::IndexId> symbol_atoms_;
  std::map<std::string, NodeId> reduction_names_;
  std::vector<GuardId> held_guards_;
  // Definitions that are being looked through, one inside the other.
  unsigned look_through_depth_ = 0;
};

}  // namespace tenon::frontend
