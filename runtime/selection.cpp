#include "runtime/selection.h"

#include <fmt/format.h>

#include <algorithm>
#include <charconv>

namespace tenon::runtime {
namespace {

bool aligned(const Alignment& alignment, std::span<const LaunchArgument> arguments) {
  return arguments[alignment.parameter.index()].address % alignment.bytes == 0;
}

// The first part of the guard that fails, in words; empty if it holds.
std::string failing_part(const Program& program, const Guard& guard, const Binding& binding,
                         std::span<const LaunchArgument> arguments) {
  for (const SizeExpr& condition : guard.conditions) {
    if (evaluate(condition, binding.symbols).holds()) continue;
    std::string values = values_text(program, condition, binding.symbols);
    return to_text(condition, symbol_names(program)) + (values.empty() ? "" : " with " + values);
  }
  for (const Alignment& alignment : guard.alignments)
    if (!aligned(alignment, arguments))
      return fmt::format("{} on {} bytes", program.parameters[alignment.parameter].name, alignment.bytes);
  return {};
}

std::string variant_text(const Step& step, uint32_t variant) {
  return fmt::format("variant {} ({}) of step {}", variant, step.variants[variant].name, step.name);
}

Result<uint32_t> check_forced(const Program& program, const Step& step, uint32_t forced,
                              const Binding& binding, std::span<const LaunchArgument> arguments) {
  if (forced >= step.variants.size())
    return fail(ErrorKind::kUsage,
                fmt::format("step {} has no variant {}; it has {}", step.name, forced, step.variants.size()));
  std::string failing = failing_part(program, step.variants[forced].guard, binding, arguments);
  if (failing.empty()) return forced;
  return refuse(program, fmt::format("{} needs {}", variant_text(step, forced), failing));
}

}  // namespace

bool accepts(const Variant& variant, const Binding& binding, std::span<const LaunchArgument> arguments) {
  auto holds = [&](const SizeExpr& condition) { return evaluate(condition, binding.symbols).holds(); };
  auto on_bytes = [&](const Alignment& alignment) { return aligned(alignment, arguments); };
  return std::ranges::all_of(variant.guard.conditions, holds) &&
         std::ranges::all_of(variant.guard.alignments, on_bytes);
}

Result<uint32_t> select_variant(const Program& program, uint32_t step_index, const Binding& binding,
                                std::span<const LaunchArgument> arguments, std::optional<uint32_t> forced) {
  const Step& step = program.steps[step_index];
  if (forced) return check_forced(program, step, *forced, binding, arguments);
  for (uint32_t i = 0; i < step.variants.size(); ++i)
    if (accepts(step.variants[i], binding, arguments)) return i;
  auto last = static_cast<uint32_t>(step.variants.size() - 1);
  return refuse(program, fmt::format("no variant of step {} accepts it; the last one needs {}", step.name,
                                     failing_part(program, step.variants[last].guard, binding, arguments)));
}

Result<uint32_t> find_variant(const Step& step, std::string_view name) {
  for (uint32_t i = 0; i < step.variants.size(); ++i)
    if (step.variants[i].name == name) return i;
  uint32_t index = 0;
  auto [end, error] = std::from_chars(name.data(), name.data() + name.size(), index);
  if (error == std::errc() && end == name.data() + name.size() && index < step.variants.size()) return index;
  std::string known;
  for (const Variant& variant : step.variants) known += (known.empty() ? "" : ", ") + variant.name;
  return fail(ErrorKind::kUsage,
              fmt::format("step {} has no variant '{}'; it has {}", step.name, name, known));
}

}  // namespace tenon::runtime
