#include "support/numeric.h"

#include "support/check.h"

namespace tenon {

double float_value(ElementType type, uint64_t bits) {
  switch (type) {
    case ElementType::kF64:
      return std::bit_cast<double>(bits);
    case ElementType::kF32:
      return std::bit_cast<float>(static_cast<uint32_t>(bits));
    case ElementType::kF16:
      return f32_from_f16(static_cast<uint16_t>(bits));
    case ElementType::kBF16:
      return f32_from_bf16(static_cast<uint16_t>(bits));
    case ElementType::kF8E4M3:
      return f32_from_f8e4m3(static_cast<uint8_t>(bits));
    case ElementType::kF8E5M2:
      return f32_from_f8e5m2(static_cast<uint8_t>(bits));
    default:
      TENON_UNREACHABLE("not a floating-point type");
  }
}

uint64_t float_bits(ElementType type, double value) {
  constexpr Rounding kNearest = Rounding::kNearestEven;
  switch (type) {
    case ElementType::kF64:
      return std::bit_cast<uint64_t>(value);
    case ElementType::kF32:
      return std::bit_cast<uint32_t>(static_cast<float>(value));
    case ElementType::kF16:
      return encode<Float16>(value);
    case ElementType::kBF16:
      return encode<BFloat16>(value);
    case ElementType::kF8E4M3:
      return encode<Float8E4M3>(value, kNearest, Overflow::kSaturate);
    case ElementType::kF8E5M2:
      return encode<Float8E5M2>(value, kNearest, Overflow::kSaturate);
    default:
      TENON_UNREACHABLE("not a floating-point type");
  }
}

}  // namespace tenon
