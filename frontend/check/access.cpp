#include "frontend/check/access.h"

#include <algorithm>

#include "frontend/check/clauses.h"

namespace tenon::frontend {

NodeId Accesses::read(const Variable& variable, std::vector<NodeId> subscripts, NodeId fallback,
                      GuardId guard, Span span) {
  Nodes& nodes = instance_.nodes;
  bool wrong = variable.poisoned || !variable.value.valid();
  for (NodeId& subscript : subscripts) {
    subscript = typing_.as_index(subscript, "a subscript");
    wrong = wrong || nodes[subscript].is_error();
  }
  if (fallback.valid()) {
    fallback = typing_.as_element(fallback, variable.element, variable.name, variable.span);
    wrong = wrong || nodes[fallback].is_error();
  }
  if (wrong) return nodes.error();
  Read read;
  read.tensor = variable.value;
  read.subscripts = std::move(subscripts);
  read.fallback = fallback;
  bool needs_guard = false;
  for (size_t i = 0; i < read.subscripts.size(); ++i) {
    if (plainly_within(read.subscripts[i], variable.shape[i])) continue;
    if (fallback.valid()) {
      test(variable, read, i);
    } else if (!within(variable, read, i, guard, span, needs_guard)) {
      return nodes.error();
    }
  }
  if (read.tests.empty()) read.fallback = NodeId();
  if (needs_guard) read.guard = guard;
  return nodes.read(std::move(read), variable.element, span);
}

bool Accesses::plainly_within(NodeId subscript, ir::IndexId dimension) const {
  const Node& node = instance_.nodes[subscript];
  if (node.kind != NodeKind::kIndex) return false;
  const ir::IndexPool& pool = instance_.kernel.index;
  const ir::IndexNode& index = pool[node.index];
  if (index.kind == ir::IndexKind::kAxis)
    return instance_.kernel.axes[ir::AxisId(index.reference)].extent == dimension;
  const std::optional<int64_t> value = pool.as_constant(node.index);
  const std::optional<int64_t> size = pool.as_constant(dimension);
  return value && size && *value >= 0 && *value < *size;
}

void Accesses::test(const Variable& variable, Read& read, size_t position) {
  prove::TermStore& t = terms_.store();
  const prove::TermId subscript = terms_.term(read.subscripts[position]);
  const auto at = static_cast<uint32_t>(position);
  if (!terms_.holds(t.le(t.constant(0), subscript))) read.tests.push_back({at, false});
  if (!terms_.holds(t.lt(subscript, terms_.term(variable.shape[position])))) read.tests.push_back({at, true});
}

bool Accesses::within(const Variable& variable, const Read& read, size_t position, GuardId guard, Span span,
                      bool& needs_guard) {
  prove::TermStore& t = terms_.store();
  const prove::TermId subscript = terms_.term(read.subscripts[position]);
  const prove::ConditionId goal = t.in_range(subscript, t.constant(0), terms_.term(variable.shape[position]));
  if (terms_.holds(goal)) return true;
  const prove::Verdict verdict = terms_.prove(goal, guard);
  if (verdict.proved()) {
    needs_guard = true;
    return true;
  }
  if (verdict.launch_check.valid() && add_clause(verdict.launch_check, span, true)) return true;
  if (!has_mistake(guard)) report_out_of_bounds(variable, read, position, verdict, span);
  return false;
}

bool Accesses::has_mistake(GuardId guard) const {
  for (; guard.valid(); guard = instance_.nodes[guard].outer)
    if (instance_.nodes[instance_.nodes[guard].condition].is_error()) return true;
  return false;
}

bool Accesses::add_clause(prove::ConditionId condition, Span span, bool implicit) {
  if (std::ranges::find(clauses_, condition) != clauses_.end()) return true;
  const std::optional<ir::IndexId> index = terms_.to_index(condition);
  if (!index || terms_.holds(terms_.store().logical_not(condition))) return false;
  clauses_.push_back(condition);
  ir::WhereClause clause;
  clause.condition = with_divisors(instance_, *index);
  clause.text = terms_.store().text(condition);
  clause.implicit = implicit;
  clause.span = span;
  instance_.kernel.where.push_back(std::move(clause));
  terms_.assume(condition);
  return true;
}

void Accesses::report_out_of_bounds(const Variable& variable, const Read& read, size_t position,
                                    const prove::Verdict& verdict, Span span) {
  const std::string dimension = instance_.text(variable.shape[position]);
  const std::string subscript = terms_.store().text(terms_.term(read.subscripts[position]));
  Diagnostic& d = instance_.report(DiagnosticId::kOutOfBounds, span, variable.name, subscript, dimension);
  d.label(instance_.nodes[read.subscripts[position]].span, fmt::format("has to be in 0..{}", dimension));
  d.label(variable.span, fmt::format("`{}` is {}", variable.name, instance_.shape_text(variable.shape)));
  if (verdict.remaining == "false") {
    d.note("it never holds");
  } else if (!verdict.remaining.empty()) {
    d.note(fmt::format("left to show: {}", verdict.remaining));
  }
  if (!verdict.counterexample.empty()) d.note(fmt::format("it fails for {}", verdict.counterexample));
  const std::optional<int64_t> constant =
      terms_.store().constant_value(terms_.term(read.subscripts[position]));
  if (constant && *constant < 0)
    d.note(fmt::format("elements are counted from 0; the last one is {} - 1", dimension));
  if (verdict.out_of_budget) d.note("the proof was given up after too many steps");
  if (verdict.suggested_clause.valid())
    d.note(fmt::format("`where {}` would make it hold", terms_.store().text(verdict.suggested_clause)));
  Span insertion = span;
  insertion.begin = insertion.end = span.end - 1;
  const bool is_bool = variable.element == ElementType::kBool;
  d.fix(insertion, is_bool ? " | false" : " | 0", "give a value for elements outside");
}

}  // namespace tenon::frontend
