#include "ir/accumulator.h"

#include <algorithm>
#include <array>
#include <cmath>
#include <cstring>
#include <limits>

#include "support/float_formats.h"

namespace tenon::ir {
namespace {

constexpr double kAnything = std::numeric_limits<double>::infinity();

// Of a float type: 2^(1 - significand bits), the largest finite value, the least denormal.
struct FloatShape {
  double unit = 0;
  double largest = 0;
  double least = 0;
};

template <class Format>
FloatShape shape() {
  double largest = Format::kBits == 64 ? std::numeric_limits<double>::max() : 0;
  if constexpr (Format::kBits <= 32)
    largest = decode<Format>(static_cast<typename Format::Storage>(Format::kMaxFinite));
  return {std::ldexp(1.0, -Format::kFractionBits), largest,
          std::ldexp(1.0, Format::kMinExponent - Format::kFractionBits)};
}

FloatShape shape_of(ElementType type) {
  return with_float_format(type, []<class Format>(Format) { return shape<Format>(); });
}

bool is_whole(double x) { return x == std::nearbyint(x); }

// Stores `value` rounded to a float type at a lane.
void store(LaneVector& result, size_t lane, double value) {
  uint64_t bits = float_bits(result.type(), value);
  size_t width = byte_size(result.type());
  std::memcpy(result.bytes() + lane * width, &bits, width);
}

class FloatSum : public Accumulator {
 public:
  FloatSum(ElementType type, const BodyRules& rules, double allowance)
      : type_(type),
        shape_(shape_of(type)),
        flush_(rules.bounds.flush),
        allowance_(allowance),
        result_(type) {}

  void reset(size_t points) override { points_.assign(points, {}); }

  void add(const Terms& terms) override {
    const double* values = terms.slots[0]->doubles(terms.lanes);
    for (size_t i = 0; i < terms.lanes; ++i) take(points_[i], terms, values, i);
  }

  void add_across(const Terms& terms) override {
    const double* values = terms.slots[0]->doubles(terms.lanes);
    if (terms.active == nullptr && terms.slots[0]->bounds() == nullptr && type_ != ElementType::kF64) {
      add_exact(points_[0], values, terms.lanes);
    } else {
      for (size_t i = 0; i < terms.lanes; ++i) take(points_[0], terms, values, i);
    }
  }

  LaneVector& finish() override {
    result_.own();
    double* bounds = result_.own_bounds();
    for (size_t i = 0; i < points_.size(); ++i) {
      const Point& point = points_[i];
      double value = std::isfinite(point.sum) ? point.sum + point.lost : point.sum;
      store(result_, i, value);
      bounds[i] = bound(point);
    }
    result_.drop_zero_bounds(points_.size());
    return result_;
  }

 private:
  struct Point {
    double sum = 0;
    // What rounding took from the sum, for f64 (Neumaier's summation).
    double lost = 0;
    double magnitudes = 0;
    // Of the finite terms alone.
    double finite = 0;
    double errors = 0;
    int64_t count = 0;
    bool whole = true;
    bool open = false;
    // A term was infinite or NaN.
    bool special = false;
  };

  void take(Point& point, const Terms& terms, const double* values, size_t i) {
    point.open = point.open || terms.open(i);
    if (!terms.takes(i)) return;
    double term = values[i];
    double sum = point.sum + term;
    if (type_ == ElementType::kF64)
      point.lost +=
          std::fabs(point.sum) >= std::fabs(term) ? (point.sum - sum) + term : (term - sum) + point.sum;
    point.sum = sum;
    point.magnitudes += std::fabs(term);
    point.errors += terms.slots[0]->bound(i);
    point.whole = point.whole && is_whole(term);
    point.special = point.special || !std::isfinite(term);
    if (std::isfinite(term)) point.finite += std::fabs(term);
    ++point.count;
  }

  // Four sums side by side: the terms are f32 or narrower, so that f64 has bits to spare.
  static void add_exact(Point& point, const double* values, size_t lanes) {
    std::array<double, 4> sums = {}, magnitudes = {}, fractions = {};
    size_t i = 0;
    for (; i + 4 <= lanes; i += 4) {
      for (size_t k = 0; k < 4; ++k) {
        double term = values[i + k];
        sums[k] += term;
        magnitudes[k] += std::fabs(term);
        // 0 for integers below 2^51, the only ones that matter.
        fractions[k] += std::fabs(term - ((term + 0x1.8p52) - 0x1.8p52));
      }
    }
    for (; i < lanes; ++i) {
      sums[0] += values[i];
      magnitudes[0] += std::fabs(values[i]);
      fractions[0] += std::fabs(values[i] - std::nearbyint(values[i]));
    }
    point.sum += (sums[0] + sums[1]) + (sums[2] + sums[3]);
    const double all = (magnitudes[0] + magnitudes[1]) + (magnitudes[2] + magnitudes[3]);
    point.magnitudes += all;
    if (std::isfinite(all)) {
      point.finite += all;
    } else {
      for (size_t k = 0; k < lanes; ++k)
        if (std::isfinite(values[k])) point.finite += std::fabs(values[k]);
    }
    point.whole = point.whole && (fractions[0] + fractions[1]) + (fractions[2] + fractions[3]) == 0;
    point.special = point.special || !std::isfinite(point.magnitudes);
    point.count += static_cast<int64_t>(lanes);
  }

  double bound(const Point& point) const {
    if (point.open) return kAnything;
    double terms = point.errors + allowance_ * point.magnitudes +
                   static_cast<double>(point.count) * (flush_ ? 0x1p-125 : 0);
    // Infinities and NaN come out as written, unless a sum of finite terms overflows on the way: an infinity
    // may then become NaN, or the other way round in f64, where the sum here may have overflowed itself.
    if (!std::isfinite(point.sum)) {
      if (!point.special || !(point.errors < kAnything)) return kAnything;
      const bool certain = std::isnan(point.sum) && type_ != ElementType::kF64;
      return certain || point.finite <= shape_.largest ? 0 : kAnything;
    }
    // A sum of some of the terms may overflow.
    if (!(point.magnitudes + terms <= shape_.largest)) return kAnything;
    if (point.whole && point.magnitudes * shape_.unit <= 2) return terms;
    double own = (static_cast<double>(point.count) + 3) * shape_.unit * point.magnitudes;
    return point.count == 0 ? 0 : terms + own;
  }

  ElementType type_;
  FloatShape shape_;
  bool flush_;
  double allowance_;
  std::vector<Point> points_;
  LaneVector result_;
};

class FloatProduct : public Accumulator {
 public:
  FloatProduct(ElementType type, const BodyRules& rules)
      : shape_(shape_of(type)), flush_(rules.bounds.flush), result_(type) {}

  void reset(size_t points) override { points_.assign(points, {}); }

  void add(const Terms& terms) override {
    const double* values = terms.slots[0]->doubles(terms.lanes);
    for (size_t i = 0; i < terms.lanes; ++i) take(points_[i], terms, values, i);
  }

  void add_across(const Terms& terms) override {
    const double* values = terms.slots[0]->doubles(terms.lanes);
    for (size_t i = 0; i < terms.lanes; ++i) take(points_[0], terms, values, i);
  }

  LaneVector& finish() override {
    result_.own();
    double* bounds = result_.own_bounds();
    for (size_t i = 0; i < points_.size(); ++i) {
      store(result_, i, static_cast<double>(points_[i].product));
      bounds[i] = bound(points_[i]);
    }
    result_.drop_zero_bounds(points_.size());
    return result_;
  }

 private:
  // Where long double has the range of double only, products beyond it promise nothing.
  struct Point {
    long double product = 1;
    // Of the magnitudes at the upper ends of their bounds; and of those above and below 1 alone.
    long double highest = 1, above = 1, below = 1;
    int64_t count = 0;
    bool whole = true;
    bool open = false;
  };

  static void take(Point& point, const Terms& terms, const double* values, size_t i) {
    point.open = point.open || terms.open(i);
    if (!terms.takes(i)) return;
    double error = terms.slots[0]->bound(i);
    if (!(error < kAnything)) point.open = true;
    long double magnitude = std::fabs(values[i]) + static_cast<long double>(error);
    point.product *= values[i];
    point.highest *= magnitude;
    point.above *= std::max(magnitude, 1.0L);
    if (values[i] != 0) point.below *= std::min(std::fabs(static_cast<long double>(values[i])), 1.0L);
    point.whole = point.whole && is_whole(values[i]);
    ++point.count;
  }

  double bound(const Point& point) const {
    if (point.open) return kAnything;
    if (point.count == 0) return 0;
    long double magnitude = std::fabs(point.product);
    if (std::isnan(point.product)) return 0;
    // Infinite as written: an infinite factor makes `above` infinite too.
    if (std::isinf(magnitude)) return std::isinf(point.above) ? 0 : kAnything;
    if (!(point.above <= shape_.largest)) return kAnything;
    double moved = static_cast<double>(point.highest - magnitude) * (1 + 0x1p-50);
    if (point.whole && point.highest * shape_.unit <= 2) return moved;
    double terms = static_cast<double>(point.count) + 3;
    double own = static_cast<double>(point.highest) * terms * shape_.unit;
    // A partial product may have been denormal before large factors came.
    double least_normal = shape_.least / shape_.unit;
    if (point.below < least_normal)
      own += static_cast<double>(point.above) * terms * (flush_ ? least_normal : shape_.least);
    return moved + own;
  }

  FloatShape shape_;
  bool flush_;
  std::vector<Point> points_;
  LaneVector result_;
};

class Merging : public Accumulator {
 public:
  Merging(const Monoid& monoid, const BodyRules& rules)
      : monoid_(monoid), merge_(monoid.merge, rules, {}), project_(monoid.project, rules, {}) {
    for (const Constant& slot : monoid.identity) {
      state_.emplace_back(slot.type);
      terms_.emplace_back(slot.type);
    }
  }

  void reset(size_t points) override {
    points_ = points;
    for (size_t slot = 0; slot < state_.size(); ++slot) state_[slot].fill(monoid_.identity[slot].bits);
  }

  void add(const Terms& terms) override {
    for (size_t slot = 0; slot < terms_.size(); ++slot) load(slot, terms);
    merge_into_state(terms.lanes);
  }

  // Halves the terms until one is left; the left operand always has the lower lanes' elements.
  void add_across(const Terms& terms) override {
    for (size_t slot = 0; slot < terms_.size(); ++slot) load(slot, terms);
    for (size_t lanes = terms.lanes; lanes > 1;) {
      size_t half = lanes / 2;
      for (size_t slot = 0; slot < terms_.size(); ++slot) {
        set(slot, terms_[slot], 0);
        set(slot + terms_.size(), terms_[slot], half);
      }
      merge_.run(half);
      copy_merged(half);
      for (size_t slot = 0; slot < terms_.size(); ++slot) halve(slot, half, lanes);
      lanes = half + lanes % 2;
    }
    merge_into_state(1);
  }

  LaneVector& finish() override {
    for (size_t slot = 0; slot < state_.size(); ++slot) set_project(slot);
    project_.run(points_);
    return project_.value(monoid_.projected);
  }

 private:
  // The terms of a slot, the identity where a lane is left out.
  void load(size_t slot, const Terms& terms) {
    const LaneVector& from = *terms.slots[slot];
    LaneVector& to = terms_[slot];
    size_t width = byte_size(to.type());
    if (terms.active == nullptr) {
      std::memcpy(to.own(), from.data(), terms.lanes * width);
    } else {
      to.fill(monoid_.identity[slot].bits);
      for (size_t i = 0; i < terms.lanes; ++i)
        if (terms.takes(i)) std::memcpy(to.bytes() + i * width, from.data() + i * width, width);
    }
    if (from.bounds() == nullptr && terms.active_bounds == nullptr) return;
    double* bounds = to.own_bounds();
    for (size_t i = 0; i < terms.lanes; ++i)
      bounds[i] = terms.open(i) ? kAnything : terms.takes(i) ? from.bound(i) : 0;
  }

  void set(size_t position, const LaneVector& vector, size_t from) {
    merge_.set_argument(static_cast<unsigned>(position), vector.data() + from * byte_size(vector.type()),
                        vector.bounds() == nullptr ? nullptr : vector.bounds() + from);
  }
  void set_project(size_t slot) {
    project_.set_argument(static_cast<unsigned>(slot), state_[slot].data(), state_[slot].bounds());
  }

  // Takes `half` merged lanes, and behind them the last of an odd number.
  void halve(size_t slot, size_t half, size_t lanes) {
    LaneVector& to = terms_[slot];
    size_t width = byte_size(to.type());
    double last = to.bound(lanes - 1);
    bool bounded = to.bounds() != nullptr || next_[slot].bounded;
    std::memcpy(to.bytes(), next_[slot].data.data(), half * width);
    std::memmove(to.bytes() + half * width, to.data() + (lanes - 1) * width, width);
    if (!bounded) return;
    double* bounds = to.own_bounds();
    for (size_t i = 0; i < half; ++i) bounds[i] = next_[slot].bounded ? next_[slot].bounds[i] : 0;
    bounds[half] = last;
  }

  void merge_into_state(size_t lanes) {
    for (size_t slot = 0; slot < state_.size(); ++slot) {
      set(slot, state_[slot], 0);
      set(slot + state_.size(), terms_[slot], 0);
    }
    merge_.run(lanes);
    copy_merged(lanes);
    for (size_t slot = 0; slot < state_.size(); ++slot) take_next(slot, lanes);
  }

  // A merged slot may be an argument itself, so that nothing is replaced before all are copied.
  struct Next {
    std::vector<std::byte> data;
    std::vector<double> bounds;
    bool bounded = false;
  };
  void copy_merged(size_t lanes) {
    next_.resize(state_.size());
    for (size_t slot = 0; slot < next_.size(); ++slot) {
      const LaneVector& from = merge_.value(monoid_.merged[slot]);
      next_[slot].data.assign(from.data(), from.data() + lanes * byte_size(from.type()));
      next_[slot].bounded = from.bounds() != nullptr;
      if (next_[slot].bounded) next_[slot].bounds.assign(from.bounds(), from.bounds() + lanes);
    }
  }
  void take_next(size_t slot, size_t lanes) {
    std::memcpy(state_[slot].bytes(), next_[slot].data.data(), lanes * byte_size(state_[slot].type()));
    state_[slot].alias(state_[slot].data(), nullptr);
    if (next_[slot].bounded) std::copy_n(next_[slot].bounds.begin(), lanes, state_[slot].own_bounds());
  }

  const Monoid& monoid_;
  BodyRunner merge_, project_;
  std::vector<LaneVector> state_, terms_;
  std::vector<Next> next_;
  size_t points_ = 0;
};

}  // namespace

std::unique_ptr<Accumulator> make_accumulator(const Monoid& monoid, const BodyRules& rules,
                                              double allowance) {
  ElementType type = monoid.result_type();
  if (!is_inexact(monoid.kind, type)) {
    BodyRules merging = rules;
    merging.contraction = false;
    return std::make_unique<Merging>(monoid, merging);
  }
  if (monoid.kind == MonoidKind::kSum) return std::make_unique<FloatSum>(type, rules, allowance);
  return std::make_unique<FloatProduct>(type, rules);
}

}  // namespace tenon::ir
