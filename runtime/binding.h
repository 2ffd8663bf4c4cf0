// From a launch's arguments to the sizes they mean, with every check that a launch needs. Knows no device:
// addresses are numbers here.
#pragma once

#include <array>
#include <cstddef>
#include <cstdint>
#include <cstring>
#include <span>
#include <string>
#include <vector>

#include "runtime/driver_types.h"
#include "runtime/program.h"
#include "support/element_type.h"
#include "support/result.h"

namespace tenon::runtime {

// What a caller brings for one parameter.
struct LaunchArgument {
  enum class Kind : uint8_t { kAbsent, kBuffer, kScalar };

  Kind kind = Kind::kAbsent;
  ElementType type = ElementType::kF32;
  // kBuffer: a device address; anything where the tensor is empty.
  CUdeviceptr address = 0;
  // kBuffer: elements an axis.
  std::vector<int64_t> shape;
  // kScalar: the value's bytes, little endian, from the front.
  std::array<std::byte, 8> scalar{};

  static LaunchArgument absent() { return {}; }
  static LaunchArgument buffer(CUdeviceptr address, ElementType type, std::vector<int64_t> shape);
  // `bytes` holds byte_size(type) bytes.
  static LaunchArgument scalar_bytes(ElementType type, std::span<const std::byte> bytes);
  // `value` has the layout of `type`: float for f32, uint16_t for f16.
  template <class T>
  static LaunchArgument scalar_value(ElementType type, T value) {
    static_assert(sizeof(T) <= 8);
    return scalar_bytes(type, std::as_bytes(std::span(&value, 1)));
  }
};

// A dimension that stands alone in no shape, or that the caller wants to state.
struct NamedSize {
  std::string name;
  int64_t value = 0;
};

struct Binding {
  // By symbol index.
  std::vector<Int128> symbols;
  // By parameter index: elements an axis, and bytes in all. Scalars by value have no axes.
  std::vector<std::vector<int64_t>> shapes;
  std::vector<int64_t> bytes;
};

// Binds every symbol and checks, in this order: that there is an argument for each parameter, of its kind,
// type and rank (i64 and index are one type here); that the sizes agree with each other, with those given by
// name and with those fixed when compiling; the clauses; that every shape is what its expressions say, is not
// negative, and has a size in bytes below 2^63. Results may be absent: their shapes come out of it, so that a
// caller can allocate them. Errors are kRefused, or kUsage for a size name that does not exist.
Result<Binding> bind_arguments(const Program& program, std::span<const LaunchArgument> arguments,
                               std::span<const NamedSize> sizes);

// What is left to check once every buffer has an address: that none is missing or null, each is aligned to
// its elements, and no result or inout shares a byte with another parameter.
Result<void> check_addresses(const Program& program, const Binding& binding,
                             std::span<const LaunchArgument> arguments);

// "M = 3, N = 4": the symbols that stand in `expr`, in order of appearance, with their values.
std::string values_text(const Program& program, const SizeExpr& expr, std::span<const Int128> symbols);

// An Error of kind kRefused whose message opens with the kernel's name.
std::unexpected<Error> refuse(const Program& program, const std::string& reason);

}  // namespace tenon::runtime
