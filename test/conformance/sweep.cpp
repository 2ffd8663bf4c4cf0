#include "sweep.h"

#include <fmt/format.h>

#include <algorithm>
#include <set>
#include <utility>

#include "test/thinning.h"

namespace tenon::conformance {
namespace {

// What sizes have in common with those that a kernel treats alike: by symbol, how many vectors, warps and
// blocks they fill, and whether the last vector is whole.
std::vector<int> kind(const Sizes& sizes) {
  std::vector<int> kinds;
  for (const auto& [name, value] : sizes) {
    const int64_t bounds[] = {0, 1, 8, 32, 128, 1024};
    const auto size_class = std::ranges::lower_bound(bounds, value) - std::begin(bounds);
    kinds.push_back(static_cast<int>(2 * size_class + (value % 8 == 0)));
  }
  return kinds;
}

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

  // A variant for long rows that is forced on many short ones may take a thousand times what the chosen one
  // does: where a launch executes more lane instructions than this, it is one of so many that are also run by
  // tiles and on small integers.
  static constexpr uint64_t kLongLaunch = 4'000'000;
  static constexpr size_t kLongEvery = 8;

  // A variant of each step.
  using Choice = std::vector<std::optional<uint32_t>>;

  void try_sizes(const Sizes& sizes, size_t seed) {
    std::vector<Choice> choices = choices_at(sizes);
    if (choices.empty()) return;
    std::optional<Case> random = subject_.make_case(sizes, Fill::kRandom, seed);
    std::optional<Case> integers = subject_.make_case(sizes, Fill::kSmallIntegers, seed);
    if (!random || !integers) return;
    ++result_.cases;
    note_text(subject_.check_tensor_stage(*random));
    for (const Choice& choice : choices) {
      runtime::HostLaunchOptions options;
      options.launch.variants = choice;
      Outcome outcome = must_pass(*random, options);
      if (!choice.empty() && is_long(outcome) && seed % kLongEvery != 0) continue;
      if (outcome.ok()) note_text(subject_.check_tile_stage(*random, outcome));
      must_pass(*integers, options);
    }
    move_buffers(*random, seed);
  }

  // The launch as the runtime chooses, then others until each variant that accepts it has run; the variants
  // of different steps go together. Nothing where the sizes are not accepted, or are passed over.
  std::vector<Choice> choices_at(const Sizes& sizes) {
    const std::vector<std::vector<uint32_t>> admitted = subject_.admitted_variants(sizes);
    size_t most = 0;
    for (const std::vector<uint32_t>& variants : admitted) most = std::max(most, variants.size());
    std::vector<Choice> choices;
    for (size_t round = 0; round < most; ++round) {
      Choice choice;
      bool is_new = false;
      for (size_t s = 0; s < admitted.size(); ++s) {
        choice.push_back(admitted[s][round % admitted[s].size()]);
        is_new |= ran_[s][*choice.back()] == 0;
      }
      if (!kThin || is_new) choices.push_back(round == 0 ? Choice() : choice);
    }
    const bool new_kind = kinds_.insert(kind(sizes)).second;
    if (kThin && choices.empty() && new_kind) choices.emplace_back();
    return choices;
  }

  void move_buffers(const Case& trial, size_t seed) {
    std::vector<size_t> buffers;
    for (size_t p = 0; p < trial.inputs.size(); ++p)
      if (!trial.inputs[p] || trial.inputs[p]->rank() > 0) buffers.push_back(p);
    if (buffers.empty()) return;
    runtime::HostLaunchOptions all;
    all.offsets.assign(trial.inputs.size(), 1);
    must_pass(trial, all);
    runtime::HostLaunchOptions one;
    one.offsets.assign(trial.inputs.size(), 0);
    one.offsets[buffers[seed % buffers.size()]] = 1;
    one.poison = false;
    must_pass(trial, one);
  }

  static bool is_long(const Outcome& outcome) {
    uint64_t lanes = 0;
    for (const emulator::LaunchReport& report : outcome.reports) lanes += report.lane_instructions();
    return lanes > kLongLaunch;
  }

  Outcome must_pass(const Case& trial, const runtime::HostLaunchOptions& options) {
    Outcome outcome = subject_.run(trial, options);
    ++result_.launches;
    result_.elements += outcome.elements;
    result_.ambiguous += outcome.ambiguous;
    for (size_t s = 0; s < outcome.variants.size(); ++s) ++ran_[s][outcome.variants[s]];
    note_text((outcome.refused ? trial.text + ": refused: " : "") + outcome.failure);
    return outcome;
  }

  // What went wrong; "" if nothing did.
  void note_text(std::string failure) {
    if (failure.empty()) return;
    ++result_.failed;
    if (result_.failures.size() < kMostTexts) result_.failures.push_back(std::move(failure));
  }

  Subject& subject_;
  // Launches by step, then variant.
  std::vector<std::vector<int>> ran_;
  std::set<std::vector<int>> kinds_;
  SweepResult result_;
};

}  // namespace

SweepResult sweep(Subject& subject, const std::vector<Sizes>& sizes) { return Sweeper(subject).run(sizes); }

std::string SweepResult::text() const {
  std::string text = fmt::format("{} cases, {} launches, {} failed\n", cases, launches, failed);
  for (const std::string& failure : failures) text += failure + "\n";
  return text;
}

}  // namespace tenon::conformance
