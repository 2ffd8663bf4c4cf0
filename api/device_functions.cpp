#include "api/device_functions.h"

#include <array>
#include <vector>

#include "codegen/math/expand.h"
#include "codegen/math/host.h"

namespace tenon::api {
namespace {

using codegen::math::Accuracy;
using codegen::math::HostMath;
using ir::LaneView;

constexpr size_t kMaxOperands = 3;

void functions_f32(FunctionId function, bool approx, std::span<const float* const> operands, float* result,
                   size_t count) {
  HostMath math;
  std::array<float, kMaxOperands> values{};
  for (size_t i = 0; i < count; ++i) {
    for (size_t k = 0; k < operands.size(); ++k) values[k] = operands[k][i];
    result[i] =
        codegen::math::expand_f32(math, function, std::span<const float>(values.data(), operands.size()),
                                  approx ? Accuracy::kApprox : Accuracy::kAccurate);
  }
}

void functions_f64(FunctionId function, std::span<const LaneView> operands, double* result, size_t count) {
  HostMath math;
  std::array<double, kMaxOperands> values{};
  for (size_t i = 0; i < count; ++i) {
    for (size_t k = 0; k < operands.size(); ++k) values[k] = static_cast<const double*>(operands[k].data)[i];
    result[i] =
        codegen::math::expand_f64(math, function, std::span<const double>(values.data(), operands.size()));
  }
}

// f16 and bf16 are widened before and rounded once after.
void functions(FunctionId function, bool approx, ElementType type, std::span<const LaneView> operands,
               void* result, size_t count) {
  if (type == ElementType::kF64)
    return functions_f64(function, operands, static_cast<double*>(result), count);
  std::vector<std::vector<float>> wide;
  std::vector<const float*> values;
  for (const LaneView& operand : operands) {
    if (type == ElementType::kF32) {
      values.push_back(static_cast<const float*>(operand.data));
      continue;
    }
    wide.emplace_back(count);
    ir::cast_lanes(operand, ElementType::kF32, wide.back().data(), count);
  }
  for (const std::vector<float>& lanes : wide) values.push_back(lanes.data());
  if (type == ElementType::kF32)
    return functions_f32(function, approx, values, static_cast<float*>(result), count);
  std::vector<float> results(count);
  functions_f32(function, approx, values, results.data(), count);
  ir::cast_lanes({ElementType::kF32, results.data()}, type, result, count);
}

void divide(const float* a, const float* b, float* result, size_t count) {
  HostMath math;
  for (size_t i = 0; i < count; ++i) result[i] = math.mul(a[i], math.rcp_approx_ftz(b[i]));
}

}  // namespace

ir::DeviceFunctions device_functions() { return {functions, divide}; }

}  // namespace tenon::api
