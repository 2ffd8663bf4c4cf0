// Which variant of a step a launch takes.
#pragma once

#include <cstdint>
#include <optional>
#include <span>
#include <string>
#include <string_view>

#include "runtime/binding.h"
#include "runtime/program.h"
#include "support/result.h"

namespace tenon::runtime {

// Whether the variant's code is right for these sizes and addresses.
bool accepts(const Variant& variant, const Binding& binding, std::span<const LaunchArgument> arguments);

// The first variant of `step` that accepts the launch, or `forced` if it does; else an Error of kind kRefused
// that tells the first part of the guard that fails, with the values.
Result<uint32_t> select_variant(const Program& program, uint32_t step, const Binding& binding,
                                std::span<const LaunchArgument> arguments,
                                std::optional<uint32_t> forced = {});

// A variant of `step` by its name or its index in decimal; kUsage with the names there are.
Result<uint32_t> find_variant(const Step& step, std::string_view name);

}  // namespace tenon::runtime
