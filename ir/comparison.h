// A device's or another interpreter's result held against the reference.
#pragma once

#include <cstdint>
#include <string>
#include <vector>

#include "ir/interpreter.h"

namespace tenon::ir {

struct Mismatch {
  int64_t element = 0;
  double actual = 0;
  double expected = 0;
  double bound = 0;
};

struct Comparison {
  // At most this many mismatches are kept.
  static constexpr size_t kKept = 8;

  std::vector<int64_t> shape;
  int64_t elements = 0;
  // Elements of which the reference promises nothing; they are counted, not compared.
  int64_t ambiguous = 0;
  // Elements that differ although their bound is 0, and all that lie beyond their bound.
  int64_t mismatches = 0;
  std::vector<Mismatch> first;
  // The largest error over its bound among elements with a bound, and where; -1 if no element has one.
  double worst_ratio = 0;
  int64_t worst_element = -1;
  double worst_error = 0;
  double worst_bound = 0;

  bool ok() const { return mismatches == 0; }
  // Several lines, without a trailing newline.
  std::string text() const;
};

// `actual` has the reference's shape, and its type but for index, which may be i64. NaN equals NaN, -0 equals
// +0.
Comparison compare(const Array& actual, const BoundedArray& reference);

}  // namespace tenon::ir
