// A tensor on the host: element type, shape, and its elements, contiguous and row-major, in the byte order of
// the machine (little endian). Files, the interpreters, the runtime and the command exchange tensors in this
// form.
#pragma once

#include <cstddef>
#include <cstdint>
#include <memory>
#include <span>
#include <string>
#include <vector>

#include "support/element_type.h"
#include "support/result.h"

namespace tenon {

// The product of the extents; 1 for a scalar. Fails where an extent is negative or the product exceeds
// 2^63-1. An extent of 0 gives 0, however large the others are.
Result<int64_t> checked_element_count(std::span<const int64_t> shape);

// The bytes of a contiguous tensor, with the same failures.
Result<int64_t> checked_byte_count(ElementType type, std::span<const int64_t> shape);

// "[3, 4]"; "[]" for a scalar.
std::string shape_text(std::span<const int64_t> shape);

class Array {
 public:
  // An f32 scalar of value 0.
  Array();
  Array(const Array& other);
  Array& operator=(const Array& other);
  Array(Array&&) noexcept = default;
  Array& operator=(Array&&) noexcept = default;

  // All zeros. Fails where the size overflows (kRefused) or the machine has no such memory (kMachine).
  static Result<Array> zeros(ElementType type, std::vector<int64_t> shape);

  ElementType type() const { return type_; }
  const std::vector<int64_t>& shape() const { return shape_; }
  size_t rank() const { return shape_.size(); }
  int64_t extent(size_t axis) const { return shape_[axis]; }
  int64_t element_count() const { return count_; }

  std::span<std::byte> bytes() { return {bytes_.get(), byte_count()}; }
  std::span<const std::byte> bytes() const { return {bytes_.get(), byte_count()}; }

  // The elements as the C++ type that has the layout of type(): float for f32, uint16_t for f16 and bf16.
  template <class T>
  std::span<T> as() {
    return {reinterpret_cast<T*>(bytes_.get()), byte_count() / sizeof(T)};
  }
  template <class T>
  std::span<const T> as() const {
    return {reinterpret_cast<const T*>(bytes_.get()), byte_count() / sizeof(T)};
  }

  // Element `i` in row-major order. Exact for every type but the 64-bit integers.
  double as_double(int64_t i) const;
  // Element `i` of an integer or bool tensor, exact but for u64 above 2^63-1, which wraps; floats convert as
  // by the language (truncation, saturation, NaN gives 0).
  int64_t as_int64(int64_t i) const;
  // Stores after conversion by the rules of the language: floats round to nearest even, f8 saturates; to
  // integers truncation, saturation, NaN gives 0; a bool is "not 0".
  void set_double(int64_t i, double value);
  // Stores after conversion: integers wrap, floats round once, a bool is "not 0".
  void set_int64(int64_t i, int64_t value);

  // The same elements under another shape of the same count; checked.
  void reshape(std::vector<int64_t> shape);
  // The same bytes under another type of the same width; checked. (i64 and index, u8 and f8e4m3.)
  void reinterpret(ElementType type);

 private:
  struct Free {
    void operator()(std::byte* bytes) const;
  };

  size_t byte_count() const { return static_cast<size_t>(count_) * byte_size(type_); }

  ElementType type_ = ElementType::kF32;
  std::vector<int64_t> shape_;
  int64_t count_ = 1;
  std::unique_ptr<std::byte[], Free> bytes_;
};

// Same type, shape and bytes, except that a NaN equals every NaN.
bool same_values(const Array& a, const Array& b);

}  // namespace tenon
