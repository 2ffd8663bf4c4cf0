#include <algorithm>
#include <cmath>
#include <set>
#include <utility>

#include "support/array_fill.h"
#include "sweep.h"

namespace tenon::conformance {
namespace {

int64_t points(const Sizes& sizes) {
  double product = 1;
  for (const auto& [name, value] : sizes) product *= static_cast<double>(std::max<int64_t>(value, 1));
  return product > 1e18 ? INT64_MAX : static_cast<int64_t>(product);
}

class SizeList {
 public:
  SizeList(const Subject& subject, const SweepOptions& options) : subject_(subject), options_(options) {
    for (const ir::Symbol& symbol : subject.kernel().symbols) {
      if (symbol.fixed) {
        constant_[symbol.name] = *symbol.fixed;
      } else if (auto fixed = options.fixed.find(symbol.name); fixed != options.fixed.end()) {
        constant_[symbol.name] = fixed->second;
      } else {
        symbols_.push_back(symbol.name);
      }
    }
  }

  std::vector<Sizes> take() {
    for (const std::string& symbol : symbols_)
      for (int64_t other : options_.others)
        for (int64_t value : options_.sizes) add_one(symbol, value, other, options_.most_points);
    for (int64_t value : options_.long_sizes) add_one(options_.long_symbol, value, 3, options_.most_points);
    add_sizes_around_bounds();
    if (options_.areas) add_areas();
    add_random_shapes();
    if (symbols_.empty()) add(constant_);
    return std::move(list_);
  }

 private:
  // Numbers of guards beyond it are the limits of 32-bit offsets.
  static constexpr int64_t kLargestBound = 100'000;
  static constexpr int64_t kBoundPoints = 70'000;
  static constexpr int64_t kLargestArea = int64_t{1} << 24;
  static constexpr int64_t kMostAreaPoints = int64_t{1} << 28;

  // One symbol has a value, the others `other`; or one more, where clauses want what divides them.
  void add_one(const std::string& symbol, int64_t value, int64_t other, int64_t most_points) {
    for (int64_t near : {other, other + 1}) {
      Sizes sizes = constant_;
      for (const std::string& name : symbols_) sizes[name] = name == symbol ? value : near;
      while (points(sizes) > most_points && lower(sizes, symbol)) {
      }
      if (points(sizes) <= options_.most_points && add(std::move(sizes))) return;
    }
  }

  // Halves a symbol other than `kept`; false where all are 1.
  bool lower(Sizes& sizes, const std::string& kept) const {
    const std::string* largest = nullptr;
    for (const std::string& name : symbols_) {
      if (name == kept || sizes[name] <= 1) continue;
      if (largest == nullptr || sizes[name] > sizes[*largest]) largest = &name;
      if (name == symbols_.front()) break;
    }
    if (largest != nullptr) sizes[*largest] /= 2;
    return largest != nullptr;
  }

  // The last sizes below each number that a guard compares a symbol with, and the first above of whole
  // vectors.
  void add_sizes_around_bounds() {
    std::set<std::pair<std::string, int64_t>> bounds;
    for (const Condition& condition : conditions())
      for (int64_t bound : condition.numbers)
        for (const std::string& symbol : condition.symbols)
          if (bound > 2 && bound <= kLargestBound) bounds.emplace(symbol, bound);
    for (const auto& [symbol, bound] : bounds) {
      const int64_t vectors_above = bound + 16 - bound % 16;
      const int64_t around[] = {bound - 1, vectors_above, bound - 17, vectors_above + 16, vectors_above + 32};
      for (int i = 0; i < options_.sizes_around_bounds; ++i)
        for (int64_t other : {1, 8}) add_one(symbol, around[i], other, kBoundPoints);
    }
  }

  // Odd sides first, then whole vectors; what is not part of the product differs.
  void add_areas() {
    std::set<std::pair<std::set<std::string>, int64_t>> areas;
    for (const Condition& condition : conditions())
      for (int64_t number : condition.numbers)
        if (condition.symbols.size() > 1 && number > kLargestBound && number <= kLargestArea)
          areas.emplace(condition.symbols, number);
    for (const auto& [symbols, area] : areas) {
      const double side = std::pow(static_cast<double>(area), 1.0 / static_cast<double>(symbols.size()));
      const int64_t above = (static_cast<int64_t>(side) / 16 + 1) * 16;
      constexpr std::pair<int64_t, int64_t> kExtraAndOther[] = {{21, 17}, {0, 24}, {16, 16}, {32, 32}};
      for (const auto& [extra, other] : kExtraAndOther) {
        Sizes sizes = constant_;
        for (const std::string& name : symbols_) sizes[name] = symbols.contains(name) ? above + extra : other;
        if (points(sizes) <= kMostAreaPoints) add(std::move(sizes));
      }
    }
  }

  struct Condition {
    std::set<std::string> symbols;
    std::set<int64_t> numbers;
  };

  // Of all guards, those that have a symbol which varies.
  std::vector<Condition> conditions() const {
    std::vector<Condition> list;
    for (const runtime::Step& step : subject_.program().steps)
      for (const runtime::Variant& variant : step.variants)
        for (const runtime::SizeExpr& expression : variant.guard.conditions) {
          Condition condition;
          for (const auto& [op, operand] : expression.code()) {
            if (op == runtime::SizeOp::kConstant) condition.numbers.insert(operand);
            if (op != runtime::SizeOp::kSymbol) continue;
            const auto symbol = runtime::SymbolId(static_cast<uint32_t>(operand));
            const std::string& name = subject_.program().symbols[symbol].name;
            if (std::ranges::find(symbols_, name) != symbols_.end()) condition.symbols.insert(name);
          }
          if (!condition.symbols.empty()) list.push_back(std::move(condition));
        }
    return list;
  }

  // Clauses may refuse most of what is drawn.
  void add_random_shapes() {
    if (symbols_.empty()) return;
    constexpr uint64_t kMostDraws = 2000;
    int added = 0;
    for (uint64_t i = 0; i < kMostDraws && added < options_.random_shapes; ++i) added += add_random(i);
  }

  bool add_random(uint64_t counter) {
    Sizes sizes = constant_;
    for (const std::string& name : symbols_) {
      // A random width in bits, so that small sizes are as likely as large ones.
      uint64_t bits = random_bits(7, random_stream(name), counter);
      sizes[name] = static_cast<int64_t>(bits >> 8 & ((uint64_t{2} << bits % 10) - 1));
    }
    while (points(sizes) > options_.most_points) {
      auto largest = std::max_element(symbols_.begin(), symbols_.end(),
                                      [&](const auto& a, const auto& b) { return sizes[a] < sizes[b]; });
      sizes[*largest] /= 2;
    }
    return add(std::move(sizes));
  }

  // Whether they are in the list now.
  bool add(Sizes sizes) {
    if (!subject_.accepts(sizes)) return false;
    if (seen_.insert(sizes).second) list_.push_back(std::move(sizes));
    return true;
  }

  const Subject& subject_;
  const SweepOptions& options_;
  Sizes constant_;
  std::vector<std::string> symbols_;
  std::set<Sizes> seen_;
  std::vector<Sizes> list_;
};

}  // namespace

std::vector<Sizes> sweep_sizes(const Subject& subject, const SweepOptions& options) {
  return SizeList(subject, options).take();
}

}  // namespace tenon::conformance
