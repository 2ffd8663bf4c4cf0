#include "runtime/choose_sizes.h"

#include <algorithm>
#include <utility>

namespace tenon::runtime {
namespace {

constexpr int64_t kMostElements = int64_t{1} << 24;
// Constraints evaluated before the search gives up.
constexpr int kBudget = 200000;

// A depth-first search over the open symbols in order of index. Each constraint is checked as soon as the
// last open symbol in it has a value.
class Search {
 public:
  Search(const Program& program, std::span<const std::optional<int64_t>> known,
         std::span<const int64_t> candidates)
      : candidates_(candidates), values_(program.symbols.size()) {
    std::vector<size_t> depth_of_symbol(program.symbols.size());
    for (uint32_t i = 0; i < program.symbols.size(); ++i) {
      const Symbol& symbol = program.symbols[SymbolId(i)];
      std::optional<int64_t> value = i < known.size() && known[i] ? known[i] : symbol.fixed;
      if (value) {
        values_[i] = *value;
      } else {
        open_.push_back({i, largest_value(program, symbol)});
        depth_of_symbol[i] = open_.size();
      }
    }
    // Depth 0 holds what no open symbol is in.
    constraints_.resize(open_.size() + 1);
    auto require = [&](SizeExpr condition) {
      size_t depth = 0;
      for (const SizeInstruction& instruction : condition.code())
        if (instruction.op == SizeOp::kSymbol)
          depth = std::max(depth, depth_of_symbol[static_cast<size_t>(instruction.operand)]);
      constraints_[depth].push_back(std::move(condition));
    };
    for (const Clause& clause : program.clauses) require(clause.condition);
    for (const Parameter& parameter : program.parameters) {
      for (const SizeExpr& extent : parameter.shape)
        require(SizeExpr::binary(SizeOp::kGreaterEqual, extent, 1));
      require(SizeExpr::binary(SizeOp::kLessEqual, element_count(parameter.shape), kMostElements));
    }
  }

  // Whether there is a solution; values() is then it.
  bool run() {
    if (!holds(0)) return false;
    std::vector<size_t> next(open_.size() + 1, 0);
    size_t depth = 0;
    while (depth < open_.size()) {
      if (next[depth] == candidates_.size()) {
        if (depth == 0) return false;
        next[depth--] = 0;
        continue;
      }
      int64_t candidate = candidates_[next[depth]++];
      if (candidate > open_[depth].largest) continue;
      values_[open_[depth].symbol] = candidate;
      if (holds(depth + 1)) ++depth;
      if (budget_ <= 0) return false;
    }
    return true;
  }

  std::vector<int64_t> values() const {
    std::vector<int64_t> result;
    for (Int128 value : values_) result.push_back(static_cast<int64_t>(value));
    return result;
  }

 private:
  struct Open {
    uint32_t symbol;
    int64_t largest;
  };

  static int64_t largest_value(const Program& program, const Symbol& symbol) {
    if (symbol.kind == SymbolKind::kDimension) return INT64_MAX;
    ElementType type = program.parameters[symbol.parameter].type;
    if (type == ElementType::kBool) return 1;
    unsigned bits = bit_width(type) - (is_signed(type) ? 1 : 0);
    return bits >= 63 ? INT64_MAX : (int64_t{1} << bits) - 1;
  }

  bool holds(size_t depth) {
    for (const SizeExpr& condition : constraints_[depth]) {
      --budget_;
      if (!evaluate(condition, values_).holds()) return false;
    }
    return true;
  }

  std::span<const int64_t> candidates_;
  std::vector<Int128> values_;
  std::vector<Open> open_;
  std::vector<std::vector<SizeExpr>> constraints_;
  int budget_ = kBudget;
};

std::string clauses_text(const Program& program) {
  std::string text;
  for (const Clause& clause : program.clauses) text += (text.empty() ? ": " : ", ") + clause.text;
  return text;
}

}  // namespace

Result<std::vector<int64_t>> choose_sizes(const Program& program,
                                          std::span<const std::optional<int64_t>> known,
                                          std::span<const int64_t> candidates) {
  Search search(program, known, candidates);
  if (search.run()) return search.values();
  return fail(ErrorKind::kUsage, "no small sizes meet the conditions of kernel `" + program.name + "`" +
                                     clauses_text(program) + "; give its sizes");
}

}  // namespace tenon::runtime
