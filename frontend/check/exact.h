// Exact literals: arithmetic between them, and their value in the type that they meet.
#pragma once

#include <expected>
#include <optional>
#include <string>

#include "frontend/check/node.h"
#include "frontend/parse/ast.h"
#include "frontend/parse/exact_number.h"

namespace tenon::frontend {

// A number that has not met a type yet. Infinities and NaN, and a zero that was negated, have no exact value
// of their own.
struct LiteralValue {
  enum class Kind : uint8_t { kExact, kInfinity, kNan };
  Kind kind = Kind::kExact;
  ExactNumber value;
  // Of a zero or an infinity.
  bool negative = false;
  // Written with a point or an exponent, or computed from such a number: meets floats only.
  bool is_float = false;
};

// Why a literal cannot have the type it meets.
enum class LiteralMisfit : uint8_t {
  // 0.5 as an i32, inf as an index.
  kNotAnInteger,
  // 300 as a u8, -1 as a u32.
  kOutOfRange,
  // 16777217 as an f32: a whole number has to be exact.
  kNotExact,
  // 2e50 as an f32.
  kOverflow,
  // 1e-60 as an f32.
  kUnderflow,
  // 1 as a bool.
  kBool,
};

// The bits of the literal in `type`, rounded once to nearest even where it is a float with a point.
std::expected<ir::Constant, LiteralMisfit> to_constant(const LiteralValue& literal, ElementType type);

// The literal as an integer of 64 bits; empty if it is none.
std::optional<int64_t> to_integer(const LiteralValue& literal);

// What the operation gives exactly; empty where it has no exact value (a division by zero, infinities, NaN,
// or an operation of bits), so that it is done in the type that the result meets.
std::optional<LiteralValue> fold(BinaryOp op, const LiteralValue& a, const LiteralValue& b);
LiteralValue negate(const LiteralValue& a);

// More digits than any type can hold, so that chains of operations cannot exhaust memory.
bool too_large(const LiteralValue& literal);

// As a program would write it, shortened: "16777217", "0.1", "-inf".
std::string to_text(const LiteralValue& literal);

}  // namespace tenon::frontend
