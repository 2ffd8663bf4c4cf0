#include "ir/reference_functions.h"

#include <array>

#include "ir/element_traits.h"
#include "support/reference_math.h"

namespace tenon::ir {
namespace {

template <class Traits>
void evaluate(FunctionId function, std::span<const LaneView> operands, void* result, size_t count) {
  using T = typename Traits::Compute;
  auto* out = static_cast<typename Traits::Storage*>(result);
  for (size_t i = 0; i < count; ++i) {
    std::array<T, 3> args = {};
    for (size_t k = 0; k < operands.size(); ++k)
      args[k] = Traits::load(static_cast<const typename Traits::Storage*>(operands[k].data)[i]);
    std::span<const T> given(args.data(), operands.size());
    if constexpr (std::is_same_v<T, double>) {
      out[i] = reference_f64(function, given);
    } else {
      out[i] = Traits::store(reference_f32(function, given));
    }
  }
}

}  // namespace

void reference_function_lanes(FunctionId function, bool /*approx*/, ElementType type,
                              std::span<const LaneView> operands, void* result, size_t count) {
  with_type(type, [&](auto traits) {
    using Traits = decltype(traits);
    if constexpr (std::is_floating_point_v<typename Traits::Compute>) {
      evaluate<Traits>(function, operands, result, count);
    } else {
      TENON_UNREACHABLE("a function of floats on something else");
    }
  });
}

}  // namespace tenon::ir
