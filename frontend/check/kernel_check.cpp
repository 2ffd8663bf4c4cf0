#include "frontend/check/kernel_check.h"

#include <algorithm>

#include "frontend/check/clauses.h"
#include "frontend/check/generics.h"
#include "frontend/check/statements.h"

namespace tenon::frontend {
namespace {

class KernelCheck {
 public:
  KernelCheck(const Module& module, const Kernel& kernel, Instance& instance, const CheckOptions& options,
              UsedSettings& used)
      : module_(module),
        source_(kernel),
        instance_(instance),
        options_(options),
        used_(used),
        statements_(instance) {
    context_.module = &module;
    context_.scope = &scope_;
  }

  void run();

 private:
  void permissions();
  void generics();
  void index_scalars();
  void dimensions(const Type& type);
  void dimension(std::string_view name, Span span);
  void parameter(const Param& param, bool is_result);
  bool new_name(const Name& name);
  void assume_size(ir::IndexId extent);
  void clauses();
  ir::SymbolId add_symbol(std::string_view name, ir::Symbol::Kind kind, Span span);
  void add_index(std::string_view name, ir::SymbolId symbol, Span span, std::string_view what);

  const Module& module_;
  const Kernel& source_;
  Instance& instance_;
  const CheckOptions& options_;
  UsedSettings& used_;
  Statements statements_;
  Scope scope_{nullptr};
  StatementContext context_;
  // Types whose shape has a mistake that is reported.
  std::set<const Type*> wrong_types_;
};

void KernelCheck::run() {
  instance_.kernel.name = source_.signature.name.text;
  instance_.kernel.span = source_.signature.name.span;
  instance_.incomplete = !source_.complete;
  permissions();
  generics();
  index_scalars();
  for (const Param& param : source_.signature.params) dimensions(param.type);
  for (const Param& result : source_.signature.results) dimensions(result.type);
  for (const Param& param : source_.signature.params) parameter(param, false);
  for (const Param& result : source_.signature.results) parameter(result, true);
  clauses();
  statements_.run(context_, source_.body.statements);
  statements_.check_results(source_.signature.results, scope_);
  for (const Param& param : source_.signature.params) {
    const Entity* entity = param.is_inout ? scope_.find(param.name.text) : nullptr;
    if (entity == nullptr || entity->kind != EntityKind::kVariable || instance_.failed ||
        instance_.incomplete)
      continue;
    const Variable& variable = instance_.variables[entity->variable];
    if (!variable.defined && !variable.poisoned)
      instance_.report(DiagnosticId::kInoutUndefined, param.name.span, param.name.text);
  }
}

void KernelCheck::permissions() {
  static constexpr std::pair<std::string_view, ir::Permission> kPermissions[] = {
#define TENON_PERMISSION(id, name) {name, ir::id},
#include "ir/permissions.def"
  };
  for (const Annotation& annotation : source_.annotations) {
    if (annotation.name.text != "allow") {
      Diagnostic& d =
          instance_.report(DiagnosticId::kUnknownAnnotation, annotation.name.span, annotation.name.text);
      d.note("the only annotation is `@allow(...)`");
      continue;
    }
    for (const Name& argument : annotation.arguments) {
      const auto* known =
          std::ranges::find(kPermissions, argument.text, [](const auto& each) { return each.first; });
      if (known != std::end(kPermissions)) {
        instance_.kernel.permissions |= known->second;
        continue;
      }
      Diagnostic& d = instance_.report(DiagnosticId::kUnknownPermission, argument.span, argument.text);
      std::vector<std::string_view> names;
      for (const auto& [permission_name, permission] : kPermissions) names.push_back(permission_name);
      const std::string_view similar = did_you_mean(argument.text, names);
      if (!similar.empty())
        d.fix(argument.span, std::string(similar), fmt::format("did you mean `{}`?", similar));
      d.note(fmt::format("there are {}", fmt::join(names, ", ")));
    }
  }
}

ir::SymbolId KernelCheck::add_symbol(std::string_view name, ir::Symbol::Kind kind, Span span) {
  ir::Symbol symbol;
  symbol.name = name;
  symbol.kind = kind;
  symbol.span = span;
  if (const auto setting = options_.sizes.find(name); setting != options_.sizes.end()) {
    used_.insert(std::string(name));
    symbol.fixed = setting->second;
    if (kind == ir::Symbol::Kind::kDimension && setting->second < 0)
      instance_.report(DiagnosticId::kNegativeSize, span, name, setting->second);
  }
  return instance_.kernel.symbols.add(std::move(symbol));
}

void KernelCheck::add_index(std::string_view name, ir::SymbolId symbol, Span span, std::string_view what) {
  const std::optional<int64_t> fixed = instance_.kernel.symbols[symbol].fixed;
  Entity entity;
  entity.kind = EntityKind::kIndex;
  entity.index = fixed ? instance_.kernel.index.constant(*fixed) : instance_.kernel.index.symbol(symbol);
  entity.span = span;
  entity.what = what;
  scope_.add(name, entity);
}

bool KernelCheck::new_name(const Name& name) {
  const Entity* known = scope_.find(name.text);
  if (known == nullptr) return true;
  Diagnostic& d = instance_.report(DiagnosticId::kDeclaredTwice, name.span, name.text);
  if (known->span.valid()) d.label(known->span, "introduced here first");
  if (known->kind == EntityKind::kVariable)
    d.note("a parameter that is read and written is `inout`, and no result");
  return false;
}

void KernelCheck::generics() {
  for (const Generic& generic : source_.signature.generics) {
    if (!new_name(generic.name)) continue;
    const std::string_view text = generic.name.text;
    if (generic.kind == GenericKind::kDim) {
      add_index(text, add_symbol(text, ir::Symbol::Kind::kDimension, generic.span), generic.span,
                "a dimension");
      continue;
    }
    const ElementType type = options_.types.find(text)->second;
    used_.insert(std::string(text));
    if (!accepts(generic.kind, type))
      instance_.report(DiagnosticId::kGenericKind, generic.span, text, source_.signature.name.text,
                       describe(generic.kind), name(type));
    Entity entity;
    entity.kind = EntityKind::kType;
    entity.type = type;
    entity.span = generic.span;
    entity.what = "a generic";
    scope_.add(text, entity);
  }
}

void KernelCheck::index_scalars() {
  for (const Param& param : source_.signature.params) {
    const bool is_index = param.type.element.known == ElementType::kIndex;
    if (!is_index || !param.type.scalar() || param.is_inout) continue;
    if (!new_name(param.name)) continue;
    add_index(param.name.text, add_symbol(param.name.text, ir::Symbol::Kind::kScalar, param.span), param.span,
              "a parameter");
  }
}

void KernelCheck::dimensions(const Type& type) {
  const auto is_parameter = [&](std::string_view name) {
    const auto named = [&](const Param& param) { return param.name.text == name; };
    return std::ranges::any_of(source_.signature.params, named) ||
           std::ranges::any_of(source_.signature.results, named);
  };
  for (ExprId root : module_.exprs(type.shape)) {
    for (ExprId id : module_.subtree(root)) {
      const NameRef* name = module_.get_if<NameRef>(id);
      if (name == nullptr || scope_.find(name->name) != nullptr) continue;
      const Span span = module_[id].span;
      if (!is_parameter(name->name)) {
        add_index(name->name, add_symbol(name->name, ir::Symbol::Kind::kDimension, span), span,
                  "a dimension");
        continue;
      }
      Diagnostic& d = instance_.report(DiagnosticId::kNotASize, span, name->name);
      d.note("sizes are made of dimensions and parameters of type index");
      wrong_types_.insert(&type);
    }
  }
}

void KernelCheck::assume_size(ir::IndexId extent) {
  const ir::IndexKind kind = instance_.kernel.index[extent].kind;
  if (kind == ir::IndexKind::kSymbol || instance_.kernel.index.as_constant(extent)) return;
  // A launch with a negative dimension is refused. That says nothing about what the dimension divides by.
  Terms& terms = statements_.terms();
  terms.assume(terms.store().ge(terms.term(extent), terms.store().constant(0)), prove::FactKind::kGuard);
}

void KernelCheck::parameter(const Param& param, bool is_result) {
  const Entity* known = scope_.find(param.name.text);
  const bool is_symbol = known != nullptr && known->kind == EntityKind::kIndex && known->span == param.span;
  if (!is_symbol && known != nullptr && known->kind != EntityKind::kPoison) {
    new_name(param.name);
    // Which of the two is meant where the name is used is not known.
    Entity entity;
    entity.span = param.span;
    scope_.set(param.name.text, entity);
    return;
  }
  if (param.is_strided) instance_.report(DiagnosticId::kNotBuiltStrided, param.strided_span, param.name.text);
  if (param.is_inout && is_result) {
    instance_.report(DiagnosticId::kInoutResult, param.inout_span, param.name.text);
    return;
  }
  const std::optional<ElementType> element =
      statements_.elaborator().element_type(param.type.element, scope_);
  std::optional<std::vector<ir::IndexId>> shape;
  if (!wrong_types_.contains(&param.type)) shape = statements_.shape(context_, param.type);
  if (!element || !shape) {
    Entity entity;
    entity.span = param.span;
    scope_.set(param.name.text, entity);
    return;
  }
  for (ir::IndexId extent : *shape) assume_size(extent);
  ir::Parameter parameter;
  parameter.name = param.name.text;
  parameter.span = param.span;
  if (!is_result)
    parameter.input =
        instance_.add_tensor(param.name.text, *element, *shape, ir::Tensor::Role::kInput, param.span);
  if (is_result || param.is_inout) {
    const std::string label =
        param.is_inout ? fmt::format("{}.out", param.name.text) : std::string(param.name.text);
    parameter.output = instance_.add_tensor(label, *element, *shape, ir::Tensor::Role::kResult, param.span);
  }
  if (is_symbol) {
    for (uint32_t i = 0; i < instance_.kernel.symbols.size(); ++i)
      if (instance_.kernel.symbols[ir::SymbolId(i)].name == param.name.text)
        parameter.symbol = ir::SymbolId(i);
  } else {
    Variable variable;
    variable.name = variable.tensor_name = param.name.text;
    variable.span = param.span;
    variable.type_begin = param.type.span.begin;
    variable.element = *element;
    variable.shape = *shape;
    variable.role = is_result ? ir::Tensor::Role::kResult : ir::Tensor::Role::kInput;
    variable.inout = param.is_inout;
    variable.declared = true;
    variable.value = parameter.input;
    variable.target = parameter.output;
    Entity entity;
    entity.kind = EntityKind::kVariable;
    entity.variable = instance_.variables.add(std::move(variable));
    entity.span = param.span;
    entity.what = is_result ? "a result" : "a parameter";
    scope_.set(param.name.text, entity);
  }
  instance_.kernel.parameters.push_back(std::move(parameter));
}

void KernelCheck::clauses() {
  for (ExprId id : module_.exprs(source_.body.where)) {
    const NodeId condition = statements_.clause(context_, id);
    if (instance_.nodes[condition].is_error()) continue;
    const Span span = module_[id].span;
    const std::optional<ir::IndexId> index = clause_condition(instance_, condition);
    if (!index) {
      Diagnostic& d = instance_.report(DiagnosticId::kClauseNotUniform, span);
      d.note("a clause compares sizes: dimensions and parameters of type index");
      continue;
    }
    if (instance_.kernel.index.is_constant(*index, 0)) {
      instance_.report(DiagnosticId::kClauseNeverHolds, span, instance_.sources.text(span));
      continue;
    }
    ir::WhereClause clause;
    clause.condition = *index;
    clause.text = instance_.sources.text(span);
    clause.span = span;
    instance_.kernel.where.push_back(std::move(clause));
    statements_.terms().assume(statements_.terms().condition(condition));
  }
}

}  // namespace

std::optional<ir::Kernel> check_kernel(const Module& module, const Kernel& kernel,
                                       const SourceManager& sources, const FunctionTable& functions,
                                       const CheckOptions& options, UsedSettings& used, Reported& reported,
                                       Diagnostics& diagnostics) {
  Instance instance(sources, diagnostics, functions, reported);
  KernelCheck(module, kernel, instance, options, used).run();
  if (instance.failed || instance.incomplete) return std::nullopt;
  return std::move(instance.kernel);
}

}  // namespace tenon::frontend
