// Every schedule that a family proposes for an example, and random ones that its text can pin, give the
// values of the language; and the text of every schedule is read back as it was.
#include <fmt/format.h>
#include <gtest/gtest.h>

#include <algorithm>

#include "examples.h"
#include "sweep.h"
#include "test/thinning.h"

namespace tenon::conformance {
namespace {

// A shape for each kind of size: a few odd positions, around 64, and whole tiles.
std::vector<Sizes> shapes(const ir::Kernel& kernel) {
  constexpr int64_t kMostPoints = 300'000;
  std::vector<Sizes> list;
  for (int64_t base : {5, 65, 128}) {
    Sizes sizes;
    int64_t turn = 0;
    for (const ir::Symbol& symbol : kernel.symbols)
      sizes[symbol.name] = symbol.fixed ? *symbol.fixed : base < 128 ? base - (turn++ % 3) * 2 + 2 : base;
    auto points = [&] {
      int64_t product = 1;
      for (const auto& [name, value] : sizes) product *= std::max<int64_t>(1, value);
      return product;
    };
    while (points() > kMostPoints) {
      ir::SymbolId largest(0);
      for (uint32_t i = 0; i < kernel.symbols.size(); ++i) {
        const ir::Symbol& symbol = kernel.symbols[ir::SymbolId(i)];
        if (!symbol.fixed && sizes[symbol.name] >= sizes[kernel.symbols[largest].name])
          largest = ir::SymbolId(i);
      }
      sizes[kernel.symbols[largest].name] /= 2;
    }
    list.push_back(std::move(sizes));
  }
  return list;
}

// The shape's first case that the kernel takes: clauses may want smaller windows than the rest.
std::optional<Case> case_at(const Subject& subject, Sizes sizes) {
  return subject.make_case(sizes, Fill::kRandom, 7);
}

class SchedulesTest : public testing::TestWithParam<Example> {};

// Runs candidates at shapes that their guards admit until each has run at three; those of different steps go
// together.
class Candidates {
 public:
  explicit Candidates(Subject& subject) : subject_(subject) {
    for (const runtime::Step& step : subject.program().steps) ran_.emplace_back(step.variants.size(), 0);
  }

  void run(const Sizes& sizes) {
    std::vector<std::vector<uint32_t>> wanted = subject_.admitted_variants(sizes);
    size_t rounds = 0;
    for (size_t s = 0; s < wanted.size(); ++s) {
      std::erase_if(wanted[s], [&](uint32_t v) { return ran_[s][v] >= kShapes; });
      rounds = std::max(rounds, wanted[s].size());
    }
    if (rounds == 0) return;
    std::optional<Case> trial = case_at(subject_, sizes);
    ASSERT_TRUE(trial.has_value());
    for (size_t round = 0; round < rounds; ++round) {
      runtime::HostLaunchOptions forced;
      forced.launch.variants.resize(wanted.size());
      for (size_t s = 0; s < wanted.size(); ++s)
        if (round < wanted[s].size()) forced.launch.variants[s] = wanted[s][round];
      Outcome outcome = subject_.run(*trial, forced);
      EXPECT_TRUE(outcome.ok()) << outcome.failure;
      for (size_t s = 0; s < outcome.variants.size(); ++s) ++ran_[s][outcome.variants[s]];
    }
  }

  // The candidates that ran at fewer shapes, by name.
  std::string missing() const {
    std::string text;
    for (size_t s = 0; s < ran_.size(); ++s)
      for (size_t v = 0; v < ran_[s].size(); ++v)
        if (ran_[s][v] < kShapes)
          text += fmt::format("{}: {}, {} times\n", subject_.program().steps[s].name,
                              subject_.program().steps[s].variants[v].name, ran_[s][v]);
    return text;
  }

 private:
  static constexpr int kShapes = kThin ? 1 : 3;

  Subject& subject_;
  // Launches by step, then variant.
  std::vector<std::vector<int>> ran_;
};

TEST_P(SchedulesTest, EveryCandidateGivesTheValuesOfTheLanguage) {
  SourceProgram program = load(GetParam());
  const ir::Kernel* kernel = program.kernel(GetParam().kernel);
  ASSERT_NE(kernel, nullptr) << program.complaints();
  Machine machine;
  Subject subject(program, *kernel, machine, {.keep_unreachable = true});
  Candidates candidates(subject);
  for (const Sizes& sizes : shapes(*kernel)) candidates.run(sizes);
  SweepOptions more;
  more.sizes = {5, 8, 40, 64, 65, 96, 128, 192};
  more.sizes_around_bounds = 5;
  more.areas = true;
  for (const Sizes& sizes : sweep_sizes(subject, more)) candidates.run(sizes);
  // Their steps want sizes that no axis alone leads to; what they miss runs in the other examples.
  const std::string_view name = GetParam().name;
  if (name == "Conv2dStrided" || name.starts_with("Attention")) return;
  EXPECT_EQ(candidates.missing(), "");
}

struct Pins {
  explicit Pins(const std::string& text) {
    pins = passes::parse_schedule(sources.add("--schedule", text), sources, diagnostics);
  }
  api::CompilerOptions options() { return {.schedule = &pins, .schedule_diagnostics = &diagnostics}; }

  SourceManager sources;
  Diagnostics diagnostics;
  passes::SchedulePins pins;
};

std::string text_of(const api::CompiledKernel& compiled, size_t step, const passes::Schedule& schedule) {
  const ir::Kernel& kernel = compiled.kernel();
  passes::ScheduleNames names(kernel, kernel.groups[compiled.plan().steps[step].group]);
  return fmt::format("step {}: {}", step, passes::to_text(schedule, names));
}

TEST_P(SchedulesTest, TheTextOfEachIsReadBack) {
  SourceProgram program = load(GetParam());
  const ir::Kernel* kernel = program.kernel(GetParam().kernel);
  ASSERT_NE(kernel, nullptr);
  api::CompilerOptions options{.target = target_by_name("sm_80"), .keep_unreachable = true};
  api::CompiledKernel compiled(*kernel, options, nullptr);
  for (size_t s = 0; s < compiled.plan().steps.size(); ++s) {
    for (const passes::VariantPlan& variant : compiled.plan().steps[s].variants) {
      std::string text = text_of(compiled, s, variant.schedule);
      Pins pins(text);
      api::CompilerOptions pinned_options = pins.options();
      pinned_options.target = options.target;
      api::CompiledKernel pinned(*kernel, pinned_options, nullptr);
      ASSERT_FALSE(pins.diagnostics.has_errors()) << text << "\n"
                                                  << render_text(pins.diagnostics, pins.sources);
      for (const passes::VariantPlan& one : pinned.plan().steps[s].variants)
        EXPECT_EQ(text_of(pinned, s, one.schedule), text) << variant.name;
      EXPECT_TRUE(std::ranges::any_of(pinned.plan().steps[s].variants, [&](const auto& one) {
        return one.schedule == variant.schedule;
      })) << text;
    }
  }
}

// Numbers drawn one after the other.
class Draw {
 public:
  explicit Draw(uint64_t seed) : state_(seed) {}
  uint32_t below(uint32_t n) {
    state_ = state_ * 6364136223846793005 + 1442695040888963407;
    return static_cast<uint32_t>(state_ >> 33) % n;
  }
  int32_t power_of_two(uint32_t bits) { return 1 << below(bits + 1); }

 private:
  uint64_t state_;
};

// A schedule near one that was proposed; most cannot run.
passes::Schedule changed(passes::Schedule schedule, Draw& draw) {
  int32_t lanes = 32;
  int32_t warps = draw.power_of_two(3);
  schedule.warps = warps;
  for (passes::LoopDim& dim : schedule.dims) {
    if (draw.below(3) == 0) dim.placement = passes::Placement(draw.below(5));
    dim.vector = draw.power_of_two(2);
    dim.lane = std::min(lanes, draw.power_of_two(5));
    lanes /= dim.lane;
    dim.warp = std::min(warps, draw.power_of_two(3));
    warps /= dim.warp;
    dim.repeat = 1 + static_cast<int32_t>(draw.below(4));
    if (!schedule.contractions.empty() && dim.placement != passes::Placement::kGrid) {
      dim.vector = dim.lane = dim.warp = 1;
      dim.repeat *= 4;
    }
  }
  schedule.staged.clear();
  schedule.split = schedule.splits() ? 2 << draw.below(6) : 1;
  return schedule;
}

TEST_P(SchedulesTest, WhatCanBePinnedGivesTheValuesOfTheLanguage) {
  constexpr int kTrials = 40;
  constexpr int kEnough = 6;
  SourceProgram program = load(GetParam());
  const ir::Kernel* kernel = program.kernel(GetParam().kernel);
  ASSERT_NE(kernel, nullptr);
  api::CompilerOptions options{.target = target_by_name("sm_80"), .keep_unreachable = true};
  api::CompiledKernel compiled(*kernel, options, nullptr);
  Machine machine;
  Draw draw(11);
  int ran = 0;
  for (int trial = 0; trial < kTrials && ran < kEnough; ++trial) {
    size_t step = draw.below(static_cast<uint32_t>(compiled.plan().steps.size()));
    const auto& variants = compiled.plan().steps[step].variants;
    const passes::VariantPlan& variant = variants[draw.below(static_cast<uint32_t>(variants.size()))];
    std::string text = text_of(compiled, step, changed(variant.schedule, draw));
    Pins pins(text);
    ASSERT_FALSE(pins.diagnostics.has_errors()) << text;
    Subject subject(program, *kernel, machine, pins.options());
    if (pins.diagnostics.has_errors()) continue;
    std::optional<Case> at = case_at(subject, shapes(*kernel)[draw.below(2)]);
    if (!at) continue;
    Outcome outcome = subject.run(*at);
    if (outcome.refused) continue;
    ++ran;
    EXPECT_EQ(outcome.failure, "") << text;
  }
}

INSTANTIATE_TEST_SUITE_P(All, SchedulesTest, testing::ValuesIn(examples()),
                         [](const auto& info) { return std::string(info.param.name); });

}  // namespace
}  // namespace tenon::conformance
