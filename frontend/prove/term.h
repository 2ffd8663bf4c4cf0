// Index terms in canonical form. A term is a polynomial with integer coefficients over atoms; an atom is a
// symbol, a value that the prover does not look into, or one of floor division, min, max and choice over
// other terms. Terms, atoms and conditions are interned: equal ids mean equal values, wherever the ids come
// from one TermStore.
//
// Semantics are those of the language's `index` type, total over the integers: `/` rounds down, x / 0 is 0,
// and x % y is x - y * (x / y), so x % 0 is x. A remainder therefore has no atom of its own.
//
// Nothing here fails: where a polynomial would leave its representation (see polynomial.h) or a nesting go
// beyond kMaxDepth, the result is a new atom of which nothing is known, not even that it equals another such
// result.
#pragma once

#include <cstdint>
#include <map>
#include <optional>
#include <span>
#include <string>
#include <string_view>
#include <unordered_map>
#include <vector>

#include "frontend/prove/polynomial.h"
#include "support/ids.h"

namespace tenon::prove {

struct Condition;
using TermId = Id<Polynomial>;
using ConditionId = Id<Condition>;

inline constexpr uint32_t kMaxDepth = 60;
inline constexpr size_t kMaxJunction = 64;

// lo <= value < hi; an invalid id means that side is not known.
struct Range {
  TermId lo;
  TermId hi;
};

// What a symbol stands for. Dimensions are at least 0 without being told; dimensions and scalars are known at
// launch, so a goal over them alone can become a launch check.
enum class SymbolKind : uint8_t { kDimension, kScalar, kIndex };

// How an opaque value prints: `name`, `name[a, b]` or `name(a, b)`.
enum class OpaqueStyle : uint8_t { kName, kSubscripts, kArguments };

enum class AtomKind : uint8_t {
  kSymbol,
  kOpaque,
  kDiv,
  kMin,
  kMax,
  kSelect,
  // The result of an operation that is too large to look into; it may depend on any symbol.
  kLarge,
};

struct Atom {
  AtomKind kind = AtomKind::kSymbol;
  SymbolKind symbol_kind = SymbolKind::kIndex;
  OpaqueStyle style = OpaqueStyle::kName;
  // Symbols and opaque values.
  std::string name = {};
  // Numerator and divisor; operands of min and max; both arms of a choice; arguments of an opaque value.
  std::vector<TermId> operands = {};
  // The condition of a choice.
  ConditionId condition = {};
  Range range = {};
  // Nesting of operands, at most kMaxDepth.
  uint32_t depth = 0;
  // Greater than the rank of every atom in its operands and its range.
  uint32_t rank = 0;
};

enum class ConditionKind : uint8_t {
  kTrue,
  kFalse,
  // term >= 0, term == 0, term != 0.
  kNonNegative,
  kZero,
  kNonZero,
  kAnd,
  kOr,
  // A bool that the prover does not look into, and its negation.
  kOpaque,
  kNotOpaque,
  // As AtomKind::kLarge.
  kLarge,
  kNotLarge,
};

struct Condition {
  ConditionKind kind = ConditionKind::kTrue;
  TermId term = {};
  std::vector<ConditionId> operands = {};
  std::string name = {};
  std::vector<TermId> arguments = {};
  OpaqueStyle style = OpaqueStyle::kName;
  uint32_t depth = 0;
  uint32_t rank = 0;
  // Once somebody asked for it.
  ConditionId negation = {};
};

// Replacements of atoms by terms, applied at once (not repeatedly).
using Substitution = std::map<AtomId, TermId>;

class TermStore {
 public:
  TermStore();

  TermId constant(int64_t value);
  // Every call makes a new symbol: the name is for printing only. Its range is a fact, and known not to be
  // empty, wherever a goal or a fact mentions the symbol.
  TermId symbol(std::string_view name, SymbolKind kind, Range range = {});
  // A value without structure. Same name and arguments: same value; the range given first stays. The name
  // must identify what is read (a tensor's unique name), and the arguments everything that the value depends
  // on.
  TermId opaque(std::string_view name, std::span<const TermId> arguments = {}, Range range = {},
                OpaqueStyle style = OpaqueStyle::kName);

  TermId add(TermId a, TermId b);
  TermId sub(TermId a, TermId b);
  TermId mul(TermId a, TermId b);
  TermId scale(TermId a, int64_t factor);
  TermId negate(TermId a) { return scale(a, -1); }
  TermId floor_div(TermId a, TermId b);
  TermId floor_mod(TermId a, TermId b);
  TermId min(TermId a, TermId b);
  TermId max(TermId a, TermId b);
  TermId select(ConditionId condition, TermId then, TermId otherwise);

  ConditionId boolean(bool value);
  ConditionId lt(TermId a, TermId b) { return non_negative(sub(sub(b, a), constant(1))); }
  ConditionId le(TermId a, TermId b) { return non_negative(sub(b, a)); }
  ConditionId gt(TermId a, TermId b) { return lt(b, a); }
  ConditionId ge(TermId a, TermId b) { return le(b, a); }
  ConditionId eq(TermId a, TermId b) { return zero(sub(a, b)); }
  ConditionId ne(TermId a, TermId b) { return logical_not(eq(a, b)); }
  ConditionId in_range(TermId value, TermId lo, TermId hi) {
    return logical_and(le(lo, value), lt(value, hi));
  }
  ConditionId logical_and(ConditionId a, ConditionId b);
  ConditionId logical_or(ConditionId a, ConditionId b);
  ConditionId logical_not(ConditionId a);
  ConditionId opaque_condition(std::string_view name, std::span<const TermId> arguments = {},
                               OpaqueStyle style = OpaqueStyle::kName);
  ConditionId non_negative(TermId term);
  ConditionId zero(TermId term);

  // Every atom of `replacements` replaced, in operands and arguments too; opaque values get substituted
  // ranges. Looks a definition through: substitute its indices by a reader's subscripts.
  TermId substitute(TermId term, const Substitution& replacements);
  ConditionId substitute(ConditionId condition, const Substitution& replacements);

  const Polynomial& polynomial(TermId term) const { return polynomials_[term]; }
  const Atom& atom(AtomId id) const { return atoms_[id]; }
  const Condition& condition(ConditionId id) const { return conditions_[id]; }
  std::optional<int64_t> constant_value(TermId term) const;
  // The atom, where the term is one atom with coefficient 1.
  std::optional<AtomId> single_atom(TermId term) const;
  TermId term_of(AtomId atom);
  TermId intern(Polynomial polynomial);
  // A new value or bool of which nothing is known.
  TermId large();
  ConditionId large_condition();

  // The largest n such that the term is n times another for all values; 0 for the term 0.
  int64_t content(TermId term) const;
  // term = coefficient * atom + rest, where neither side mentions the atom.
  struct Linear {
    TermId coefficient;
    TermId rest;
  };
  std::optional<Linear> linear_in(TermId term, AtomId atom);
  // Whether the atom occurs anywhere in the term, operands and arguments included; a large atom may hide any.
  bool mentions(TermId term, AtomId atom) const;
  // Every atom of the term, operands and arguments included, in order of creation.
  std::vector<AtomId> atoms_of(TermId term) const;
  std::vector<AtomId> atoms_of(ConditionId condition) const;

  // As the source would say it; parentheses only where needed. Nesting and length are cut with `...`.
  std::string text(TermId term) const;
  std::string text(ConditionId condition) const;
  std::string text(AtomId atom) const;

 private:
  struct Measure {
    uint32_t depth = 0;
    uint32_t rank = 0;
  };
  struct Interned {
    std::unordered_multimap<uint64_t, TermId> terms;
    std::unordered_multimap<uint64_t, AtomId> atoms;
    std::unordered_multimap<uint64_t, ConditionId> conditions;
  };

  TermId intern_or_large(std::optional<Polynomial> polynomial);
  TermId atom_term(Atom atom);
  // Nothing where the atom is nested too deeply.
  std::optional<AtomId> intern_atom(Atom atom);
  uint32_t range_rank(const Range& range) const;
  TermId divide_by_constant(TermId a, int64_t divisor);
  ConditionId intern_condition(Condition condition);
  ConditionId negate_leaf(const Condition& condition);
  ConditionId junction(ConditionKind kind, ConditionId a, ConditionId b);

  Store<Polynomial> polynomials_;
  // Of each polynomial: the greatest of its atoms.
  std::vector<Measure> measures_;
  Store<Atom> atoms_;
  Store<Condition> conditions_;
  Interned interned_;
};

}  // namespace tenon::prove
