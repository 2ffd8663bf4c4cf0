// Calls in expressions: functions of the language, casts by a generic's name, and scalar functions of the
// program, which are inlined.
#include <algorithm>

#include "frontend/check/elaborate.h"
#include "frontend/check/generics.h"
#include "support/check.h"

namespace tenon::frontend {
namespace {

// The number of arguments; empty for what is no function of the language.
std::optional<size_t> builtin_arity(std::string_view name) {
  if (name == "max" || name == "min") return 2;
  if (name == "wide") return 1;
  if (const std::optional<tenon::FunctionId> function = function_by_name(name))
    return tenon::row(*function).arity;
  return std::nullopt;
}

std::vector<std::string_view> callable_names(const Instance& instance) {
  std::vector<std::string_view> names = instance.functions.names();
#define TENON_FUNCTION(id, name, ...) names.push_back(name);
#include "support/functions.def"
  names.insert(names.end(), {"max", "min", "wide", "sum", "prod", "argmax", "argmin", "any", "all"});
  return names;
}

void report_unknown_function(Instance& instance, const Name& callee) {
  static constexpr std::pair<std::string_view, std::string_view> kForeign[] = {
      {"fabs", "abs"}, {"expf", "exp"},     {"sqrtf", "sqrt"},  {"fmax", "max"},
      {"fmin", "min"}, {"maximum", "max"},  {"minimum", "min"}, {"power", "pow"},
      {"ln", "log"},   {"product", "prod"}, {"total", "sum"}};
  if (instance.functions.is_kernel(callee.text)) {
    instance.report(DiagnosticId::kNotAFunction, callee.span, callee.text, "a kernel")
        .note("what kernels share is written as a function, `fn`");
    return;
  }
  Diagnostic& d = instance.report(DiagnosticId::kUnknownFunction, callee.span, callee.text);
  std::string_view similar = instance.suggests() ? did_you_mean(callee.text, callable_names(instance)) : "";
  for (auto [foreign, ours] : kForeign)
    if (callee.text == foreign) similar = ours;
  static constexpr std::string_view kLibrary[] = {"relu",      "gelu",     "gelu_tanh", "silu",
                                                  "sigmoid",   "softplus", "softmax",   "log_softmax",
                                                  "layernorm", "rmsnorm"};
  if (std::ranges::find(kLibrary, callee.text) != std::end(kLibrary)) {
    d.note("it is part of the library: write `use std.nn` at the top of the file");
  } else if (!similar.empty()) {
    d.fix(callee.span, std::string(similar), fmt::format("did you mean `{}`?", similar));
  }
}

bool is_product(const Node& node) {
  return node.kind == NodeKind::kOp && node.op == ir::Opcode::kMul && node.type && is_float(*node.type);
}

}  // namespace

bool Elaborator::is_function(const Context& context, std::string_view name) const {
  const Entity* entity = context.scope->find(name);
  const bool is_cast = entity != nullptr && entity->kind == EntityKind::kType;
  return is_cast || builtin_arity(name) || instance_.functions.find(name) != nullptr;
}

void Elaborator::step(const Call& call) {
  const Context context = frame().context;
  const std::span<const ExprId> arguments = module().exprs(call.arguments);
  const Span span = module()[frame().id].span;
  const Entity* entity = context.scope->find(call.callee.text);
  const bool is_cast = entity != nullptr && entity->kind == EntityKind::kType;
  const FunctionRef* function = instance_.functions.find(call.callee.text);
  if (frame().call != nullptr) return step_function_call(call, *function);
  const uint32_t stage = frame().stage++;
  if (stage == 0) {
    const std::optional<size_t> builtin = builtin_arity(call.callee.text);
    if (entity != nullptr && entity->kind == EntityKind::kPoison) return finish(nodes_.error());
    if (entity != nullptr && !is_cast && function == nullptr && !builtin) {
      Diagnostic& d =
          instance_.report(DiagnosticId::kNotAFunction, call.callee.span, call.callee.text, entity->what);
      if (entity->kind == EntityKind::kVariable) d.note("elements are read with square brackets");
      return finish(nodes_.error());
    }
    if (!is_cast && function == nullptr && !builtin) {
      if (!instance_.incomplete) report_unknown_function(instance_, call.callee);
      return finish(nodes_.error());
    }
    if (!is_cast && !builtin && !is_shapeless(*function->module, **function)) {
      Diagnostic& d = instance_.report(DiagnosticId::kShapedFunctionInExpression, span, call.callee.text);
      d.label((*function)->signature.name.span, "it takes or gives whole tensors");
      d.note(fmt::format("a call on tensors stands alone, on names: `p = {}(s)`", call.callee.text));
      return finish(nodes_.error());
    }
    const size_t arity = is_cast ? 1 : builtin ? *builtin : (*function)->signature.params.size();
    if (arity != arguments.size()) {
      Diagnostic& d = instance_.report(DiagnosticId::kArgumentCount, span, call.callee.text,
                                       counted(arity, "argument"), arguments.size());
      if (!is_cast && !builtin) d.label((*function)->signature.name.span, "defined here");
      return finish(nodes_.error());
    }
  }
  if (stage < arguments.size()) return push(context, arguments[stage]);
  if (is_cast) return finish(widened_in(context, typing_.cast(entity->type, values()[0], span)));
  if (function == nullptr) return finish(call_builtin(context, call, values(), span));
  step_function_call(call, *function);
}

NodeId Elaborator::call_builtin(const Context& context, const Call& call, std::span<const NodeId> arguments,
                                Span span) {
  const std::vector<NodeId> operands(arguments.begin(), arguments.end());
  if (call.callee.text == "max" || call.callee.text == "min")
    return typing_.min_max(call.callee.text == "max", operands[0], operands[1], span);
  if (call.callee.text == "wide") return typing_.widen(operands[0], span);
  return typing_.call(*function_by_name(call.callee.text), operands, span);
}

void Elaborator::step_function_call(const Call& call, const FunctionRef& function) {
  if (frame().call == nullptr) {
    if (!begin_function(call, function)) return finish(nodes_.error());
    CallState& state = *frame().call;
    const auto known = finished_calls_.find({&*function, state.arguments});
    if (known != finished_calls_.end()) {
      const NodeId value = known->second;
      return finish(widened_in(frame().context, value));
    }
    if (const auto* scalar = std::get_if<ScalarForm>(&function->form)) return push(state.body, scalar->value);
  }
  CallState& state = *frame().call;
  if (const auto* scalar = std::get_if<ScalarForm>(&function->form))
    return finish_function(state, values_.back(), scalar->result, scalar->result.span);
  step_function_body(state);
}

bool Elaborator::begin_function(const Call& call, const FunctionRef& function) {
  const Context context = frame().context;
  const Span span = module()[frame().id].span;
  const std::string_view name = function->signature.name.text;
  if (!function->complete) return false;
  for (const ActiveCall* active = context.call; active != nullptr; active = active->outer) {
    if (&*active->function != &*function) continue;
    instance_.report(DiagnosticId::kRecursion, span, name)
        .label(function->signature.name.span, "defined here");
    return false;
  }
  const size_t depth = context.call == nullptr ? 1 : context.call->depth + 1;
  if (depth > kMaxInlineDepth) {
    instance_.report(DiagnosticId::kInlineTooDeep, span, kMaxInlineDepth);
    gave_up_ = true;
    return false;
  }
  active_calls_.push_back({function, context.call, depth, called_from(context, span)});
  CallState& state = calls_.emplace_back();
  state.function = function;
  state.scope = &scopes_.emplace_back(nullptr);
  state.arguments.assign(values().begin(), values().end());
  state.body.module = function.module;
  state.body.scope = state.scope;
  state.body.guard = context.guard;
  state.body.call = &active_calls_.back();
  state.body.reductions = context.reductions;
  frame().call = &state;
  return bind_generics(state, call) && bind_parameters(state, call);
}

Span Elaborator::called_from(const Context& context, Span call) const {
  if (context.call != nullptr) return context.call->from;
  return root_called_from_.valid() ? root_called_from_ : call;
}

bool Elaborator::bind_generics(CallState& state, const Call& call) {
  const Signature& signature = state.function->signature;
  if (std::ranges::any_of(state.arguments, [&](NodeId id) { return nodes_[id].is_error(); })) return false;
  for (const Generic& generic : signature.generics) {
    std::optional<ElementType> type;
    Span first;
    for (size_t i = 0; i < signature.params.size(); ++i) {
      const Node& argument = nodes_[state.arguments[i]];
      if (signature.params[i].type.element.text != generic.name.text || !argument.type) continue;
      if (type && type != argument.type) {
        Diagnostic& d = instance_.report(DiagnosticId::kGenericConflict, argument.span, generic.name.text,
                                         signature.name.text, name(*type), name(*argument.type));
        d.label(first, std::string(name(*type)));
        d.label(argument.span, std::string(name(*argument.type)));
        return false;
      }
      type = argument.type;
      first = argument.span;
    }
    if (!type) {
      Diagnostic& d = instance_.report(DiagnosticId::kGenericUnknown, call.callee.span, generic.name.text,
                                       signature.name.text);
      d.label(generic.span, "declared here");
      d.note("a literal has no type of its own; write f32(...)");
      return false;
    }
    if (!accepts(generic.kind, *type)) {
      Diagnostic& d = instance_.report(DiagnosticId::kGenericKind, first, generic.name.text,
                                       signature.name.text, describe(generic.kind), name(*type));
      d.label(generic.span, "declared here");
      if (generic.kind == GenericKind::kFloat && is_integer(*type)) d.note("f32(...) converts it");
      return false;
    }
    Entity entity;
    entity.kind = EntityKind::kType;
    entity.type = *type;
    entity.span = generic.span;
    entity.what = "a generic";
    state.scope->add(generic.name.text, entity);
  }
  return true;
}

NodeId Elaborator::argument_as(NodeId argument, ElementType type, const Param& param) {
  argument = typing_.meet(argument, type);
  const Node node = nodes_[argument];
  if (node.is_error() || node.type == type) return argument;
  // In a sum's body the argument has been widened, exactly, and can be taken as it was.
  const bool was_widened =
      node.kind == NodeKind::kCast && nodes_[node.operands[0]].type == type && widened(type) == node.type;
  if (was_widened) return node.operands[0];
  Diagnostic& d =
      instance_.report(DiagnosticId::kArgumentType, node.span, param.name.text, name(type), name(*node.type));
  d.label(param.span, fmt::format("declared {}", name(type)));
  typing_.offer_cast(d, argument, type);
  return nodes_.error();
}

bool Elaborator::bind_parameters(CallState& state, const Call& call) {
  const Signature& signature = state.function->signature;
  bool right = true;
  for (size_t i = 0; i < signature.params.size(); ++i) {
    const Param& param = signature.params[i];
    const std::optional<ElementType> type = element_type(param.type.element, *state.scope);
    if (!type) return false;
    NodeId& argument = state.arguments[i];
    argument = argument_as(argument, *type, param);
    right = right && !nodes_[argument].is_error();
    Entity entity;
    entity.kind = EntityKind::kValue;
    entity.value = argument;
    // A product that crosses a parameter is rounded: the cast to its own type keeps it from being fused.
    if (is_product(nodes_[argument])) entity.value = nodes_.cast(*type, argument, nodes_[argument].span);
    entity.span = param.span;
    entity.what = "a parameter";
    state.scope->add(param.name.text, entity);
  }
  return right;
}

void Elaborator::step_function_body(CallState& state) {
  const Function& function = *state.function;
  const Module& module = *state.function.module;
  const Body& body = std::get<Body>(function.form);
  if (!body.where.count && function.signature.results.size() == 1) {
    if (state.in_statement) {
      state.in_statement = false;
      const NodeId value = values_.back();
      values_.pop_back();
      end_body_statement(state, module[body.statements[state.statement++]], value);
    }
    while (state.statement < body.statements.size()) {
      state.in_statement = begin_body_statement(state, module[body.statements[state.statement]]);
      if (state.in_statement) return;
      if (gave_up_) return finish(nodes_.error());
      ++state.statement;
    }
    const Param& result = function.signature.results[0];
    const Entity* entity = state.scope->find(result.name.text);
    if (entity != nullptr && entity->kind == EntityKind::kValue && entity->value.valid())
      return finish_function(state, entity->value, result.type.element, result.span);
    if (entity == nullptr)
      instance_.report(DiagnosticId::kResultUndefined, result.name.span, result.name.text);
    return finish(nodes_.error());
  }
  const Span span = this->module()[frame().id].span;
  if (body.where.count) {
    instance_.report(DiagnosticId::kNotBuiltFunctionWhere, span, function.signature.name.text);
  } else {
    instance_.report(DiagnosticId::kSeveralResultsInExpression, span, function.signature.name.text,
                     function.signature.results.size());
  }
  finish(nodes_.error());
}

bool Elaborator::begin_body_statement(CallState& state, const Statement& statement) {
  if (const auto* definition = std::get_if<Definition>(&statement.payload);
      definition && definition->names.size() == 1) {
    push(state.body, definition->value);
    return true;
  }
  if (const auto* local = std::get_if<LocalDeclaration>(&statement.payload); local && local->type.scalar())
    return false;
  instance_.report(DiagnosticId::kNotBuiltFunctionLocals, statement.span,
                   state.function->signature.name.text);
  gave_up_ = true;
  return false;
}

void Elaborator::end_body_statement(CallState& state, const Statement& statement, NodeId value) {
  const Name& name = std::get<Definition>(statement.payload).names[0];
  const Signature& signature = state.function->signature;
  const Element* declared = nullptr;
  for (const Param& result : signature.results)
    if (result.name.text == name.text) declared = &result.type.element;
  for (StatementId id : std::get<Body>(state.function->form).statements) {
    const auto* local = std::get_if<LocalDeclaration>(&(*state.function.module)[id].payload);
    if (local != nullptr && local->name.text == name.text) declared = &local->type.element;
  }
  if (state.scope->find(name.text) != nullptr) {
    Diagnostic& d = instance_.report(DiagnosticId::kDefinedTwice, name.span, name.text);
    d.label(state.scope->find(name.text)->span, "defined here first");
    value = nodes_.error();
  }
  if (declared != nullptr) {
    const std::optional<ElementType> type = element_type(*declared, *state.scope);
    value = type ? typing_.as_element(value, *type, name.text, declared->span) : nodes_.error();
  } else {
    value = typing_.typed(value);
  }
  Entity entity;
  entity.kind = nodes_[value].is_error() ? EntityKind::kPoison : EntityKind::kValue;
  entity.value =
      is_product(nodes_[value]) ? nodes_.cast(*nodes_[value].type, value, nodes_[value].span) : value;
  entity.span = name.span;
  entity.what = "a local";
  state.scope->set(name.text, entity);
}

void Elaborator::finish_function(CallState& state, NodeId value, const Element& element, Span declaration) {
  const std::optional<ElementType> type = element_type(element, *state.scope);
  if (!type) return finish(nodes_.error());
  value = typing_.as_element(value, *type, state.function->signature.name.text, declaration);
  if (is_product(nodes_[value])) value = nodes_.cast(*type, value, nodes_[value].span);
  // Mistakes in the function's body are reported once for each set of arguments.
  finished_calls_[{&*state.function, state.arguments}] = value;
  finish(widened_in(frame().context, value));
}

}  // namespace tenon::frontend
