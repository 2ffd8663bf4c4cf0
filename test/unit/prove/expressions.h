// Operators for tests that write terms as the language does.
#pragma once

#include <gtest/gtest.h>

#include <string>

#include "frontend/prove/context.h"

namespace tenon::prove {

// A term with its context, so that tests can say `h / (H / G)`.
struct Expr {
  Context* context;
  TermId id;
};
struct Cond {
  Context* context;
  ConditionId id;
};

inline Expr constant(const Expr& like, int64_t value) {
  return {like.context, like.context->terms().constant(value)};
}

#define TENON_TEST_ARITHMETIC(op, method)                                                                \
  inline Expr operator op(Expr a, Expr b) { return {a.context, a.context->terms().method(a.id, b.id)}; } \
  inline Expr operator op(Expr a, int64_t b) { return a op constant(a, b); }                             \
  inline Expr operator op(int64_t a, Expr b) { return constant(b, a) op b; }
TENON_TEST_ARITHMETIC(+, add)
TENON_TEST_ARITHMETIC(-, sub)
TENON_TEST_ARITHMETIC(*, mul)
TENON_TEST_ARITHMETIC(/, floor_div)
TENON_TEST_ARITHMETIC(%, floor_mod)
#undef TENON_TEST_ARITHMETIC

#define TENON_TEST_COMPARISON(op, method)                                                                \
  inline Cond operator op(Expr a, Expr b) { return {a.context, a.context->terms().method(a.id, b.id)}; } \
  inline Cond operator op(Expr a, int64_t b) { return a op constant(a, b); }
TENON_TEST_COMPARISON(<, lt)
TENON_TEST_COMPARISON(<=, le)
TENON_TEST_COMPARISON(>, gt)
TENON_TEST_COMPARISON(>=, ge)
TENON_TEST_COMPARISON(==, eq)
TENON_TEST_COMPARISON(!=, ne)
#undef TENON_TEST_COMPARISON

inline Cond operator&&(Cond a, Cond b) { return {a.context, a.context->terms().logical_and(a.id, b.id)}; }
inline Cond operator||(Cond a, Cond b) { return {a.context, a.context->terms().logical_or(a.id, b.id)}; }
inline Cond operator!(Cond a) { return {a.context, a.context->terms().logical_not(a.id)}; }
inline Expr min(Expr a, Expr b) { return {a.context, a.context->terms().min(a.id, b.id)}; }
inline Expr max(Expr a, Expr b) { return {a.context, a.context->terms().max(a.id, b.id)}; }
inline Expr select(Cond c, Expr a, Expr b) {
  return {a.context, a.context->terms().select(c.id, a.id, b.id)};
}

class ProveTest : public ::testing::Test {
 protected:
  Expr number(int64_t value) { return {&context, t().constant(value)}; }
  Expr dim(std::string_view name) { return {&context, t().symbol(name, SymbolKind::kDimension)}; }
  Expr scalar(std::string_view name) { return {&context, t().symbol(name, SymbolKind::kScalar)}; }
  Expr index(std::string_view name, Expr lo, Expr hi) {
    return {&context, t().symbol(name, SymbolKind::kIndex, {lo.id, hi.id})};
  }
  Expr index(std::string_view name, Expr hi) { return index(name, number(0), hi); }
  Expr data(std::string_view name, std::vector<TermId> arguments = {}, Range range = {}) {
    return {&context, t().opaque(name, arguments, range, OpaqueStyle::kSubscripts)};
  }
  void where(Cond fact) { context.assume(fact.id, FactKind::kClause); }
  void guard(Cond fact) { context.assume(fact.id, FactKind::kGuard); }
  TermStore& t() { return context.terms(); }

  Context context;
};

inline ::testing::AssertionResult proved(Cond goal) {
  const Verdict verdict = goal.context->prove(goal.id);
  if (verdict.proved()) return ::testing::AssertionSuccess() << "proved in " << verdict.steps << " steps";
  return ::testing::AssertionFailure() << "not proved: " << verdict.remaining << " ["
                                       << verdict.counterexample << "] after " << verdict.steps << " steps";
}
inline ::testing::AssertionResult in_bounds(Expr subscript, Expr extent) {
  return proved(subscript >= 0 && subscript < extent);
}

}  // namespace tenon::prove
