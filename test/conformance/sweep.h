// The sizes at which a kernel is tried, and everything that is tried at each.
#pragma once

#include <cstdint>
#include <string>
#include <vector>

#include "subject.h"

namespace tenon::conformance {

struct SweepOptions {
  // Sizes of an axis; one axis at a time takes each of them, the others being `others`.
  std::vector<int64_t> sizes = {0,  1,  2,  3,  4,   5,   7,   8,   16,   17,   31,   32,
                                33, 63, 64, 65, 127, 128, 129, 256, 1000, 1023, 1024, 1025};
  std::vector<int64_t> others = {3, 64};
  // Sizes that only this symbol takes, the others being 3: the length of rows.
  std::string long_symbol;
  std::vector<int64_t> long_sizes;
  // Symbols that do not vary: index scalars, and dimensions fixed when compiling.
  Sizes fixed;
  int random_shapes = 50;
  // Around each number in a guard, one axis at a time takes up to so many sizes, of at most 5, so that every
  // variant is reached.
  int sizes_around_bounds = 1;
  // Where a guard compares a product of symbols with a large number, also shapes just beyond it.
  bool areas = false;
  // The product of all symbols is at most this. Where one axis takes its size and the others are too large,
  // the first of them, which is the batch where there is one, comes down to 1, then the rest evenly.
  int64_t most_points = 300'000;
};

// What to try, without duplicates, in the order of the options; the kernel accepts all of them.
std::vector<Sizes> sweep_sizes(const Subject& subject, const SweepOptions& options);

struct SweepResult {
  // At most some of them in full, the others counted.
  std::vector<std::string> failures;
  int64_t failed = 0;
  int64_t cases = 0;
  int64_t launches = 0;
  int64_t elements = 0;
  int64_t ambiguous = 0;
  // Variants that no case admitted, as "step: variant".
  std::vector<std::string> never_run;

  std::string text() const;
};

// At each of the sizes: the interpreter on the tensor kernel after its passes; every variant whose guard
// holds, on random inputs and on small integers, by the tile interpreter and on the device, results poisoned;
// all buffers moved by one element; and one buffer moved, without poison, where a read of what nobody wrote
// is a fault. Where tests are thin (test/thinning.h), a selection of the sizes, and there the variants that
// are new.
SweepResult sweep(Subject& subject, const std::vector<Sizes>& sizes);

}  // namespace tenon::conformance
