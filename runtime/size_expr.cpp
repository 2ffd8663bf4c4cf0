#include "runtime/size_expr.h"

#include <algorithm>
#include <array>
#include <bit>
#include <charconv>
#include <iterator>
#include <utility>

#include "support/check.h"

namespace tenon::runtime {
namespace {

struct OpRow {
  std::string_view text;
  unsigned arity;
  int precedence;
};

constexpr std::array kOps = {
#define TENON_SIZE_OP(id, text, arity, precedence) OpRow{text, arity, precedence},
#include "runtime/size_ops.def"
};

constexpr int kUnaryPrecedence = 10;
constexpr int kLeafPrecedence = 11;
constexpr Int128 kLeast = static_cast<Int128>(1) << 127;

const OpRow& row(SizeOp op) { return kOps[static_cast<size_t>(op)]; }

constexpr SizeValue overflow() { return {0, SizeFault::kOverflow}; }
constexpr SizeValue division_by_zero() { return {0, SizeFault::kDivisionByZero}; }

SizeValue truncating_division(Int128 a, Int128 b) {
  if (b == 0) return division_by_zero();
  if (a == kLeast && b == -1) return overflow();
  return {a / b};
}

SizeValue truncating_remainder(Int128 a, Int128 b) {
  if (b == 0) return division_by_zero();
  return {b == -1 ? 0 : a % b};
}

SizeValue floor_division(Int128 a, Int128 b) {
  SizeValue quotient = truncating_division(a, b);
  if (quotient.has_value() && a % b != 0 && (a < 0) != (b < 0)) --quotient.value;
  return quotient;
}

SizeValue floor_remainder(Int128 a, Int128 b) {
  SizeValue remainder = truncating_remainder(a, b);
  if (remainder.value != 0 && (remainder.value < 0) != (b < 0)) remainder.value += b;
  return remainder;
}

SizeValue ceiling_division(Int128 a, Int128 b) {
  SizeValue quotient = truncating_division(a, b);
  if (quotient.has_value() && a % b != 0 && (a < 0) == (b < 0)) ++quotient.value;
  return quotient;
}

SizeValue shift_left(Int128 a, Int128 count) {
  if (count < 0 || count >= 64) return {0};
  Int128 result;
  if (__builtin_mul_overflow(a, static_cast<Int128>(1) << static_cast<int>(count), &result))
    return overflow();
  return {result};
}

SizeValue shift_right(Int128 a, Int128 count) {
  return {a >> (count < 0 || count >= 64 ? 127 : static_cast<int>(count))};
}

// A count on the 64-bit pattern of `a`.
template <class Count>
SizeValue count_bits(Int128 a, Count count) {
  std::optional<int64_t> bits = SizeValue{a}.as_int64();
  return bits ? SizeValue{count(static_cast<uint64_t>(*bits))} : overflow();
}

SizeValue apply_unary(SizeOp op, Int128 a) {
  switch (op) {
    case SizeOp::kAbs:
      return a == kLeast ? overflow() : SizeValue{a < 0 ? -a : a};
    case SizeOp::kNeg:
      return a == kLeast ? overflow() : SizeValue{-a};
    case SizeOp::kBitNot:
      return {~a};
    case SizeOp::kNot:
      return {a == 0};
    case SizeOp::kPopcount:
      return count_bits(a, [](uint64_t bits) { return std::popcount(bits); });
    case SizeOp::kCountLeadingZeros:
      return count_bits(a, [](uint64_t bits) { return std::countl_zero(bits); });
    default:
      TENON_UNREACHABLE("not a unary size operation");
  }
}

SizeValue apply_binary(SizeOp op, Int128 a, Int128 b) {
  Int128 result;
  switch (op) {
    case SizeOp::kAdd:
      return __builtin_add_overflow(a, b, &result) ? overflow() : SizeValue{result};
    case SizeOp::kSub:
      return __builtin_sub_overflow(a, b, &result) ? overflow() : SizeValue{result};
    case SizeOp::kMul:
      return __builtin_mul_overflow(a, b, &result) ? overflow() : SizeValue{result};
    case SizeOp::kFloorDiv:
      return floor_division(a, b);
    case SizeOp::kFloorMod:
      return floor_remainder(a, b);
    case SizeOp::kCeilDiv:
      return ceiling_division(a, b);
    case SizeOp::kTruncDiv:
      return truncating_division(a, b);
    case SizeOp::kTruncMod:
      return truncating_remainder(a, b);
    case SizeOp::kMin:
      return {std::min(a, b)};
    case SizeOp::kMax:
      return {std::max(a, b)};
    case SizeOp::kBitAnd:
      return {a & b};
    case SizeOp::kBitXor:
      return {a ^ b};
    case SizeOp::kBitOr:
      return {a | b};
    case SizeOp::kShiftLeft:
      return shift_left(a, b);
    case SizeOp::kShiftRight:
      return shift_right(a, b);
    case SizeOp::kEqual:
      return {a == b};
    case SizeOp::kNotEqual:
      return {a != b};
    case SizeOp::kLess:
      return {a < b};
    case SizeOp::kLessEqual:
      return {a <= b};
    case SizeOp::kGreater:
      return {a > b};
    case SizeOp::kGreaterEqual:
      return {a >= b};
    default:
      TENON_UNREACHABLE("not a binary size operation");
  }
}

// && and ||: the left operand decides alone where its value is `decisive`.
SizeValue apply_logic(const SizeValue& a, const SizeValue& b, bool decisive) {
  if (!a.has_value()) return a;
  if ((a.value != 0) == decisive) return {decisive};
  return b.has_value() ? SizeValue{b.value != 0} : b;
}

SizeValue apply(SizeOp op, const SizeValue* operands) {
  const SizeValue& a = operands[0];
  if (row(op).arity == 1) return a.has_value() ? apply_unary(op, a.value) : a;
  const SizeValue& b = operands[1];
  switch (op) {
    case SizeOp::kAnd:
      return apply_logic(a, b, false);
    case SizeOp::kOr:
      return apply_logic(a, b, true);
    case SizeOp::kSelect:
      return !a.has_value() ? a : a.value != 0 ? b : operands[2];
    default:
      if (!a.has_value()) return a;
      return b.has_value() ? apply_binary(op, a.value, b.value) : b;
  }
}

// The stack depth that `code` needs, or nothing where it is not one complete expression.
std::optional<size_t> depth_of(std::span<const SizeInstruction> code) {
  size_t depth = 0;
  size_t deepest = 0;
  for (const SizeInstruction& instruction : code) {
    if (static_cast<size_t>(instruction.op) >= kOps.size()) return std::nullopt;
    unsigned arity = row(instruction.op).arity;
    if (depth < arity) return std::nullopt;
    depth = depth - arity + 1;
    deepest = std::max(deepest, depth);
  }
  return depth == 1 ? std::optional(deepest) : std::nullopt;
}

SizeValue run(std::span<const SizeInstruction> code, std::span<const Int128> symbols, SizeValue* stack) {
  SizeValue* top = stack;
  for (const SizeInstruction& instruction : code) {
    if (instruction.op == SizeOp::kConstant) {
      *top++ = {instruction.operand};
    } else if (instruction.op == SizeOp::kSymbol) {
      *top++ = {symbols[static_cast<size_t>(instruction.operand)]};
    } else {
      top -= row(instruction.op).arity;
      *top = apply(instruction.op, top);
      ++top;
    }
  }
  return *stack;
}

}  // namespace

std::optional<int64_t> SizeValue::as_int64() const {
  if (!has_value() || value < INT64_MIN || value > INT64_MAX) return std::nullopt;
  return static_cast<int64_t>(value);
}

SizeExpr SizeExpr::folded(SizeOp op, std::vector<SizeInstruction> code, bool constant) {
  code.push_back({op});
  SizeExpr result(std::move(code));
  if (!constant) return result;
  std::optional<int64_t> value = evaluate(result, {}).as_int64();
  return value ? SizeExpr(*value) : result;
}

SizeExpr SizeExpr::unary(SizeOp op, SizeExpr a) {
  TENON_CHECK(row(op).arity == 1, "a unary size operation takes one operand");
  bool constant = a.as_constant().has_value();
  return folded(op, std::move(a.code_), constant);
}

SizeExpr SizeExpr::binary(SizeOp op, SizeExpr a, const SizeExpr& b) {
  TENON_CHECK(row(op).arity == 2, "a binary size operation takes two operands");
  bool constant = a.as_constant() && b.as_constant();
  a.code_.insert(a.code_.end(), b.code_.begin(), b.code_.end());
  return folded(op, std::move(a.code_), constant);
}

SizeExpr SizeExpr::select(SizeExpr condition, const SizeExpr& a, const SizeExpr& b) {
  if (std::optional<int64_t> known = condition.as_constant()) return *known != 0 ? a : b;
  condition.code_.insert(condition.code_.end(), a.code_.begin(), a.code_.end());
  condition.code_.insert(condition.code_.end(), b.code_.begin(), b.code_.end());
  return folded(SizeOp::kSelect, std::move(condition.code_), false);
}

Result<SizeExpr> SizeExpr::from_code(std::vector<SizeInstruction> code, size_t symbol_count) {
  if (!depth_of(code)) return fail(ErrorKind::kFile, "a size expression is not complete");
  for (const SizeInstruction& instruction : code) {
    bool known = instruction.operand >= 0 && static_cast<uint64_t>(instruction.operand) < symbol_count;
    if (instruction.op == SizeOp::kSymbol && !known)
      return fail(ErrorKind::kFile, "a size expression names a symbol that does not exist");
  }
  return SizeExpr(std::move(code));
}

std::optional<int64_t> SizeExpr::as_constant() const {
  if (code_.size() != 1 || code_[0].op != SizeOp::kConstant) return std::nullopt;
  return code_[0].operand;
}

std::optional<SymbolId> SizeExpr::as_symbol() const {
  if (code_.size() != 1 || code_[0].op != SizeOp::kSymbol) return std::nullopt;
  return SymbolId(static_cast<uint32_t>(code_[0].operand));
}

size_t SizeExpr::stack_depth() const { return depth_of(code_).value_or(0); }

SizeExpr operator+(SizeExpr a, const SizeExpr& b) { return SizeExpr::binary(SizeOp::kAdd, std::move(a), b); }
SizeExpr operator-(SizeExpr a, const SizeExpr& b) { return SizeExpr::binary(SizeOp::kSub, std::move(a), b); }
SizeExpr operator*(SizeExpr a, const SizeExpr& b) { return SizeExpr::binary(SizeOp::kMul, std::move(a), b); }
SizeExpr floor_div(SizeExpr a, const SizeExpr& b) {
  return SizeExpr::binary(SizeOp::kFloorDiv, std::move(a), b);
}
SizeExpr floor_mod(SizeExpr a, const SizeExpr& b) {
  return SizeExpr::binary(SizeOp::kFloorMod, std::move(a), b);
}
SizeExpr ceil_div(SizeExpr a, const SizeExpr& b) {
  return SizeExpr::binary(SizeOp::kCeilDiv, std::move(a), b);
}

SizeExpr element_count(std::span<const SizeExpr> shape) {
  if (shape.empty()) return 1;
  SizeExpr count = shape[0];
  for (const SizeExpr& extent : shape.subspan(1)) count = std::move(count) * extent;
  return count;
}

SizeValue evaluate(const SizeExpr& expr, std::span<const Int128> symbols) {
  std::array<SizeValue, 16> small;
  size_t depth = expr.stack_depth();
  if (depth <= small.size()) return run(expr.code(), symbols, small.data());
  std::vector<SizeValue> large(depth);
  return run(expr.code(), symbols, large.data());
}

namespace {

struct Printed {
  std::string text;
  int precedence;
};

void append_wrapped(std::string& out, const Printed& operand, int least_precedence) {
  bool wrap = operand.precedence < least_precedence;
  if (wrap) out += '(';
  out += operand.text;
  if (wrap) out += ')';
}

Printed print_leaf(const SizeInstruction& instruction, std::span<const std::string_view> names) {
  if (instruction.op == SizeOp::kSymbol)
    return {std::string(names[static_cast<size_t>(instruction.operand)]), kLeafPrecedence};
  return {std::to_string(instruction.operand), instruction.operand < 0 ? kUnaryPrecedence : kLeafPrecedence};
}

Printed print_call(SizeOp op, std::span<const Printed> operands) {
  std::string text = std::string(row(op).text) + '(';
  for (size_t i = 0; i < operands.size(); ++i) text += (i == 0 ? "" : ", ") + operands[i].text;
  return {text + ')', kLeafPrecedence};
}

Printed print_unary(SizeOp op, const Printed& operand) {
  std::string text(op == SizeOp::kNeg ? "-" : row(op).text);
  append_wrapped(text, operand, kUnaryPrecedence);
  return {std::move(text), kUnaryPrecedence};
}

// Takes the left text over, so that a chain of n operations costs n steps.
Printed print_binary(SizeOp op, Printed& left, const Printed& right) {
  int precedence = row(op).precedence;
  bool chains = precedence != row(SizeOp::kEqual).precedence;
  std::string text;
  if (left.precedence < (chains ? precedence : precedence + 1)) {
    append_wrapped(text, left, kLeafPrecedence);
  } else {
    text = std::move(left.text);
  }
  bool subtracts = op == SizeOp::kAdd && right.precedence == kUnaryPrecedence && right.text.starts_with('-');
  text += ' ';
  text += subtracts ? "-" : row(op).text;
  text += ' ';
  if (subtracts) {
    text.append(right.text, 1);
  } else {
    append_wrapped(text, right, precedence + 1);
  }
  return {std::move(text), precedence};
}

}  // namespace

std::string to_text(const SizeExpr& expr, std::span<const std::string_view> names) {
  std::vector<Printed> stack;
  for (const SizeInstruction& instruction : expr.code()) {
    unsigned arity = row(instruction.op).arity;
    std::span<Printed> operands = std::span(stack).last(arity);
    Printed result;
    if (arity == 0) {
      result = print_leaf(instruction, names);
    } else if (row(instruction.op).precedence == 0) {
      result = print_call(instruction.op, operands);
    } else if (arity == 1) {
      result = print_unary(instruction.op, operands[0]);
    } else {
      result = print_binary(instruction.op, operands[0], operands[1]);
    }
    stack.resize(stack.size() - arity);
    stack.push_back(std::move(result));
  }
  return std::move(stack.front().text);
}

std::string to_postfix(const SizeExpr& expr) {
  std::string text;
  for (const SizeInstruction& instruction : expr.code()) {
    if (!text.empty()) text += ' ';
    text += row(instruction.op).text;
    if (row(instruction.op).arity == 0) text += std::to_string(instruction.operand);
  }
  return text;
}

namespace {

Result<SizeInstruction> parse_token(std::string_view token) {
  for (size_t i = 0; i < kOps.size(); ++i)
    if (kOps[i].arity > 0 && kOps[i].text == token) return SizeInstruction{static_cast<SizeOp>(i)};
  SizeInstruction leaf{token.starts_with('$') ? SizeOp::kSymbol : SizeOp::kConstant};
  std::string_view digits = leaf.op == SizeOp::kSymbol ? token.substr(1) : token;
  auto [end, error] = std::from_chars(digits.data(), digits.data() + digits.size(), leaf.operand);
  if (error != std::errc() || end != digits.data() + digits.size())
    return fail(ErrorKind::kFile,
                "unknown token '" + std::string(token.substr(0, 40)) + "' in a size expression");
  return leaf;
}

}  // namespace

Result<SizeExpr> parse_postfix(std::string_view text, size_t symbol_count) {
  std::vector<SizeInstruction> code;
  while (!text.empty()) {
    size_t end = std::min(text.find(' '), text.size());
    TENON_TRY_ASSIGN(SizeInstruction instruction, parse_token(text.substr(0, end)));
    code.push_back(instruction);
    text.remove_prefix(std::min(end + 1, text.size()));
  }
  return SizeExpr::from_code(std::move(code), symbol_count);
}

std::string to_text(Int128 value) {
  bool negative = value < 0;
  unsigned __int128 magnitude =
      negative ? -static_cast<unsigned __int128>(value) : static_cast<unsigned __int128>(value);
  std::string digits;
  do {
    digits.insert(digits.begin(), static_cast<char>('0' + static_cast<int>(magnitude % 10)));
    magnitude /= 10;
  } while (magnitude != 0);
  return negative ? "-" + digits : digits;
}

std::string_view to_text(SizeFault fault) {
  switch (fault) {
    case SizeFault::kNone:
      return "no fault";
    case SizeFault::kDivisionByZero:
      return "division by zero";
    case SizeFault::kOverflow:
      return "a value beyond 128 bits";
  }
  TENON_UNREACHABLE("unknown fault");
}

}  // namespace tenon::runtime
