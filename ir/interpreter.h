// The reference interpreter of tensor IR: what a kernel means, on host arrays. Beside each value it computes
// how far from it a right program's value may lie (ir/error_bounds.h), so that a result is held against the
// language and not against a tolerance.
#pragma once

#include <cstdint>
#include <map>
#include <span>
#include <string>
#include <vector>

#include "ir/tensor.h"
#include "support/array.h"
#include "support/result.h"

namespace tenon::ir {

struct BoundedArray {
  Array values;
  // One an element; empty where all are 0. Infinity: nothing is promised of the element.
  std::vector<double> bounds;

  double bound(int64_t i) const { return bounds.empty() ? 0 : bounds[static_cast<size_t>(i)]; }
};

struct InterpreterOptions {
  // Before contract-fma has decided, a product may be fused with the addition that alone uses it: the bound
  // allows both. After it, nothing is fused but `fma`.
  bool contraction_is_open = true;
  // 0 is one for each core.
  unsigned threads = 0;
  // Points of all iteration domains together, and bytes of all tensors that are alive at once; more is
  // refused.
  int64_t max_points = int64_t{1} << 38;
  int64_t max_bytes = int64_t{8} << 30;
};

// The values of a kernel's symbols, from the shapes of its inputs, index scalars, and sizes by name. Refuses
// what a launch would: missing arrays or sizes, other types or ranks, shapes that disagree, `where` clauses
// that do not hold. `inputs` has an entry for each parameter, null for results.
Result<std::vector<int64_t>> bind_symbols(const Kernel& kernel, std::span<const Array* const> inputs,
                                          const std::map<std::string, int64_t>& sizes = {});

// Runs a verified kernel. `symbols` has a value for each symbol. The result has an entry for each parameter,
// empty (rank 0) for those that are inputs only.
Result<std::vector<BoundedArray>> interpret(const Kernel& kernel, std::span<const int64_t> symbols,
                                            std::span<const Array* const> inputs,
                                            const InterpreterOptions& options = {});

}  // namespace tenon::ir
