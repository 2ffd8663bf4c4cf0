#include "ir/index_text.h"

#include <algorithm>
#include <charconv>
#include <limits>
#include <vector>

namespace tenon::ir {
namespace {

// How tightly the outermost operator of a text binds.
enum class Level : uint8_t { kOr, kAnd, kCompare, kSum, kProduct, kPrimary };

struct Text {
  std::string text;
  Level level = Level::kPrimary;
};

class Printer {
 public:
  Printer(const IndexPool& pool, const AtomText& atom) : pool_(pool), atom_(atom) {}

  Text print(IndexId id) const {
    const IndexNode& node = pool_[id];
    switch (node.kind) {
      case IndexKind::kPolynomial:
        return polynomial(node);
      case IndexKind::kSymbol:
      case IndexKind::kAxis:
      case IndexKind::kValue:
        return {atom_(node), Level::kPrimary};
      case IndexKind::kFloorDiv:
        return {primary(node.a) + " / " + primary(node.b), Level::kProduct};
      case IndexKind::kFloorMod:
        return {primary(node.a) + " % " + primary(node.b), Level::kProduct};
      case IndexKind::kMin:
        return {"min(" + joined(id, ", ", Level::kOr) + ")", Level::kPrimary};
      case IndexKind::kMax:
        return {"max(" + joined(id, ", ", Level::kOr) + ")", Level::kPrimary};
      case IndexKind::kLess:
        return {within(node.a, Level::kSum) + " < " + within(node.b, Level::kSum), Level::kCompare};
      case IndexKind::kEqual:
        return equality(node, " == ");
      case IndexKind::kAnd:
        return {joined(id, " && ", Level::kCompare), Level::kAnd};
      case IndexKind::kOr:
        return {joined(id, " || ", Level::kAnd), Level::kOr};
      case IndexKind::kNot:
        return negation(pool_[node.a], node.a);
    }
    return {};
  }

 private:
  std::string within(IndexId id, Level level) const {
    Text inner = print(id);
    return inner.level >= level ? inner.text : "(" + inner.text + ")";
  }
  std::string primary(IndexId id) const { return within(id, Level::kPrimary); }

  Text equality(const IndexNode& node, const char* op) const {
    std::string a = within(node.a, Level::kSum);
    std::string b = within(node.b, Level::kSum);
    bool constant = pool_.as_constant(node.a) || pool_.as_constant(node.b);
    if (constant ? pool_.as_constant(node.a).has_value() : b < a) std::swap(a, b);
    return {a + op + b, Level::kCompare};
  }

  Text negation(const IndexNode& inner, IndexId id) const {
    if (inner.kind == IndexKind::kEqual) return equality(inner, " != ");
    if (inner.kind == IndexKind::kLess)
      return {within(inner.b, Level::kSum) + " <= " + within(inner.a, Level::kSum), Level::kCompare};
    return {"!" + primary(id), Level::kPrimary};
  }

  // The operands of nested operators of one commutative kind, in alphabetic order.
  std::string joined(IndexId id, const char* separator, Level level) const {
    IndexKind kind = pool_[id].kind;
    std::vector<std::string> operands;
    std::vector<IndexId> stack = {id};
    while (!stack.empty()) {
      IndexId at = stack.back();
      stack.pop_back();
      if (pool_[at].kind == kind) {
        stack.push_back(pool_[at].b);
        stack.push_back(pool_[at].a);
      } else {
        operands.push_back(within(at, level));
      }
    }
    std::sort(operands.begin(), operands.end());
    std::string text;
    for (const std::string& operand : operands) text += (text.empty() ? "" : separator) + operand;
    return text;
  }

  struct Term {
    int64_t coefficient = 0;
    size_t factors = 0;
    // Of the factors alone.
    std::string text;
    // The text is one quotient or remainder, which a sign or coefficient must not enter.
    bool division = false;
  };

  Term term(const Monomial& monomial) const {
    Term term{monomial.coefficient, monomial.factors.size(), {}, false};
    std::vector<std::string> factors;
    for (IndexId factor : monomial.factors) factors.push_back(primary(factor));
    std::sort(factors.begin(), factors.end());
    for (const std::string& factor : factors) term.text += (term.text.empty() ? "" : " * ") + factor;
    if (monomial.factors.size() == 1 && (term.coefficient == 1 || term.coefficient == -1)) {
      Text alone = print(monomial.factors[0]);
      if (alone.level == Level::kProduct) {
        term.text = alone.text;
        term.division = true;
      }
    }
    return term;
  }

  Text polynomial(const IndexNode& node) const {
    if (node.terms.empty()) return {"0", Level::kPrimary};
    std::vector<Term> terms;
    for (const Monomial& monomial : node.terms) terms.push_back(term(monomial));
    auto rank = [](const Term& term) { return term.factors == 0 ? 2 : term.coefficient < 0 ? 1 : 0; };
    std::sort(terms.begin(), terms.end(), [&](const Term& a, const Term& b) {
      if (rank(a) != rank(b)) return rank(a) < rank(b);
      return a.factors != b.factors ? a.factors > b.factors : a.text < b.text;
    });
    std::string text;
    for (const Term& term : terms) append(text, term);
    bool number = node.terms.size() == 1 && node.terms[0].factors.empty();
    Level level = terms.size() > 1 || terms[0].coefficient < 0 ? Level::kSum
                  : number                                     ? Level::kPrimary
                                                               : Level::kProduct;
    return {text, level};
  }

  static void append(std::string& text, const Term& term) {
    bool first = text.empty();
    bool least = term.coefficient == std::numeric_limits<int64_t>::min();
    bool minus = term.coefficient < 0 && !least;
    if (!first) {
      text += minus ? " - " : " + ";
    } else if (minus) {
      text += "-";
    }
    int64_t magnitude = minus ? -term.coefficient : term.coefficient;
    if (term.factors == 0) {
      text += std::to_string(magnitude);
      return;
    }
    if (magnitude != 1) text += std::to_string(magnitude) + " * ";
    text += term.division && first && minus ? "(" + term.text + ")" : term.text;
  }

  const IndexPool& pool_;
  const AtomText& atom_;
};

class Parser {
 public:
  Parser(TextScanner& scanner, IndexPool& pool, const AtomOfToken& atom)
      : scanner_(scanner), pool_(pool), atom_(atom) {}

  IndexId any() {
    TextScanner::Nesting nesting(scanner_);
    IndexId left = conjunction();
    while (scanner_.accept("||")) left = pool_.logical_or(left, conjunction());
    return left;
  }

 private:
  IndexId conjunction() {
    IndexId left = comparison();
    while (scanner_.accept("&&")) left = pool_.logical_and(left, comparison());
    return left;
  }

  IndexId comparison() {
    IndexId left = sum();
    if (scanner_.accept("==")) return pool_.equal(left, sum());
    if (scanner_.accept("!=")) return pool_.logical_not(pool_.equal(left, sum()));
    if (scanner_.accept("<=")) return pool_.less_equal(left, sum());
    if (scanner_.accept(">=")) return pool_.less_equal(sum(), left);
    if (scanner_.accept("<")) return pool_.less(left, sum());
    if (scanner_.accept(">")) return pool_.less(sum(), left);
    return left;
  }

  // Collected and interned once: a sum of n terms takes n steps, not n^2.
  IndexId sum() {
    std::vector<Monomial> terms = pool_.terms(product());
    while (scanner_.at("+") || scanner_.at("-")) {
      bool minus = scanner_.take().text == "-";
      IndexId operand = product();
      if (minus) operand = pool_.scale(operand, -1);
      for (Monomial& term : pool_.terms(operand)) terms.push_back(std::move(term));
      if (!fits(terms.size())) return zero();
    }
    return pool_.from_terms(std::move(terms));
  }

  IndexId product() {
    IndexId left = unary();
    while (scanner_.at("*") || scanner_.at("/") || scanner_.at("%")) {
      std::string_view op = scanner_.take().text;
      IndexId right = unary();
      if (op == "*") {
        left = times(left, right);
      } else {
        left = op == "/" ? pool_.floor_div(left, right) : pool_.floor_mod(left, right);
      }
    }
    return left;
  }

  IndexId times(IndexId a, IndexId b) {
    std::vector<Monomial> left = pool_.terms(a);
    std::vector<Monomial> right = pool_.terms(b);
    auto degree = [](const std::vector<Monomial>& terms) {
      size_t most = 0;
      for (const Monomial& term : terms) most = std::max(most, term.factors.size());
      return most;
    };
    if (!fits(left.size() * right.size()) || !fits(degree(left) + degree(right))) return zero();
    return pool_.mul(a, b);
  }

  IndexId unary() {
    TextScanner::Nesting nesting(scanner_);
    if (scanner_.accept("!")) return pool_.logical_not(unary());
    // The sign belongs to a number, for the sake of the least one.
    if (scanner_.at("-") && scanner_.peek_second().kind == Token::Kind::kNumber)
      return pool_.constant(scanner_.expect_integer("a number"));
    if (scanner_.accept("-")) return pool_.scale(unary(), -1);
    return primary();
  }

  IndexId primary() {
    if (scanner_.at(Token::Kind::kNumber)) return pool_.constant(scanner_.expect_integer("a number"));
    if (scanner_.accept("(")) {
      IndexId inner = any();
      scanner_.expect(")");
      return inner;
    }
    if (scanner_.at("min") || scanner_.at("max")) return extreme();
    if (scanner_.at(Token::Kind::kWord) || scanner_.at(Token::Kind::kValue)) {
      Token name = scanner_.take();
      IndexId id = atom_(name);
      if (id.valid()) return id;
      std::string_view what = name.kind == Token::Kind::kValue ? "index value" : "symbol or axis";
      scanner_.fail(DiagnosticId::kIrUnknownName, name.span, what, name.text.substr(0, 60));
      return zero();
    }
    scanner_.fail_expected("an index expression");
    return zero();
  }

  IndexId extreme() {
    bool smaller = scanner_.take().text == "min";
    scanner_.expect("(");
    IndexId left = any();
    while (scanner_.accept(",")) {
      IndexId right = any();
      left = smaller ? pool_.min(left, right) : pool_.max(left, right);
    }
    scanner_.expect(")");
    return left;
  }

  bool fits(size_t count) {
    if (count <= kMaxIndexTerms) return true;
    scanner_.fail(DiagnosticId::kIrIndexTooLarge, scanner_.peek().span, kMaxIndexTerms);
    return false;
  }

  IndexId zero() { return pool_.constant(0); }

  TextScanner& scanner_;
  IndexPool& pool_;
  const AtomOfToken& atom_;
};

}  // namespace

std::string index_text(const IndexPool& pool, IndexId id, const AtomText& atom) {
  return Printer(pool, atom).print(id).text;
}

IndexId parse_index(TextScanner& scanner, IndexPool& pool, const AtomOfToken& atom) {
  Span begin = scanner.peek().span;
  IndexId id = Parser(scanner, pool, atom).any();
  if (pool.overflowed()) scanner.fail(DiagnosticId::kIrIndexOverflow, scanner.span_from(begin));
  return id;
}

}  // namespace tenon::ir
