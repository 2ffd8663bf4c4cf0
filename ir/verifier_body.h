// The part of the verifier that looks at scalar bodies.
#pragma once

#include <functional>
#include <span>
#include <string>

#include "ir/tensor.h"

namespace tenon::ir {

// What a body may refer to. A function that is not set allows nothing.
struct BodyContext {
  const Kernel& kernel;
  std::function<bool(AxisId)> has_axis;
  // What is wrong with reading a tensor here; empty if nothing is.
  std::function<std::string(TensorId)> read_error;
  // The types that `arg` positions have.
  std::span<const ElementType> arguments;
  // Called with the instruction and what is wrong.
  std::function<void(ValueId, std::string)> report;
};

void verify_body(const Body& body, const BodyContext& context);

// What in an expression must not be mentioned; `values` counts the values that come before, of type
// `type(value)`.
std::string index_error(const Kernel& kernel, IndexId id, const std::function<bool(AxisId)>& has_axis,
                        const Body* body, uint32_t values);

}  // namespace tenon::ir
