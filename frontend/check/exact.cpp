#include "frontend/check/exact.h"

#include <fmt/format.h>

#include <cmath>

#include "support/float_formats.h"

namespace tenon::frontend {
namespace {

using boost::multiprecision::cpp_int;

constexpr unsigned kMaxLiteralBits = 16'384;

bool is_zero(const LiteralValue& literal) {
  return literal.kind == LiteralValue::Kind::kExact && literal.value == 0;
}

bool is_whole(const ExactNumber& value) { return denominator(value) == 1; }

// |value| cut to 64 significant bits, the lowest of which is set where something was cut off.
struct Significand {
  uint64_t bits = 0;
  int exponent = 0;
};

Significand significand_of(const ExactNumber& value) {
  const cpp_int top = abs(numerator(value));
  const cpp_int bottom = denominator(value);
  int shift = 65 - (static_cast<int>(msb(top)) - static_cast<int>(msb(bottom)));
  const cpp_int scaled_top = shift > 0 ? top << static_cast<unsigned>(shift) : top;
  const cpp_int scaled_bottom = shift < 0 ? bottom << static_cast<unsigned>(-shift) : bottom;
  cpp_int quotient;
  cpp_int remainder;
  divide_qr(scaled_top, scaled_bottom, quotient, remainder);
  // The quotient has 65 or 66 bits.
  const unsigned excess = static_cast<unsigned>(msb(quotient)) - 63;
  const cpp_int kept = quotient >> excess;
  const bool cut = remainder != 0 || (kept << excess) != quotient;
  return {kept.convert_to<uint64_t>() | (cut ? 1u : 0u), static_cast<int>(excess) - shift};
}

template <class Format>
uint64_t encode_exact(const LiteralValue& literal) {
  const uint64_t sign = uint64_t{1} << (Format::kBits - 1);
  if (literal.kind == LiteralValue::Kind::kNan) return Format::kNan;
  // A format without infinities saturates.
  constexpr uint64_t kLargest = Format::kInfinity == Format::kNan ? Format::kMaxFinite : Format::kInfinity;
  if (literal.kind == LiteralValue::Kind::kInfinity) return kLargest | (literal.negative ? sign : 0);
  if (literal.value == 0) return literal.negative ? sign : 0;
  const Significand significand = significand_of(literal.value);
  return encode_significand<Format>(literal.value < 0, significand.bits, significand.exponent,
                                    Rounding::kNearestEven);
}

uint64_t encode_as(const LiteralValue& literal, ElementType type) {
  return with_float_format(type, [&]<class Format>(Format) { return encode_exact<Format>(literal); });
}

struct FloatShape {
  int fraction_bits;
  int least_exponent;
  uint64_t infinity;
};

FloatShape float_shape(ElementType type) {
  return with_float_format(type, []<class Format>(Format) -> FloatShape {
    return {Format::kFractionBits, Format::kMinExponent - Format::kFractionBits, Format::kInfinity};
  });
}

// Whether a whole number fits the fraction of the type; that it does not overflow is seen elsewhere.
bool exact_in(const ExactNumber& value, ElementType type) {
  if (value == 0) return true;
  const cpp_int magnitude = abs(numerator(value));
  return static_cast<int>(msb(magnitude)) - static_cast<int>(lsb(magnitude)) <=
         float_shape(type).fraction_bits;
}

std::expected<ir::Constant, LiteralMisfit> float_constant(const LiteralValue& literal, ElementType type) {
  const uint64_t bits = encode_as(literal, type);
  if (literal.kind != LiteralValue::Kind::kExact) return ir::Constant{type, bits};
  const uint64_t magnitude = bits & ((uint64_t{1} << (bit_width(type) - 1)) - 1);
  if (magnitude >= float_shape(type).infinity) return std::unexpected(LiteralMisfit::kOverflow);
  const bool whole = !literal.is_float && is_whole(literal.value);
  if (whole && !exact_in(literal.value, type)) return std::unexpected(LiteralMisfit::kNotExact);
  if (magnitude == 0 && literal.value != 0) return std::unexpected(LiteralMisfit::kUnderflow);
  return ir::Constant{type, bits};
}

std::expected<ir::Constant, LiteralMisfit> integer_constant(const LiteralValue& literal, ElementType type) {
  if (literal.kind != LiteralValue::Kind::kExact || literal.is_float || !is_whole(literal.value))
    return std::unexpected(LiteralMisfit::kNotAnInteger);
  const cpp_int value = numerator(literal.value);
  const unsigned width = bit_width(type);
  const cpp_int end = cpp_int(1) << (is_signed(type) ? width - 1 : width);
  const cpp_int least = is_signed(type) ? cpp_int(-end) : cpp_int(0);
  if (value < least || value >= end) return std::unexpected(LiteralMisfit::kOutOfRange);
  const uint64_t mask = width == 64 ? ~uint64_t{0} : (uint64_t{1} << width) - 1;
  const uint64_t magnitude = static_cast<cpp_int>(abs(value)).convert_to<uint64_t>();
  return ir::Constant{type, (value < 0 ? ~magnitude + 1 : magnitude) & mask};
}

}  // namespace

std::expected<ir::Constant, LiteralMisfit> to_constant(const LiteralValue& literal, ElementType type) {
  if (type == ElementType::kBool) return std::unexpected(LiteralMisfit::kBool);
  return is_float(type) ? float_constant(literal, type) : integer_constant(literal, type);
}

std::optional<int64_t> to_integer(const LiteralValue& literal) {
  auto constant = integer_constant(literal, ElementType::kI64);
  if (!constant) return std::nullopt;
  return static_cast<int64_t>(constant->bits);
}

std::optional<LiteralValue> fold(BinaryOp op, const LiteralValue& a, const LiteralValue& b) {
  if (a.kind != LiteralValue::Kind::kExact || b.kind != LiteralValue::Kind::kExact) return std::nullopt;
  LiteralValue result;
  result.is_float = a.is_float || b.is_float;
  switch (op) {
    case BinaryOp::kAdd:
      result.value = a.value + b.value;
      result.negative = is_zero(a) && is_zero(b) && a.negative && b.negative;
      return result;
    case BinaryOp::kSubtract:
      result.value = a.value - b.value;
      result.negative = is_zero(a) && is_zero(b) && a.negative && !b.negative;
      return result;
    case BinaryOp::kMultiply:
    case BinaryOp::kDivide: {
      if (op == BinaryOp::kDivide && b.value == 0) return std::nullopt;
      result.value =
          op == BinaryOp::kMultiply ? ExactNumber(a.value * b.value) : ExactNumber(a.value / b.value);
      const bool a_negative = a.negative || a.value < 0;
      const bool b_negative = b.negative || b.value < 0;
      result.negative = result.value == 0 && a_negative != b_negative;
      return result;
    }
    default:
      return std::nullopt;
  }
}

LiteralValue negate(const LiteralValue& a) {
  LiteralValue result = a;
  result.value = -a.value;
  if (a.kind == LiteralValue::Kind::kInfinity || is_zero(a)) result.negative = !a.negative;
  return result;
}

bool too_large(const LiteralValue& literal) {
  if (literal.kind != LiteralValue::Kind::kExact || literal.value == 0) return false;
  const cpp_int top = abs(numerator(literal.value));
  return msb(top) > kMaxLiteralBits || msb(denominator(literal.value)) > kMaxLiteralBits;
}

std::string to_text(const LiteralValue& literal) {
  if (literal.kind == LiteralValue::Kind::kNan) return "nan";
  if (literal.kind == LiteralValue::Kind::kInfinity) return literal.negative ? "-inf" : "inf";
  const std::string_view point = literal.is_float ? ".0" : "";
  if (literal.value == 0) return fmt::format("{}0{}", literal.negative ? "-" : "", point);
  constexpr size_t kMaxDigits = 24;
  if (is_whole(literal.value) && msb(cpp_int(abs(numerator(literal.value)))) < 80)
    return fmt::format("{}{}", numerator(literal.value).str(), point);
  const Significand significand = significand_of(literal.value);
  const double value = std::ldexp(static_cast<double>(significand.bits), significand.exponent);
  std::string text = value != 0 && std::isfinite(value)
                         ? fmt::format("{}{:.6g}", literal.value < 0 ? "-" : "", value)
                         : literal.value.str();
  if (text.size() > kMaxDigits) text = text.substr(0, kMaxDigits) + "...";
  return text;
}

}  // namespace tenon::frontend
