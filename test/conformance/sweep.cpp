#include "sweep.h"

#include <fmt/format.h>

#include <algorithm>
#include <set>
#include <utility>

#include "support/array_fill.h"

namespace tenon::conformance {
namespace {

int64_t points(const Sizes& sizes) {
  double product = 1;
  for (const auto& [name, value] : sizes) product *= static_cast<double>(std::max<int64_t>(value, 1));
  return product > 1e18 ? INT64_MAX : static_cast<int64_t>(product);
}

class SizeList {
 public:
  SizeList(const ir::Kernel& kernel, const SweepOptions& options) : options_(options) {
    for (const ir::Symbol& symbol : kernel.symbols) {
      if (symbol.fixed) {
        constant_[symbol.name] = *symbol.fixed;
      } else if (auto fixed = options.fixed.find(symbol.name); fixed != options.fixed.end()) {
        constant_[symbol.name] = fixed->second;
      } else {
        symbols_.push_back(symbol.name);
      }
    }
  }

  // One symbol has a value, the others `other`, or less where that is too much.
  void add_one(const std::string& symbol, int64_t value, int64_t other) {
    for (; other >= 1; other /= 2) {
      Sizes sizes = constant_;
      for (const std::string& name : symbols_) sizes[name] = name == symbol ? value : other;
      if (points(sizes) <= options_.most_points) return add(std::move(sizes));
    }
  }

  void add_random(uint64_t counter) {
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
    add(std::move(sizes));
  }

  std::vector<Sizes> take() {
    for (const std::string& symbol : symbols_)
      for (int64_t other : options_.others)
        for (int64_t value : options_.sizes) add_one(symbol, value, other);
    for (int64_t value : options_.long_sizes) add_one(options_.long_symbol, value, 3);
    for (int i = 0; i < options_.random_shapes; ++i) add_random(static_cast<uint64_t>(i));
    if (symbols_.empty()) add(constant_);
    return std::move(list_);
  }

 private:
  void add(Sizes sizes) {
    if (seen_.insert(sizes).second) list_.push_back(std::move(sizes));
  }

  const SweepOptions& options_;
  Sizes constant_;
  std::vector<std::string> symbols_;
  std::set<Sizes> seen_;
  std::vector<Sizes> list_;
};

class Sweeper {
 public:
  explicit Sweeper(Subject& subject) : subject_(subject) {
    for (const runtime::Step& step : subject.program().steps) ran_.emplace_back(step.variants.size(), 0);
  }

  SweepResult run(const std::vector<Sizes>& list) {
    for (size_t i = 0; i < list.size() && result_.failed < kMostFailures; ++i) try_sizes(list[i], i);
    for (size_t s = 0; s < ran_.size(); ++s)
      for (size_t v = 0; v < ran_[s].size(); ++v)
        if (ran_[s][v] == 0) {
          const runtime::Step& step = subject_.program().steps[s];
          result_.never_run.push_back(step.name + ": " + step.variants[v].name);
        }
    return std::move(result_);
  }

 private:
  // A kernel that is wrong everywhere need not be tried everywhere.
  static constexpr int64_t kMostFailures = 40;
  static constexpr size_t kMostTexts = 6;
  // Emulation takes its time: what is tried beyond the values at each size is spread over the sizes.
  static constexpr int kOftenEnough = 6;
  static constexpr size_t kForcedEvery = 12;
  static constexpr size_t kMovedEvery = 4;

  void try_sizes(const Sizes& sizes, size_t seed) {
    std::optional<Case> trial = subject_.make_case(sizes, Fill::kRandom, seed);
    if (!trial) return;
    ++result_.cases;
    must_pass(*trial, {});
    force_variants(*trial, seed);
    for (size_t p = 0; p < trial->inputs.size(); ++p) {
      if (trial->inputs[p] && trial->inputs[p]->rank() == 0) continue;
      if (seed % kMovedEvery != p % kMovedEvery) continue;
      runtime::HostLaunchOptions moved;
      moved.offsets.assign(trial->inputs.size(), 0);
      moved.offsets[p] = 1;
      must_pass(*trial, moved);
    }
    if (seed % kMovedEvery == 0) {
      runtime::HostLaunchOptions unwritten;
      unwritten.poison = false;
      must_pass(*trial, unwritten);
    }
    if (std::optional<Case> integers = subject_.make_case(sizes, Fill::kSmallIntegers, seed))
      must_pass(*integers, {});
  }

  // Each variant at the first sizes that admit it and at every so many later ones.
  void force_variants(const Case& trial, size_t seed) {
    for (size_t s = 0; s < ran_.size(); ++s) {
      for (uint32_t v = 0; v < ran_[s].size(); ++v) {
        if (ran_[s][v] >= kOftenEnough && seed % kForcedEvery != v % kForcedEvery) continue;
        runtime::HostLaunchOptions forced;
        forced.launch.variants.resize(s + 1);
        forced.launch.variants[s] = v;
        Outcome outcome = subject_.run(trial, forced);
        if (outcome.refused) continue;
        note(std::move(outcome));
      }
    }
  }

  void must_pass(const Case& trial, const runtime::HostLaunchOptions& options) {
    Outcome outcome = subject_.run(trial, options);
    if (outcome.refused) outcome.failure = trial.text + ": refused: " + outcome.failure;
    note(std::move(outcome));
  }

  void note(Outcome outcome) {
    ++result_.launches;
    result_.elements += outcome.elements;
    result_.ambiguous += outcome.ambiguous;
    for (size_t s = 0; s < outcome.variants.size(); ++s) ++ran_[s][outcome.variants[s]];
    if (outcome.failure.empty()) return;
    ++result_.failed;
    if (result_.failures.size() < kMostTexts) result_.failures.push_back(std::move(outcome.failure));
  }

  Subject& subject_;
  // Launches by step, then variant.
  std::vector<std::vector<int>> ran_;
  SweepResult result_;
};

}  // namespace

SweepOptions quick_sweep() {
  SweepOptions options;
  options.sizes = {0, 1, 3, 5, 17, 33, 64, 129, 1025};
  options.others = {3};
  options.random_shapes = 6;
  return options;
}

std::vector<Sizes> sweep_sizes(const ir::Kernel& kernel, const SweepOptions& options) {
  return SizeList(kernel, options).take();
}

SweepResult sweep(Subject& subject, const std::vector<Sizes>& sizes) { return Sweeper(subject).run(sizes); }

std::string SweepResult::text() const {
  std::string text = fmt::format("{} cases, {} launches, {} failed\n", cases, launches, failed);
  for (const std::string& failure : failures) text += failure + "\n";
  return text;
}

}  // namespace tenon::conformance
