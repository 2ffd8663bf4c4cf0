// Terms and conditions as the source would say them.
#include <fmt/format.h>

#include <algorithm>

#include "frontend/prove/term.h"

namespace tenon::prove {
namespace {

// Atoms and conditions in one text; a shared subterm prints again at each use, so this bounds the work.
constexpr int kMaxPrinted = 200;

// How tightly a text binds, for parentheses.
enum class Binding : uint8_t { kOr, kAnd, kSum, kQuotient, kProduct, kPrimary };

struct Text {
  std::string text;
  Binding binding = Binding::kPrimary;
};

std::string in(Binding at_least, const Text& t) {
  return t.binding < at_least ? fmt::format("({})", t.text) : t.text;
}

}  // namespace

class Printer {
 public:
  explicit Printer(const TermStore& store) : store_(store) {}

  Text print(TermId term) { return print(store_.polynomial(term)); }

  Text print(ConditionId id) {
    const Condition& condition = store_.condition(id);
    if (--left_ < 0) return {"..."};
    switch (condition.kind) {
      case ConditionKind::kTrue:
      case ConditionKind::kFalse:
        return {condition.kind == ConditionKind::kTrue ? "true" : "false"};
      case ConditionKind::kNonNegative:
        return non_negative(store_.polynomial(condition.term));
      case ConditionKind::kZero:
        return relation(store_.polynomial(condition.term), "==");
      case ConditionKind::kNonZero:
        return relation(store_.polynomial(condition.term), "!=");
      case ConditionKind::kAnd:
      case ConditionKind::kOr:
        return junction(condition);
      case ConditionKind::kOpaque:
      case ConditionKind::kNotOpaque: {
        const std::string text = applied(condition.name, condition.arguments, condition.style);
        return {condition.kind == ConditionKind::kOpaque ? text : "!" + text};
      }
      case ConditionKind::kLarge:
      case ConditionKind::kNotLarge:
        return {"..."};
    }
    return {"..."};
  }

  Text print_atom(AtomId id) {
    const Atom& atom = store_.atom(id);
    if (--left_ < 0) return {"..."};
    switch (atom.kind) {
      case AtomKind::kSymbol:
        return {atom.name};
      case AtomKind::kLarge:
        return {"..."};
      case AtomKind::kOpaque:
        return {applied(atom.name, atom.operands, atom.style)};
      case AtomKind::kDiv:
        return {fmt::format("{} / {}", in(Binding::kQuotient, print(atom.operands[0])),
                            in(Binding::kPrimary, print(atom.operands[1]))),
                Binding::kQuotient};
      case AtomKind::kMin:
      case AtomKind::kMax:
        return {fmt::format("{}({}, {})", atom.kind == AtomKind::kMin ? "min" : "max",
                            print(atom.operands[0]).text, print(atom.operands[1]).text)};
      case AtomKind::kSelect:
        return {fmt::format("({} ? {} : {})", print(atom.condition).text, print(atom.operands[0]).text,
                            print(atom.operands[1]).text)};
    }
    return {"..."};
  }

 private:
  using Part = std::pair<bool, Text>;
  using Parts = std::vector<Part>;

  Text print(const Polynomial& polynomial) {
    Parts parts = parts_of(polynomial);
    if (const int64_t c = polynomial.constant_part(); c != 0) parts.emplace_back(c < 0, Text{magnitude(c)});
    return sum(parts);
  }

  // What is added up, each with whether it is subtracted; without the constant.
  Parts parts_of(const Polynomial& polynomial) {
    Polynomial rest = polynomial;
    std::erase_if(rest.monomials, [](const Monomial& m) { return m.degree == 0; });
    Parts parts;
    take_remainders(rest, parts);
    for (const Monomial& monomial : rest.monomials)
      parts.emplace_back(monomial.coefficient < 0, product(monomial));
    return parts;
  }

  static std::string magnitude(int64_t c) {
    std::string text = fmt::format("{}", c);
    return c < 0 ? text.substr(1) : text;
  }

  static Text sum(Parts parts) {
    if (parts.empty()) return {"0"};
    // A leading minus only where there is nothing else.
    const auto added = std::ranges::find_if(parts, [](const Part& part) { return !part.first; });
    if (added != parts.end()) std::rotate(parts.begin(), added, added + 1);
    if (parts.size() == 1 && !parts[0].first) return parts[0].second;
    Text result{"", Binding::kSum};
    for (const auto& [negative, text] : parts) {
      if (!result.text.empty()) {
        result.text += (negative ? " - " : " + ") + in(Binding::kQuotient, text);
      } else if (negative) {
        // -x / d would be (-x) / d.
        result.text = "-" + in(Binding::kProduct, text);
      } else {
        result.text = in(Binding::kQuotient, text);
      }
    }
    return result;
  }

  // x - d * (x / d) is x % d: such pieces, times a monomial, are moved from `rest` to `parts`.
  void take_remainders(Polynomial& rest, Parts& parts) {
    for (size_t i = 0; i < rest.monomials.size();) {
      if (!take_remainder(rest, i, parts)) {
        ++i;
      } else {
        i = 0;
      }
    }
  }

  bool take_remainder(Polynomial& rest, size_t place, Parts& parts) {
    const Monomial monomial = rest.monomials[place];
    for (AtomId id : monomial.atoms()) {
      const Atom& atom = store_.atom(id);
      if (atom.kind != AtomKind::kDiv) continue;
      const Polynomial& x = store_.polynomial(atom.operands[0]);
      const Polynomial& d = store_.polynomial(atom.operands[1]);
      const std::optional<Monomial> factor =
          divide(divide(monomial, atom_polynomial(id).monomials[0]).value_or(Monomial{}), d.monomials.back());
      if (!factor || factor->coefficient == 0) continue;
      Monomial times = *factor;
      times.coefficient = -times.coefficient;
      const std::optional<Polynomial> whole = multiply(d, atom_polynomial(id));
      const std::optional<Polynomial> remainder = whole ? add(x, *whole, -1) : std::nullopt;
      const std::optional<Polynomial> piece =
          remainder ? multiply(*remainder, monomial_polynomial(times)) : std::nullopt;
      const std::optional<Polynomial> without = piece ? add(rest, *piece, -1) : std::nullopt;
      if (!without || without->monomials.size() >= rest.monomials.size()) continue;
      rest = *without;
      Text text{fmt::format("{} % {}", in(Binding::kQuotient, print(atom.operands[0])),
                            in(Binding::kPrimary, print(atom.operands[1]))),
                Binding::kQuotient};
      const bool negative = times.coefficient < 0;
      if (times.degree > 0 || (times.coefficient != 1 && times.coefficient != -1)) {
        if (negative) times.coefficient = -times.coefficient;
        text.text += " * " + in(Binding::kPrimary, product(times));
      }
      parts.emplace_back(negative, std::move(text));
      return true;
    }
    return false;
  }

  // Without the sign. A quotient stands first, since `*` and `/` group from the left.
  Text product(const Monomial& monomial) {
    std::vector<Text> factors;
    for (AtomId atom : monomial.atoms()) factors.push_back(print_atom(atom));
    const auto quotient =
        std::ranges::find_if(factors, [](const Text& text) { return text.binding == Binding::kQuotient; });
    const bool quotient_first = quotient != factors.end();
    if (quotient_first) std::rotate(factors.begin(), quotient, quotient + 1);
    if (monomial.coefficient != 1 && monomial.coefficient != -1) {
      factors.insert(quotient_first ? factors.end() : factors.begin(), Text{magnitude(monomial.coefficient)});
    }
    if (factors.empty()) return {"1"};
    if (factors.size() == 1) return factors[0];
    Text result{factors[0].text, quotient_first ? Binding::kQuotient : Binding::kProduct};
    for (size_t i = 1; i < factors.size(); ++i) result.text += " * " + in(Binding::kPrimary, factors[i]);
    return result;
  }

  std::string applied(const std::string& name, const std::vector<TermId>& arguments, OpaqueStyle style) {
    if (style == OpaqueStyle::kName || arguments.empty()) return name;
    std::string text = name + (style == OpaqueStyle::kSubscripts ? "[" : "(");
    for (size_t i = 0; i < arguments.size(); ++i) text += (i ? ", " : "") + print(arguments[i]).text;
    return text + (style == OpaqueStyle::kSubscripts ? "]" : ")");
  }

  // Added parts on the right, subtracted ones on the left; each side may get the constant.
  struct Sides {
    Parts left;
    Parts right;
  };
  Sides sides(const Polynomial& p) {
    Sides sides;
    for (auto& [negative, text] : parts_of(p)) {
      (negative ? sides.left : sides.right).emplace_back(false, std::move(text));
    }
    return sides;
  }

  static void add_constant(Parts& side, int64_t c, bool opposite) {
    if (c != 0) side.emplace_back((c < 0) != opposite, Text{magnitude(c)});
  }

  // p `op` 0 for a symmetric relation.
  Text relation(const Polynomial& p, std::string_view op) {
    auto [subtracted, added] = sides(p);
    const int64_t c = p.constant_part();
    if (added.empty()) {
      add_constant(added, c, false);
      std::swap(subtracted, added);
    } else if (c > 0 && !subtracted.empty()) {
      add_constant(added, c, false);
    } else {
      add_constant(subtracted, c, true);
    }
    return {fmt::format("{} {} {}", sum(std::move(added)).text, op, sum(std::move(subtracted)).text),
            Binding::kAnd};
  }

  Text non_negative(const Polynomial& p) {
    auto [left, right] = sides(p);
    const int64_t c = p.constant_part();
    if (left.empty()) {
      add_constant(left, c, true);
      return {fmt::format("{} >= {}", sum(std::move(right)).text, sum(std::move(left)).text), Binding::kAnd};
    }
    const bool strict = c == -1 && !right.empty();
    if (!strict && (c > 0 || right.empty())) add_constant(right, c, false);
    if (!strict && c < 0 && !right.empty()) add_constant(left, c, true);
    return {
        fmt::format("{} {} {}", sum(std::move(left)).text, strict ? "<" : "<=", sum(std::move(right)).text),
        Binding::kAnd};
  }

  Text junction(const Condition& condition) {
    const bool is_and = condition.kind == ConditionKind::kAnd;
    Text result{"", is_and ? Binding::kAnd : Binding::kOr};
    for (ConditionId operand : condition.operands) {
      if (!result.text.empty()) result.text += is_and ? " && " : " || ";
      result.text += in(Binding::kAnd, print(operand));
    }
    return result;
  }

  const TermStore& store_;
  int left_ = kMaxPrinted;
};

std::string TermStore::text(TermId term) const { return Printer(*this).print(term).text; }
std::string TermStore::text(AtomId atom) const { return Printer(*this).print_atom(atom).text; }
std::string TermStore::text(ConditionId condition) const { return Printer(*this).print(condition).text; }

}  // namespace tenon::prove
