// Keeps index expressions small: rewriting that puts expressions into expressions may let them grow without
// bound, in terms, in depth and in coefficients.
#pragma once

#include <cstdint>
#include <functional>
#include <unordered_map>

#include "ir/index.h"

namespace tenon::passes {

class BoundedRewriter {
 public:
  explicit BoundedRewriter(ir::IndexPool& pool) : pool_(pool) {}

  // As IndexPool::substitute; invalid where the result would be larger than the limits in the .cpp allow.
  ir::IndexId substitute(ir::IndexId root, const ir::IndexPool::AtomMap& map);

  // The sum, product, ... of two expressions within the same limits; invalid beyond them.
  ir::IndexId combine(ir::IndexKind kind, ir::IndexId a, ir::IndexId b);
  ir::IndexId add(ir::IndexId a, ir::IndexId b);
  ir::IndexId sub(ir::IndexId a, ir::IndexId b);
  ir::IndexId mul(ir::IndexId a, ir::IndexId b);

 private:
  struct Size {
    uint64_t terms = 0;
    // The sum of the coefficients' magnitudes, saturated.
    uint64_t weight = 0;
    // The most factors in a term.
    uint64_t degree = 0;
    uint32_t depth = 0;
    // Operators and atoms as the expression is written, common parts as often as they stand there; saturated.
    uint64_t length = 0;
  };
  Size size(ir::IndexId id);
  static bool fits(const Size& size);
  // Of a sum or difference.
  bool sum_fits(ir::IndexId a, ir::IndexId b);

  ir::IndexPool& pool_;
  std::unordered_map<ir::IndexId, Size> sizes_;
};

}  // namespace tenon::passes
