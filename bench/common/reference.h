// What results should be, computed in f64.
#pragma once

#include <optional>
#include <string>
#include <vector>

#include "support/array.h"

namespace tenon::bench {

// The parameters of a kernel after its launch. Says what is wrong; empty if nothing is.
using Reference = std::string(const std::vector<std::optional<Array>>& arrays);

Reference check_bias_gelu, check_softmax, check_softmax_approx, check_layernorm, check_rmsnorm,
    check_transpose, check_sum, check_matmul;

}  // namespace tenon::bench
