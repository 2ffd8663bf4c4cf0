#include "trial.h"

#include <fmt/format.h>

#include <algorithm>
#include <array>
#include <climits>
#include <cmath>
#include <map>
#include <optional>
#include <string>
#include <utility>
#include <vector>

#include "api/stages.h"
#include "ir/comparison.h"
#include "ir/parser.h"
#include "ir/printer.h"
#include "ir/tile_parser.h"
#include "ir/tile_printer.h"
#include "passes/pipeline.h"
#include "passes/registry.h"
#include "random.h"
#include "subject.h"

namespace tenon::fuzz {
namespace {

using conformance::Case;
using conformance::Fill;
using conformance::Machine;
using conformance::Outcome;
using conformance::Sizes;
using conformance::SourceProgram;
using conformance::Subject;

constexpr int64_t kSizes[] = {0,  1,  1,  2,  3,  4,  5,   7,   8,   9,   12,  15,  16,  17,  24,  31, 32,
                              33, 48, 63, 64, 65, 96, 100, 127, 128, 129, 200, 255, 256, 257, 300, 512};
constexpr int64_t kLongSizes[] = {1000, 1023, 1024, 1025, 2048, 4099, 9000, 20000, 40001};

// Whether all complaints are limits or about what is not built yet.
bool is_refusal(const std::string& complaints) {
  for (size_t at = complaints.find("error[E"); at != std::string::npos;
       at = complaints.find("error[E", at + 1))
    if (complaints.compare(at + 7, 2, "06") != 0 && complaints.compare(at + 7, 2, "07") != 0) return false;
  return true;
}

// Scalar operations and elements of tensors, about.
double work(const ir::Kernel& kernel, const Sizes& sizes) {
  auto value = [&](ir::IndexId extent) {
    auto symbol = [&](ir::IndexId atom) -> std::optional<int64_t> {
      auto found = sizes.find(kernel.symbols[ir::SymbolId(kernel.index[atom].reference)].name);
      return found == sizes.end() ? std::nullopt : std::optional(found->second);
    };
    return static_cast<double>(std::max<int64_t>(kernel.index.evaluate(extent, symbol).value_or(0), 0));
  };
  double total = 0;
  for (const ir::TensorOp& op : kernel.ops) {
    double points = 1 + static_cast<double>(op.body.size());
    for (ir::AxisId axis : op.parallel) points *= value(kernel.axes[axis].extent);
    for (ir::AxisId axis : op.reduction) points *= value(kernel.axes[axis].extent);
    total += points;
  }
  for (const ir::Tensor& tensor : kernel.tensors) {
    double elements = 1;
    for (ir::IndexId extent : tensor.shape) elements *= value(extent);
    total += elements;
  }
  return total;
}

// What differs first, with the lines of both; empty if the texts are equal.
std::string first_difference(std::string_view a, std::string_view b) {
  if (a == b) return "";
  const auto at = static_cast<size_t>(std::ranges::mismatch(a, b).in1 - a.begin());
  const size_t line = a.rfind('\n', at) == std::string_view::npos ? 0 : a.rfind('\n', at) + 1;
  auto shown = [&](std::string_view text) { return text.substr(line, text.find('\n', at) - line); };
  return fmt::format("first:\n{}\nsecond:\n{}\n", shown(a), shown(b));
}

class Trial {
 public:
  Trial(const std::string& source, const frontend::CheckOptions& settings, const TrialOptions& options)
      : options_(options), random_(options.seed ^ 0x7269616C), program_("fuzz.tn", source, settings) {}

  Report run() {
    if (!program_.complaints().empty()) {
      if (is_refusal(program_.complaints())) {
        report_.verdict = Report::Verdict::kRefused;
      } else {
        find("refused", program_.complaints());
      }
      return report_;
    }
    const ir::Kernel& kernel = program_.kernels().at(0);
    check_texts(kernel);
    // sm_80 in every second trial, for which most is measured.
    target_ = random_.chance(50) ? targets().front() : random_.pick(targets());
    compiler_options_.target = &target_;
    compiler_options_.keep_unreachable = random_.chance(30);
    if (!failed()) execute(kernel);
    return report_;
  }

 private:
  bool failed() const { return report_.verdict == Report::Verdict::kFinding; }

  void find(std::string_view kind, std::string text) {
    if (failed()) return;
    report_.verdict = Report::Verdict::kFinding;
    report_.kind = kind;
    report_.text = std::move(text);
  }

  // The tensor IR before and behind its passes, each of which is verified: printed, parsed and printed.
  void check_texts(const ir::Kernel& kernel) {
    passes::PassRun run;
    run.module.kernels.push_back(kernel);
    check_text(ir::print(run.module));
    passes::RunOptions options;
    options.verify_each = true;
    Result<void> ran = passes::run_passes(run, passes::tensor_pipeline(), options);
    if (!ran) return find("verifier", ran.error().message);
    check_text(ir::print(run.module));
  }

  void check_text(const std::string& text) {
    SourceManager sources;
    Diagnostics diagnostics;
    auto module = ir::parse_module(sources, sources.add("fuzz.tir", text), diagnostics);
    if (!module) return find("text", render_text(diagnostics, sources));
    if (std::string difference = first_difference(text, ir::print(*module)); !difference.empty())
      find("text", difference);
  }

  void check_tile_text(const std::string& text) {
    SourceManager sources;
    Diagnostics diagnostics;
    auto modules = ir::parse_tile_modules(sources, sources.add("fuzz.tir", text), diagnostics);
    if (!modules) return find("tile-text", render_text(diagnostics, sources));
    if (std::string difference = first_difference(text, ir::print(modules->at(0))); !difference.empty())
      find("tile-text", difference);
  }

  // Another compilation gives the same, now and then in PTX too.
  void check_compilation(const Subject& subject, const ir::Kernel& kernel) {
    const api::CompiledKernel again(kernel, compiler_options_, &program_.sources());
    if (runtime::to_json(subject.program()) != runtime::to_json(again.program()))
      return find("determinism", "the records of two compilations differ");
    for (uint32_t step = 0; step < again.program().steps.size() && !failed(); ++step) {
      const auto variants = static_cast<uint32_t>(again.program().steps[step].variants.size());
      const auto chosen = static_cast<uint32_t>(random_.below(variants));
      for (uint32_t variant = 0; variant < variants && !failed(); ++variant) {
        const std::string tile = ir::print(subject.compiled().lower_to_tile(step, variant));
        check_tile_text(tile);
        if (std::string other = ir::print(again.lower_to_tile(step, variant)); other != tile)
          find("determinism", first_difference(tile, other));
      }
      if (random_.chance(75)) continue;
      auto first = subject.compiled().lower(step, chosen);
      auto second = again.lower(step, chosen);
      if (!first) return find("codegen", first.error().message);
      if (!second || first->ptx != second->ptx) find("determinism", "the PTX of two compilations differs");
    }
  }

  Sizes some_sizes(const ir::Kernel& kernel) {
    Sizes sizes;
    const bool same = random_.chance(15);
    const int64_t common = random_.pick(kSizes);
    std::vector<std::string> open;
    for (const ir::Symbol& symbol : kernel.symbols) {
      int64_t size = same ? common : random_.pick(kSizes);
      if (!same && random_.chance(8)) size = random_.pick(kLongSizes);
      if (symbol.kind == ir::Symbol::Kind::kScalar) size = static_cast<int64_t>(random_.below(60)) - 10;
      if (!symbol.fixed && symbol.kind == ir::Symbol::Kind::kDimension) open.push_back(symbol.name);
      sizes[symbol.name] = symbol.fixed.value_or(size);
    }
    for (int tries = 0; tries < 40 && work(kernel, sizes) > options_.most_work && !open.empty(); ++tries) {
      const std::string& name = random_.pick(open);
      sizes[name] = tries < 20 && random_.chance(50) ? random_.pick(kSizes) : (sizes[name] + 1) / 2;
    }
    return sizes;
  }

  void execute(const ir::Kernel& kernel) {
    Machine machine(target_.sm);
    Subject subject(program_, kernel, machine, compiler_options_);
    check_compilation(subject, kernel);
    for (const runtime::Step& step : subject.program().steps) ran_.emplace_back(step.variants.size(), 0);
    const double most_work = options_.most_work;
    for (int round = 0; round < options_.rounds && !failed(); ++round) {
      // Long axes, for which there are variants of their own, take more now and then.
      options_.most_work = random_.chance(15) ? most_work * 10 : most_work;
      const bool integers = random_.chance(30);
      std::optional<Case> trial;
      // Clauses refuse some sizes.
      for (int attempt = 0; attempt < 12 && !trial; ++attempt) {
        const Sizes sizes = some_sizes(kernel);
        if (work(kernel, sizes) > options_.most_work * 4) continue;
        trial =
            subject.make_case(sizes, integers ? Fill::kSmallIntegers : Fill::kRandom, options_.seed + round);
      }
      if (trial && random_.chance(25)) trial = with_special_values(subject, *trial);
      if (!trial) continue;
      // Not all operations are exact, whatever their operands: the reference's bounds hold.
      trial->fill = Fill::kRandom;
      run_tensor(subject, *trial);
      run_variants(subject, *trial);
    }
  }

  // NaNs, infinities, both zeros, denormals, the ends of integers, and bools of other bytes among the values.
  std::optional<Case> with_special_values(const Subject& subject, const Case& trial) {
    constexpr double kFloats[] = {NAN, INFINITY, -INFINITY, 0.0, -0.0, 1e-40, 6e-8, 1.0, 65504.0, -3e38};
    constexpr int64_t kIntegers[] = {INT64_MIN, INT64_MAX, INT32_MIN, INT32_MAX, -32768, 255, -128, -1, 0, 1};
    std::map<std::string, Array> given;
    for (size_t p = 0; p < trial.inputs.size(); ++p) {
      const ir::Parameter& parameter = subject.kernel().parameters[p];
      if (!trial.inputs[p] || parameter.symbol.valid()) continue;
      Array array = *trial.inputs[p];
      for (int64_t i = 0; i < array.element_count(); ++i) {
        if (!random_.chance(10)) continue;
        if (array.type() == ElementType::kBool) {
          array.bytes()[static_cast<size_t>(i)] = static_cast<std::byte>(random_.below(256));
        } else if (is_float(array.type())) {
          array.set_double(i, random_.pick(kFloats));
        } else {
          array.set_int64(i, random_.pick(kIntegers));
        }
      }
      given.emplace(parameter.name, std::move(array));
    }
    return subject.make_case(trial.sizes, Fill::kRandom, options_.seed, given);
  }

  // The same launch for an interpreter.
  static api::StageOptions stage_options(const Subject& subject, const Case& trial,
                                         const runtime::HostLaunchOptions& launch) {
    api::StageOptions options;
    options.variants = launch.launch.variants;
    options.offsets = launch.offsets;
    options.threads = 1;
    for (const ir::Symbol& symbol : subject.kernel().symbols)
      if (symbol.kind == ir::Symbol::Kind::kDimension)
        options.sizes.push_back({symbol.name, trial.sizes.at(symbol.name)});
    return options;
  }

  // The kernel behind the tensor passes.
  void run_tensor(const Subject& subject, const Case& trial) {
    std::vector<std::optional<Array>> arrays = trial.inputs;
    const auto ran =
        api::run_at(api::Stage::kTensor, subject.compiled(), arrays, stage_options(subject, trial, {}));
    if (!ran) return find("tensor", trial.text + ": " + ran.error().message);
    for (size_t p = 0; p < arrays.size(); ++p) {
      if (!subject.kernel().parameters[p].output.valid()) continue;
      const ir::Comparison comparison = ir::compare(*arrays[p], trial.expected[p]);
      if (!comparison.ok())
        find("tensor", fmt::format("{}: {} behind the tensor passes: {}", trial.text,
                                   subject.kernel().parameters[p].name, comparison.text()));
    }
  }

  // The variants that the launch chooses, then each other one that takes it, until it has run often enough.
  void run_variants(Subject& subject, const Case& trial) {
    runtime::HostLaunchOptions launch;
    for (size_t p = 0; p < trial.inputs.size(); ++p)
      launch.offsets.push_back(random_.chance(15) ? 1 + random_.below(3) : 0);
    launch.poison = random_.chance(70);
    run_launch(subject, trial, {});
    run_launch(subject, trial, launch);
    for (size_t s = 0; s < ran_.size(); ++s)
      for (uint32_t v = 0; v < ran_[s].size() && !failed(); ++v) {
        if (ran_[s][v] >= kOftenEnough) continue;
        runtime::HostLaunchOptions forced;
        forced.launch.variants.resize(s + 1);
        forced.launch.variants[s] = v;
        run_launch(subject, trial, forced);
      }
  }

  void run_launch(Subject& subject, const Case& trial, const runtime::HostLaunchOptions& launch) {
    if (failed()) return;
    const Outcome device = subject.run(trial, launch);
    std::vector<std::optional<Array>> arrays = trial.inputs;
    const auto tiles =
        api::run_at(api::Stage::kTile, subject.compiled(), arrays, stage_options(subject, trial, launch));
    if (device.refused) {
      if (launch.launch.variants.empty()) find("launch", trial.text + ": " + device.failure);
      if (tiles) find("stages", trial.text + ": only the device refuses: " + device.failure);
      return;
    }
    ++report_.launches;
    report_.elements += device.elements;
    report_.ambiguous += device.ambiguous;
    if (!device.failure.empty())
      return find("device", device.failure + stage_note(subject, trial, tiles, arrays));
    if (!tiles) return find("tile", trial.text + ": " + tiles.error().message);
    for (size_t s = 0; s < device.variants.size(); ++s) ++ran_[s][device.variants[s]];
    for (size_t p = 0; p < arrays.size(); ++p)
      if (subject.kernel().parameters[p].output.valid() && !same_values(*arrays[p], *device.arrays[p]))
        find("stages", fmt::format("{}, {}: tiles and device differ in bits; variants {}", trial.text,
                                   subject.kernel().parameters[p].name, variants_text(subject, device)));
  }

  static std::string variants_text(const Subject& subject, const Outcome& outcome) {
    std::string text;
    for (size_t s = 0; s < outcome.variants.size(); ++s)
      text += fmt::format("{} ", subject.program().steps[s].variants[outcome.variants[s]].name);
    return text;
  }

  // At which stage a wrong result came up.
  static std::string stage_note(const Subject& subject, const Case& trial,
                                const Result<std::vector<uint32_t>>& tiles,
                                const std::vector<std::optional<Array>>& arrays) {
    if (!tiles) return "tiles: " + tiles.error().message;
    for (size_t p = 0; p < arrays.size(); ++p)
      if (subject.kernel().parameters[p].output.valid() && !ir::compare(*arrays[p], trial.expected[p]).ok())
        return "the tiles are wrong too\n";
    return "the tiles are right\n";
  }

  static constexpr int kOftenEnough = 2;

  TrialOptions options_;
  Random random_;
  SourceProgram program_;
  Target target_;
  api::CompilerOptions compiler_options_;
  // Launches by step, then variant.
  std::vector<std::vector<int>> ran_;
  Report report_;
};

}  // namespace

Report try_program(const std::string& source, const frontend::CheckOptions& settings,
                   const TrialOptions& options) {
  return Trial(source, settings, options).run();
}

}  // namespace tenon::fuzz
