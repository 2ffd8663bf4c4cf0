#include "tools/kernel_argument.h"

#include <fmt/format.h>

#include <charconv>
#include <optional>
#include <string_view>
#include <utility>
#include <vector>

#include "tools/array_files.h"
#include "tools/assignment.h"

namespace tenon::tools {
namespace {

std::unexpected<Error> wrong(std::string_view text, std::string_view why) {
  return fail(ErrorKind::kUsage, fmt::format("--arg {}: {}", text, why));
}

std::vector<std::string> split(std::string_view text, char separator) {
  std::vector<std::string> parts;
  for (size_t at = 0; at != std::string_view::npos;) {
    size_t end = text.find(separator, at);
    parts.emplace_back(text.substr(at, end - at));
    at = end == std::string_view::npos ? end : end + 1;
  }
  return parts;
}

// "32x64" as extents; nothing where it is something else.
std::optional<std::vector<int64_t>> parse_shape(std::string_view text) {
  std::vector<int64_t> shape;
  for (const std::string& part : split(text, 'x')) {
    InputSpec extent = parse_constant(part);
    if (extent.kind != InputSpec::Kind::kInteger || extent.integer < 0) return std::nullopt;
    shape.push_back(extent.integer);
  }
  return shape;
}

Result<KernelArgument> make_value(const std::string& text, ElementType type, const std::string& value) {
  InputSpec spec = parse_constant(value);
  if (spec.kind == InputSpec::Kind::kFile) return wrong(text, fmt::format("{} is no number", value));
  Result<Array> array = make_array(spec, "it", type, {}, 0);
  if (!array) return wrong(text, fmt::format("{} is no value of {}", value, name(type)));
  return KernelArgument{.array = std::move(*array), .by_value = true};
}

Result<KernelArgument> make_filled(const std::string& text, const InputSpec& fill,
                                   const std::vector<std::string>& parts, size_t position, uint64_t seed) {
  std::optional<ElementType> type = element_type_by_name(parts[1]);
  if (!type) return wrong(text, fmt::format("{} is no element type", parts[1]));
  std::optional<std::vector<int64_t>> shape = parse_shape(parts[2]);
  if (!shape) return wrong(text, fmt::format("{} is no shape, as 1024 or 32x64 are", parts[2]));
  Result<Array> array =
      make_array(fill, fmt::format("argument {}", position), *type, std::move(*shape), seed);
  if (!array) return fail(array.error().kind, fmt::format("--arg {}: {}", text, array.error().message));
  return KernelArgument{.array = std::move(*array), .output = parts.size() > 3 ? parts[3] : ""};
}

}  // namespace

Result<KernelArgument> make_kernel_argument(const std::string& text, size_t position, uint64_t seed) {
  std::vector<std::string> parts = split(text, ':');
  if (std::optional<ElementType> type = element_type_by_name(parts[0])) {
    if (parts.size() != 2 || parts[1].empty()) return wrong(text, "expected TYPE:VALUE, as in i32:5");
    return make_value(text, *type, parts[1]);
  }
  Result<std::vector<Assignment<InputSpec>>> fill = parse_inputs({"argument=" + parts[0]});
  if (fill && fill->front().value.kind != InputSpec::Kind::kFile) {
    if (parts.size() < 3 || parts.size() > 4)
      return wrong(text, "expected FILL:TYPE:SHAPE or FILL:TYPE:SHAPE:FILE, as in zeros:f32:1024:out.npy");
    return make_filled(text, fill->front().value, parts, position, seed);
  }
  if (!fill || parts.size() > 2)
    return wrong(
        text,
        "expected a file, FILE:FILE, FILL:TYPE:SHAPE[:FILE] or TYPE:VALUE, where FILL is zeros, ones, "
        "iota, random or integers");
  TENON_TRY_ASSIGN(Array array, read_array(parts[0], "argument"));
  return KernelArgument{.array = std::move(array), .output = parts.size() > 1 ? parts[1] : ""};
}

}  // namespace tenon::tools
