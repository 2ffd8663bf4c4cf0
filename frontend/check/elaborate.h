// From an expression of the syntax tree to a typed expression: names resolved, literals typed, functions
// inlined, guards attached to what they guard, every access checked.
//
// The walk keeps its own stack of frames: neither long expressions nor deep calls use the machine's.
#pragma once

#include <deque>
#include <map>
#include <optional>
#include <vector>

#include "frontend/check/access.h"
#include "frontend/check/instance.h"
#include "frontend/check/ranges.h"
#include "frontend/check/terms.h"
#include "frontend/check/typing.h"

namespace tenon::frontend {

// The calls of functions around an expression, innermost first.
struct ActiveCall {
  FunctionRef function;
  const ActiveCall* outer = nullptr;
  size_t depth = 1;
  // The outermost call, in the kernel's own text.
  Span from;
};

// Where an expression stands.
struct Context {
  const Module* module = nullptr;
  const Scope* scope = nullptr;
  GuardId guard;
  // Inside of a sum or product: narrow types are widened as soon as they appear.
  bool widen = false;
  const ActiveCall* call = nullptr;
  // The indices that `...` stands for; null where it may not stand.
  const std::vector<NodeId>* ellipsis = nullptr;
  // The variable that the statement defines, invalid if none: reading it is a recurrence.
  VariableId target;
  // Reductions around the expression.
  unsigned reductions = 0;
};

class Elaborator {
 public:
  Elaborator(Instance& instance, Terms& terms, Typing& typing, Accesses& accesses)
      : instance_(instance), nodes_(instance.nodes), terms_(terms), typing_(typing), accesses_(accesses) {}

  // The expression's typed form; the error node after a report; untyped if it consists of literals.
  NodeId elaborate(const Context& context, ExprId root);

  // Reports a name that means nothing here, with what may have been meant; `access`: it has subscripts.
  void report_unknown_name(const Context& context, std::string_view name, Span span, bool access = false);
  // Whether a call of that name has a meaning: a function, or a cast to a generic.
  bool is_function(const Context& context, std::string_view name) const;
  // Whether an index of that name may be introduced; a visible name of the same spelling is reported.
  bool check_new_index(const Scope& scope, const Name& name);
  // The type that a name or keyword stands for; reports unknown names and generics without a type.
  std::optional<ElementType> element_type(const Element& element, const Scope& scope);

 private:
  // A call of a scalar function while its frame is open.
  struct CallState {
    FunctionRef function;
    Context body;
    Scope* scope = nullptr;
    std::vector<NodeId> arguments;
    // For a function with statements: the one in work.
    size_t statement = 0;
    bool in_statement = false;
  };
  // A reduction while its frame is open.
  struct ReductionState {
    Scope* scope = nullptr;
    std::vector<ir::AxisId> axes;
    size_t binder = 0;
    NodeId predicate;
    // A binder had a mistake.
    bool wrong = false;
    Context inner;
  };
  struct Frame {
    Context context;
    ExprId id;
    uint32_t stage = 0;
    // Values below this belong to outer frames.
    size_t base = 0;
    ReductionState* reduction = nullptr;
    CallState* call = nullptr;
  };

  // elaborate.cpp
  void step();
  void step(const NumberLiteral& literal);
  void step(const BoolLiteral& literal);
  void step(const InfLiteral& literal);
  void step(const NanLiteral& literal);
  void step(const Ellipsis& ellipsis);
  void step(const NameRef& name);
  void step(const Unary& unary);
  void step(const Binary& binary);
  void step(const Conditional& conditional);
  void step(const Access& access);
  void step(const Call& call);
  void step(const Cast& cast);
  void step(const Reduction& reduction);
  void step(const ErrorExpr& error);
  NodeId name_value(const Context& context, const Entity& entity, std::string_view name, Span span);
  NodeId finish_access(const Context& context, const Access& access, Span span);
  const Variable* accessed_variable(const Context& context, const Access& access);
  bool looks_like_recurrence(const Context& context, const Access& access) const;
  std::optional<std::vector<NodeId>> subscripts_of(const Context& context, const Access& access,
                                                   const Variable& variable, std::span<const NodeId> written,
                                                   Span span);

  // elaborate_calls.cpp
  NodeId call_builtin(const Context& context, const Call& call, std::span<const NodeId> arguments, Span span);
  void step_function_call(const Call& call, const FunctionRef& function);
  bool begin_function(const Call& call, const FunctionRef& function);
  Span called_from(const Context& context, Span call) const;
  bool bind_generics(CallState& state, const Call& call);
  bool bind_parameters(CallState& state, const Call& call);
  NodeId argument_as(NodeId argument, ElementType type, const Param& param);
  void step_function_body(CallState& state);
  bool begin_body_statement(CallState& state, const Statement& statement);
  void end_body_statement(CallState& state, const Statement& statement, NodeId value);
  void finish_function(CallState& state, NodeId value, const Element& element, Span declaration);

  // elaborate_reductions.cpp
  bool begin_reduction(const Reduction& reduction);
  void step_binder(const Reduction& reduction);
  void bind_index(const Binder& binder, NodeId lower, NodeId upper);
  std::optional<ir::AxisId> uniform_axis(const Binder& binder, NodeId lower, NodeId upper);
  ir::IndexId non_negative(ir::IndexId extent);
  void add_predicate(ReductionState& state, NodeId condition);
  void finish_reduction(const Reduction& reduction, NodeId body);
  const RangeScan& ranges_of(const Context& context);

  Frame& frame() { return frames_.back(); }
  const Module& module() { return *frame().context.module; }
  std::span<const NodeId> values() { return std::span(values_).subspan(frame().base); }
  void push(const Context& context, ExprId id) { frames_.push_back({context, id, 0, values_.size()}); }
  // Gives the frame's value to the frame around it.
  void finish(NodeId value);
  // In the type that sums compute in, if the expression stands in one.
  NodeId widened_in(const Context& context, NodeId value);
  Context guarded(const Context& context, NodeId condition, bool negated);
  bool too_large(Span span);

  Instance& instance_;
  Nodes& nodes_;
  Terms& terms_;
  Typing& typing_;
  Accesses& accesses_;

  std::vector<Frame> frames_;
  std::vector<NodeId> values_;
  // Of the expression in work; scopes, calls and reductions live as long.
  ExprId root_;
  const Module* root_module_ = nullptr;
  const Scope* root_scope_ = nullptr;
  // Instance::called_from of the statement that the expression stands in.
  Span root_called_from_;
  std::optional<RangeScan> ranges_;
  size_t first_node_ = 0;
  bool gave_up_ = false;
  std::deque<Scope> scopes_;
  std::deque<ActiveCall> active_calls_;
  std::deque<CallState> calls_;
  std::deque<ReductionState> reductions_;
  // Function, arguments, and whether the call stands in a sum: the result. Equal calls are made once.
  using CallKey = std::pair<const Function*, std::vector<NodeId>>;
  std::map<CallKey, NodeId> finished_calls_;
};

}  // namespace tenon::frontend
