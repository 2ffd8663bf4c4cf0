// Whatever the prover claims is held against brute force: random facts and goals, and where a goal is proved,
// every value in a small box that satisfies the facts. Values come from an evaluator of the source
// expressions that shares nothing with the terms.
#include <fmt/format.h>
#include <gtest/gtest.h>

#include <array>
#include <cmath>
#include <functional>
#include <memory>
#include <random>

#include "frontend/prove/counterexample.h"
#include "frontend/prove/search.h"
#include "test/thinning.h"
#include "test/unit/prove/expressions.h"

namespace tenon::prove {
namespace {

enum class Op : uint8_t { kNumber, kSymbol, kRead, kAdd, kSub, kMul, kDiv, kMod, kMin, kMax, kSelect };
enum class Rel : uint8_t { kLt, kLe, kEq, kNe, kAnd, kOr, kNot, kFlag };

struct Test;
struct Node {
  Op op = Op::kNumber;
  int64_t number = 0;
  std::shared_ptr<Node> a, b;
  std::shared_ptr<Test> test;
};
struct Test {
  Rel rel = Rel::kLt;
  std::shared_ptr<Node> a, b;
  std::shared_ptr<Test> x, y;
};
using NodePtr = std::shared_ptr<Node>;
using TestPtr = std::shared_ptr<Test>;

// M, N: dimensions; s: a scalar; i, j: indices; symbols by position.
constexpr size_t kSymbols = 5;
constexpr size_t kDims = 2;
constexpr size_t kScalar = 2;

struct World {
  std::array<int64_t, kSymbols> values{};
  // Seed of the function that reads return.
  uint32_t function = 0;
  bool flag = false;
  bool divided_by_zero = false;
};

int64_t floor_div(int64_t a, int64_t b) {
  return b == 0 ? 0 : static_cast<int64_t>(std::floor(static_cast<double>(a) / static_cast<double>(b)));
}

// Reads are of a type with range -2..3.
int64_t read(const World& world, int64_t at) {
  const uint64_t mixed =
      (static_cast<uint64_t>(at) * 0x9E3779B97F4A7C15 + world.function) * 0xFF51AFD7ED558CCD;
  return static_cast<int64_t>((mixed >> 40) % 6) - 2;
}

bool holds(const Test& test, World& world);

int64_t value(const Node& node, World& world) {
  if (node.op == Op::kNumber) return node.number;
  if (node.op == Op::kSymbol) return world.values[static_cast<size_t>(node.number)];
  const int64_t a = value(*node.a, world);
  if (node.op == Op::kRead) return read(world, a);
  if (node.op == Op::kSelect) return holds(*node.test, world) ? a : value(*node.b, world);
  const int64_t b = value(*node.b, world);
  switch (node.op) {
    case Op::kAdd:
      return a + b;
    case Op::kSub:
      return a - b;
    case Op::kMul:
      return a * b;
    case Op::kDiv:
    case Op::kMod:
      world.divided_by_zero |= b == 0;
      return node.op == Op::kDiv ? floor_div(a, b) : a - b * floor_div(a, b);
    case Op::kMin:
      return std::min(a, b);
    default:
      return std::max(a, b);
  }
}

bool holds(const Test& test, World& world) {
  switch (test.rel) {
    case Rel::kLt:
      return value(*test.a, world) < value(*test.b, world);
    case Rel::kLe:
      return value(*test.a, world) <= value(*test.b, world);
    case Rel::kEq:
      return value(*test.a, world) == value(*test.b, world);
    case Rel::kNe:
      return value(*test.a, world) != value(*test.b, world);
    case Rel::kAnd:
      return holds(*test.x, world) && holds(*test.y, world);
    case Rel::kOr:
      return holds(*test.x, world) || holds(*test.y, world);
    case Rel::kNot:
      return !holds(*test.x, world);
    case Rel::kFlag:
      return world.flag;
  }
  return false;
}

class Case {
 public:
  explicit Case(uint32_t seed) : random_(seed) {
    static constexpr std::array<const char*, kSymbols> kNames = {"M", "N", "s", "i", "j"};
    for (size_t k = 0; k < kDims; ++k) symbols_[k] = t().symbol(kNames[k], SymbolKind::kDimension);
    symbols_[kScalar] = t().symbol(kNames[kScalar], SymbolKind::kScalar);
    visible_ = kScalar + 1;
    for (size_t k = kScalar + 1; k < kSymbols; ++k) {
      // Ranges over what is visible so far, often 0..extent.
      lo_[k] = pick(3) ? leaf(0) : term(1);
      hi_[k] = pick(2) ? positive_looking() : term(2);
      symbols_[k] = t().symbol(kNames[k], SymbolKind::kIndex, {build(*lo_[k]), build(*hi_[k])});
      visible_ = k + 1;
    }
    const size_t count = pick(4);
    for (size_t k = 0; k < count; ++k) {
      facts_.push_back(pick(3) == 0 ? divisibility() : comparison(2));
      clause_.push_back(pick(2) == 0);
      context_.assume(build(*facts_.back()), clause_.back() ? FactKind::kClause : FactKind::kGuard);
    }
    goal_ = pick(2) ? bound_goal() : comparison(2);
  }

  // Returns what was claimed; checks it.
  Outcome check() {
    const ConditionId goal = build(*goal_);
    const std::string text = t().text(goal);
    const Verdict verdict = context_.prove(goal);
    if (verdict.proved()) {
      for_all([&](World& world) {
        EXPECT_TRUE(holds(*goal_, world)) << text << " was proved but fails for " << describe(world);
        return !::testing::Test::HasFailure();
      });
    } else if (verdict.suggested_clause) {
      check_suggestion(verdict.suggested_clause, text);
    }
    if (verdict.outcome == Outcome::kDisproved) check_counterexample(goal, text);
    return verdict.outcome;
  }

  // Simplified terms keep their values.
  void check_simplify() {
    const NodePtr node = term(3);
    const TermId built = build(*node);
    const TermId simple = context_.simplify(built);
    const bool even = context_.divisible(built, 2);
    uint32_t count = 0;
    for_all([&](World& world) {
      if (++count % 23 != 0) return true;
      const int64_t expected = value(*node, world);
      if (even) EXPECT_EQ(expected % 2, 0) << t().text(built) << " is not even for " << describe(world);
      const std::optional<int64_t> got = evaluate(simple, world);
      if (got)
        EXPECT_EQ(*got, expected) << t().text(built) << " became " << t().text(simple) << describe(world);
      return !::testing::Test::HasFailure();
    });
  }

 private:
  TermStore& t() { return context_.terms(); }
  uint32_t pick(uint32_t n) { return static_cast<uint32_t>(random_() % n); }

  static NodePtr make(Op op, NodePtr a, NodePtr b) {
    return std::make_shared<Node>(Node{op, 0, a, b, nullptr});
  }
  static NodePtr number(int64_t value) {
    return std::make_shared<Node>(Node{Op::kNumber, value, {}, {}, {}});
  }
  static NodePtr symbol(size_t k) {
    return std::make_shared<Node>(Node{Op::kSymbol, static_cast<int64_t>(k), {}, {}, {}});
  }
  NodePtr leaf(int64_t low) { return number(low + pick(2)); }
  NodePtr positive_looking() {
    const NodePtr n = symbol(pick(kDims));
    switch (pick(5)) {
      case 0:
        return make(Op::kMul, symbol(0), symbol(1));
      case 1:
        return make(Op::kDiv, n, number(1 + pick(3)));
      case 2:
        return make(Op::kAdd, n, number(pick(3)));
      case 3:
        return make(Op::kAdd, make(Op::kSub, symbol(0), symbol(1)), number(1));
      default:
        return n;
    }
  }
  NodePtr term(int depth) {
    if (depth == 0 || pick(4) == 0)
      return pick(4) ? symbol(pick(visible_)) : number(static_cast<int>(pick(6)) - 1);
    static constexpr std::array<Op, 12> kOps = {Op::kAdd, Op::kAdd, Op::kSub, Op::kSub, Op::kMul, Op::kMul,
                                                Op::kDiv, Op::kMod, Op::kDiv, Op::kMod, Op::kMin, Op::kMax};
    if (pick(14) == 0)
      return std::make_shared<Node>(Node{Op::kSelect, 0, term(depth - 1), term(depth - 1), comparison(1)});
    if (pick(14) == 0) return make(Op::kRead, term(depth - 1), nullptr);
    return make(kOps[pick(kOps.size())], term(depth - 1), term(depth - 1));
  }
  static TestPtr compare(Rel rel, NodePtr a, NodePtr b) {
    return std::make_shared<Test>(Test{rel, a, b, nullptr, nullptr});
  }
  TestPtr comparison(int depth) {
    if (depth > 0 && pick(5) == 0) {
      static constexpr std::array<Rel, 3> kRels = {Rel::kAnd, Rel::kOr, Rel::kNot};
      return std::make_shared<Test>(
          Test{kRels[pick(3)], {}, {}, comparison(depth - 1), comparison(depth - 1)});
    }
    if (pick(20) == 0) return std::make_shared<Test>(Test{Rel::kFlag, {}, {}, {}, {}});
    static constexpr std::array<Rel, 6> kRels = {Rel::kLt, Rel::kLt, Rel::kLe, Rel::kLe, Rel::kEq, Rel::kNe};
    return compare(kRels[pick(6)], term(depth), term(depth));
  }
  TestPtr divisibility() {
    return compare(Rel::kEq,
                   make(Op::kMod, pick(2) ? symbol(pick(visible_)) : term(1),
                        pick(2) ? number(1 + pick(4)) : symbol(pick(visible_))),
                   number(pick(4) ? 0 : pick(3)));
  }
  // As accesses have it: an index term against an extent.
  TestPtr bound_goal() {
    const NodePtr n = positive_looking();
    const NodePtr i = symbol(kScalar + 1 + pick(2));
    NodePtr e = i;
    switch (pick(6)) {
      case 0:
        e = make(Op::kMod, term(2), n);
        break;
      case 1:
        e = make(Op::kDiv, make(Op::kMul, i, term(1)), term(1));
        break;
      case 2:
        e = make(Op::kAdd, make(Op::kMul, symbol(3), term(1)), symbol(4));
        break;
      case 3:
        e = make(Op::kMin, make(Op::kMax, term(2), number(0)), make(Op::kSub, n, number(1)));
        break;
      case 4:
        e = make(Op::kDiv, i, make(Op::kDiv, n, term(0)));
        break;
      default:
        break;
    }
    return pick(3) ? compare(Rel::kLt, e, n) : compare(Rel::kLe, number(0), e);
  }

  TermId build(const Node& node) {
    if (node.op == Op::kNumber) return t().constant(node.number);
    if (node.op == Op::kSymbol) return symbols_[static_cast<size_t>(node.number)];
    const TermId a = build(*node.a);
    if (node.op == Op::kRead) return t().opaque("x", std::array{a}, {t().constant(-2), t().constant(4)});
    if (node.op == Op::kSelect) return t().select(build(*node.test), a, build(*node.b));
    const TermId b = build(*node.b);
    switch (node.op) {
      case Op::kAdd:
        return t().add(a, b);
      case Op::kSub:
        return t().sub(a, b);
      case Op::kMul:
        return t().mul(a, b);
      case Op::kDiv:
        return t().floor_div(a, b);
      case Op::kMod:
        return t().floor_mod(a, b);
      case Op::kMin:
        return t().min(a, b);
      default:
        return t().max(a, b);
    }
  }
  ConditionId build(const Test& test) {
    switch (test.rel) {
      case Rel::kLt:
        return t().lt(build(*test.a), build(*test.b));
      case Rel::kLe:
        return t().le(build(*test.a), build(*test.b));
      case Rel::kEq:
        return t().eq(build(*test.a), build(*test.b));
      case Rel::kNe:
        return t().ne(build(*test.a), build(*test.b));
      case Rel::kAnd:
        return t().logical_and(build(*test.x), build(*test.y));
      case Rel::kOr:
        return t().logical_or(build(*test.x), build(*test.y));
      case Rel::kNot:
        return t().logical_not(build(*test.x));
      case Rel::kFlag:
        return t().opaque_condition("flag");
    }
    return {};
  }

  bool allowed(World& world) {
    for (size_t k = 0; k < facts_.size(); ++k) {
      world.divided_by_zero = false;
      if (!holds(*facts_[k], world) || (clause_[k] && world.divided_by_zero)) return false;
    }
    return true;
  }

  // Calls with every world that satisfies ranges and facts, until it returns false.
  void for_all(const std::function<bool(World&)>& visit) {
    World world;
    auto& v = world.values;
    for (world.function = 0; world.function < 2; ++world.function)
      for (int flag = 0; flag < 2; ++flag)
        for (v[0] = 0; v[0] <= 5; ++v[0])
          for (v[1] = 0; v[1] <= 5; ++v[1])
            for (v[2] = -2; v[2] <= 4; ++v[2]) {
              world.flag = flag == 1;
              const int64_t hi = std::min<int64_t>(value(*hi_[3], world), 12);
              for (v[3] = std::max<int64_t>(value(*lo_[3], world), -12); v[3] < hi; ++v[3]) {
                const int64_t hj = std::min<int64_t>(value(*hi_[4], world), 12);
                for (v[4] = std::max<int64_t>(value(*lo_[4], world), -12); v[4] < hj; ++v[4]) {
                  if (allowed(world) && !visit(world)) return;
                }
              }
            }
  }

  void check_suggestion(ConditionId clause, const std::string& text) {
    for_all([&](World& world) {
      Assignment values;
      for (size_t k = 0; k <= kScalar; ++k) values[*t().single_atom(symbols_[k])] = world.values[k];
      const bool holds_here = Evaluator(t(), values, {}).holds(clause) == std::optional(true);
      if (holds_here) {
        EXPECT_TRUE(holds(*goal_, world))
            << t().text(clause) << " was suggested for " << text << " but " << describe(world);
      }
      return !::testing::Test::HasFailure();
    });
  }

  void check_counterexample(ConditionId goal, const std::string& text) {
    std::vector<ConditionId> facts, clauses;
    bool simple = true;
    for (size_t k = 0; k < facts_.size(); ++k) {
      facts.push_back(build(*facts_[k]));
      if (clause_[k]) clauses.push_back(facts.back());
    }
    const auto found = find_counterexample(t(), facts, clauses, goal);
    if (!found) return;
    World world;
    std::array<bool, kSymbols> given{};
    for (const auto& [atom, number] : found->values) {
      for (size_t k = 0; k < kSymbols; ++k) {
        if (*t().single_atom(symbols_[k]) != atom) continue;
        world.values[k] = number;
        given[k] = true;
      }
      // A read or the flag got a value that this world's function does not have.
      simple = simple && t().atom(atom).kind == AtomKind::kSymbol;
    }
    if (!simple || text.find("flag") != std::string::npos) return;
    EXPECT_FALSE(holds(*goal_, world)) << found->text << " is no counterexample to " << text;
  }

  std::optional<int64_t> evaluate(TermId term, World& world) {
    Assignment values;
    for (size_t k = 0; k < kSymbols; ++k) values[*t().single_atom(symbols_[k])] = world.values[k];
    const TruthAssignment truths = {{t().opaque_condition("flag"), world.flag}};
    return Evaluator(t(), values, truths).value(term);
  }

  std::string describe(World& world) {
    return fmt::format("M={} N={} s={} i={} j={} (ranges {}..{}, {}..{}; facts {})", world.values[0],
                       world.values[1], world.values[2], world.values[3], world.values[4],
                       t().text(build(*lo_[3])), t().text(build(*hi_[3])), t().text(build(*lo_[4])),
                       t().text(build(*hi_[4])), facts_text());
  }
  std::string facts_text() {
    std::string text;
    for (size_t k = 0; k < facts_.size(); ++k) {
      text += (clause_[k] ? " where " : " guard ") + t().text(build(*facts_[k])) + ";";
    }
    return text;
  }

  std::mt19937 random_;
  Context context_;
  std::array<TermId, kSymbols> symbols_;
  std::array<NodePtr, kSymbols> lo_, hi_;
  uint32_t visible_ = 0;
  std::vector<TestPtr> facts_;
  std::vector<bool> clause_;
  TestPtr goal_;
};

// How many random cases, one a seed.
#ifndef TENON_PROVE_CASES
#define TENON_PROVE_CASES 2000
#endif
constexpr uint32_t kCases = static_cast<uint32_t>(thinned(TENON_PROVE_CASES, 200));

TEST(SoundnessTest, WhatIsProvedHolds) {
  int proved = 0;
  int disproved = 0;
  for (uint32_t seed = 1; seed <= kCases && !HasFailure(); ++seed) {
    SCOPED_TRACE(seed);
    const Outcome outcome = Case(seed).check();
    proved += outcome == Outcome::kProved;
    disproved += outcome == Outcome::kDisproved;
  }
  RecordProperty("proved", proved);
  RecordProperty("disproved", disproved);
  // Enough of both for the test to mean something.
  EXPECT_GT(proved, static_cast<int>(kCases / 10));
  EXPECT_GT(disproved, static_cast<int>(kCases / 10));
}

TEST(SoundnessTest, SimplifiedTermsKeepTheirValues) {
  for (uint32_t seed = 100001; seed <= 100001 + kCases / 4 && !HasFailure(); ++seed) {
    SCOPED_TRACE(seed);
    Case(seed).check_simplify();
  }
}

}  // namespace
}  // namespace tenon::prove
