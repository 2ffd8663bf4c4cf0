// Terms and conditions as the source would say them.
#include <fmt/format.h>

#include <algorithm>

#include "frontend/prove/term.h"

namespace tenon::prove {
namespace {

// Atoms and conditions in one text; a shared subterm prints again at each use, so this bounds the work.
constexpr int kMaxPrinted = 200;

// How tightly a text binds, for parentheses.
enum class Binding : uint8_t { kOr, kAnd, kSum, kProduct, kPrimary };

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
        return {fmt::format("{} / {}", in(Binding::kProduct, print(atom.operands[0])),
                            in(Binding::kPrimary, print(atom.operands[1]))),
                Binding::kProduct};
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
  Text print(const Polynomial& polynomial) {
    Polynomial rest = polynomial;
    std::vector<std::pair<bool, Text>> parts;
    take_remainders(rest, parts);
    Polynomial constant;
    for (bool negative : {false, true}) {
      for (const Monomial& monomial : rest.monomials) {
        if (monomial.degree > 0 && (monomial.coefficient < 0) == negative)
          parts.emplace_back(negative, product(monomial));
      }
    }
    if (const int64_t c = rest.constant_part(); c != 0) parts.emplace_back(c < 0, Text{magnitude(c)});
    return sum(parts);
  }

  static std::string magnitude(int64_t c) {
    std::string text = fmt::format("{}", c);
    return c < 0 ? text.substr(1) : text;
  }

  static Text sum(std::vector<std::pair<bool, Text>>& parts) {
    if (parts.empty()) return {"0"};
    // A leading minus only where there is nothing else.
    std::ranges::stable_partition(parts, [](const auto& part) { return !part.first; });
    if (parts.size() == 1 && !parts[0].first) return parts[0].second;
    Text result{"", Binding::kSum};
    for (const auto& [negative, text] : parts) {
      const std::string operand = in(Binding::kProduct, text);
      if (result.text.empty()) {
        result.text = (negative ? "-" : "") + operand;
      } else {
        result.text += (negative ? " - " : " + ") + operand;
      }
    }
    return result;
  }

  // x - d * (x / d) is x % d: such pieces, times a monomial, are moved from `rest` to `parts`.
  void take_remainders(Polynomial& rest, std::vector<std::pair<bool, Text>>& parts) {
    for (size_t i = 0; i < rest.monomials.size();) {
      if (!take_remainder(rest, i, parts)) {
        ++i;
      } else {
        i = 0;
      }
    }
  }

  bool take_remainder(Polynomial& rest, size_t place, std::vector<std::pair<bool, Text>>& parts) {
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
      Text text{fmt::format("{} % {}", in(Binding::kProduct, print(atom.operands[0])),
                            in(Binding::kPrimary, print(atom.operands[1]))),
                Binding::kProduct};
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
    for (AtomId atom : monomial.atoms()) {
      Text text = print_atom(atom);
      if (text.binding == Binding::kProduct && factors.empty()) {
        factors.push_back(std::move(text));
      } else if (text.binding == Binding::kProduct && factors[0].binding != Binding::kProduct) {
        factors.insert(factors.begin(), std::move(text));
      } else {
        factors.push_back(std::move(text));
      }
    }
    const bool quotient_first = !factors.empty() && factors[0].binding == Binding::kProduct;
    if (monomial.coefficient != 1 && monomial.coefficient != -1) {
      const Text number{magnitude(monomial.coefficient)};
      factors.insert(quotient_first ? factors.end() : factors.begin(), number);
    }
    if (factors.empty()) return {"1"};
    if (factors.size() == 1) return factors[0];
    Text result{in(Binding::kProduct, factors[0]), Binding::kProduct};
    for (size_t i = 1; i < factors.size(); ++i) result.text += " * " + in(Binding::kPrimary, factors[i]);
    return result;
  }

  std::string applied(const std::string& name, const std::vector<TermId>& arguments, OpaqueStyle style) {
    if (style == OpaqueStyle::kName || arguments.empty()) return name;
    std::string text = name + (style == OpaqueStyle::kSubscripts ? "[" : "(");
    for (size_t i = 0; i < arguments.size(); ++i) text += (i ? ", " : "") + print(arguments[i]).text;
    return text + (style == OpaqueStyle::kSubscripts ? "]" : ")");
  }

  // The positive parts on one side, the negative ones on the other.
  static std::pair<Polynomial, Polynomial> sides(const Polynomial& p) {
    Polynomial positive;
    Polynomial negative;
    for (Monomial monomial : p.monomials) {
      if (monomial.coefficient > 0) {
        positive.monomials.push_back(monomial);
      } else {
        monomial.coefficient = monomial.coefficient == INT64_MIN ? INT64_MAX : -monomial.coefficient;
        negative.monomials.push_back(monomial);
      }
    }
    return {positive, negative};
  }

  // Moving a part of x - d * (x / d) to the other side would hide the remainder: print the polynomial whole
  // then.
  bool has_remainder(const Polynomial& p) {
    Polynomial rest = p;
    std::vector<std::pair<bool, Text>> parts;
    const int left = left_;
    take_remainders(rest, parts);
    left_ = left;
    return !parts.empty();
  }

  Text relation(const Polynomial& p, std::string_view op) {
    if (has_remainder(p)) return {fmt::format("{} {} 0", print(p).text, op), Binding::kAnd};
    const auto [positive, negative] = sides(p);
    const bool swap = positive.constant_value() && !negative.constant_value();
    return {fmt::format("{} {} {}", print(swap ? negative : positive).text, op,
                        print(swap ? positive : negative).text),
            Binding::kAnd};
  }

  Text non_negative(const Polynomial& p) {
    if (has_remainder(p)) return {fmt::format("{} >= 0", print(p).text), Binding::kAnd};
    auto [positive, negative] = sides(p);
    const bool strict = p.constant_part() == -1 && negative.monomials.size() > 1;
    if (strict) negative.monomials.erase(negative.monomials.begin());
    if (negative.constant_value()) {
      return {fmt::format("{} >= {}", print(positive).text, print(negative).text), Binding::kAnd};
    }
    return {fmt::format("{} {} {}", print(negative).text, strict ? "<" : "<=", print(positive).text),
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
