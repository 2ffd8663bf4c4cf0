#include "tools/default_sizes.h"

#include <fmt/format.h>

#include <algorithm>
#include <array>
#include <span>
#include <string>

namespace tenon::tools {
namespace {

using runtime::Int128;
using runtime::Program;
using runtime::SizeExpr;
using runtime::SymbolKind;

// In order of preference; each further dimension starts one later, so that they differ.
constexpr std::array<int64_t, 18> kDimensions = {4, 8, 16, 32, 64, 128, 2,   1,   3,
                                                 5, 6, 12, 24, 48, 96,  256, 512, 1024};
constexpr size_t kStarts = 4;
// The same for more than four dimensions, whose product is to stay small too; of more than eight only the
// first two start.
constexpr std::array<int64_t, 18> kManyDimensions = {2,  3,  4,  5,  1,  6,   8,   12,  16,
                                                     24, 32, 48, 64, 96, 128, 256, 512, 1024};
constexpr std::array<int64_t, 8> kScalars = {1, 2, 3, 0, 4, 8, 16, -1};
constexpr int64_t kMostTrials = 200'000;

// Something that must hold, with the last symbol (in order of choice) that it waits for.
struct Condition {
  SizeExpr expr;
  // A shape needs a value >= 0, a clause one that is not 0.
  bool is_shape = false;
  size_t ready_at = 0;
};

class Search {
 public:
  Search(const Program& program, const KnownSizes& known) : program_(program) {
    values_.resize(program.symbols.size());
    position_.resize(program.symbols.size());
    for (uint32_t i = 0; i < known.size(); ++i) {
      values_[i] = known[i].value_or(0);
      if (known[i]) continue;
      open_.push_back(i);
      if (!is_scalar(i)) ++dimensions_;
      // Conditions on known sizes alone are ready at 0, before anything was chosen.
      position_[i] = open_.size();
    }
    collect_conditions();
  }

  Result<std::vector<int64_t>> run() {
    // A clause that fails whatever is chosen is for the launch to refuse.
    bool hopeless = !holds(0);
    if (!hopeless && !choose_all()) return not_found();
    std::vector<int64_t> sizes;
    for (Int128 value : values_) sizes.push_back(static_cast<int64_t>(value));
    return sizes;
  }

 private:
  void collect_conditions() {
    for (const runtime::Clause& clause : program_.clauses) add(clause.condition, false);
    for (const runtime::Parameter& parameter : program_.parameters)
      for (const SizeExpr& extent : parameter.shape) add(extent, true);
  }

  void add(const SizeExpr& expr, bool is_shape) {
    size_t ready_at = 0;
    for (const runtime::SizeInstruction& instruction : expr.code())
      if (instruction.op == runtime::SizeOp::kSymbol)
        ready_at = std::max(ready_at, position_[static_cast<size_t>(instruction.operand)]);
    conditions_.push_back({expr, is_shape, ready_at});
  }

  // Whether all conditions hold whose last symbol is the one at `position`.
  bool holds(size_t position) const {
    return std::ranges::all_of(conditions_, [&](const Condition& condition) {
      if (condition.ready_at != position) return true;
      runtime::SizeValue value = runtime::evaluate(condition.expr, values_);
      return condition.is_shape ? value.has_value() && value.value >= 0 : value.holds();
    });
  }

  bool is_scalar(uint32_t symbol) const {
    return program_.symbols[runtime::SymbolId(symbol)].kind == SymbolKind::kScalar;
  }

  // The candidate number `trial` for the symbol at `position` of open_; none where they are used up.
  std::optional<int64_t> candidate(size_t position, size_t trial) const {
    bool scalar = is_scalar(open_[position]);
    std::span<const int64_t> candidates = dimensions_ > kStarts ? kManyDimensions : kDimensions;
    if (scalar) candidates = kScalars;
    if (trial == candidates.size()) return std::nullopt;
    size_t starts = scalar ? 1 : dimensions_ > 2 * kStarts ? 2 : kStarts;
    return candidates[(position % starts + trial) % candidates.size()];
  }

  // Backtracking: each symbol takes its candidates in turn, as long as the conditions hold that are ready by
  // then.
  bool choose_all() {
    // The next candidate of each symbol that has been reached.
    std::vector<size_t> trials{0};
    for (int64_t count = 0; count < kMostTrials && !trials.empty(); ++count) {
      size_t position = trials.size() - 1;
      std::optional<int64_t> value = candidate(position, trials.back()++);
      if (!value) {
        trials.pop_back();
        continue;
      }
      values_[open_[position]] = *value;
      if (!holds(position + 1)) continue;
      if (position + 1 == open_.size()) return true;
      trials.push_back(0);
    }
    return false;
  }

  std::unexpected<Error> not_found() const {
    std::string clauses;
    for (const runtime::Clause& clause : program_.clauses) clauses += fmt::format("\n  {}", clause.text);
    std::string names;
    for (uint32_t symbol : open_)
      names +=
          fmt::format("{}{}", names.empty() ? "" : ", ", program_.symbols[runtime::SymbolId(symbol)].name);
    return fail(ErrorKind::kUsage,
                fmt::format("found no sizes for {} that fit {}; give them by --set, as in --set {}=64{}",
                            names, program_.name, names.substr(0, names.find(',')), clauses));
  }

  const Program& program_;
  std::vector<Int128> values_;
  // The symbols to choose, in order, and for each symbol its position there plus 1, or 0.
  std::vector<uint32_t> open_;
  // How many of them are dimensions.
  size_t dimensions_ = 0;
  std::vector<size_t> position_;
  std::vector<Condition> conditions_;
};

}  // namespace

Result<std::vector<int64_t>> complete_sizes(const Program& program, const KnownSizes& known) {
  bool complete = std::ranges::all_of(known, [](const auto& size) { return size.has_value(); });
  if (!complete) return Search(program, known).run();
  std::vector<int64_t> sizes;
  for (const auto& size : known) sizes.push_back(*size);
  return sizes;
}

}  // namespace tenon::tools
