// Calls of functions on whole tensors, `a, b = f(x)`: the function's statements with its names bound to the
// caller's.
#include <algorithm>
#include <deque>
#include <span>
#include <utility>

#include "frontend/check/generics.h"
#include "frontend/check/statements.h"

namespace tenon::frontend {

struct Statements::FunctionCall {
  FunctionCall(const StatementContext& outer, const Definition& definition, const Call& call,
               FunctionRef function, Span span)
      : outer(outer), definition(definition), call(call), function(function), span(span) {}

  const StatementContext& outer;
  const Definition& definition;
  const Call& call;
  FunctionRef function;
  Span span;
  Scope scope{nullptr};
  std::vector<ir::IndexId> leading;
  bool has_leading = false;
  Span leading_from;
  ActiveCall active;
  StatementContext inner;
  // The result variables of the function, and those of the caller, invalid where the caller has not declared
  // them.
  std::vector<VariableId> results;
  std::vector<VariableId> targets;
};

const FunctionRef* Statements::shaped_callee(const StatementContext& context,
                                             const Definition& definition) const {
  const Call* call = context.module->get_if<Call>(definition.value);
  if (call == nullptr) return nullptr;
  const FunctionRef* function = instance_.functions.find(call->callee.text);
  if (function == nullptr || context.scope->find(call->callee.text) != nullptr) return nullptr;
  const bool inlined_in_expression =
      definition.names.size() == 1 && is_shapeless(*function->module, **function);
  return inlined_in_expression ? nullptr : function;
}

void Statements::call_function(const StatementContext& context, const Definition& definition,
                               const FunctionRef& function, Span span) {
  FunctionCall call(context, definition, *context.module->get_if<Call>(definition.value), function, span);
  const size_t depth = context.call == nullptr ? 1 : context.call->depth + 1;
  const Span from = context.call == nullptr ? span : context.call->from;
  call.active = {function, context.call, depth, from};
  call.inner.module = function.module;
  call.inner.scope = &call.scope;
  call.inner.prefix = context.prefix + std::string(function->signature.name.text) + ".";
  call.inner.call = &call.active;
  if (check_call(call) && bind_arguments(call) && bind_results(call) && check_clauses(call)) {
    const Span outer = std::exchange(instance_.called_from, from);
    run(call.inner, std::get<Body>(function->form).statements);
    check_results(function->signature.results, call.scope);
    instance_.called_from = outer;
  }
  take_results(call);
}

bool Statements::check_call(const FunctionCall& call) {
  const Signature& signature = call.function->signature;
  const std::string_view name = signature.name.text;
  if (!call.function->complete) return false;
  if (std::holds_alternative<ScalarForm>(call.function->form)) {
    instance_.report(DiagnosticId::kScalarFormWithShape, signature.name.span, name);
    return false;
  }
  for (const ActiveCall* active = call.outer.call; active != nullptr; active = active->outer) {
    if (&*active->function != &*call.function) continue;
    instance_.report(DiagnosticId::kRecursion, call.span, name).label(signature.name.span, "defined here");
    return false;
  }
  if (call.active.depth > kMaxInlineDepth) {
    instance_.report(DiagnosticId::kInlineTooDeep, call.span, kMaxInlineDepth);
    instance_.gave_up = true;
    return false;
  }
  const size_t arguments = call.outer.module->exprs(call.call.arguments).size();
  if (arguments != signature.params.size()) {
    Diagnostic& d = instance_.report(DiagnosticId::kArgumentCount, call.span, name,
                                     counted(signature.params.size(), "argument"), arguments);
    d.label(signature.name.span, "defined here");
    return false;
  }
  if (call.definition.names.size() == signature.results.size()) return true;
  Diagnostic& d = instance_.report(DiagnosticId::kResultCount, call.span, name,
                                   counted(signature.results.size(), "result"),
                                   counted(call.definition.names.size(), "name"));
  d.label(signature.name.span, "defined here");
  return false;
}

bool Statements::bind_arguments(FunctionCall& call) {
  const Module& module = *call.outer.module;
  const Signature& signature = call.function->signature;
  const std::span<const ExprId> exprs = module.exprs(call.call.arguments);
  bool right = true;
  struct Argument {
    const Entity* entity;
    Span span;
    ir::IndexList shape;
  };
  std::vector<Argument> arguments;
  for (size_t i = 0; i < exprs.size(); ++i) {
    const Span span = module[exprs[i]].span;
    const NameRef* name = module.get_if<NameRef>(exprs[i]);
    if (name == nullptr) {
      if (module.get_if<ErrorExpr>(exprs[i]) == nullptr) {
        Diagnostic& d = instance_.report(DiagnosticId::kArgumentNotAName, span, signature.name.text);
        d.note("give the value a name first, in a statement before");
      }
      return false;
    }
    const Entity* entity = call.outer.scope->find(name->name);
    if (entity == nullptr) {
      Context where;
      where.module = &module;
      where.scope = call.outer.scope;
      elaborator_.report_unknown_name(where, name->name, span, true);
      return false;
    }
    const Param& param = signature.params[i];
    if (entity->kind == EntityKind::kIndex) {
      right = bind_type(call, param, ElementType::kIndex, span) && right;
      arguments.push_back({entity, span, {}});
      continue;
    }
    if (entity->kind != EntityKind::kVariable) return false;
    const Variable& variable = instance_.variables[entity->variable];
    if (variable.poisoned) return false;
    if (!variable.value.valid()) {
      if (!instance_.incomplete)
        instance_.report(DiagnosticId::kReadBeforeDefinition, span, name->name)
            .label(variable.span, "declared here");
      return false;
    }
    right = bind_type(call, param, variable.element, span) && right;
    arguments.push_back({entity, span, variable.shape});
  }
  if (!right) return false;
  for (const Generic& generic : signature.generics) {
    if (generic.kind == GenericKind::kDim || call.scope.find(generic.name.text) != nullptr) continue;
    instance_
        .report(DiagnosticId::kGenericUnknown, call.call.callee.span, generic.name.text, signature.name.text)
        .label(generic.span, "declared here");
    return false;
  }
  for (size_t i = 0; i < arguments.size(); ++i) {
    const Param& param = signature.params[i];
    if (!bind_dimensions(call, param, arguments[i].shape, arguments[i].span)) return false;
    if (call.scope.find(param.name.text) != nullptr) {
      instance_.report(DiagnosticId::kDeclaredTwice, param.name.span, param.name.text);
      return false;
    }
    Entity entity = *arguments[i].entity;
    entity.span = param.name.span;
    entity.what = "a parameter";
    if (entity.kind == EntityKind::kVariable) {
      Variable parameter;
      parameter.name = param.name.text;
      parameter.span = param.span;
      parameter.type_begin = param.type.span.begin;
      parameter.element = instance_.variables[entity.variable].element;
      parameter.shape = arguments[i].shape;
      parameter.role = ir::Tensor::Role::kInput;
      parameter.declared = true;
      parameter.value = instance_.variables[entity.variable].value;
      entity.variable = instance_.variables.add(std::move(parameter));
    }
    call.scope.add(param.name.text, entity);
  }
  if (call.has_leading) call.inner.leading = &call.leading;
  if (!check_dimensions_known(call)) return false;
  for (size_t i = 0; i < arguments.size(); ++i)
    right = check_dimensions(call, signature.params[i], arguments[i].shape, arguments[i].span) && right;
  return right;
}

bool Statements::bind_type(FunctionCall& call, const Param& param, ElementType element, Span argument) {
  const Signature& signature = call.function->signature;
  if (param.type.element.known) {
    if (*param.type.element.known == element) return true;
    Diagnostic& d = instance_.report(DiagnosticId::kArgumentType, argument, param.name.text,
                                     name(*param.type.element.known), name(element));
    d.label(param.span, "declared here");
    return false;
  }
  const auto generic = std::ranges::find(signature.generics, param.type.element.text,
                                         [](const Generic& each) { return each.name.text; });
  if (generic == signature.generics.end() || generic->kind == GenericKind::kDim)
    return elaborator_.element_type(param.type.element, call.scope).has_value();
  if (const Entity* known = call.scope.find(generic->name.text)) {
    if (known->type == element) return true;
    Diagnostic& d = instance_.report(DiagnosticId::kGenericConflict, argument, generic->name.text,
                                     signature.name.text, name(known->type), name(element));
    d.label(known->span, std::string(name(known->type)));
    d.label(argument, std::string(name(element)));
    return false;
  }
  if (!accepts(generic->kind, element)) {
    Diagnostic& d = instance_.report(DiagnosticId::kGenericKind, argument, generic->name.text,
                                     signature.name.text, describe(generic->kind), name(element));
    d.label(generic->span, "declared here");
    return false;
  }
  Entity entity;
  entity.kind = EntityKind::kType;
  entity.type = element;
  entity.span = argument;
  entity.what = "a generic";
  call.scope.add(generic->name.text, entity);
  return true;
}

bool Statements::bind_dimensions(FunctionCall& call, const Param& param, std::span<const ir::IndexId> shape,
                                 Span argument) {
  const Module& module = *call.function.module;
  const std::span<const ExprId> written = module.exprs(param.type.shape);
  const auto is_ellipsis = [&](ExprId id) { return module.get_if<Ellipsis>(id) != nullptr; };
  const auto ellipsis = std::ranges::find_if(written, is_ellipsis);
  const bool has_ellipsis = ellipsis != written.end();
  const size_t fixed = written.size() - (has_ellipsis ? 1 : 0);
  if (has_ellipsis && std::ranges::count_if(written, is_ellipsis) > 1) {
    instance_.report(DiagnosticId::kEllipsisMisplaced, param.type.span);
    return false;
  }
  if (has_ellipsis ? shape.size() < fixed : shape.size() != fixed) {
    Diagnostic& d = instance_.report(
        DiagnosticId::kArgumentRank, argument, param.name.text,
        fmt::format("{}{}", has_ellipsis ? "at least " : "", counted(fixed, "dimension")), shape.size());
    d.label(param.span, "declared here");
    return false;
  }
  const size_t leading = shape.size() - fixed;
  const size_t before = static_cast<size_t>(ellipsis - written.begin());
  if (has_ellipsis) {
    const auto begin = shape.begin() + static_cast<ptrdiff_t>(before);
    const std::vector<ir::IndexId> dimensions(begin, begin + static_cast<ptrdiff_t>(leading));
    if (!call.has_leading) {
      call.leading = dimensions;
      call.has_leading = true;
      call.leading_from = argument;
    } else if (call.leading.size() != dimensions.size()) {
      Diagnostic& d = instance_.report(DiagnosticId::kLeadingDimensions, argument, call.leading.size(),
                                       dimensions.size());
      d.label(call.leading_from, fmt::format("`...` stands for {} dimensions here", call.leading.size()));
      return false;
    }
  }
  for (size_t i = 0; i < written.size(); ++i) {
    const NameRef* name = module.get_if<NameRef>(written[i]);
    if (name == nullptr || call.scope.find(name->name) != nullptr) continue;
    Entity entity;
    entity.kind = EntityKind::kIndex;
    entity.index = shape[has_ellipsis && i > before ? i - 1 + leading : i];
    entity.span = module[written[i]].span;
    entity.what = "a dimension";
    call.scope.add(name->name, entity);
  }
  return true;
}

bool Statements::check_dimensions_known(const FunctionCall& call) {
  const Module& module = *call.function.module;
  const Signature& signature = call.function->signature;
  for (const std::vector<Param>* params : {&signature.params, &signature.results}) {
    for (const Param& param : *params) {
      for (ExprId root : module.exprs(param.type.shape)) {
        for (ExprId id : module.subtree(root)) {
          const NameRef* name = module.get_if<NameRef>(id);
          if (name == nullptr || call.scope.find(name->name) != nullptr) continue;
          Diagnostic& d = instance_.report(DiagnosticId::kGenericUnknown, call.call.callee.span, name->name,
                                           signature.name.text);
          d.label(module[id].span, "used here");
          d.note("a size is told by a parameter in whose shape it stands alone");
          return false;
        }
      }
    }
  }
  return true;
}

bool Statements::check_dimensions(FunctionCall& call, const Param& param, std::span<const ir::IndexId> shape,
                                  Span argument) {
  const std::optional<std::vector<ir::IndexId>> wanted = this->shape(call.inner, param.type);
  if (!wanted) return false;
  for (size_t i = 0; i < shape.size(); ++i)
    if (!require_equal((*wanted)[i], shape[i], argument, param)) return false;
  return true;
}

bool Statements::require_equal(ir::IndexId wanted, ir::IndexId actual, Span argument, const Param& param) {
  if (wanted == actual) return true;
  const prove::ConditionId goal = terms_.store().eq(terms_.term(wanted), terms_.term(actual));
  const prove::Verdict verdict = terms_.prove(goal);
  if (verdict.proved()) return true;
  if (verdict.launch_check.valid() && accesses_.add_clause(verdict.launch_check, argument, true)) return true;
  const std::string a = instance_.text(wanted);
  const std::string b = instance_.text(actual);
  Diagnostic& d = instance_.report(DiagnosticId::kShapeMismatch, argument, param.name.text, a, b);
  d.label(param.span, "declared here");
  if (!verdict.counterexample.empty()) d.note(fmt::format("they differ for {}", verdict.counterexample));
  return false;
}

bool Statements::bind_results(FunctionCall& call) {
  const Signature& signature = call.function->signature;
  bool right = true;
  for (size_t i = 0; i < signature.results.size(); ++i) {
    const Param& result = signature.results[i];
    const Name& target_name = call.definition.names[i];
    bool usable = true;
    const VariableId target = target_variable(call.outer, target_name, usable);
    call.targets.push_back(target);
    const std::optional<ElementType> element = elaborator_.element_type(result.type.element, call.scope);
    const std::optional<std::vector<ir::IndexId>> extents = shape(call.inner, result.type);
    if (!usable || !element || !extents) {
      right = false;
      continue;
    }
    Variable variable;
    variable.name = result.name.text;
    variable.tensor_name = call.outer.prefix + std::string(target_name.text);
    variable.span = result.span;
    variable.element = *element;
    variable.shape = *extents;
    variable.declared = true;
    if (target.valid()) {
      const Variable& declared = instance_.variables[target];
      if (declared.element != *element) {
        Diagnostic& d = instance_.report(DiagnosticId::kElementMismatch, target_name.span, declared.name,
                                         name(declared.element), name(*element));
        d.label(declared.span, "declared here");
        right = false;
        continue;
      }
      if (declared.shape.size() != extents->size()) {
        Diagnostic& d = instance_.report(DiagnosticId::kArgumentRank, target_name.span, declared.name,
                                         counted(declared.shape.size(), "dimension"), extents->size());
        d.label(declared.span, "declared here");
        right = false;
        continue;
      }
      for (size_t k = 0; k < extents->size() && right; ++k)
        right = require_equal(declared.shape[k], (*extents)[k], target_name.span, result);
      variable.shape = declared.shape;
      variable.target = declared.target;
    }
    Entity entity;
    entity.kind = EntityKind::kVariable;
    entity.variable = instance_.variables.add(std::move(variable));
    entity.span = result.name.span;
    entity.what = "a result";
    call.scope.add(result.name.text, entity);
    call.results.push_back(entity.variable);
  }
  return right;
}

bool Statements::check_clauses(FunctionCall& call) {
  const Body& body = std::get<Body>(call.function->form);
  for (ExprId clause_id : call.function.module->exprs(body.where)) {
    const NodeId condition = clause(call.inner, clause_id);
    if (instance_.nodes[condition].is_error()) return false;
    const prove::Verdict verdict = terms_.prove(terms_.condition(condition));
    if (verdict.proved()) continue;
    if (verdict.launch_check.valid() && accesses_.add_clause(verdict.launch_check, call.span, true)) continue;
    Diagnostic& d =
        instance_.report(DiagnosticId::kFunctionClause, call.span, call.function->signature.name.text);
    d.label((*call.function.module)[clause_id].span, "asked for here");
    if (!verdict.counterexample.empty())
      d.note(fmt::format("it does not hold for {}", verdict.counterexample));
    return false;
  }
  return true;
}

void Statements::take_results(FunctionCall& call) {
  for (size_t i = 0; i < call.definition.names.size(); ++i) {
    const Name& name = call.definition.names[i];
    const bool defined = i < call.results.size() && call.results.size() == call.definition.names.size() &&
                         instance_.variables[call.results[i]].defined;
    if (!defined) {
      poison(call.outer, name);
      continue;
    }
    const Variable inner = instance_.variables[call.results[i]];
    if (call.targets[i].valid()) {
      Variable& target = instance_.variables[call.targets[i]];
      target.value = target.target = inner.value;
      target.defined = true;
      target.definition = name.span;
      continue;
    }
    Variable local = inner;
    local.name = name.text;
    local.span = name.span;
    local.definition = name.span;
    local.declared = false;
    Entity entity;
    entity.kind = EntityKind::kVariable;
    entity.variable = instance_.variables.add(std::move(local));
    entity.span = name.span;
    entity.what = "a local";
    call.outer.scope->add(name.text, entity);
  }
}

}  // namespace tenon::frontend
