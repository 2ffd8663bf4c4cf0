#include "ir/comparison.h"

#include <fmt/format.h>

#include <cmath>

#include "support/check.h"

namespace tenon::ir {
namespace {

std::string place(const std::vector<int64_t>& shape, int64_t element) {
  std::vector<int64_t> at(shape.size());
  for (size_t d = shape.size(); d-- > 0;) {
    at[d] = element % shape[d];
    element /= shape[d];
  }
  return fmt::format("[{}]", fmt::join(at, ", "));
}

// 64-bit integers do not fit a double.
bool equal_integers(const Array& a, const Array& b, int64_t i) { return a.as_int64(i) == b.as_int64(i); }

}  // namespace

Comparison compare(const Array& actual, const BoundedArray& reference) {
  const Array& expected = reference.values;
  TENON_CHECK(actual.shape() == expected.shape(), "results of different shapes are compared");
  Comparison result;
  result.shape = expected.shape();
  result.elements = expected.element_count();
  bool floats = is_float(expected.type());
  for (int64_t i = 0; i < result.elements; ++i) {
    double bound = reference.bound(i);
    if (std::isinf(bound)) {
      ++result.ambiguous;
      continue;
    }
    double is = actual.as_double(i);
    double should = expected.as_double(i);
    bool same =
        floats ? is == should || (std::isnan(is) && std::isnan(should)) : equal_integers(actual, expected, i);
    double error = same ? 0 : std::fabs(is - should);
    // A NaN or infinity that should not be one is beyond every bound.
    bool within = same || (floats && error <= bound);
    if (!within) {
      ++result.mismatches;
      if (result.first.size() < Comparison::kKept) result.first.push_back({i, is, should, bound});
    }
    if (bound > 0 && std::isfinite(error) &&
        (result.worst_element < 0 || error / bound > result.worst_ratio)) {
      result.worst_ratio = error / bound;
      result.worst_element = i;
      result.worst_error = error;
      result.worst_bound = bound;
    }
  }
  return result;
}

std::string Comparison::text() const {
  std::string text =
      fmt::format("{} of {} elements as they should be", elements - ambiguous - mismatches, elements);
  if (ambiguous > 0)
    text += fmt::format(", {} ({:.2f}%) that rounding may decide either way", ambiguous,
                        100.0 * static_cast<double>(ambiguous) / static_cast<double>(elements));
  if (worst_element >= 0)
    text += fmt::format("\nlargest error {:.3g} of its bound, at {}: {:.6g} of {:.6g}", worst_ratio,
                        place(shape, worst_element), worst_error, worst_bound);
  for (const Mismatch& mismatch : first)
    text += fmt::format("\nat {}: {:.9g}, not {:.9g} within {:.3g}", place(shape, mismatch.element),
                        mismatch.actual, mismatch.expected, mismatch.bound);
  if (mismatches > static_cast<int64_t>(first.size()))
    text += fmt::format("\nand {} more", mismatches - static_cast<int64_t>(first.size()));
  return text;
}

}  // namespace tenon::ir
