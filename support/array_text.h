// Tensors as text, the way NumPy prints them.
#pragma once

#include <cstdint>
#include <string>

#include "support/array.h"

namespace tenon {

struct ArrayTextOptions {
  // With more elements than this only the first and last `edge_items` of each axis are shown.
  int64_t threshold = 1000;
  int64_t edge_items = 3;
  // Columns; a row that is longer continues on the next line.
  size_t line_width = 75;
  // The most digits after the point.
  int precision = 8;
};

// What Python prints for `print(array)`, with NumPy's defaults: aligned columns, floats in the fewest digits
// that identify them in their type, at most eight after the point, scientific where the magnitudes ask for
// it.
std::string to_text(const Array& array, const ArrayTextOptions& options = {});

// One element alone, in the fewest digits that identify it in its type: "0.1", "-3", "nan", "True".
std::string element_text(const Array& array, int64_t i);

}  // namespace tenon
