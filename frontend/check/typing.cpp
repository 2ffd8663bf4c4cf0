#include "frontend/check/typing.h"

#include <algorithm>
#include <map>

#include "frontend/check/exact.h"
#include "support/check.h"

namespace tenon::frontend {
namespace {

using ir::Opcode;

bool is_f8(ElementType type) { return type == ElementType::kF8E4M3 || type == ElementType::kF8E5M2; }

Opcode opcode(BinaryOp op) {
  switch (op) {
    case BinaryOp::kLogicalOr:
    case BinaryOp::kBitOr:
      return Opcode::kOr;
    case BinaryOp::kLogicalAnd:
    case BinaryOp::kBitAnd:
      return Opcode::kAnd;
    case BinaryOp::kBitXor:
      return Opcode::kXor;
    case BinaryOp::kEqual:
      return Opcode::kEq;
    case BinaryOp::kNotEqual:
      return Opcode::kNe;
    case BinaryOp::kLess:
      return Opcode::kLt;
    case BinaryOp::kLessEqual:
      return Opcode::kLe;
    case BinaryOp::kGreater:
      return Opcode::kGt;
    case BinaryOp::kGreaterEqual:
      return Opcode::kGe;
    case BinaryOp::kShiftLeft:
      return Opcode::kShl;
    case BinaryOp::kShiftRight:
      return Opcode::kShr;
    case BinaryOp::kAdd:
      return Opcode::kAdd;
    case BinaryOp::kSubtract:
      return Opcode::kSub;
    case BinaryOp::kMultiply:
      return Opcode::kMul;
    case BinaryOp::kDivide:
      return Opcode::kDiv;
    case BinaryOp::kRemainder:
      return Opcode::kRem;
  }
  TENON_UNREACHABLE("a binary operator without an opcode");
}

// As a program writes it; `max` and `min` are calls.
std::string_view spelling(Opcode op) {
  for (BinaryOp binary :
       {BinaryOp::kBitOr, BinaryOp::kBitXor, BinaryOp::kBitAnd, BinaryOp::kShiftLeft, BinaryOp::kShiftRight,
        BinaryOp::kAdd, BinaryOp::kSubtract, BinaryOp::kMultiply, BinaryOp::kDivide, BinaryOp::kRemainder})
    if (opcode(binary) == op) return frontend::spelling(binary);
  return ir::row(op).mnemonic;
}

bool is_comparison(Opcode op) { return ir::row(op).rule == ir::TypeRule::kCompare; }

// Whether the opcode has a meaning for operands of this type.
bool accepts(Opcode op, ElementType type) {
  switch (ir::row(op).rule) {
    case ir::TypeRule::kSame:
      if (op == Opcode::kMin || op == Opcode::kMax) return type != ElementType::kBool;
      return type != ElementType::kBool && !is_f8(type);
    case ir::TypeRule::kSameInt:
      return is_integer(type);
    case ir::TypeRule::kSameBits:
      return is_integer(type) || type == ElementType::kBool;
    case ir::TypeRule::kShift:
      return is_integer(type);
    case ir::TypeRule::kCompare:
      return type != ElementType::kBool || op == Opcode::kEq || op == Opcode::kNe;
    default:
      return true;
  }
}

// The type that a mixed pair should be cast to: the wider float, a float rather than an integer, an index
// rather than a machine integer.
ElementType common_type(ElementType a, ElementType b) {
  auto order = [](ElementType type) {
    if (is_float(type)) return 1000 + static_cast<int>(bit_width(type));
    if (type == ElementType::kIndex) return 500;
    return static_cast<int>(bit_width(type)) * 2 + (is_signed(type) ? 1 : 0);
  };
  if (is_float(a) && is_float(b) && bit_width(a) == bit_width(b)) return ElementType::kF32;
  return order(a) >= order(b) ? a : b;
}

}  // namespace

std::string Typing::type_text(NodeId node) const {
  return nodes_[node].type ? std::string(name(*nodes_[node].type)) : "a number without a type";
}

void Typing::offer_cast(Diagnostic& diagnostic, NodeId node, ElementType type) const {
  const Span span = nodes_[node].span;
  if (!span.valid()) return;
  const std::string replacement = fmt::format("{}({})", name(type), instance_.sources.text(span));
  diagnostic.fix(span, replacement, fmt::format("convert it to {}", name(type)));
}

NodeId Typing::number(const NumberLiteral& literal, Span span) {
  std::optional<ExactNumber> value = parse_exact_number(literal.text);
  if (!value) return nodes_.error();
  LiteralValue result;
  result.value = std::move(*value);
  result.is_float = literal.has_point_or_exponent;
  return nodes_.literal(result, span);
}

NodeId Typing::infinity(Span span) {
  LiteralValue value;
  value.kind = LiteralValue::Kind::kInfinity;
  value.is_float = true;
  return nodes_.literal(value, span);
}

NodeId Typing::nan(Span span) {
  LiteralValue value;
  value.kind = LiteralValue::Kind::kNan;
  value.is_float = true;
  return nodes_.literal(value, span);
}

NodeId Typing::boolean(bool value, Span span) {
  return nodes_.constant({ElementType::kBool, value ? 1u : 0u}, span);
}

NodeId Typing::literal_as(NodeId id, ElementType type) {
  const Node node = nodes_[id];
  const LiteralValue& literal = nodes_.literal_of(id);
  const auto constant = to_constant(literal, type);
  if (constant) {
    if (type == ElementType::kIndex)
      return nodes_.index(instance_.kernel.index.constant(static_cast<int64_t>(constant->bits)), node.span);
    return nodes_.constant(*constant, node.span);
  }
  const std::string text = to_text(literal);
  switch (constant.error()) {
    case LiteralMisfit::kNotAnInteger: {
      Diagnostic& d = instance_.report(DiagnosticId::kLiteralNotInteger, node.span, text, name(type));
      if (literal.is_float && literal.kind == LiteralValue::Kind::kExact)
        d.note("a number with a point or an exponent meets floats only");
      break;
    }
    case LiteralMisfit::kOutOfRange:
      instance_.report(DiagnosticId::kLiteralOutOfRange, node.span, text, name(type));
      break;
    case LiteralMisfit::kNotExact: {
      Diagnostic& d = instance_.report(DiagnosticId::kLiteralNotExact, node.span, text, name(type));
      d.note("whole numbers have to be exact; one with a point is rounded");
      break;
    }
    case LiteralMisfit::kOverflow:
      instance_.report(DiagnosticId::kLiteralOverflow, node.span, text, name(type));
      break;
    case LiteralMisfit::kUnderflow:
      instance_.report(DiagnosticId::kLiteralUnderflow, node.span, text, name(type));
      break;
    case LiteralMisfit::kBool:
      instance_.report(DiagnosticId::kLiteralBool, node.span, text);
      break;
  }
  return nodes_.error();
}

NodeId Typing::meet(NodeId root, ElementType type) {
  if (!nodes_[root].untyped()) return root;
  if (nodes_[root].kind == NodeKind::kLiteral) return literal_as(root, type);
  // An operation or choice between literals: all of it, operands first.
  std::vector<NodeId> pending{root};
  for (size_t next = 0; next < pending.size(); ++next)
    for (NodeId operand : nodes_[pending[next]].operands)
      if (operand.valid() && nodes_[operand].untyped()) pending.push_back(operand);
  std::sort(pending.begin(), pending.end());
  pending.erase(std::unique(pending.begin(), pending.end()), pending.end());
  std::map<NodeId, NodeId> typed;
  for (NodeId id : pending) {
    const Node node = nodes_[id];
    auto operand = [&](size_t position) {
      auto found = typed.find(node.operands[position]);
      return found == typed.end() ? node.operands[position] : found->second;
    };
    if (node.kind == NodeKind::kLiteral) {
      typed[id] = literal_as(id, type);
    } else if (node.op == Opcode::kSelect) {
      typed[id] = conditional(operand(0), operand(1), operand(2), node.span);
    } else if (node.op == Opcode::kNeg) {
      typed[id] = unary(UnaryOp::kNegate, operand(0), node.span);
    } else if (node.op == Opcode::kNot) {
      typed[id] = unary(UnaryOp::kComplement, operand(0), node.span);
    } else if (node.op == Opcode::kShl || node.op == Opcode::kShr) {
      typed[id] = shift(node.op, operand(0), operand(1), node.span, spelling(node.op));
    } else {
      typed[id] = typed_operation(node.op, operand(0), operand(1), node.span, spelling(node.op));
    }
  }
  return typed[root];
}

NodeId Typing::typed(NodeId node, ElementType whole) {
  if (!nodes_[node].untyped()) return node;
  const Span span = nodes_[node].span;
  const bool is_whole = nodes_[node].kind == NodeKind::kLiteral && !nodes_.literal_of(node).is_float;
  Diagnostic& d = instance_.report(DiagnosticId::kLiteralWithoutType, span);
  const ElementType suggestion = is_whole ? whole : ElementType::kF32;
  const std::string replacement = fmt::format("{}({})", name(suggestion), instance_.sources.text(span));
  d.fix(span, replacement, "say which type is meant");
  return nodes_.error();
}

NodeId Typing::as_index(NodeId node, std::string_view what) {
  node = meet(node, ElementType::kIndex);
  const Node& value = nodes_[node];
  if (value.is_error() || value.is_index()) return node;
  if (is_integer(*value.type)) return nodes_.cast(ElementType::kIndex, node, value.span);
  Diagnostic& d = instance_.report(DiagnosticId::kNeedsInteger, value.span, what, name(*value.type));
  if (is_float(*value.type)) offer_cast(d, node, ElementType::kIndex);
  return nodes_.error();
}

NodeId Typing::as_bool(NodeId node, std::string_view what, bool bare) {
  const Node& value = nodes_[node];
  if (value.is_error() || value.is_bool()) return node;
  Diagnostic& d = instance_.report(DiagnosticId::kNeedsBool, value.span, what, type_text(node));
  if (value.type) {
    std::string replacement = fmt::format("{} != 0", instance_.sources.text(value.span));
    if (!bare) replacement = fmt::format("({})", replacement);
    d.fix(value.span, replacement, "compare it with 0");
  }
  return nodes_.error();
}

NodeId Typing::as_element(NodeId node, ElementType type, std::string_view variable, Span declaration) {
  node = meet(node, type);
  if (nodes_[node].is_error() || nodes_[node].type == type) return node;
  const ElementType actual = *nodes_[node].type;
  Diagnostic& d =
      instance_.report(DiagnosticId::kElementMismatch, nodes_[node].span, variable, name(type), name(actual));
  d.label(declaration, fmt::format("declared {}", name(type)));
  if (type == ElementType::kBool) return nodes_.error();
  offer_cast(d, node, type);
  return nodes_.error();
}

bool Typing::same_types(NodeId& left, NodeId& right, Span span, std::string_view spelling) {
  if (nodes_[left].is_error() || nodes_[right].is_error()) return false;
  if (nodes_[right].type) left = meet(left, *nodes_[right].type);
  if (nodes_[left].type) right = meet(right, *nodes_[left].type);
  if (nodes_[left].is_error() || nodes_[right].is_error()) return false;
  if (nodes_[left].type == nodes_[right].type) return true;
  const ElementType a = *nodes_[left].type;
  const ElementType b = *nodes_[right].type;
  Diagnostic& d = instance_.report(DiagnosticId::kTypeMismatch, span, spelling, name(a), name(b));
  d.label(nodes_[left].span, std::string(name(a)));
  d.label(nodes_[right].span, std::string(name(b)));
  if (a == ElementType::kBool || b == ElementType::kBool) return false;
  const ElementType common = common_type(a, b);
  if (a != common) offer_cast(d, left, common);
  if (b != common) offer_cast(d, right, common);
  return false;
}

bool Typing::check_operand(Opcode op, NodeId operand, Span span, std::string_view spelling) {
  if (nodes_[operand].is_error()) return false;
  const ElementType type = *nodes_[operand].type;
  if (accepts(op, type)) return true;
  Diagnostic& d = instance_.report(DiagnosticId::kOperandType, span, spelling, name(type));
  if (is_f8(type)) {
    d.note("f8 has casts, comparisons, `?:`, min and max; convert it with f32(...) to compute");
  } else if (op == Opcode::kRem && is_float(type)) {
    d.note("for floats write x - floor(x / y) * y");
  } else if (op == Opcode::kXor && is_float(type)) {
    d.note("`^` is exclusive or, of integers; a power is written pow(x, y)");
  } else if (type == ElementType::kBool &&
             (op == Opcode::kAdd || op == Opcode::kMul || op == Opcode::kMax || op == Opcode::kMin)) {
    d.note("`||` and `&&` combine conditions; i32(...) makes 0 or 1 of one");
  }
  return false;
}

NodeId Typing::index_operation(Opcode op, NodeId left, NodeId right, Span span) {
  const Node& a = nodes_[left];
  const Node& b = nodes_[right];
  const bool folds = op == Opcode::kAdd || op == Opcode::kSub || op == Opcode::kMul || op == Opcode::kDiv ||
                     op == Opcode::kRem || op == Opcode::kMin || op == Opcode::kMax;
  if (!folds || a.kind != NodeKind::kIndex || b.kind != NodeKind::kIndex)
    return nodes_.op(op, ElementType::kIndex, {left, right}, span);
  const ir::IndexId result = instance_.index_op(op, a.index, b.index);
  if (result.valid()) return nodes_.index(result, span);
  // Once a coefficient has left 64 bits, every further operation fails for the same reason.
  if (!instance_.index_overflow_reported) instance_.report(DiagnosticId::kIndexTooLarge, span);
  instance_.index_overflow_reported = instance_.kernel.index.overflowed();
  return nodes_.error();
}

NodeId Typing::typed_operation(Opcode op, NodeId left, NodeId right, Span span, std::string_view spelling) {
  if (!check_operand(op, left, span, spelling) || !check_operand(op, right, span, spelling))
    return nodes_.error();
  if (is_comparison(op)) return nodes_.op(op, ElementType::kBool, {left, right}, span);
  if (nodes_[left].is_index()) return index_operation(op, left, right, span);
  return nodes_.op(op, nodes_[left].type, {left, right}, span);
}

NodeId Typing::literal_operation(BinaryOp op, Opcode opcode, NodeId left, NodeId right, Span span) {
  if (is_comparison(opcode)) {
    Diagnostic& d = instance_.report(DiagnosticId::kLiteralWithoutType, span);
    d.note("two numbers are compared; one of them needs a type, as in f32(...)");
    return nodes_.error();
  }
  if (nodes_[left].kind == NodeKind::kLiteral && nodes_[right].kind == NodeKind::kLiteral) {
    if (std::optional<LiteralValue> value = fold(op, nodes_.literal_of(left), nodes_.literal_of(right))) {
      if (too_large(*value)) {
        instance_.report(DiagnosticId::kLiteralTooLarge, span);
        return nodes_.error();
      }
      return nodes_.literal(*value, span);
    }
  }
  return nodes_.op(opcode, std::nullopt, {left, right}, span);
}

NodeId Typing::shift(Opcode op, NodeId left, NodeId right, Span span, std::string_view spelling) {
  if (!check_operand(op, left, span, spelling)) return nodes_.error();
  right = meet(right, *nodes_[left].type);
  if (nodes_[right].is_error()) return nodes_.error();
  if (!is_integer(*nodes_[right].type)) {
    instance_.report(DiagnosticId::kNeedsInteger, nodes_[right].span, "a shift count",
                     name(*nodes_[right].type));
    return nodes_.error();
  }
  return nodes_.op(op, nodes_[left].type, {left, right}, span);
}

NodeId Typing::logical(const Binary& binary, NodeId left, NodeId right, Span span) {
  const std::string what = fmt::format("an operand of `{}`", frontend::spelling(binary.op));
  left = as_bool(left, what);
  right = as_bool(right, what);
  if (nodes_[left].is_error() || nodes_[right].is_error()) return nodes_.error();
  return nodes_.op(opcode(binary.op), ElementType::kBool, {left, right}, span);
}

NodeId Typing::binary(const Binary& binary, NodeId left, NodeId right, Span span) {
  if (nodes_[left].is_error() || nodes_[right].is_error()) return nodes_.error();
  if (binary.op == BinaryOp::kLogicalAnd || binary.op == BinaryOp::kLogicalOr)
    return logical(binary, left, right, span);
  const Opcode op = opcode(binary.op);
  const std::string_view text = frontend::spelling(binary.op);
  if ((op == Opcode::kShl || op == Opcode::kShr) && nodes_[left].type)
    return shift(op, left, right, span, text);
  if (nodes_[left].untyped() && (nodes_[right].untyped() || op == Opcode::kShl || op == Opcode::kShr))
    return literal_operation(binary.op, op, left, right, span);
  if (!same_types(left, right, binary.op_span, text)) return nodes_.error();
  return typed_operation(op, left, right, span, text);
}

NodeId Typing::min_max(bool is_max, NodeId left, NodeId right, Span span) {
  const std::string_view text = is_max ? "max" : "min";
  const Opcode op = is_max ? Opcode::kMax : Opcode::kMin;
  if (nodes_[left].is_error() || nodes_[right].is_error()) return nodes_.error();
  if (nodes_[left].untyped() && nodes_[right].untyped())
    return nodes_.op(op, std::nullopt, {left, right}, span);
  if (!same_types(left, right, span, text)) return nodes_.error();
  return typed_operation(op, left, right, span, text);
}

NodeId Typing::unary(UnaryOp op, NodeId operand, Span span) {
  if (nodes_[operand].is_error()) return operand;
  if (op == UnaryOp::kNot) {
    operand = as_bool(operand, "the operand of `!`", false);
    if (nodes_[operand].is_error()) return operand;
    return nodes_.op(Opcode::kNot, ElementType::kBool, {operand}, span);
  }
  const Opcode code = op == UnaryOp::kNegate ? Opcode::kNeg : Opcode::kNot;
  if (op == UnaryOp::kNegate && nodes_[operand].kind == NodeKind::kLiteral)
    return nodes_.literal(negate(nodes_.literal_of(operand)), span);
  if (nodes_[operand].untyped()) return nodes_.op(code, std::nullopt, {operand}, span);
  if (op == UnaryOp::kComplement && nodes_[operand].is_bool()) {
    Diagnostic& d = instance_.report(DiagnosticId::kOperandType, span, "~", "bool");
    d.note("`!` negates a condition");
    return nodes_.error();
  }
  if (!check_operand(code, operand, span, spelling(op))) return nodes_.error();
  if (nodes_[operand].is_index() && nodes_[operand].kind == NodeKind::kIndex && op == UnaryOp::kNegate)
    return index_operation(Opcode::kSub, nodes_.index(instance_.kernel.index.constant(0), span), operand,
                           span);
  return nodes_.op(code, nodes_[operand].type, {operand}, span);
}

NodeId Typing::conditional(NodeId condition, NodeId if_true, NodeId if_false, Span span) {
  condition = as_bool(condition, "the condition of `?:`");
  if (nodes_[condition].is_error() || nodes_[if_true].is_error() || nodes_[if_false].is_error())
    return nodes_.error();
  if (nodes_[if_true].untyped() && nodes_[if_false].untyped())
    return nodes_.op(Opcode::kSelect, std::nullopt, {condition, if_true, if_false}, span);
  if (!same_types(if_true, if_false, span, "?:")) return nodes_.error();
  return nodes_.op(Opcode::kSelect, nodes_[if_true].type, {condition, if_true, if_false}, span);
}

NodeId Typing::call(tenon::FunctionId function, std::span<const NodeId> arguments, Span span) {
  const FunctionRow& row = tenon::row(function);
  if (std::ranges::any_of(arguments, [&](NodeId id) { return nodes_[id].is_error(); })) return nodes_.error();
  std::array<NodeId, 3> operands;
  std::copy(arguments.begin(), arguments.end(), operands.begin());
  // Literals take the type of whichever argument has one; the first pass finds it, the second gives it to the
  // others.
  for (int pass = 0; pass < 2; ++pass)
    for (size_t i = 1; i < arguments.size(); ++i)
      if (!same_types(operands[0], operands[i], span, row.name)) return nodes_.error();
  const bool of_floats = row.operands == FunctionOperands::kFloat;
  operands[0] = typed(operands[0], of_floats ? ElementType::kF32 : ElementType::kI32);
  if (nodes_[operands[0]].is_error()) return nodes_.error();
  const ElementType type = *nodes_[operands[0]].type;
  if (!tenon::accepts(function, type)) {
    Diagnostic& d = instance_.report(DiagnosticId::kOperandType, span, row.name, name(type));
    if (of_floats && (is_integer(type) || is_f8(type))) offer_cast(d, operands[0], ElementType::kF32);
    return nodes_.error();
  }
  if (type == ElementType::kF64 && !row.f64) {
    instance_.report(DiagnosticId::kNotBuiltF64Function, span, row.name);
    return nodes_.error();
  }
  const auto op = *ir::opcode_by_mnemonic(row.name);
  const ElementType result = row.result == FunctionResult::kBool ? ElementType::kBool : type;
  if (op == Opcode::kAbs && nodes_[operands[0]].kind == NodeKind::kIndex)
    return index_operation(Opcode::kMax, operands[0], unary(UnaryOp::kNegate, operands[0], span), span);
  switch (arguments.size()) {
    case 1:
      return nodes_.op(op, result, {operands[0]}, span);
    case 2:
      return nodes_.op(op, result, {operands[0], operands[1]}, span);
    default:
      return nodes_.op(op, result, {operands[0], operands[1], operands[2]}, span);
  }
}

NodeId Typing::cast(ElementType type, NodeId operand, Span span) {
  if (nodes_[operand].is_error()) return operand;
  if (nodes_[operand].untyped()) {
    const NodeId value = meet(operand, type);
    // Messages about it show the cast.
    if (nodes_[value].kind == NodeKind::kConstant) return nodes_.constant({type, nodes_[value].bits}, span);
    if (nodes_[value].kind == NodeKind::kIndex) return nodes_.index(nodes_[value].index, span);
    return value;
  }
  const ElementType from = *nodes_[operand].type;
  if (from == type) return operand;
  if (type != ElementType::kBool) return nodes_.cast(type, operand, span);
  // A number is true where it is not zero.
  LiteralValue zero;
  const NodeId typed_zero = meet(nodes_.literal(zero, span), from);
  return nodes_.op(Opcode::kNe, ElementType::kBool, {operand, typed_zero}, span);
}

NodeId Typing::widen(NodeId operand, Span span) {
  operand = typed(operand);
  if (nodes_[operand].is_error()) return operand;
  const ElementType from = *nodes_[operand].type;
  if (is_f8(from)) {
    instance_.report(DiagnosticId::kNotBuiltF8, span, name(from));
    return nodes_.error();
  }
  return widened(from) == from ? operand : nodes_.cast(widened(from), operand, span);
}

}  // namespace tenon::frontend
