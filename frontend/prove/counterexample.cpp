#include "frontend/prove/counterexample.h"

#include <fmt/format.h>

#include <algorithm>
#include <array>
#include <set>

namespace tenon::prove {
namespace {

constexpr size_t kMaxLeaves = 12;
constexpr size_t kMaxTruths = 3;
constexpr size_t kMaxNodes = 20000;
constexpr std::array<int64_t, 6> kSizes = {0, 1, 2, 3, 5, 8};
constexpr std::array<int64_t, 8> kNumbers = {0, 1, -1, 2, 3, 5, 8, -8};

// A depth-first search over assignments: a value of a leaf is tried as soon as what its range needs has
// values.
class Attempt {
 public:
  Attempt(const TermStore& store, std::span<const ConditionId> facts, std::span<const ConditionId> clauses,
          ConditionId goal)
      : store_(store), facts_(facts), clauses_(clauses), goal_(goal) {}

  std::optional<Counterexample> run() {
    if (!collect()) return std::nullopt;
    bool found = false;
    for (unsigned bits = 0; bits < (1u << truths_.size()) && !found; ++bits) {
      unsigned place = 0;
      for (auto& [condition, truth] : truths_) truth = (bits >> place++) & 1;
      found = assign(0);
    }
    if (!found) return std::nullopt;
    return Counterexample{values_, describe()};
  }

 private:
  // The symbols, opaque values and bools that the goal and the facts reach, those that others depend on
  // first.
  bool collect() {
    std::vector<AtomId> work;
    auto reach = [&](ConditionId condition) {
      for (AtomId atom : store_.atoms_of(condition)) work.push_back(atom);
      collect_truths(condition);
    };
    reach(goal_);
    for (ConditionId fact : facts_) reach(fact);
    std::set<AtomId> seen;
    while (!work.empty()) {
      const AtomId id = work.back();
      work.pop_back();
      if (!seen.insert(id).second) continue;
      const Atom& atom = store_.atom(id);
      if (atom.kind == AtomKind::kLarge) return false;
      if (atom.condition) collect_truths(atom.condition);
      for (TermId bound : {atom.range.lo, atom.range.hi}) {
        if (!bound) continue;
        for (AtomId inner : store_.atoms_of(bound)) work.push_back(inner);
      }
      if (atom.kind == AtomKind::kSymbol || atom.kind == AtomKind::kOpaque) leaves_.push_back(id);
      if (leaves_.size() > kMaxLeaves) return false;
    }
    std::ranges::sort(leaves_, [&](AtomId a, AtomId b) {
      return std::pair(store_.atom(a).rank, a) < std::pair(store_.atom(b).rank, b);
    });
    return truths_.size() <= kMaxTruths;
  }

  void collect_truths(ConditionId id) {
    if (!conditions_.insert(id).second) return;
    const Condition& condition = store_.condition(id);
    if (condition.kind == ConditionKind::kOpaque) truths_.emplace(id, false);
    if (condition.kind == ConditionKind::kNotOpaque) truths_.emplace(condition.negation, false);
    for (ConditionId operand : condition.operands) collect_truths(operand);
  }

  bool assign(size_t index) {
    if (++nodes_ > kMaxNodes) return false;
    if (index == leaves_.size()) return opaque_truths_agree() && breaks_goal();
    const AtomId leaf = leaves_[index];
    for (int64_t value : candidates(store_.atom(leaf))) {
      values_[leaf] = value;
      if (consistent(index) && assign(index + 1)) return true;
      values_.erase(leaf);
      if (nodes_ > kMaxNodes) return false;
    }
    return false;
  }

  std::vector<int64_t> candidates(const Atom& atom) {
    Evaluator evaluator(store_, values_, truths_);
    std::optional<int64_t> lo;
    std::optional<int64_t> hi;
    if (atom.range.lo && !(lo = evaluator.value(atom.range.lo))) return {};
    if (atom.range.hi && !(hi = evaluator.value(atom.range.hi))) return {};
    if (atom.symbol_kind == SymbolKind::kDimension && atom.kind == AtomKind::kSymbol)
      lo = std::max<int64_t>(lo.value_or(0), 0);
    std::vector<int64_t> out;
    auto offer = [&](int64_t value) {
      if ((lo && value < *lo) || (hi && value >= *hi)) return;
      if (std::ranges::find(out, value) == out.end()) out.push_back(value);
    };
    if (lo && hi) {
      // The ends of a range show most mistakes.
      for (int64_t value : {*lo, *hi - 1, *lo + 1, *hi - 2}) offer(value);
    } else if (atom.kind == AtomKind::kSymbol && atom.symbol_kind == SymbolKind::kDimension) {
      for (int64_t value : kSizes) offer(value);
    } else {
      for (int64_t value : kNumbers) offer(value);
      if (lo) offer(*lo);
      if (hi) offer(*hi - 1);
    }
    return out;
  }

  // Opaque values of one name agree where their arguments do; facts that can be told already hold.
  bool consistent(size_t index) {
    Evaluator evaluator(store_, values_, truths_);
    const Atom& atom = store_.atom(leaves_[index]);
    for (size_t i = 0; i < index && atom.kind == AtomKind::kOpaque; ++i) {
      const Atom& other = store_.atom(leaves_[i]);
      if (other.kind != AtomKind::kOpaque || other.name != atom.name) continue;
      if (other.operands.size() != atom.operands.size()) continue;
      bool same = true;
      for (size_t k = 0; k < atom.operands.size(); ++k) {
        const std::optional<int64_t> a = evaluator.value(atom.operands[k]);
        const std::optional<int64_t> b = evaluator.value(other.operands[k]);
        // Arguments that are not known yet: refuse rather than claim a false counterexample.
        if (!a || !b || *a == *b) continue;
        same = false;
      }
      if (same && values_[leaves_[i]] != values_[leaves_[index]]) return false;
    }
    return std::ranges::none_of(
        facts_, [&](ConditionId fact) { return evaluator.holds(fact) == std::optional(false); });
  }

  bool opaque_truths_agree() {
    Evaluator evaluator(store_, values_, truths_);
    for (auto a = truths_.begin(); a != truths_.end(); ++a) {
      for (auto b = std::next(a); b != truths_.end(); ++b) {
        const Condition& x = store_.condition(a->first);
        const Condition& y = store_.condition(b->first);
        if (x.name != y.name || x.arguments.size() != y.arguments.size() || a->second == b->second) continue;
        bool same = true;
        for (size_t k = 0; k < x.arguments.size(); ++k) {
          const std::optional<int64_t> u = evaluator.value(x.arguments[k]);
          const std::optional<int64_t> v = evaluator.value(y.arguments[k]);
          same = same && (!u || !v || *u == *v);
        }
        if (same) return false;
      }
    }
    return true;
  }

  bool breaks_goal() {
    Evaluator evaluator(store_, values_, truths_);
    for (ConditionId fact : facts_) {
      if (evaluator.holds(fact) != std::optional(true)) return false;
    }
    for (ConditionId clause : clauses_) {
      for (AtomId id : store_.atoms_of(clause)) {
        const Atom& atom = store_.atom(id);
        if (atom.kind == AtomKind::kDiv && evaluator.value(atom.operands[1]) == std::optional<int64_t>(0))
          return false;
      }
    }
    return evaluator.holds(goal_) == std::optional(false);
  }

  std::string describe() const {
    std::string text;
    auto append = [&](AtomId id) {
      text += fmt::format("{}{} = {}", text.empty() ? "" : ", ", store_.text(id), values_.at(id));
    };
    for (bool sizes : {true, false}) {
      for (AtomId id : leaves_) {
        const Atom& atom = store_.atom(id);
        const bool is_size = atom.kind == AtomKind::kSymbol && atom.symbol_kind != SymbolKind::kIndex;
        if (is_size == sizes) append(id);
      }
    }
    return text;
  }

  const TermStore& store_;
  std::span<const ConditionId> facts_;
  std::span<const ConditionId> clauses_;
  ConditionId goal_;
  std::vector<AtomId> leaves_;
  std::set<ConditionId> conditions_;
  TruthAssignment truths_;
  Assignment values_;
  size_t nodes_ = 0;
};

}  // namespace

std::optional<Counterexample> find_counterexample(const TermStore& store, std::span<const ConditionId> facts,
                                                  std::span<const ConditionId> clauses, ConditionId goal) {
  return Attempt(store, facts, clauses, goal).run();
}

}  // namespace tenon::prove
