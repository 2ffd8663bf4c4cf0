#include "frontend/check/elaborate.h"

#include <algorithm>

#include "support/check.h"

namespace tenon::frontend {

NodeId Elaborator::elaborate(const Context& context, ExprId root) {
  root_ = root;
  root_module_ = context.module;
  root_scope_ = context.scope;
  root_called_from_ = instance_.called_from;
  ranges_.reset();
  first_node_ = nodes_.size();
  gave_up_ = false;
  finished_calls_.clear();
  push(context, root);
  while (!frames_.empty()) step();
  instance_.called_from = root_called_from_;
  const NodeId value = values_.back();
  values_.clear();
  scopes_.clear();
  active_calls_.clear();
  calls_.clear();
  reductions_.clear();
  return value;
}

void Elaborator::step() {
  const ActiveCall* call = frame().context.call;
  instance_.called_from = call == nullptr ? root_called_from_ : call->from;
  const Expr& expr = module()[frame().id];
  if (too_large(expr.span)) return finish(nodes_.error());
  std::visit([&](const auto& payload) { step(payload); }, expr.payload);
}

bool Elaborator::too_large(Span span) {
  if (gave_up_) return true;
  if (nodes_.size() - first_node_ <= kMaxNodesPerStatement) return false;
  gave_up_ = true;
  instance_.report(DiagnosticId::kExpressionTooLarge, (*root_module_)[root_].span, kMaxNodesPerStatement);
  return true;
}

void Elaborator::finish(NodeId value) {
  values_.resize(frame().base);
  values_.push_back(value);
  frames_.pop_back();
}

NodeId Elaborator::widened_in(const Context& context, NodeId value) {
  const Node& node = nodes_[value];
  if (!context.widen || !node.type || node.is_bool()) return value;
  return typing_.widen(value, node.span);
}

Context Elaborator::guarded(const Context& context, NodeId condition, bool negated) {
  // A guard with a mistake is one all the same: what it may have shown is not missed.
  const NodeId fact = nodes_[condition].is_bool() ? condition : nodes_.error();
  Context inner = context;
  inner.guard = nodes_.guard({context.guard, fact, negated});
  return inner;
}

void Elaborator::step(const NumberLiteral& literal) {
  finish(typing_.number(literal, module()[frame().id].span));
}
void Elaborator::step(const BoolLiteral& literal) {
  finish(typing_.boolean(literal.value, module()[frame().id].span));
}
void Elaborator::step(const InfLiteral&) { finish(typing_.infinity(module()[frame().id].span)); }
void Elaborator::step(const NanLiteral&) { finish(typing_.nan(module()[frame().id].span)); }
void Elaborator::step(const ErrorExpr&) { finish(nodes_.error()); }

void Elaborator::step(const Ellipsis&) {
  instance_.report(DiagnosticId::kEllipsisMisplaced, module()[frame().id].span);
  finish(nodes_.error());
}

void Elaborator::step(const NameRef& name) {
  const Context& context = frame().context;
  const Span span = module()[frame().id].span;
  const Entity* entity = context.scope->find(name.name);
  if (entity == nullptr) {
    report_unknown_name(context, name.name, span);
    return finish(nodes_.error());
  }
  finish(widened_in(context, name_value(context, *entity, name.name, span)));
}

NodeId Elaborator::name_value(const Context& context, const Entity& entity, std::string_view name,
                              Span span) {
  switch (entity.kind) {
    case EntityKind::kPoison:
      return nodes_.error();
    case EntityKind::kIndex:
      return nodes_.index(entity.index, span);
    case EntityKind::kValue:
      return entity.value;
    case EntityKind::kType: {
      Diagnostic& d = instance_.report(DiagnosticId::kGenericAsValue, span, name);
      d.note(fmt::format("`{}(...)` converts to it", name));
      return nodes_.error();
    }
    case EntityKind::kVariable:
      break;
  }
  const Variable& variable = instance_.variables[entity.variable];
  if (variable.poisoned) return nodes_.error();
  if (!variable.shape.empty()) {
    Diagnostic& d =
        instance_.report(DiagnosticId::kMissingSubscripts, span, name, instance_.shape_text(variable.shape));
    d.label(variable.span, "introduced here");
    d.note("an element is read with one subscript for each dimension");
    return nodes_.error();
  }
  if (!variable.value.valid()) {
    if (entity.variable == context.target) {
      instance_.report(DiagnosticId::kNotBuiltRecurrence, span, name);
    } else if (!instance_.incomplete) {
      instance_.report(DiagnosticId::kReadBeforeDefinition, span, name).label(variable.span, "declared here");
    }
    return nodes_.error();
  }
  return accesses_.read(variable, {}, NodeId(), context.guard, span);
}

void Elaborator::report_unknown_name(const Context& context, std::string_view name, Span span, bool access) {
  if (instance_.incomplete) return;
  const auto is_ascii = [](char c) { return static_cast<unsigned char>(c) < 0x80; };
  if (!std::ranges::all_of(name, is_ascii)) {
    // What is no name has been reported.
    instance_.failed = true;
    return;
  }
  Diagnostic& d = instance_.report(DiagnosticId::kUnknownName, span, name);
  const std::string_view similar =
      instance_.suggests() ? did_you_mean(name, context.scope->visible_names()) : "";
  if (!similar.empty()) {
    d.fix(span, std::string(similar), fmt::format("did you mean `{}`?", similar));
  } else if (instance_.functions.find(name) != nullptr || function_by_name(name)) {
    d.note(fmt::format("`{}` is a function; call it with arguments in parentheses", name));
  } else if (access) {
    d.note("a tensor is a parameter, or is defined by a statement before");
  } else {
    d.note(
        "an index stands on the left of `=` or in the brackets of a reduction; a dimension in the type of a "
        "parameter or result");
  }
}

bool Elaborator::check_new_index(const Scope& scope, const Name& name) {
  const Entity* entity = scope.find(name.text);
  if (entity == nullptr) return true;
  Diagnostic& d = instance_.report(DiagnosticId::kHiddenName, name.span, name.text, entity->what);
  if (entity->span.valid()) d.label(entity->span, fmt::format("`{}` is introduced here", name.text));
  d.note("an index needs a name of its own");
  return false;
}

std::optional<ElementType> Elaborator::element_type(const Element& element, const Scope& scope) {
  if (element.known) return element.known;
  const Entity* entity = scope.find(element.text);
  if (entity != nullptr && entity->kind == EntityKind::kType) return entity->type;
  if (entity != nullptr && entity->kind == EntityKind::kPoison) return std::nullopt;
  Diagnostic& d = instance_.report(DiagnosticId::kUnknownType, element.span, element.text);
  static constexpr std::string_view kTypes[] = {"f64", "f32", "f16",  "bf16", "f8e4m3", "f8e5m2",
                                                "i64", "i32", "i16",  "i8",   "u64",    "u32",
                                                "u16", "u8",  "bool", "index"};
  static constexpr std::pair<std::string_view, std::string_view> kForeign[] = {
      {"float", "f32"},   {"double", "f64"},    {"half", "f16"},    {"int", "i32"},      {"float32", "f32"},
      {"float16", "f16"}, {"bfloat16", "bf16"}, {"float64", "f64"}, {"int32", "i32"},    {"int64", "i64"},
      {"int8", "i8"},     {"uint8", "u8"},      {"uint32", "u32"},  {"size_t", "index"}, {"long", "i64"}};
  std::string_view similar = did_you_mean(element.text, {std::begin(kTypes), std::end(kTypes)});
  for (auto [foreign, ours] : kForeign)
    if (element.text == foreign) similar = ours;
  if (!similar.empty()) {
    d.fix(element.span, std::string(similar), fmt::format("did you mean `{}`?", similar));
  } else {
    d.note("a type that is chosen at each use is a generic: `kernel name<T: float>(...)`");
  }
  return std::nullopt;
}

void Elaborator::step(const Unary& unary) {
  if (frame().stage++ == 0) return push(frame().context, unary.operand);
  finish(typing_.unary(unary.op, values()[0], module()[frame().id].span));
}

void Elaborator::step(const Binary& binary) {
  const Context context = frame().context;
  switch (frame().stage++) {
    case 0:
      return push(context, binary.left);
    case 1: {
      const bool guards = binary.op == BinaryOp::kLogicalAnd || binary.op == BinaryOp::kLogicalOr;
      const bool negated = binary.op == BinaryOp::kLogicalOr;
      return push(guards ? guarded(context, values()[0], negated) : context, binary.right);
    }
    default:
      finish(typing_.binary(binary, values()[0], values()[1], module()[frame().id].span));
  }
}

void Elaborator::step(const Conditional& conditional) {
  const Context context = frame().context;
  switch (frame().stage++) {
    case 0:
      return push(context, conditional.condition);
    case 1:
      return push(guarded(context, values()[0], false), conditional.if_true);
    case 2:
      return push(guarded(context, values()[0], true), conditional.if_false);
    default:
      finish(typing_.conditional(values()[0], values()[1], values()[2], module()[frame().id].span));
  }
}

void Elaborator::step(const Cast& cast) {
  if (frame().stage++ == 0) {
    // What is cast to its own type is only rounded, so a sum's widening comes after the cast.
    return push(frame().context, cast.operand);
  }
  const Context context = frame().context;
  finish(widened_in(context, typing_.cast(cast.element, values()[0], module()[frame().id].span)));
}

void Elaborator::step(const Access& access) {
  const std::span<const ExprId> subscripts = module().exprs(access.subscripts);
  const uint32_t stage = frame().stage++;
  Context inner = frame().context;
  if (stage < subscripts.size()) {
    inner.widen = false;
    // `...` is expanded when all subscripts are there.
    if (module().get_if<Ellipsis>(subscripts[stage]) != nullptr) return values_.push_back(nodes_.error());
    return push(inner, subscripts[stage]);
  }
  if (stage == subscripts.size() && access.fallback.valid()) {
    inner.widen = false;
    return push(inner, access.fallback);
  }
  const Context context = frame().context;
  finish(widened_in(context, finish_access(context, access, module()[frame().id].span)));
}

const Variable* Elaborator::accessed_variable(const Context& context, const Access& access) {
  const Entity* entity = context.scope->find(access.tensor.text);
  if (entity == nullptr) {
    report_unknown_name(context, access.tensor.text, access.tensor.span, true);
    return nullptr;
  }
  if (entity->kind == EntityKind::kPoison) return nullptr;
  // Where `...` stands for no dimensions, scalars have it as their only subscript.
  const std::span<const ExprId> subscripts = context.module->exprs(access.subscripts);
  const bool only_ellipsis =
      subscripts.size() == 1 && context.module->get_if<Ellipsis>(subscripts[0]) != nullptr;
  const bool scalar = entity->kind != EntityKind::kVariable ||
                      (instance_.variables[entity->variable].shape.empty() && !only_ellipsis);
  if (entity->kind == EntityKind::kVariable && instance_.variables[entity->variable].poisoned) return nullptr;
  if (scalar) {
    const std::string_view what = entity->kind == EntityKind::kVariable ? "a scalar" : entity->what;
    Diagnostic& d = instance_.report(DiagnosticId::kNotATensor, access.tensor.span, access.tensor.text, what);
    if (entity->span.valid()) d.label(entity->span, "introduced here");
    return nullptr;
  }
  const Variable& variable = instance_.variables[entity->variable];
  if (variable.value.valid()) return &variable;
  if (entity->variable == context.target) {
    instance_.report(DiagnosticId::kNotBuiltRecurrence, access.tensor.span, access.tensor.text);
  } else if (instance_.incomplete) {
    return nullptr;
  } else if (looks_like_recurrence(context, access)) {
    instance_.report(DiagnosticId::kNotBuiltRecurrence, access.tensor.span, access.tensor.text);
  } else {
    instance_.report(DiagnosticId::kReadBeforeDefinition, access.tensor.span, access.tensor.text)
        .label(variable.span, "declared here");
  }
  return nullptr;
}

bool Elaborator::looks_like_recurrence(const Context& context, const Access& access) const {
  const Module& module = *context.module;
  return std::ranges::any_of(module.exprs(access.subscripts), [&](ExprId id) {
    const Binary* step = module.get_if<Binary>(id);
    if (step == nullptr || step->op != BinaryOp::kSubtract) return false;
    const NameRef* name = module.get_if<NameRef>(step->left);
    const Entity* index = name != nullptr ? context.scope->find(name->name) : nullptr;
    return index != nullptr && index->kind == EntityKind::kIndex && mentions_axes(instance_, index->index) &&
           module.get_if<NumberLiteral>(step->right) != nullptr;
  });
}

std::optional<std::vector<NodeId>> Elaborator::subscripts_of(const Context& context, const Access& access,
                                                             const Variable& variable,
                                                             std::span<const NodeId> written, Span span) {
  std::vector<NodeId> subscripts;
  const std::span<const ExprId> exprs = context.module->exprs(access.subscripts);
  bool expanded = false;
  for (size_t i = 0; i < exprs.size(); ++i) {
    if (context.module->get_if<Ellipsis>(exprs[i]) == nullptr) {
      subscripts.push_back(written[i]);
      continue;
    }
    if (context.ellipsis == nullptr || expanded) {
      instance_.report(DiagnosticId::kEllipsisMisplaced, (*context.module)[exprs[i]].span);
      return std::nullopt;
    }
    expanded = true;
    subscripts.insert(subscripts.end(), context.ellipsis->begin(), context.ellipsis->end());
  }
  const size_t rank = variable.shape.size();
  if (subscripts.size() == rank) return subscripts;
  Diagnostic& d = instance_.report(DiagnosticId::kSubscriptCount, span, variable.name,
                                   counted(rank, "dimension"), counted(subscripts.size(), "subscript"));
  d.label(variable.span, fmt::format("`{}` is {}", variable.name, instance_.shape_text(variable.shape)));
  return std::nullopt;
}

NodeId Elaborator::finish_access(const Context& context, const Access& access, Span span) {
  const Variable* variable = accessed_variable(context, access);
  if (variable == nullptr) return nodes_.error();
  const std::vector<NodeId> written(values().begin(), values().end());
  const size_t count = context.module->exprs(access.subscripts).size();
  std::optional<std::vector<NodeId>> subscripts =
      subscripts_of(context, access, *variable, std::span(written).first(count), span);
  if (!subscripts) return nodes_.error();
  const NodeId fallback = access.fallback.valid() ? written[count] : NodeId();
  return accesses_.read(*variable, std::move(*subscripts), fallback, context.guard, span);
}

}  // namespace tenon::frontend
