// The running state of one result of a reduction, for a strip of parallel points.
#pragma once

#include <cstdint>
#include <memory>
#include <span>

#include "ir/body_runner.h"

namespace tenon::ir {

// Terms that a reduction takes: for each slot a vector of lanes, and which lanes count (all where null).
// Where the predicate has bounds, the lane is taken or not by its value, and the result promises nothing.
struct Terms {
  std::span<LaneVector* const> slots;
  const uint8_t* active = nullptr;
  const double* active_bounds = nullptr;
  size_t lanes = 0;

  bool takes(size_t lane) const { return active == nullptr || active[lane] != 0; }
  bool open(size_t lane) const { return active_bounds != nullptr && active_bounds[lane] != 0; }
};

class Accumulator {
 public:
  virtual ~Accumulator() = default;
  // Starts anew for this many points.
  virtual void reset(size_t points) = 0;
  // Lane i is a term of point i.
  virtual void add(const Terms& terms) = 0;
  // Every lane is a term of point 0.
  virtual void add_across(const Terms& terms) = 0;
  // The results, a lane a point; valid until the next call.
  virtual LaneVector& finish() = 0;
};

// Sums and products of floats are one operation in any order: their value is the best estimate, their bound
// that of the language, (n+3) * 2^-23 of the sum of magnitudes for f32. Where all terms are integers and
// their sum of magnitudes is exact in the type, every order gives the same bits, and the bound is that of the
// terms. Everything else merges by the monoid's body.
//
// `allowance` is what a sum's terms may be off by besides their bounds, in proportion to their magnitudes:
// operands that a permission lets the device round.
std::unique_ptr<Accumulator> make_accumulator(const Monoid& monoid, const BodyRules& rules, double allowance);

}  // namespace tenon::ir
