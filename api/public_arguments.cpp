#include "api/public_arguments.h"

#include <fmt/format.h>

#include <span>
#include <string_view>
#include <utility>
#include <variant>

#include "api/public_convert.h"
#include "support/diagnostics.h"

namespace tenon::api {
namespace {

using runtime::LaunchArgument;
using runtime::ParameterId;
using runtime::Program;

uint64_t address_of(const HostTensor& tensor) { return reinterpret_cast<uintptr_t>(tensor.data()); }
uint64_t address_of(const DeviceTensor& tensor) { return tensor.address; }
DataType type_of(const HostTensor& tensor) { return tensor.type(); }
DataType type_of(const DeviceTensor& tensor) { return tensor.type; }
const Shape& shape_of(const HostTensor& tensor) { return tensor.shape(); }
const Shape& shape_of(const DeviceTensor& tensor) { return tensor.shape; }

template <class Tensor>
Result<LaunchArgument> converted(const std::string& name, const std::variant<Tensor, Scalar>& value) {
  const auto* scalar = std::get_if<Scalar>(&value);
  const auto* tensor = std::get_if<Tensor>(&value);
  std::optional<ElementType> type = element_type(scalar != nullptr ? scalar->type() : type_of(*tensor));
  if (!type) return fail(ErrorKind::kUsage, fmt::format("the type of argument `{}` is no data type", name));
  if (scalar == nullptr) return LaunchArgument::buffer(address_of(*tensor), *type, shape_of(*tensor));
  std::span<const unsigned char> bytes(scalar->bytes(), tenon::byte_size(*type));
  return LaunchArgument::scalar_bytes(*type, std::as_bytes(bytes));
}

Result<size_t> index_of(const Program& program, const std::string& name) {
  std::vector<std::string_view> names;
  for (const runtime::Parameter& parameter : program.parameters) {
    if (parameter.name == name) return names.size();
    names.push_back(parameter.name);
  }
  std::string_view close = did_you_mean(name, names);
  return fail(ErrorKind::kUsage,
              fmt::format("kernel `{}` has no parameter `{}`{}", program.name, name,
                          close.empty() ? "" : fmt::format("; did you mean `{}`?", close)));
}

template <class Argument>
Result<std::vector<LaunchArgument>> by_parameter(const Program& program,
                                                 const std::vector<Argument>& arguments) {
  std::vector<LaunchArgument> result(program.parameters.size());
  std::vector<bool> seen(program.parameters.size());
  for (const Argument& argument : arguments) {
    TENON_TRY_ASSIGN(size_t index, index_of(program, argument.name));
    if (seen[index])
      return fail(ErrorKind::kUsage, fmt::format("argument `{}` is given twice", argument.name));
    seen[index] = true;
    TENON_TRY_ASSIGN(result[index], converted(argument.name, argument.value));
  }
  return result;
}

}  // namespace

Result<std::vector<LaunchArgument>> launch_arguments(const Program& program,
                                                     const std::vector<HostArgument>& arguments) {
  return by_parameter(program, arguments);
}

Result<std::vector<LaunchArgument>> launch_arguments(const Program& program,
                                                     const std::vector<DeviceArgument>& arguments) {
  return by_parameter(program, arguments);
}

std::vector<runtime::NamedSize> named_sizes(const LaunchOptions& options) {
  std::vector<runtime::NamedSize> sizes;
  for (const NamedValue& size : options.sizes) sizes.push_back({size.name, size.value});
  return sizes;
}

}  // namespace tenon::api
