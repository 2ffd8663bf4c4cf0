// The type rules of expressions: operators, functions of the language, casts, and literals that meet a type.
// Every function takes checked nodes and gives one, or the error node after a report; an error node among the
// operands gives an error node without another report.
#pragma once

#include <string>
#include <string_view>

#include "frontend/check/instance.h"
#include "support/functions.h"

namespace tenon::frontend {

class Typing {
 public:
  explicit Typing(Instance& instance) : instance_(instance), nodes_(instance.nodes) {}

  NodeId number(const NumberLiteral& literal, Span span);
  NodeId infinity(Span span);
  NodeId nan(Span span);
  NodeId boolean(bool value, Span span);

  NodeId unary(UnaryOp op, NodeId operand, Span span);
  NodeId binary(const Binary& binary, NodeId left, NodeId right, Span span);
  NodeId conditional(NodeId condition, NodeId if_true, NodeId if_false, Span span);
  NodeId min_max(bool is_max, NodeId left, NodeId right, Span span);
  NodeId call(tenon::FunctionId function, std::span<const NodeId> arguments, Span span);
  NodeId cast(ElementType type, NodeId operand, Span span);
  // To the type in which `sum` computes.
  NodeId widen(NodeId operand, Span span);

  // A literal in `type`; typed nodes as they are.
  NodeId meet(NodeId node, ElementType type);
  // The node as an index: literals and all integer types; for subscripts and bounds of ranges (`what`).
  NodeId as_index(NodeId node, std::string_view what);
  // The node, which has to be a bool; `what` opens the message: "the condition of `?:`". A comparison
  // may stand in its place as it is (`bare`), or needs parentheses.
  NodeId as_bool(NodeId node, std::string_view what, bool bare = true);
  // The node if it has a type; a literal that met none is reported, and a whole one could be a `whole`.
  NodeId typed(NodeId node, ElementType whole = ElementType::kI32);
  // The value of `name`, whose elements have the type; otherwise a report that offers the cast.
  NodeId as_element(NodeId node, ElementType type, std::string_view name, Span declaration);

  // "f32", "a number".
  std::string type_text(NodeId node) const;
  // A fix that wraps the node's source text.
  void offer_cast(Diagnostic& diagnostic, NodeId node, ElementType type) const;

 private:
  NodeId operation(ir::Opcode op, NodeId left, NodeId right, Span span, std::string_view spelling);
  NodeId typed_operation(ir::Opcode op, NodeId left, NodeId right, Span span, std::string_view spelling);
  NodeId index_operation(ir::Opcode op, NodeId left, NodeId right, Span span);
  NodeId shift(ir::Opcode op, NodeId left, NodeId right, Span span, std::string_view spelling);
  NodeId logical(const Binary& binary, NodeId left, NodeId right, Span span);
  NodeId literal_as(NodeId literal, ElementType type);
  bool same_types(NodeId& left, NodeId& right, Span span, std::string_view spelling);
  bool check_operand(ir::Opcode op, NodeId operand, Span span, std::string_view spelling);
  NodeId literal_operation(BinaryOp op, ir::Opcode opcode, NodeId left, NodeId right, Span span);

  Instance& instance_;
  Nodes& nodes_;
};

}  // namespace tenon::frontend
