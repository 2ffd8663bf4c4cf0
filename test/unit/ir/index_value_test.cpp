// Whether canonical forms keep the value: random expressions are built and evaluated beside the pool.
#include <gtest/gtest.h>

#include <array>
#include <random>

#include "ir/index_text.h"
#include "support/integer_math.h"

namespace tenon::ir {
namespace {

constexpr size_t kTrials = 16;
using Values = std::array<int64_t, kTrials>;

struct Pair {
  IndexId id;
  Values values;
};

class Builder {
 public:
  explicit Builder(uint32_t seed) : random_(seed) {
    for (uint32_t atom = 0; atom < atoms_.size(); ++atom)
      for (size_t trial = 0; trial < kTrials; ++trial)
        atoms_[atom][trial] = trial == 0 ? 0 : static_cast<int64_t>(random_() % 12) - (trial > 8 ? 5 : 0);
  }

  Pair random(int depth) {
    uint32_t choice = random_() % (depth > 0 ? 14 : 3);
    if (choice == 0) return constant(static_cast<int64_t>(random_() % 9) - 2);
    if (choice < 3) return atom(random_() % 4);
    Pair a = random(depth - 1);
    Pair b = random_() % 3 == 0 ? constant(static_cast<int64_t>(random_() % 5)) : random(depth - 1);
    switch (choice) {
      case 3:
      case 4:
        return {pool.add(a.id, b.id), apply(a, b, [](int64_t x, int64_t y) { return x + y; })};
      case 5:
        return {pool.sub(a.id, b.id), apply(a, b, [](int64_t x, int64_t y) { return x - y; })};
      case 6:
      case 7:
        return {pool.mul(a.id, b.id), apply(a, b, [](int64_t x, int64_t y) { return x * y; })};
      case 8:
        return {pool.floor_div(a.id, b.id), apply(a, b, div_floor<int64_t>)};
      case 9:
        return {pool.floor_mod(a.id, b.id), apply(a, b, mod_floor<int64_t>)};
      case 10:
        return split(a, b);
      case 11:
        return {pool.min(a.id, b.id), apply(a, b, [](int64_t x, int64_t y) { return std::min(x, y); })};
      case 12:
        return {pool.less_equal(a.id, b.id),
                apply(a, b, [](int64_t x, int64_t y) { return int64_t{x <= y}; })};
      default:
        return {pool.equal(a.id, b.id), apply(a, b, [](int64_t x, int64_t y) { return int64_t{x == y}; })};
    }
  }

  // b*(a/b) + a%b, and more that has a%b as a factor.
  Pair split(const Pair& a, const Pair& b) {
    Pair quotient{pool.floor_div(a.id, b.id), apply(a, b, div_floor<int64_t>)};
    Pair rest{pool.floor_mod(a.id, b.id), apply(a, b, mod_floor<int64_t>)};
    Pair other = atom(random_() % 4);
    auto times = [](int64_t x, int64_t y) { return x * y; };
    auto plus = [](int64_t x, int64_t y) { return x + y; };
    Pair whole{pool.mul(b.id, quotient.id), apply(b, quotient, times)};
    Pair more{pool.mul(rest.id, other.id), apply(rest, other, times)};
    Pair sum{pool.add(whole.id, more.id), apply(whole, more, plus)};
    return {pool.add(sum.id, rest.id), apply(sum, rest, plus)};
  }

  std::optional<int64_t> value(IndexId id, size_t trial) const {
    return pool.evaluate(id,
                         [&](IndexId atom) { return std::optional(atoms_[pool[atom].reference][trial]); });
  }

  IndexPool pool;

 private:
  Pair constant(int64_t value) {
    Pair pair{pool.constant(value), {}};
    pair.values.fill(value);
    return pair;
  }
  Pair atom(uint32_t which) {
    return {which % 2 == 0 ? pool.symbol(SymbolId(which)) : pool.axis(AxisId(which)), atoms_[which]};
  }
  template <class F>
  static Values apply(const Pair& a, const Pair& b, F f) {
    Values values;
    for (size_t i = 0; i < kTrials; ++i) values[i] = f(a.values[i], b.values[i]);
    return values;
  }

  std::mt19937 random_;
  std::array<Values, 4> atoms_;
};

TEST(IndexPool, CanonicalFormsKeepTheValue) {
  for (uint32_t seed = 0; seed < 3000; ++seed) {
    Builder builder(seed);
    Pair pair = builder.random(3);
    for (size_t trial = 0; trial < kTrials; ++trial) {
      if (auto value = builder.value(pair.id, trial)) {
        ASSERT_EQ(*value, pair.values[trial]) << "seed " << seed << ", trial " << trial << ": "
                                              << index_text(builder.pool, pair.id, [](const IndexNode& node) {
                                                   return "a" + std::to_string(node.reference);
                                                 });
      }
    }
  }
}

}  // namespace
}  // namespace tenon::ir
