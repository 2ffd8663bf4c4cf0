// Statements: definitions of tensors and scalars, declared locals, and calls of tensor functions, which are
// inlined.
#pragma once

#include <optional>
#include <span>
#include <string>
#include <vector>

#include "frontend/check/access.h"
#include "frontend/check/elaborate.h"
#include "frontend/check/instance.h"
#include "frontend/check/lowering.h"
#include "frontend/check/terms.h"
#include "frontend/check/typing.h"

namespace tenon::frontend {

// The body of a kernel or of an inlined tensor function.
struct StatementContext {
  const Module* module = nullptr;
  Scope* scope = nullptr;
  // Before the names of local tensors: "softmax."; empty in a kernel.
  std::string prefix;
  // The dimensions that `...` stands for; null in kernels and where no parameter has it.
  const std::vector<ir::IndexId>* leading = nullptr;
  const ActiveCall* call = nullptr;
};

class Statements {
 public:
  explicit Statements(Instance& instance)
      : instance_(instance),
        terms_(instance),
        typing_(instance),
        accesses_(instance, terms_, typing_),
        elaborator_(instance, terms_, typing_, accesses_),
        lowering_(instance) {}

  // In order; a mistake in one does not stop the others.
  void run(const StatementContext& context, const std::vector<StatementId>& statements);

  // A shape as written, `...` being the leading dimensions; empty after a report.
  std::optional<std::vector<ir::IndexId>> shape(const StatementContext& context, const Type& type);
  // A size: an expression over dimensions and index scalars; invalid after a report.
  ir::IndexId size(const StatementContext& context, ExprId expr);
  // One clause of `where`, as a bool; the error node after a report.
  NodeId clause(const StatementContext& context, ExprId expr);

  // Reports results that no statement defined.
  void check_results(const std::vector<Param>& results, const Scope& scope);

  Terms& terms() { return terms_; }
  Accesses& accesses() { return accesses_; }
  Elaborator& elaborator() { return elaborator_; }

 private:
  struct Target;
  struct FunctionCall;

  // statements.cpp
  void declare(const StatementContext& context, const LocalDeclaration& declaration);
  void define_scalar(const StatementContext& context, const Definition& definition, Span span);
  void define_tensor(const StatementContext& context, const IndexedDefinition& definition, Span span);
  bool definable(const Name& name, const Variable& variable, Span span);
  VariableId target_variable(const StatementContext& context, const Name& name, bool& usable);
  bool bind_subscripts(const StatementContext& context, const IndexedDefinition& definition, Target& target);
  void bind_ranges(const StatementContext& context, const IndexedDefinition& definition, Target& target);
  void finish_definition(const StatementContext& context, const Name& name, VariableId variable,
                         std::span<const ir::AxisId> axes, NodeId value, Span span);
  void poison(const StatementContext& context, const Name& name);
  bool alias_index(const StatementContext& context, const Name& name, VariableId variable, NodeId value);

  // statement_calls.cpp
  const FunctionRef* shaped_callee(const StatementContext& context, const Definition& definition) const;
  void call_function(const StatementContext& context, const Definition& definition,
                     const FunctionRef& function, Span span);
  bool check_call(const FunctionCall& call);
  bool bind_arguments(FunctionCall& call);
  bool bind_type(FunctionCall& call, const Param& param, ElementType element, Span argument);
  bool bind_dimensions(FunctionCall& call, const Param& param, std::span<const ir::IndexId> shape,
                       Span argument);
  bool check_dimensions_known(const FunctionCall& call);
  bool check_dimensions(FunctionCall& call, const Param& param, std::span<const ir::IndexId> shape,
                        Span argument);
  bool require_equal(ir::IndexId wanted, ir::IndexId actual, Span argument, const Param& param);
  bool bind_results(FunctionCall& call);
  bool check_clauses(FunctionCall& call);
  void take_results(FunctionCall& call);

  Instance& instance_;
  Terms terms_;
  Typing typing_;
  Accesses accesses_;
  Elaborator elaborator_;
  Lowering lowering_;
};

}  // namespace tenon::frontend
