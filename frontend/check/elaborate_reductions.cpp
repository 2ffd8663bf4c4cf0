// Reductions: the ranges of their indices, what `where` leaves, and their types.
#include <algorithm>

#include "frontend/check/elaborate.h"
#include "support/check.h"

namespace tenon::frontend {
namespace {

using ir::Opcode;

// Stages of a reduction's frame.
enum Stage : uint32_t { kBegin, kNextBinder, kUpper, kBind, kCondition, kConditionDone, kBody, kDone };

ir::MonoidKind monoid(ReductionKind kind) {
  switch (kind) {
    case ReductionKind::kSum:
      return ir::MonoidKind::kSum;
    case ReductionKind::kProd:
      return ir::MonoidKind::kProd;
    case ReductionKind::kMax:
      return ir::MonoidKind::kMax;
    case ReductionKind::kMin:
      return ir::MonoidKind::kMin;
    case ReductionKind::kAny:
      return ir::MonoidKind::kAny;
    case ReductionKind::kAll:
      return ir::MonoidKind::kAll;
    case ReductionKind::kArgmax:
      return ir::MonoidKind::kArgMax;
    case ReductionKind::kArgmin:
      return ir::MonoidKind::kArgMin;
  }
  TENON_UNREACHABLE("a reduction without a monoid");
}

bool is_arg(ReductionKind kind) { return kind == ReductionKind::kArgmax || kind == ReductionKind::kArgmin; }
bool sums(ReductionKind kind) { return kind == ReductionKind::kSum || kind == ReductionKind::kProd; }

}  // namespace

void Elaborator::step(const Reduction& reduction) {
  if (frame().stage == kBegin && !begin_reduction(reduction)) return finish(nodes_.error());
  ReductionState& state = *frame().reduction;
  switch (frame().stage) {
    case kNextBinder:
    case kUpper:
    case kBind:
      return step_binder(reduction);
    case kCondition: {
      if (!reduction.condition.valid()) {
        frame().stage = kBody;
        return;
      }
      frame().stage = kConditionDone;
      Context inner = state.inner;
      inner.widen = false;
      return push(inner, reduction.condition);
    }
    case kConditionDone: {
      const NodeId condition = typing_.as_bool(values_.back(), "what follows `where`");
      values_.pop_back();
      if (nodes_[condition].is_error()) {
        state.wrong = true;
      } else {
        add_predicate(state, condition);
      }
      frame().stage = kBody;
      return;
    }
    case kBody:
      frame().stage = kDone;
      return push(state.inner, reduction.body);
    default:
      return finish_reduction(reduction, values_.back());
  }
}

bool Elaborator::begin_reduction(const Reduction& reduction) {
  const Context context = frame().context;
  const Span span = module()[frame().id].span;
  const std::string_view word = spelling(reduction.kind);
  if (context.reductions >= kMaxReductionNesting) {
    instance_.report(DiagnosticId::kReductionsTooDeep, span, kMaxReductionNesting);
    return false;
  }
  if (is_arg(reduction.kind) && module().binders(reduction.binders).size() != 1) {
    Diagnostic& d = instance_.report(DiagnosticId::kArgmaxIndices, reduction.kind_span, word);
    d.note("flatten the indices into one, as in x[p / W, p % W]");
    return false;
  }
  ReductionState& state = reductions_.emplace_back();
  state.scope = &scopes_.emplace_back(context.scope);
  state.inner = context;
  state.inner.scope = state.scope;
  state.inner.widen = context.widen || sums(reduction.kind);
  ++state.inner.reductions;
  frame().reduction = &state;
  frame().stage = kNextBinder;
  return true;
}

void Elaborator::step_binder(const Reduction& reduction) {
  ReductionState& state = *frame().reduction;
  const std::span<const Binder> binders = module().binders(reduction.binders);
  if (state.binder == binders.size()) {
    frame().stage = kCondition;
    return;
  }
  const Binder& binder = binders[state.binder];
  Context bound = frame().context;
  bound.scope = state.scope;
  bound.widen = false;
  switch (frame().stage) {
    case kNextBinder:
      if (binder.lower.valid()) {
        frame().stage = kUpper;
        return push(bound, binder.lower);
      }
      bind_index(binder, NodeId(), NodeId());
      break;
    case kUpper:
      frame().stage = kBind;
      return push(bound, binder.upper);
    default: {
      const NodeId upper = values_.back();
      values_.pop_back();
      const NodeId lower = values_.back();
      values_.pop_back();
      bind_index(binder, lower, upper);
      frame().stage = kNextBinder;
    }
  }
  ++state.binder;
}

void Elaborator::bind_index(const Binder& binder, NodeId lower, NodeId upper) {
  ReductionState& state = *frame().reduction;
  const Context& context = frame().context;
  Entity entity;
  entity.span = binder.name.span;
  entity.what = "an index";
  std::optional<ir::AxisId> axis;
  if (check_new_index(*state.scope, binder.name)) {
    if (lower.valid()) {
      axis = uniform_axis(binder, typing_.as_index(lower, "the bound of a range"),
                          typing_.as_index(upper, "the bound of a range"));
    } else {
      const bool has_accesses = context.call == nullptr;
      if (has_accesses && !ranges_) ranges_.emplace(instance_, *root_module_, *root_scope_, root_);
      const std::optional<ir::IndexId> extent =
          common_range(instance_, terms_, binder.name, has_accesses ? &*ranges_ : nullptr,
                       module()[frame().id].first, frame().id);
      if (extent) axis = instance_.add_axis(binder.name.text, *extent);
    }
  }
  if (axis) {
    state.axes.push_back(*axis);
    entity.kind = EntityKind::kIndex;
    entity.index = instance_.kernel.index.axis(*axis);
    if (const ir::IndexId from = instance_.axis_ranges[*axis].lower; from.valid())
      entity.index = instance_.kernel.index.add(entity.index, from);
  } else {
    state.wrong = true;
  }
  state.scope->set(binder.name.text, entity);
  if (!axis || !lower.valid()) return;
  // What the uniform range has too much.
  const NodeId index = nodes_.index(entity.index, binder.name.span);
  auto restrict = [&](Opcode op, NodeId bound) {
    bound = typing_.as_index(bound, "the bound of a range");
    if (mentions_axes(instance_, nodes_[bound].index))
      add_predicate(state, nodes_.op(op, ElementType::kBool, {index, bound}, nodes_[bound].span));
  };
  restrict(Opcode::kGe, lower);
  restrict(Opcode::kLt, upper);
}

std::optional<ir::AxisId> Elaborator::uniform_axis(const Binder& binder, NodeId lower, NodeId upper) {
  const Node from = nodes_[lower];
  const Node to = nodes_[upper];
  if (from.is_error() || to.is_error()) return std::nullopt;
  const Span span = cover(from.span, to.span);
  if (from.kind != NodeKind::kIndex || to.kind != NodeKind::kIndex) {
    instance_.report(DiagnosticId::kNotBuiltDataRange, span, binder.name.text);
    return std::nullopt;
  }
  const std::optional<Extremes> least = extremes(instance_, from.index);
  const std::optional<Extremes> greatest = extremes(instance_, to.index);
  if (!least || !greatest) {
    instance_.report(DiagnosticId::kNotBuiltVaryingRange, span, binder.name.text);
    return std::nullopt;
  }
  const ir::IndexId difference = instance_.index_op(Opcode::kSub, greatest->high, least->low);
  if (!difference.valid()) {
    instance_.report(DiagnosticId::kIndexTooLarge, span);
    return std::nullopt;
  }
  AxisRange range;
  if (!instance_.kernel.index.is_constant(least->low, 0)) range.lower = least->low;
  range.upper = greatest->high;
  return instance_.add_axis(binder.name.text, non_negative(difference), range);
}

ir::IndexId Elaborator::non_negative(ir::IndexId extent) {
  ir::IndexPool& pool = instance_.kernel.index;
  auto is_dimension = [&](ir::IndexId factor) {
    const ir::IndexNode& node = pool[factor];
    return node.kind == ir::IndexKind::kSymbol &&
           instance_.kernel.symbols[ir::SymbolId(node.reference)].kind == ir::Symbol::Kind::kDimension;
  };
  const std::vector<ir::Monomial> terms = pool.terms(extent);
  const bool plain = std::ranges::all_of(terms, [&](const ir::Monomial& term) {
    return term.coefficient >= 0 && std::ranges::all_of(term.factors, is_dimension);
  });
  if (plain) return extent;
  prove::TermStore& t = terms_.store();
  const prove::ConditionId goal = t.ge(terms_.term(extent), t.constant(0));
  return terms_.holds(goal) ? extent : pool.max(extent, pool.constant(0));
}

void Elaborator::add_predicate(ReductionState& state, NodeId condition) {
  state.inner.guard = nodes_.guard({state.inner.guard, condition, false});
  state.predicate = state.predicate.valid() ? nodes_.op(Opcode::kAnd, ElementType::kBool,
                                                        {state.predicate, condition}, nodes_[condition].span)
                                            : condition;
}

void Elaborator::finish_reduction(const Reduction& reduction, NodeId body) {
  const ReductionState& state = *frame().reduction;
  const Span span = module()[frame().id].span;
  const std::string_view word = spelling(reduction.kind);
  const bool logical = reduction.kind == ReductionKind::kAny || reduction.kind == ReductionKind::kAll;
  body = logical ? typing_.as_bool(body, fmt::format("the body of `{}`", word)) : typing_.typed(body);
  if (state.wrong || nodes_[body].is_error()) return finish(nodes_.error());
  if (!logical && !sums(reduction.kind) && nodes_[body].is_bool()) {
    Diagnostic& d = instance_.report(DiagnosticId::kOperandType, span, word, "bool");
    d.note("`any` and `all` combine conditions");
    return finish(nodes_.error());
  }
  if (sums(reduction.kind)) body = typing_.widen(body, nodes_[body].span);
  if (nodes_[body].is_error()) return finish(nodes_.error());
  ReduceDetail detail;
  detail.kind = monoid(reduction.kind);
  detail.axes = state.axes;
  detail.predicate = state.predicate;
  detail.body = body;
  const ElementType type = is_arg(reduction.kind) ? ElementType::kIndex : *nodes_[body].type;
  NodeId result = nodes_.reduce(detail, type, span);
  const ir::IndexId lower = instance_.axis_ranges[state.axes[0]].lower;
  if (is_arg(reduction.kind) && lower.valid()) {
    // The position of the axis counts from 0; nothing is -1 all the same.
    const NodeId zero = nodes_.index(instance_.kernel.index.constant(0), span);
    const NodeId none = nodes_.op(Opcode::kLt, ElementType::kBool, {result, zero}, span);
    const NodeId shifted =
        nodes_.op(Opcode::kAdd, ElementType::kIndex, {result, nodes_.index(lower, span)}, span);
    result = nodes_.op(Opcode::kSelect, ElementType::kIndex, {none, result, shifted}, span);
  }
  finish(widened_in(frame().context, result));
}

}  // namespace tenon::frontend
