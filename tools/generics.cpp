#include "tools/generics.h"

#include <fmt/format.h>

#include <algorithm>
#include <cstdint>
#include <optional>
#include <string_view>
#include <utility>

#include "support/array.h"
#include "tools/array_files.h"

namespace tenon::tools {
namespace {

using frontend::GenericKind;

constexpr int64_t kDefaultSize = 16;

const frontend::Generic* find_generic(const frontend::Kernel& kernel, std::string_view name) {
  auto found = std::ranges::find_if(
      kernel.signature.generics, [&](const frontend::Generic& generic) { return generic.name.text == name; });
  return found == kernel.signature.generics.end() ? nullptr : &*found;
}

// Whether an array of this type would tell a generic that has no value yet.
bool tells_generic(const frontend::Module& module, const frontend::Kernel& kernel, const frontend::Type& type,
                   const frontend::CheckOptions& settings) {
  const auto is_open = [&](std::string_view name) {
    return find_generic(kernel, name) != nullptr && !settings.types.contains(name) &&
           !settings.sizes.contains(name);
  };
  if (!type.element.known && is_open(type.element.text)) return true;
  return std::ranges::any_of(module.exprs(type.shape), [&](frontend::ExprId extent) {
    const auto* reference = module.get_if<frontend::NameRef>(extent);
    return reference != nullptr && is_open(reference->name);
  });
}

// Takes what the array says of the generics in its parameter's type; what is set stays.
void take_array(const frontend::Module& module, const frontend::Kernel& kernel, const frontend::Type& type,
                const Array& array, frontend::CheckOptions& settings) {
  if (!type.element.known && find_generic(kernel, type.element.text) != nullptr)
    settings.types.try_emplace(std::string(type.element.text), array.type());
  std::span<const frontend::ExprId> shape = module.exprs(type.shape);
  if (shape.size() != array.rank()) return;
  for (size_t axis = 0; axis < shape.size(); ++axis) {
    const auto* reference = module.get_if<frontend::NameRef>(shape[axis]);
    if (reference == nullptr) continue;
    const frontend::Generic* generic = find_generic(kernel, reference->name);
    if (generic != nullptr && generic->kind == GenericKind::kDim)
      settings.sizes.try_emplace(std::string(reference->name), array.extent(axis));
  }
}

}  // namespace

Result<std::string> complete_generics(const frontend::Module& module, const frontend::Kernel& kernel,
                                      const std::vector<Assignment<InputSpec>>& inputs,
                                      frontend::CheckOptions& settings) {
  if (kernel.signature.generics.empty()) return std::string();
  for (const Assignment<InputSpec>& input : inputs) {
    if (input.value.kind != InputSpec::Kind::kFile) continue;
    for (const frontend::Param& param : kernel.signature.params) {
      if (param.name.text != input.name || !tells_generic(module, kernel, param.type, settings)) continue;
      TENON_TRY_ASSIGN(Array array, read_array(input.value.text, input.name, param.type.element.known));
      take_array(module, kernel, param.type, array, settings);
    }
  }
  std::string chosen;
  for (const frontend::Generic& generic : kernel.signature.generics) {
    std::string name(generic.name.text);
    if (settings.types.contains(name) || settings.sizes.contains(name)) continue;
    std::string value;
    if (generic.kind == GenericKind::kDim) {
      settings.sizes[name] = kDefaultSize;
      value = fmt::to_string(kDefaultSize);
    } else {
      ElementType type = generic.kind == GenericKind::kInt ? ElementType::kI32 : ElementType::kF32;
      settings.types[name] = type;
      value = tenon::name(type);
    }
    chosen += fmt::format("{}{} = {}", chosen.empty() ? "" : ", ", name, value);
  }
  return chosen;
}

}  // namespace tenon::tools
