#include "support/array.h"

#include <fmt/format.h>
#include <fmt/ranges.h>

#include <cstdlib>
#include <cstring>
#include <utility>

#include "support/check.h"
#include "support/numeric.h"

namespace tenon {
namespace {

using Bytes = const std::byte*;

// `T` at byte offset `at`, widened to 64 bits with its sign.
template <class T>
int64_t load(Bytes bytes, int64_t i) {
  T value;
  std::memcpy(&value, bytes + i * static_cast<int64_t>(sizeof(T)), sizeof(T));
  return static_cast<int64_t>(value);
}

int64_t load_integer(Bytes bytes, unsigned size, bool is_signed, int64_t i) {
  switch (size) {
    case 1:
      return is_signed ? load<int8_t>(bytes, i) : load<uint8_t>(bytes, i);
    case 2:
      return is_signed ? load<int16_t>(bytes, i) : load<uint16_t>(bytes, i);
    case 4:
      return is_signed ? load<int32_t>(bytes, i) : load<uint32_t>(bytes, i);
    default:
      return load<int64_t>(bytes, i);
  }
}

void store_bits(std::byte* bytes, unsigned size, int64_t i, uint64_t bits) {
  std::memcpy(bytes + i * static_cast<int64_t>(size), &bits, size);
}

template <class Signed>
uint64_t saturated(bool is_signed, double value) {
  if (is_signed) return static_cast<uint64_t>(int_from_float<Signed>(value));
  return int_from_float<std::make_unsigned_t<Signed>>(value);
}

uint64_t integer_bits_from_double(ElementType type, double value) {
  bool is_signed = tenon::is_signed(type);
  if (type == ElementType::kBool) return value != 0;
  if (type == ElementType::kIndex) return static_cast<uint64_t>(index_from_float(value));
  switch (byte_size(type)) {
    case 1:
      return saturated<int8_t>(is_signed, value);
    case 2:
      return saturated<int16_t>(is_signed, value);
    case 4:
      return saturated<int32_t>(is_signed, value);
    default:
      return saturated<int64_t>(is_signed, value);
  }
}

// One rounding; a detour through double would be a second one for large values.
uint64_t float_bits_from_int(ElementType type, int64_t value) {
  switch (type) {
    case ElementType::kF64:
      return encode_int<Float64>(value);
    case ElementType::kF32:
      return encode_int<Float32>(value);
    case ElementType::kF16:
      return encode_int<Float16>(value);
    case ElementType::kBF16:
      return encode_int<BFloat16>(value);
    // Beyond 2^53 these have long saturated.
    default:
      return float_bits(type, static_cast<double>(value));
  }
}

}  // namespace

Result<int64_t> checked_element_count(std::span<const int64_t> shape) {
  int64_t count = 1;
  bool overflow = false;
  bool empty = false;
  for (int64_t extent : shape) {
    if (extent < 0)
      return fail(ErrorKind::kRefused, fmt::format("the shape {} is negative", shape_text(shape)));
    empty |= extent == 0;
    overflow |= __builtin_mul_overflow(count, extent, &count);
  }
  if (empty) return 0;
  if (overflow)
    return fail(ErrorKind::kRefused, fmt::format("the shape {} has too many elements", shape_text(shape)));
  return count;
}

Result<int64_t> checked_byte_count(ElementType type, std::span<const int64_t> shape) {
  TENON_TRY_ASSIGN(int64_t count, checked_element_count(shape));
  if (__builtin_mul_overflow(count, static_cast<int64_t>(byte_size(type)), &count))
    return fail(ErrorKind::kRefused,
                fmt::format("a tensor {}{} has too many bytes", name(type), shape_text(shape)));
  return count;
}

std::string shape_text(std::span<const int64_t> shape) { return fmt::format("[{}]", fmt::join(shape, ", ")); }

void Array::Free::operator()(std::byte* bytes) const { std::free(bytes); }

Array::Array() : bytes_(static_cast<std::byte*>(std::calloc(1, sizeof(float)))) {
  TENON_CHECK(bytes_ != nullptr, "out of memory");
}

Array::Array(const Array& other) : type_(other.type_), shape_(other.shape_), count_(other.count_) {
  size_t size = other.byte_count();
  bytes_.reset(static_cast<std::byte*>(std::malloc(size == 0 ? 1 : size)));
  TENON_CHECK(bytes_ != nullptr, "out of memory");
  std::memcpy(bytes_.get(), other.bytes_.get(), size);
}

Array& Array::operator=(const Array& other) {
  if (this != &other) *this = Array(other);
  return *this;
}

Result<Array> Array::zeros(ElementType type, std::vector<int64_t> shape) {
  TENON_TRY_ASSIGN(int64_t size, checked_byte_count(type, shape));
  Array array;
  array.bytes_.reset(static_cast<std::byte*>(std::calloc(static_cast<size_t>(size == 0 ? 1 : size), 1)));
  if (array.bytes_ == nullptr)
    return fail(ErrorKind::kMachine,
                fmt::format("no memory for a tensor {}{} of {} bytes", name(type), shape_text(shape), size));
  array.type_ = type;
  array.count_ = size / byte_size(type);
  array.shape_ = std::move(shape);
  return array;
}

double Array::as_double(int64_t i) const {
  TENON_CHECK(i >= 0 && i < count_, "element outside of the tensor");
  uint64_t bits = static_cast<uint64_t>(load_integer(bytes_.get(), byte_size(type_), is_signed(type_), i));
  switch (kind(type_)) {
    case ElementKind::kFloat:
      return float_value(type_, bits);
    case ElementKind::kSigned:
      return static_cast<double>(static_cast<int64_t>(bits));
    case ElementKind::kUnsigned:
      return static_cast<double>(bits);
    case ElementKind::kBool:
      return bits != 0;
  }
  TENON_UNREACHABLE("element kind");
}

int64_t Array::as_int64(int64_t i) const {
  if (is_float(type_)) return int_from_float<int64_t>(as_double(i));
  TENON_CHECK(i >= 0 && i < count_, "element outside of the tensor");
  int64_t value = load_integer(bytes_.get(), byte_size(type_), is_signed(type_), i);
  return type_ == ElementType::kBool ? value != 0 : value;
}

void Array::set_double(int64_t i, double value) {
  TENON_CHECK(i >= 0 && i < count_, "element outside of the tensor");
  uint64_t bits = is_float(type_) ? float_bits(type_, value) : integer_bits_from_double(type_, value);
  store_bits(bytes_.get(), byte_size(type_), i, bits);
}

void Array::set_int64(int64_t i, int64_t value) {
  TENON_CHECK(i >= 0 && i < count_, "element outside of the tensor");
  uint64_t bits = static_cast<uint64_t>(value);
  if (is_float(type_)) bits = float_bits_from_int(type_, value);
  if (type_ == ElementType::kBool) bits = value != 0;
  store_bits(bytes_.get(), byte_size(type_), i, bits);
}

void Array::reshape(std::vector<int64_t> shape) {
  Result<int64_t> count = checked_element_count(shape);
  TENON_CHECK(count && *count == count_, "reshape changes the number of elements");
  shape_ = std::move(shape);
}

void Array::reinterpret(ElementType type) {
  TENON_CHECK(byte_size(type) == byte_size(type_), "reinterpret changes the width");
  type_ = type;
}

bool same_values(const Array& a, const Array& b) {
  if (a.type() != b.type() || a.shape() != b.shape()) return false;
  if (!std::memcmp(a.bytes().data(), b.bytes().data(), a.bytes().size())) return true;
  unsigned size = byte_size(a.type());
  for (int64_t i = 0; i < a.element_count(); ++i) {
    if (!std::memcmp(a.bytes().data() + i * size, b.bytes().data() + i * size, size)) continue;
    double x = a.as_double(i);
    double y = b.as_double(i);
    if (!is_float(a.type()) || x == x || y == y) return false;
  }
  return true;
}

}  // namespace tenon
