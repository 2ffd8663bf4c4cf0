// The syntax tree of one source file, as the parser leaves it: what was written, nothing resolved.
//
// Every node lives in a store of its Module and is named by a typed id; there are no pointers between nodes,
// so no tree is ever destroyed recursively, and a tree of any depth is walked by a loop over ids:
//
//  - Expressions are numbered in postorder. The children of an expression have smaller ids than it, and its
//  whole
//    subtree is the contiguous range [Expr::first, id]. Walking a subtree upwards visits children before
//    parents and, among siblings, in source order (what evaluation and type inference need); walking it
//    downwards visits parents before children (what passing scopes and guards down needs). Module::subtree
//    gives the range.
//  - Siblings stand in source order: condition, then, else; subscripts, then default; for every binder its
//  lower
//    bound, then its upper bound; after the binders `where`, then the body.
//  - Statements and declarations are numbered in source order.
//
// Parentheses leave no node: an Expr's span is what was written inside of them, while the span of its parent
// includes them. Names and literal texts are views into Module::text, a copy of the source that the module
// owns; they live as long as the module, also when it is moved.
//
// A module that was parsed with errors is still well formed: every id that the contracts below call valid is
// valid. What could not be parsed is an ErrorExpr, whose mistake has been reported, or is left out.
#pragma once

#include <cstdint>
#include <memory>
#include <optional>
#include <ranges>
#include <span>
#include <string_view>
#include <variant>
#include <vector>

#include "support/element_type.h"
#include "support/ids.h"
#include "support/source.h"

namespace tenon::frontend {

struct Expr;
struct Statement;
struct Kernel;
struct Function;
struct Schedule;
struct Use;
using ExprId = Id<Expr>;
using StatementId = Id<Statement>;
using KernelId = Id<Kernel>;
using FunctionId = Id<Function>;
using ScheduleId = Id<Schedule>;
using UseId = Id<Use>;

// A name where it was written. The text is never empty; a name that was left out by mistake gives no node.
struct Name {
  std::string_view text;
  Span span;
};

// Some consecutive entries of Module::expr_lists; read through Module::exprs.
struct ExprList {
  uint32_t begin = 0;
  uint32_t count = 0;
};

// Some consecutive entries of Module::binder_lists; read through Module::binders.
struct BinderList {
  uint32_t begin = 0;
  uint32_t count = 0;
};

// --- Expressions ---

enum class UnaryOp : uint8_t { kNegate, kNot, kComplement };

// From loosest to tightest, as the grammar has them; those of a line bind alike.
enum class BinaryOp : uint8_t {
  kLogicalOr,
  kLogicalAnd,
  kEqual,
  kNotEqual,
  kLess,
  kLessEqual,
  kGreater,
  kGreaterEqual,
  kBitOr,
  kBitXor,
  kBitAnd,
  kShiftLeft,
  kShiftRight,
  kAdd,
  kSubtract,
  kMultiply,
  kDivide,
  kRemainder,
};

enum class ReductionKind : uint8_t { kSum, kProd, kMax, kMin, kAny, kAll, kArgmax, kArgmin };

// A number as written: `42`, `0x1F`, `1.5e-3`. exact_number.h gives its value.
struct NumberLiteral {
  std::string_view text;
  // Written with a point or an exponent, and therefore a float even if its value is a whole number.
  bool has_point_or_exponent = false;
};

struct BoolLiteral {
  bool value = false;
};

struct InfLiteral {};
struct NanLiteral {};

// `...`: stands only as an element of a subscript list or of a shape.
struct Ellipsis {};

// A name that stands alone: a scalar, an index, a dimension, or a whole tensor.
struct NameRef {
  std::string_view name;
};

struct Unary {
  UnaryOp op;
  ExprId operand;
};

struct Binary {
  BinaryOp op;
  ExprId left;
  ExprId right;
  // The operator itself, for messages that point at it.
  Span op_span;
};

// `condition ? if_true : if_false`.
struct Conditional {
  ExprId condition;
  ExprId if_true;
  ExprId if_false;
};

// `tensor[subscripts | fallback]`; at least one subscript; `fallback` is invalid where there is none.
struct Access {
  Name tensor;
  ExprList subscripts;
  ExprId fallback;
};

// `callee(arguments)`: a function of the language or of the user, a cast by a generic's name, or `max` or
// `min`, whose two arguments the parser has counted.
struct Call {
  Name callee;
  ExprList arguments;
};

// A cast by the name of an element type, `f16(e)` or `index(e)`.
struct Cast {
  ElementType element;
  // The type's name alone.
  Span element_span;
  ExprId operand;
};

// One index of a reduction, `k` or `k in lower..upper`; both bounds are valid, or neither.
struct Binder {
  Name name;
  ExprId lower;
  ExprId upper;
};

// `sum[binders where condition](body)`; at least one binder; `condition` is invalid where there is none.
struct Reduction {
  ReductionKind kind;
  // The word `sum` alone.
  Span kind_span;
  BinderList binders;
  ExprId condition;
  ExprId body;
};

// An expression that has a mistake, which is already reported; whoever meets it stays silent.
struct ErrorExpr {};

using ExprPayload = std::variant<NumberLiteral, BoolLiteral, InfLiteral, NanLiteral, Ellipsis, NameRef, Unary,
                                 Binary, Conditional, Access, Call, Cast, Reduction, ErrorExpr>;

struct Expr {
  Span span;
  // The least id of the subtree; the node's own id for a leaf.
  ExprId first;
  ExprPayload payload;
};

// --- Types and parameters ---

// An element type as written: one of the language's, or the name of a generic.
struct Element {
  Span span;
  std::string_view text;
  // Empty: `text` is a generic's name.
  std::optional<ElementType> known;
};

// `f32[M, N / 2]`. A scalar has no shape and no dimensions; a shape may contain one Ellipsis or, by mistake,
// more.
struct Type {
  Span span;
  Element element;
  ExprList shape;

  bool scalar() const { return shape.count == 0; }
};

struct Param {
  Span span;
  Name name;
  bool is_inout = false;
  bool is_strided = false;
  // The words `inout` and `strided`; invalid where they do not stand.
  Span inout_span;
  Span strided_span;
  Type type;
};

enum class GenericKind : uint8_t { kFloat, kInt, kNumber, kAny, kDim };

struct Generic {
  Span span;
  Name name;
  GenericKind kind;
};

// --- Statements ---

// `name: type`
struct LocalDeclaration {
  Name name;
  Type type;
};

// `a = e`, or `a, b = f(x)`; at least one name.
struct Definition {
  std::vector<Name> names;
  ExprId value;
};

enum class AssignOp : uint8_t { kSet, kAdd, kMax, kMin };

// `target[subscripts | drop] op value`; at least one subscript.
struct IndexedDefinition {
  Name target;
  ExprList subscripts;
  bool drop = false;
  AssignOp op = AssignOp::kSet;
  // The operator: `=`, `+=`, or both tokens of `max =`.
  Span op_span;
  // `target[...]` as a whole, for messages about the left side.
  Span target_span;
  ExprId value;
};

struct Statement {
  Span span;
  std::variant<LocalDeclaration, Definition, IndexedDefinition> payload;
};

// --- Declarations ---

// One `@name(argument, ...)`; at least one argument. Which names exist is the checker's business.
struct Annotation {
  Span span;
  Name name;
  std::vector<Name> arguments;
};

// What kernels and functions share. `results` is empty for a kernel without `->` and for the shapeless form
// of a function, which has an element instead.
struct Signature {
  Name name;
  std::vector<Generic> generics;
  std::vector<Param> params;
  std::vector<Param> results;
};

// The clauses of `where`, and the statements between the braces in order.
struct Body {
  ExprList where;
  std::vector<StatementId> statements;
  // From `{` to `}`.
  Span braces;
};

struct Kernel {
  // From the first annotation to the closing brace.
  Span span;
  std::vector<Annotation> annotations;
  Signature signature;
  Body body;
  // False: a syntax mistake stood inside, so that statements may be missing. The checker then reports nothing
  // that could follow from a missing statement.
  bool complete = true;
};

// `fn f(x: T) -> T = e`.
struct ScalarForm {
  Element result;
  ExprId value;
};

// `fn f(x: T[..., N]) -> (y: T[..., N]) { ... }`, or with a ScalarForm.
struct Function {
  Span span;
  Signature signature;
  std::variant<Body, ScalarForm> form;
  // As in Kernel.
  bool complete = true;
};

// `c.i = 64`, `split = 8`, `stages = auto`: the value is a NumberLiteral or a name.
struct ScheduleEntry {
  Span span;
  // `statement.index = ...` has both; `stages = ...` has only the setting.
  std::optional<Name> statement;
  Name setting;
  std::variant<NumberLiteral, Name> value;
  Span value_span;
};

// `schedule kernel on target { entries }`.
struct Schedule {
  Span span;
  Name kernel;
  Name target;
  std::vector<ScheduleEntry> entries;
};

// `use std.nn`; at least one name.
struct Use {
  Span span;
  std::vector<Name> path;
};

using Declaration = std::variant<UseId, ScheduleId, FunctionId, KernelId>;

// --- The module ---

struct Module {
  FileId file;
  // The source, owned: see the head of this file.
  std::unique_ptr<const char[]> text_storage;
  std::string_view text;

  Store<Expr> expr_store;
  Store<Statement> statements;
  Store<Use> uses;
  Store<Schedule> schedules;
  Store<Function> functions;
  Store<Kernel> kernels;
  // In source order.
  std::vector<Declaration> declarations;

  // The backing of ExprList and BinderList.
  std::vector<ExprId> expr_lists;
  std::vector<Binder> binder_lists;

  const Expr& operator[](ExprId id) const { return expr_store[id]; }
  const Statement& operator[](StatementId id) const { return statements[id]; }
  const Use& operator[](UseId id) const { return uses[id]; }
  const Schedule& operator[](ScheduleId id) const { return schedules[id]; }
  const Function& operator[](FunctionId id) const { return functions[id]; }
  const Kernel& operator[](KernelId id) const { return kernels[id]; }

  std::span<const ExprId> exprs(ExprList list) const {
    return std::span(expr_lists).subspan(list.begin, list.count);
  }
  std::span<const Binder> binders(BinderList list) const {
    return std::span(binder_lists).subspan(list.begin, list.count);
  }

  // The ids of the subtree, children before parents; the last is `root` itself. Reversed, it goes from the
  // root down.
  auto subtree(ExprId root) const {
    return std::views::iota(expr_store[root].first.index(), root.index() + 1) |
           std::views::transform([](uint32_t index) { return ExprId(index); });
  }

  // The payload, if the expression is of this kind; null otherwise.
  template <class Payload>
  const Payload* get_if(ExprId id) const {
    return std::get_if<Payload>(&expr_store[id].payload);
  }
};

// The source text of an operator or keyword: "+", "!", "sum", "max=", "float".
std::string_view spelling(UnaryOp op);
std::string_view spelling(BinaryOp op);
std::string_view spelling(ReductionKind kind);
std::string_view spelling(AssignOp op);
std::string_view spelling(GenericKind kind);

}  // namespace tenon::frontend
