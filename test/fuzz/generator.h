// Random programs that the language accepts. What is generated is well typed, and every access without
// default is one that the bounds prover has to find within bounds; so whatever the checker refuses, other
// than by a limit or as not built yet, is a finding.
#pragma once

#include <deque>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "program.h"
#include "random.h"
#include "support/element_type.h"

namespace tenon::fuzz {

// A size that dimensions have. Of `a` and `b`, the sizes it is made of, the kind says which count.
struct Extent {
  enum class Kind { kSymbol, kConstant, kPlus, kMultiple, kProduct, kSum, kHalf };
  Kind kind;
  // Fit to stand in any expression.
  std::string text;
  int64_t number = 0;
  size_t a = 0;
  size_t b = 0;
};

struct Variable {
  std::string name;
  ElementType type;
  std::vector<size_t> shape;
};

struct Index {
  std::string name;
  size_t extent;
  // It runs over the dimension at which it stands alone, and nothing else says how far.
  bool inferred = false;
  bool stands_alone = false;
};

// What an expression may mention.
struct Scope {
  std::vector<size_t> indices;
  // Subscripts that a guard has shown to be within an extent.
  struct Guarded {
    std::string subscript;
    size_t extent;
  };
  std::vector<Guarded> guarded;
  // In the body of a sum, where narrow values are wide.
  bool widens = false;
  int reductions = 0;
};

inline bool is_f8(ElementType type) { return type == ElementType::kF8E4M3 || type == ElementType::kF8E5M2; }

class Generator {
 public:
  explicit Generator(uint64_t seed) : random_(seed) {}

  Program generate();

 private:
  struct Function {
    std::string name;
    std::vector<ElementType> arguments;
    ElementType result;
  };

  // generator.cpp: declarations and statements.
  void make_extents();
  void make_palette();
  void make_function();
  void make_clauses();
  void make_statement(bool last);
  void declare_inout();
  void define_inout();
  void declare_missing_symbols();
  std::vector<size_t> some_shape();
  size_t new_index(size_t extent, bool inferred);
  std::string type_text(ElementType type);
  std::string type_text(ElementType type, const std::vector<size_t>& shape);
  std::string subscripts_text(const std::vector<size_t>& indices) const;
  const Variable& new_parameter(ElementType type, std::vector<size_t> shape);
  // Defines a tensor over the indices by the value: a result, or a local that is declared if it has to be.
  void add_definition(bool result, ElementType type, const std::vector<size_t>& indices, Node value);

  // A chain of statements: what came last of those over all axes, and the reductions so far.
  struct Chain {
    ElementType type;
    std::vector<size_t> shape;
    Variable last;
    std::vector<std::string> statistics;
  };

  // patterns.cpp: statements of a form that chance alone seldom finds.
  void make_contraction();
  void make_chain();
  void make_window();
  void make_call();
  Node factor(ElementType type, const std::vector<size_t>& indices, const Scope& scope);
  Node sum_of_products(ElementType type, const std::vector<size_t>& free, const std::vector<size_t>& summed);
  Node chain_element(const Chain& chain, const std::vector<size_t>& all, const std::vector<size_t>& kept,
                     const Scope& scope);
  // An index in the brackets of a reduction, with a range if it stands nowhere that gives one.
  std::string binder_text(size_t index) const;

  // expressions.cpp: values. In a scope that widens, types are wide.
  ElementType seen(ElementType type, const Scope& scope) const;
  ElementType some_type(const Scope& scope);
  ElementType some_number(const Scope& scope);
  Node value(ElementType type, const Scope& scope, int depth);
  Node float_value(ElementType type, const Scope& scope, int depth);
  Node integer_value(ElementType type, const Scope& scope, int depth);
  Node condition(const Scope& scope, int depth);
  Node index_value(const Scope& scope, int depth);
  Node leaf(ElementType type, const Scope& scope);
  Node cast(ElementType type, const Scope& scope, int depth);
  Node call(ElementType type, const Scope& scope, int depth);
  Node reduction(std::string_view kind, ElementType type, const Scope& scope, int depth);
  Node any_reduction(ElementType type, const Scope& scope, int depth);
  Node guarded_choice(ElementType type, const Scope& scope, int depth);
  std::string literal(ElementType type);

  // subscripts.cpp: accesses and ranges.
  Node read(const Variable& variable, const Scope& scope);
  // Empty: none that is within bounds.
  std::string proved_subscript(size_t extent, const Scope& scope, std::optional<size_t>& alone);
  void add_related(size_t extent, const Index& index, const Scope& scope,
                   std::vector<std::string>& found) const;
  std::string free_subscript(size_t extent, const Scope& scope);
  std::string position(const Scope& scope, int depth);
  // The bounds after `in` of an index from 0 to below the extent.
  std::string range(size_t extent, const Scope& scope);
  // A condition on an index and what it shows.
  std::string guard(size_t index, Scope& inside);

  Random random_;
  Program program_;
  std::vector<Extent> extents_;
  std::deque<Index> indices_;
  std::vector<Variable> variables_;
  std::vector<Function> functions_;
  std::vector<ElementType> palette_;
  std::vector<std::string> scalars_;
  std::optional<ElementType> generic_;
  std::optional<Variable> inout_;
  bool in_function_ = false;
  size_t names_ = 0;
};

}  // namespace tenon::fuzz
