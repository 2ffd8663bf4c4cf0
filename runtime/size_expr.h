// Expressions over the sizes of a launch: shapes, guards, grids, workspace. A flat postfix code, so that
// evaluation neither recurses nor allocates for ordinary sizes, and a program record can be copied, printed
// and stored.
#pragma once

#include <cstdint>
#include <optional>
#include <span>
#include <string>
#include <string_view>
#include <vector>

#include "support/ids.h"
#include "support/result.h"

namespace tenon::runtime {

struct Symbol;
using SymbolId = Id<Symbol>;

enum class SizeOp : uint8_t {
#define TENON_SIZE_OP(id, text, arity, precedence) k##id,
#include "runtime/size_ops.def"
};

struct SizeInstruction {
  SizeOp op = SizeOp::kConstant;
  // The value of kConstant, the index of the symbol of kSymbol, else 0.
  int64_t operand = 0;

  bool operator==(const SizeInstruction&) const = default;
};

// Wide enough that the product of two 64-bit sizes is exact.
using Int128 = __int128;

enum class SizeFault : uint8_t { kNone, kDivisionByZero, kOverflow };

// What an expression comes to: a value, or the reason why it has none.
struct SizeValue {
  Int128 value = 0;
  SizeFault fault = SizeFault::kNone;

  bool has_value() const { return fault == SizeFault::kNone; }
  // A condition holds if it has a value other than 0.
  bool holds() const { return has_value() && value != 0; }
  // The value where it is in range of int64_t.
  std::optional<int64_t> as_int64() const;
};

// Never empty: default-constructed it is the constant 0. Operations on constants are folded as they are
// built, unless that would fault.
class SizeExpr {
 public:
  SizeExpr() : code_{{SizeOp::kConstant, 0}} {}
  // Implicit, so that `n * 4` reads as it should.
  SizeExpr(int64_t value) : code_{{SizeOp::kConstant, value}} {}
  static SizeExpr symbol(SymbolId id) { return SizeExpr({{SizeOp::kSymbol, id.index()}}); }
  // The operand count must be the arity of `op`, which is neither kConstant nor kSymbol.
  static SizeExpr unary(SizeOp op, SizeExpr a);
  static SizeExpr binary(SizeOp op, SizeExpr a, const SizeExpr& b);
  static SizeExpr select(SizeExpr condition, const SizeExpr& a, const SizeExpr& b);
  // Checks a code from elsewhere: known operations, operands present, symbols below `symbol_count`.
  static Result<SizeExpr> from_code(std::vector<SizeInstruction> code, size_t symbol_count);

  std::span<const SizeInstruction> code() const { return code_; }
  // The value, where the expression is one constant.
  std::optional<int64_t> as_constant() const;
  // The symbol, where the expression is one symbol standing alone.
  std::optional<SymbolId> as_symbol() const;
  // Operands on the stack at the deepest point of an evaluation.
  size_t stack_depth() const;

  bool operator==(const SizeExpr&) const = default;

 private:
  // `code` followed by `op`; evaluated if all operands are constants.
  static SizeExpr folded(SizeOp op, std::vector<SizeInstruction> code, bool constant);
  explicit SizeExpr(std::vector<SizeInstruction> code) : code_(std::move(code)) {}

  std::vector<SizeInstruction> code_;
};

SizeExpr operator+(SizeExpr a, const SizeExpr& b);
SizeExpr operator-(SizeExpr a, const SizeExpr& b);
SizeExpr operator*(SizeExpr a, const SizeExpr& b);
SizeExpr floor_div(SizeExpr a, const SizeExpr& b);
SizeExpr floor_mod(SizeExpr a, const SizeExpr& b);
SizeExpr ceil_div(SizeExpr a, const SizeExpr& b);
// The number of elements of a shape; 1 for a scalar.
SizeExpr element_count(std::span<const SizeExpr> shape);

// `symbols[i]` is the value of the symbol with index i; every symbol of `expr` must be there. Exact: an
// intermediate beyond 128 bits is a fault, never a wrong value. A fault spreads to what uses it, except past
// &&, || and select.
SizeValue evaluate(const SizeExpr& expr, std::span<const Int128> symbols);

// Infix text as the source would have it, with as few parentheses as its grammar needs: "M * (N + 1) % 4 ==
// 0". `names[i]` is the name of the symbol with index i.
std::string to_text(const SizeExpr& expr, std::span<const std::string_view> names);

// Postfix tokens separated by spaces, symbols as `$index`: "$0 $1 1 + * 4 % 0 ==".
std::string to_postfix(const SizeExpr& expr);
Result<SizeExpr> parse_postfix(std::string_view text, size_t symbol_count);

std::string to_text(Int128 value);
// "division by zero", "a value beyond 128 bits".
std::string_view to_text(SizeFault fault);

}  // namespace tenon::runtime
