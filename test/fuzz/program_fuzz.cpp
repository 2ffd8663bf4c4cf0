// program_fuzz --seed S --count N: random programs, each in a process of its own; what is found is made small
// and shown.
#include <fmt/format.h>

#include <cstdio>
#include <cstdlib>
#include <optional>
#include <string>
#include <string_view>
#include <utility>

#include "generator.h"
#include "isolated.h"
#include "shrink.h"

namespace tenon::fuzz {
namespace {

struct Totals {
  int64_t programs = 0;
  int64_t refused = 0;
  int64_t findings = 0;
  int64_t launches = 0;
  int64_t elements = 0;
  int64_t ambiguous = 0;
};

void show_finding(const Program& program, uint64_t seed, const Report& report) {
  fmt::print("=== seed {}: {}\n{}\n", seed, report.kind, program.to_text());
  if (const std::string settings = program.settings_text(); !settings.empty())
    fmt::print("with {}\n", settings);
  fmt::print("{}\n", report.text.substr(0, 4000));
}

struct Settings {
  TrialOptions trial;
  uint64_t count = 100;
  unsigned seconds = 120;
  bool shrink = true;
  bool only_print = false;
};

// Runs one program, and shows it if something was found.
void try_seed(uint64_t seed, const Settings& settings, Totals& totals) {
  Program program = Generator(seed).generate();
  if (settings.only_print) {
    fmt::print("=== seed {} {}\n{}\n", seed, program.settings_text(), program.to_text());
    return;
  }
  TrialOptions options = settings.trial;
  options.seed = seed;
  Report report = try_isolated(program, options, settings.seconds);
  ++totals.programs;
  totals.refused += report.verdict == Report::Verdict::kRefused;
  totals.launches += report.launches;
  totals.elements += report.elements;
  totals.ambiguous += report.ambiguous;
  if (report.verdict != Report::Verdict::kFinding) return;
  ++totals.findings;
  if (settings.shrink) {
    make_smaller(program, [&](const Program& smaller) {
      Report again = try_isolated(smaller, options, settings.seconds);
      if (again.verdict != Report::Verdict::kFinding || again.kind != report.kind) return false;
      report = std::move(again);
      return true;
    });
  }
  show_finding(program, seed, report);
}

int run(const Settings& settings) {
  Totals totals;
  for (uint64_t i = 0; i < settings.count; ++i) {
    try_seed(settings.trial.seed + i, settings, totals);
    if (!settings.only_print && ((i + 1) % 100 == 0 || i + 1 == settings.count))
      fmt::print("{} programs, {} refused, {} findings, {} launches, {} elements, {} of them open\n",
                 totals.programs, totals.refused, totals.findings, totals.launches, totals.elements,
                 totals.ambiguous);
    std::fflush(stdout);
  }
  return totals.findings == 0 ? 0 : 1;
}

constexpr const char* kUsage =
    "usage: program_fuzz [--seed S] [--count N] [--rounds R] [--work W] [--seconds T] [--no-shrink] "
    "[--print]\n\n"
    "  --seed      of the first program; the others follow (1)\n"
    "  --count     programs (100)\n"
    "  --rounds    sizes at which each is run (3)\n"
    "  --work      scalar operations of a launch, about (1000000)\n"
    "  --seconds   of processor time for a program; more counts as a hang (120)\n"
    "  --no-shrink show what is found as it was generated\n"
    "  --print     show the programs, and run nothing\n";

// Empty where the arguments are not those of the usage.
std::optional<Settings> parse(int argc, char** argv) {
  Settings settings;
  for (int i = 1; i < argc; ++i) {
    const std::string_view option = argv[i];
    if (option == "--no-shrink") {
      settings.shrink = false;
    } else if (option == "--print") {
      settings.only_print = true;
    } else if (i + 1 == argc) {
      return std::nullopt;
    } else {
      const uint64_t value = std::strtoull(argv[++i], nullptr, 10);
      if (option == "--seed")
        settings.trial.seed = value;
      else if (option == "--count")
        settings.count = value;
      else if (option == "--rounds")
        settings.trial.rounds = static_cast<int>(value);
      else if (option == "--work")
        settings.trial.most_work = static_cast<double>(value);
      else if (option == "--seconds")
        settings.seconds = static_cast<unsigned>(value);
      else
        return std::nullopt;
    }
  }
  return settings;
}

}  // namespace
}  // namespace tenon::fuzz

int main(int argc, char** argv) {
  const auto settings = tenon::fuzz::parse(argc, argv);
  if (settings) return tenon::fuzz::run(*settings);
  fmt::print(stderr, "{}", tenon::fuzz::kUsage);
  return 2;
}
