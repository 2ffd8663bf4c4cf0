#include "tools/array_files.h"

#include <fmt/format.h>

#include <algorithm>
#include <cmath>
#include <optional>
#include <utility>

#include "support/array_fill.h"
#include "support/array_text.h"
#include "support/npy.h"

namespace tenon::tools {
namespace {

Result<Array> read_member(const std::string& path, const std::string& name,
                          std::optional<ElementType> expected) {
  TENON_TRY_ASSIGN(NamedArrays arrays, read_npz(path));
  std::string members;
  for (auto& [member, array] : arrays) {
    members += (members.empty() ? "" : ", ") + member;
    if (member != name) continue;
    if (expected && array.type() == ElementType::kI64 && *expected == ElementType::kIndex)
      array.reinterpret(ElementType::kIndex);
    if (expected && array.type() != *expected)
      return fail(ErrorKind::kRefused,
                  fmt::format("cannot read {} in {}: it holds {}, but {} is expected", name, path,
                              tenon::name(array.type()), tenon::name(*expected)));
    return std::move(array);
  }
  return fail(ErrorKind::kUsage,
              fmt::format("{} has no array {}; it has {}", path, name, members.empty() ? "none" : members));
}

// Whether storing the constant and reading it back gives it again, or for floats at least something finite.
bool holds_constant(const Array& array, const InputSpec& spec) {
  if (array.element_count() == 0) return true;
  if (spec.kind == InputSpec::Kind::kInteger) {
    if (is_float(array.type())) return std::isfinite(array.as_double(0));
    return array.as_int64(0) == spec.integer && (spec.integer >= 0 || is_signed(array.type()));
  }
  double stored = array.as_double(0);
  if (!is_float(array.type())) return stored == spec.number;
  return std::isfinite(stored) == std::isfinite(spec.number);
}

void fill_constant_of(Array& array, const InputSpec& spec) {
  if (spec.kind == InputSpec::Kind::kInteger)
    fill_constant(array, spec.integer);
  else
    fill_constant(array, spec.number);
}

// The arrays that go into the archive at `path`, in order.
NamedArrays members_of(const std::vector<OutputFile>& outputs, const std::string& path) {
  NamedArrays members;
  for (const OutputFile& output : outputs)
    if (output.path == path) members.emplace_back(output.name, *output.array);
  return members;
}

}  // namespace

Result<Array> read_array(const std::string& path, const std::string& name,
                         std::optional<ElementType> expected) {
  return path.ends_with(".npz") ? read_member(path, name, expected) : read_npy(path, expected);
}

Result<Array> make_array(const InputSpec& spec, const std::string& name, ElementType type,
                         std::vector<int64_t> shape, uint64_t seed) {
  TENON_TRY_ASSIGN(Array array, Array::zeros(type, std::move(shape)));
  switch (spec.kind) {
    case InputSpec::Kind::kFile:
      return fail(ErrorKind::kUsage, fmt::format("{} is a file", spec.text));
    case InputSpec::Kind::kZeros:
      break;
    case InputSpec::Kind::kRandom:
      fill_random(array, seed, random_stream(name));
      break;
    case InputSpec::Kind::kIntegers:
      fill_small_integers(array, seed, random_stream(name));
      break;
    case InputSpec::Kind::kOnes:
      fill_constant(array, int64_t{1});
      break;
    case InputSpec::Kind::kIota:
      fill_iota(array);
      break;
    case InputSpec::Kind::kInteger:
    case InputSpec::Kind::kNumber:
      fill_constant_of(array, spec);
      if (!holds_constant(array, spec))
        return fail(ErrorKind::kUsage,
                    fmt::format("{} is no value of {}, the type of {}", spec.text, tenon::name(type), name));
      break;
  }
  return array;
}

Result<void> write_arrays(const std::vector<OutputFile>& outputs) {
  std::vector<std::string> archives;
  for (const OutputFile& output : outputs) {
    if (!output.path.ends_with(".npz")) {
      TENON_TRY(write_npy(output.path, *output.array));
    } else if (std::ranges::find(archives, output.path) == archives.end()) {
      archives.push_back(output.path);
      TENON_TRY(write_npz(output.path, members_of(outputs, output.path)));
    }
  }
  return {};
}

std::string shown(const std::string& name, const Array& array) {
  std::string shape = array.rank() == 0 ? "" : shape_text(array.shape());
  return fmt::format("{}: {}{}\n{}\n", name, tenon::name(array.type()), shape, to_text(array));
}

}  // namespace tenon::tools
