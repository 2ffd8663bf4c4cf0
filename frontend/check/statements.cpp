#include "frontend/check/statements.h"

#include <algorithm>
#include <span>

namespace tenon::frontend {

// The left side of `name[i, j] = e` in the making.
struct Statements::Target {
  VariableId variable;
  // The indices, `...` expanded; names are empty for those that `...` stands for.
  std::vector<Name> names;
  std::vector<ir::AxisId> axes;
  // The axes of `...` as nodes.
  std::vector<NodeId> ellipsis;
  // The range of an index is not known.
  bool wrong = false;
  Scope scope{nullptr};
};

void Statements::run(const StatementContext& context, const std::vector<StatementId>& statements) {
  for (StatementId id : statements) {
    if (instance_.gave_up) return;
    const Statement& statement = (*context.module)[id];
    if (const auto* local = std::get_if<LocalDeclaration>(&statement.payload)) {
      declare(context, *local);
    } else if (const auto* definition = std::get_if<Definition>(&statement.payload)) {
      const FunctionRef* function = shaped_callee(context, *definition);
      if (function != nullptr) {
        call_function(context, *definition, *function, statement.span);
      } else {
        define_scalar(context, *definition, statement.span);
      }
    } else {
      define_tensor(context, std::get<IndexedDefinition>(statement.payload), statement.span);
    }
  }
}

ir::IndexId Statements::size(const StatementContext& context, ExprId expr) {
  Context where;
  where.module = context.module;
  where.scope = context.scope;
  const NodeId value = typing_.as_index(elaborator_.elaborate(where, expr), "a dimension");
  const Node& node = instance_.nodes[value];
  if (node.is_error()) return {};
  if (node.kind == NodeKind::kIndex) return node.index;
  instance_.report(DiagnosticId::kSizeNotUniform, (*context.module)[expr].span);
  return {};
}

std::optional<std::vector<ir::IndexId>> Statements::shape(const StatementContext& context, const Type& type) {
  std::vector<ir::IndexId> shape;
  bool right = true;
  bool expanded = false;
  for (ExprId dimension : context.module->exprs(type.shape)) {
    if (context.module->get_if<Ellipsis>(dimension) != nullptr) {
      if (context.leading == nullptr || expanded) {
        instance_.report(DiagnosticId::kEllipsisMisplaced, (*context.module)[dimension].span);
        return std::nullopt;
      }
      expanded = true;
      shape.insert(shape.end(), context.leading->begin(), context.leading->end());
      continue;
    }
    const ir::IndexId extent = size(context, dimension);
    right = right && extent.valid();
    shape.push_back(extent);
  }
  if (!right) return std::nullopt;
  return shape;
}

NodeId Statements::clause(const StatementContext& context, ExprId expr) {
  Context where;
  where.module = context.module;
  where.scope = context.scope;
  return typing_.as_bool(elaborator_.elaborate(where, expr), "a clause of `where`");
}

void Statements::check_results(const std::vector<Param>& results, const Scope& scope) {
  if (instance_.incomplete || instance_.gave_up) return;
  for (const Param& result : results) {
    const Entity* entity = scope.find(result.name.text);
    if (entity == nullptr || entity->kind != EntityKind::kVariable) continue;
    const Variable& variable = instance_.variables[entity->variable];
    if (variable.defined || variable.poisoned) continue;
    Diagnostic& d = instance_.report(DiagnosticId::kResultUndefined, result.name.span, result.name.text);
    d.note(variable.shape.empty() ? fmt::format("write `{} = ...`", result.name.text)
                                  : "each result is defined by one statement over its indices");
  }
}

void Statements::declare(const StatementContext& context, const LocalDeclaration& declaration) {
  const Name& name = declaration.name;
  if (const Entity* known = context.scope->find(name.text)) {
    Diagnostic& d = instance_.report(DiagnosticId::kDeclaredTwice, name.span, name.text);
    if (known->span.valid()) d.label(known->span, "introduced here first");
    return;
  }
  const std::optional<ElementType> element =
      elaborator_.element_type(declaration.type.element, *context.scope);
  const std::optional<std::vector<ir::IndexId>> extents = shape(context, declaration.type);
  if (!element || !extents) return poison(context, name);
  Variable variable;
  variable.name = name.text;
  variable.tensor_name = context.prefix + variable.name;
  variable.span = cover(name.span, declaration.type.span);
  variable.element = *element;
  variable.shape = *extents;
  variable.declared = true;
  Entity entity;
  entity.kind = EntityKind::kVariable;
  entity.variable = instance_.variables.add(std::move(variable));
  entity.span = name.span;
  entity.what = "a local";
  context.scope->add(name.text, entity);
}

void Statements::poison(const StatementContext& context, const Name& name) {
  // Also where the mistake was reported elsewhere, as one of syntax in a function.
  instance_.failed = true;
  const Entity* known = context.scope->find(name.text);
  if (known != nullptr && known->kind == EntityKind::kVariable) {
    Variable& variable = instance_.variables[known->variable];
    // A parameter or what is defined elsewhere keeps its meaning.
    if (!variable.defined) variable.poisoned = true;
    return;
  }
  if (known != nullptr) return;
  Entity entity;
  entity.span = name.span;
  entity.what = "a local";
  context.scope->add(name.text, entity);
}

bool Statements::definable(const Name& name, const Variable& variable, Span span) {
  if (variable.role == ir::Tensor::Role::kInput && !variable.inout) {
    Diagnostic& d = instance_.report(DiagnosticId::kParameterDefined, name.span, name.text);
    d.label(variable.span, "a parameter");
    Span type = variable.span;
    type.begin = type.end = variable.type_begin;
    d.fix(type, "inout ", "make it a parameter that is read and written");
    return false;
  }
  if (!variable.defined) return true;
  Diagnostic& d = instance_.report(DiagnosticId::kDefinedTwice, name.span, name.text);
  if (variable.definition.valid()) d.label(variable.definition, "defined here first");
  d.note("a name has one value; give the second definition another name");
  return false;
}

VariableId Statements::target_variable(const StatementContext& context, const Name& name, bool& usable) {
  const Entity* entity = context.scope->find(name.text);
  usable = true;
  if (entity == nullptr) return {};
  if (entity->kind == EntityKind::kPoison) {
    usable = false;
    return {};
  }
  if (entity->kind == EntityKind::kVariable) {
    usable = definable(name, instance_.variables[entity->variable], name.span);
    return entity->variable;
  }
  Diagnostic& d = instance_.report(DiagnosticId::kNotDefinable, name.span, name.text, entity->what);
  if (entity->span.valid()) d.label(entity->span, "introduced here");
  usable = false;
  return {};
}

bool Statements::alias_index(const StatementContext& context, const Name& name, VariableId variable,
                             NodeId value) {
  const Node& node = instance_.nodes[value];
  if (node.kind != NodeKind::kIndex) return false;
  const bool result = variable.valid() && instance_.variables[variable].target.valid();
  const bool other_type = variable.valid() && instance_.variables[variable].element != ElementType::kIndex;
  if (result || other_type) return false;
  Entity entity;
  entity.kind = EntityKind::kIndex;
  entity.index = node.index;
  entity.span = name.span;
  entity.what = "a local";
  context.scope->set(name.text, entity);
  return true;
}

void Statements::define_scalar(const StatementContext& context, const Definition& definition, Span span) {
  const Name& name = definition.names[0];
  if (definition.names.size() > 1) {
    instance_.report(DiagnosticId::kSeveralNames, span, definition.names.size());
    for (const Name& each : definition.names) poison(context, each);
    return;
  }
  bool usable = true;
  const VariableId variable = target_variable(context, name, usable);
  Context where;
  where.module = context.module;
  where.scope = context.scope;
  where.target = variable;
  const Call* call = context.module->get_if<Call>(definition.value);
  if (call != nullptr && !elaborator_.is_function(where, call->callee.text)) {
    elaborator_.elaborate(where, definition.value);
    return poison(context, name);
  }
  if (usable && variable.valid() && !instance_.variables[variable].shape.empty()) {
    const Variable& tensor = instance_.variables[variable];
    Diagnostic& d = instance_.report(DiagnosticId::kTensorDefinedAsScalar, name.span, name.text,
                                     instance_.shape_text(tensor.shape));
    d.label(tensor.span, "declared here");
    d.note("define its elements over indices, as in `y[i, j] = ...`");
    return poison(context, name);
  }
  NodeId value = elaborator_.elaborate(where, definition.value);
  if (!usable) return poison(context, name);
  if (!variable.valid()) value = typing_.typed(value);
  if (instance_.nodes[value].is_error()) return poison(context, name);
  if (variable.valid() && instance_.variables[variable].element == ElementType::kIndex)
    value = typing_.meet(value, ElementType::kIndex);
  if (alias_index(context, name, variable, value)) return;
  finish_definition(context, name, variable, {}, value, span);
}

void Statements::define_tensor(const StatementContext& context, const IndexedDefinition& definition,
                               Span span) {
  Target target;
  target.scope = Scope(context.scope);
  bool usable = true;
  target.variable = target_variable(context, definition.target, usable);
  const bool scatters = definition.op != AssignOp::kSet || definition.drop;
  if (scatters) {
    instance_.report(definition.drop ? DiagnosticId::kNotBuiltScatter : DiagnosticId::kNotBuiltAccumulation,
                     definition.target_span, definition.target.text);
    return poison(context, definition.target);
  }
  if (!usable || !bind_subscripts(context, definition, target)) return poison(context, definition.target);
  bind_ranges(context, definition, target);
  Context where;
  where.module = context.module;
  where.scope = &target.scope;
  where.target = target.variable;
  where.ellipsis = context.leading == nullptr ? nullptr : &target.ellipsis;
  const NodeId value = elaborator_.elaborate(where, definition.value);
  if (target.wrong || instance_.nodes[value].is_error()) return poison(context, definition.target);
  finish_definition(context, definition.target, target.variable, target.axes, value, span);
}

bool Statements::bind_subscripts(const StatementContext& context, const IndexedDefinition& definition,
                                 Target& target) {
  const Module& module = *context.module;
  bool expanded = false;
  for (ExprId id : module.exprs(definition.subscripts)) {
    const Span span = module[id].span;
    if (module.get_if<ErrorExpr>(id) != nullptr) return false;
    if (module.get_if<Ellipsis>(id) != nullptr) {
      if (context.leading == nullptr || expanded) {
        instance_.report(DiagnosticId::kEllipsisMisplaced, span);
        return false;
      }
      expanded = true;
      target.names.resize(target.names.size() + context.leading->size());
      continue;
    }
    const NameRef* name = module.get_if<NameRef>(id);
    if (name == nullptr) {
      instance_.report(DiagnosticId::kNotBuiltScatter, definition.target_span, definition.target.text);
      return false;
    }
    const Name index{name->name, span};
    if (!elaborator_.check_new_index(*context.scope, index)) return false;
    for (const Name& other : target.names) {
      if (other.text != index.text) continue;
      Diagnostic& d = instance_.report(DiagnosticId::kRepeatedIndex, span, index.text);
      d.label(other.span, "here first");
      d.note(
          "definitions of a diagonal alone are not built yet; give each dimension its own index and choose "
          "with `?:`");
      return false;
    }
    target.names.push_back(index);
  }
  if (!target.variable.valid()) return true;
  const Variable& variable = instance_.variables[target.variable];
  if (variable.shape.size() == target.names.size()) return true;
  Diagnostic& d = instance_.report(DiagnosticId::kSubscriptCount, definition.target_span, variable.name,
                                   counted(variable.shape.size(), "dimension"),
                                   counted(target.names.size(), "subscript"));
  d.label(variable.span, fmt::format("`{}` is {}", variable.name, instance_.shape_text(variable.shape)));
  return false;
}

void Statements::bind_ranges(const StatementContext& context, const IndexedDefinition& definition,
                             Target& target) {
  const bool declared = target.variable.valid();
  std::optional<RangeScan> scan;
  if (!declared) scan.emplace(instance_, *context.module, *context.scope, definition.value);
  const ExprId root = definition.value;
  size_t leading = 0;
  for (size_t i = 0; i < target.names.size(); ++i) {
    const Name& name = target.names[i];
    const bool implicit = name.text.empty();
    std::optional<ir::IndexId> extent;
    if (declared) {
      extent = instance_.variables[target.variable].shape[i];
    } else if (implicit) {
      extent = (*context.leading)[leading];
    } else {
      extent = common_range(instance_, terms_, name, &*scan, (*context.module)[root].first, root);
    }
    Entity entity;
    entity.span = name.span;
    entity.what = "an index";
    if (!extent) {
      // The value may hold further mistakes.
      target.wrong = true;
      target.scope.add(name.text, entity);
      continue;
    }
    const std::string label = implicit ? fmt::format("i{}", leading) : std::string(name.text);
    const ir::AxisId axis = instance_.add_axis(label, *extent);
    target.axes.push_back(axis);
    if (implicit) {
      ++leading;
      target.ellipsis.push_back(
          instance_.nodes.index(instance_.kernel.index.axis(axis), definition.target_span));
      continue;
    }
    entity.kind = EntityKind::kIndex;
    entity.index = instance_.kernel.index.axis(axis);
    target.scope.add(name.text, entity);
  }
}

void Statements::finish_definition(const StatementContext& context, const Name& name, VariableId variable_id,
                                   std::span<const ir::AxisId> axes, NodeId value, Span span) {
  if (variable_id.valid()) {
    const Variable& variable = instance_.variables[variable_id];
    value = typing_.as_element(value, variable.element, variable.name, variable.span);
  } else {
    value = typing_.typed(value);
  }
  if (instance_.nodes[value].is_error()) return poison(context, name);
  const ElementType element = *instance_.nodes[value].type;
  if (!variable_id.valid()) {
    Variable local;
    local.name = name.text;
    local.tensor_name = context.prefix + local.name;
    local.span = name.span;
    local.element = element;
    for (ir::AxisId axis : axes) local.shape.push_back(instance_.kernel.axes[axis].extent);
    Entity entity;
    entity.kind = EntityKind::kVariable;
    entity.variable = variable_id = instance_.variables.add(std::move(local));
    entity.span = name.span;
    entity.what = "a local";
    context.scope->add(name.text, entity);
  }
  Variable& variable = instance_.variables[variable_id];
  if (!variable.target.valid())
    variable.target = instance_.add_tensor(variable.tensor_name, variable.element, variable.shape,
                                           ir::Tensor::Role::kLocal, variable.span);
  variable.value = variable.target;
  variable.defined = true;
  variable.definition = name.span;
  if (element == ElementType::kIndex || element == ElementType::kBool)
    instance_.definitions[variable.target] = {value, axes};
  if (!instance_.failed) lowering_.define(variable.target, axes, value, span);
}

}  // namespace tenon::frontend
