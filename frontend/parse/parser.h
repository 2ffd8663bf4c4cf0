// The parser: recursive descent, one function a rule of the grammar (docs/language.md), one token of
// lookahead. Only messages about mistakes look further.
#pragma once

#include <optional>
#include <string_view>
#include <vector>

#include "frontend/parse/ast.h"
#include "frontend/parse/cursor.h"

namespace tenon::frontend {

class Parser : private Cursor {
 public:
  // Fills `module`, whose file and text are set.
  Parser(Module& module, std::vector<Token> tokens, Diagnostics& diagnostics)
      : Cursor(module.file, module.text, std::move(tokens), diagnostics), module_(module) {}

  void parse_program();

 private:
  // --- Declarations (parse_declarations.cpp) ---

  void parse_declaration();
  void parse_unknown_declaration();
  void parse_use();
  void parse_schedule();
  ScheduleEntry parse_schedule_entry();
  void parse_kernel();
  void parse_function();
  std::vector<Annotation> parse_annotations();
  Annotation parse_annotation();

  // --- Signatures (parse_signatures.cpp) ---

  Signature parse_name_generics_params(std::string_view what);
  std::vector<Generic> parse_generics();
  std::optional<Generic> parse_generic();
  std::vector<Param> parse_params(std::string_view what);
  std::optional<Param> parse_param(std::string_view what);
  void parse_qualifiers(Param& param);
  void parse_kernel_results(Signature& signature);
  Type parse_type();
  std::optional<Element> parse_element();
  void complain_missing_arrow();
  void fail_unnamed_result(Span type);

  // --- Statements (parse_statements.cpp) ---

  Body parse_body(ExprList where);
  ExprList parse_where();
  void parse_statements(Body& body);
  void parse_statement(Body& body);
  void parse_named_statement(Body& body);
  void parse_local_declaration(Body& body);
  void parse_definition(Body& body);
  void parse_indexed_definition(Body& body);
  void parse_target(IndexedDefinition& definition);
  void parse_drop(IndexedDefinition& definition);
  void parse_assign_op(IndexedDefinition& definition);
  void fail_statement();
  void fail_named_statement();
  void fail_assign_op(bool has_subscripts);
  void skip_separators(std::string_view where);
  void add_statement(Body& body, uint32_t begin, auto payload);

  // --- Expressions (parse_expressions.cpp, parse_primary.cpp) ---

  // An expression and what it takes in the source, its parentheses included.
  struct Parsed {
    ExprId id;
    Span outer;
  };

  ExprId parse_expr() { return parse_conditional().id; }
  // A subscript or a bound.
  ExprId parse_additive();
  Parsed parse_conditional();
  Parsed parse_binary(unsigned least_precedence);
  Parsed parse_binary_rest(Parsed left, ExprId first, unsigned least_precedence);
  Parsed parse_unary();
  Parsed parse_primary();
  Parsed parse_parenthesized();
  Parsed parse_name_expr();
  Parsed parse_access(const Token& name);
  Parsed parse_call(const Token& name);
  Parsed parse_cast();
  Parsed parse_reduction_or_extreme();
  Parsed parse_reduction(const Token& word, ReductionKind kind);
  BinderList parse_binders(const Token& open);
  std::optional<Binder> parse_binder();
  void parse_range(Binder& binder);
  ExprList parse_arguments();
  void parse_argument();
  // `what` counts what too many of are refused: "subscripts", "dimensions".
  ExprList parse_subscripts(std::string_view what, Span owner);
  void parse_subscript();
  Parsed parse_ellipsis();
  Parsed fail_primary();
  void check_value_end();
  void check_operand_end();
  void fail_missing_operator();
  void fail_chained_subscripts();
  void fail_unknown_reduction(const Token& name);
  void complain_chained_comparison(Span middle);

  // --- Operators beyond the grammar (foreign_operators.cpp) ---

  struct Operator {
    BinaryOp op;
    unsigned precedence;
    // How many tokens it takes.
    unsigned tokens = 1;
    // Not of this language, but it can only mean `op`.
    bool foreign = false;
  };
  // The operator that stands next, after an operand.
  std::optional<Operator> peek_operator() const;
  std::optional<Operator> peek_foreign_operator() const;
  bool word_operator_follows() const;
  void complain_foreign_operator(Span span, BinaryOp op);

  // --- Helpers ---

  // A name; complains about a reserved word and takes it for one. `what`: "a kernel", "an index".
  std::optional<Name> parse_name(std::string_view what);
  Name name_of(const Token& token) const { return {text_of(token), span_of(token)}; }
  // Takes the comma after an element of a list that ends in `close`. Does another element follow?
  bool another_in_list(TokenKind close);
  void complain_rank(size_t count, std::string_view what, Span span);

  ExprId next_expr() const { return ExprId(static_cast<uint32_t>(module_.expr_store.size())); }
  // `first` is what next_expr() was before the node's children were parsed.
  ExprId add_expr(Span span, ExprId first, ExprPayload payload) {
    return module_.expr_store.add({span, first, std::move(payload)});
  }
  Parsed add_leaf(Span span, ExprPayload payload) {
    return {add_expr(span, next_expr(), std::move(payload)), span};
  }
  Parsed error_expr() { return add_leaf(after_previous(), ErrorExpr{}); }
  // The list of what lies on `scratch_` from `begin` on, which it removes.
  ExprList take_list(size_t begin);

  // Counts levels of nesting; not ok() where there are too many, which it has failed with.
  class Nested {
   public:
    explicit Nested(Parser& parser);
    ~Nested() { --parser_.nesting_; }
    Nested(const Nested&) = delete;
    Nested& operator=(const Nested&) = delete;

   private:
    Parser& parser_;
  };

  Module& module_;
  // Elements of the lists that are being read, innermost last.
  std::vector<ExprId> scratch_;
  size_t nesting_ = 0;
  bool in_function_ = false;
  bool complained_separator_ = false;
};

}  // namespace tenon::frontend
