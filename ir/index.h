// Index expressions: the integer algebra that sizes, subscripts, loop bounds, launch guards and addresses
// share.
//
// An expression is interned in a pool and canonical: a polynomial with integer coefficients over atoms, where
// an atom is a symbol (a dimension or an index-typed scalar parameter), an axis (a loop, grid or tile
// position), an opaque index value computed by a body, or a floor division, remainder, minimum, maximum or
// comparison of expressions. Equal polynomials have equal ids, so `N*M` and `M*N` are the same shape, and
// d*(e/d) + e%d is e.
//
// Values are mathematical integers; comparisons and logic give 0 or 1. Coefficients that leave 64 bits set
// `overflowed()`, which the builder of a module must turn into a diagnostic.
#pragma once

#include <cstdint>
#include <functional>
#include <optional>
#include <string>
#include <vector>

#include "support/id_set.h"
#include "support/ids.h"
#include "support/small_vector.h"

namespace tenon::ir {

struct IndexNode;
struct Symbol;
struct Axis;
struct Instruction;
using IndexId = Id<IndexNode>;
using SymbolId = Id<Symbol>;
using AxisId = Id<Axis>;
using ValueId = Id<Instruction>;
// Subscripts, dimensions and axes, as nodes have them.
using IndexList = SmallVector<IndexId, 2>;
using AxisList = SmallVector<AxisId, 2>;
using ValueList = SmallVector<ValueId, 2>;

enum class IndexKind : uint8_t {
  kPolynomial,
  kSymbol,
  kAxis,
  // An index-typed value of the body or tile region that holds the expression.
  kValue,
  // Floor division and its remainder; x/0 is 0 and x%0 is x.
  kFloorDiv,
  kFloorMod,
  kMin,
  kMax,
  kLess,
  kEqual,
  kAnd,
  kOr,
  kNot,
};

// coefficient * product of atoms; `factors` is sorted by id, with repetition for powers.
struct Monomial {
  int64_t coefficient = 0;
  std::vector<IndexId> factors;
  bool operator==(const Monomial&) const = default;
};

struct IndexNode {
  IndexKind kind = IndexKind::kPolynomial;
  // kPolynomial: sorted by factors, no zero coefficient; empty is the constant 0.
  std::vector<Monomial> terms;
  // kSymbol, kAxis, kValue: the index of that id.
  uint32_t reference = 0;
  // Other kinds: the operands, polynomials or atoms; `b` is invalid for kNot.
  IndexId a, b;
  bool operator==(const IndexNode&) const = default;
};

class IndexPool {
 public:
  IndexPool();

  IndexId constant(int64_t value);
  IndexId symbol(SymbolId symbol);
  IndexId axis(AxisId axis);
  IndexId value(ValueId value);

  IndexId add(IndexId a, IndexId b);
  IndexId sub(IndexId a, IndexId b);
  IndexId mul(IndexId a, IndexId b);
  IndexId scale(IndexId a, int64_t factor);
  IndexId floor_div(IndexId a, IndexId b);
  IndexId floor_mod(IndexId a, IndexId b);
  IndexId min(IndexId a, IndexId b);
  IndexId max(IndexId a, IndexId b);
  IndexId less(IndexId a, IndexId b);
  IndexId less_equal(IndexId a, IndexId b);
  IndexId equal(IndexId a, IndexId b);
  IndexId logical_and(IndexId a, IndexId b);
  IndexId logical_or(IndexId a, IndexId b);
  IndexId logical_not(IndexId a);
  // ceil(a / b), as a floor division; b > 0.
  IndexId ceil_div(IndexId a, int64_t b);

  const IndexNode& operator[](IndexId id) const { return nodes_[id.index()]; }
  size_t size() const { return nodes_.size(); }
  bool overflowed() const { return overflowed_; }

  std::optional<int64_t> as_constant(IndexId id) const;
  bool is_constant(IndexId id, int64_t value) const { return as_constant(id) == value; }
  // The terms of an expression; an atom is one term with coefficient 1.
  std::vector<Monomial> terms(IndexId id) const;
  IndexId from_terms(std::vector<Monomial> terms);

  // The expression of a kind that is neither leaf nor polynomial; `b` is invalid for kNot.
  IndexId build(IndexKind kind, IndexId a, IndexId b);

  // All that an expression is made of, itself included, operands before what they are part of.
  std::vector<IndexId> parts(IndexId id) const;

  // Replaces atoms of kind symbol, axis and value; the function gives an invalid id for those that stay.
  using AtomMap = std::function<IndexId(IndexId atom)>;
  IndexId substitute(IndexId id, const AtomMap& map);

  // Calls `visit` once for every distinct symbol, axis and value atom in the expression, in id order.
  void for_each_atom(IndexId id, const std::function<void(IndexId atom)>& visit) const;
  bool mentions(IndexId id, const std::function<bool(const IndexNode& atom)>& predicate) const;

  // The value for given atoms; empty where an atom has none or a step leaves 64 bits.
  using AtomValue = std::function<std::optional<int64_t>(IndexId atom)>;
  std::optional<int64_t> evaluate(IndexId id, const AtomValue& value) const;

  // The largest power of two, at most `limit`, that divides the expression for all values of its atoms, where
  // `divisor` gives a power of two known to divide an atom (1 where nothing is known).
  int64_t known_divisor(IndexId id, int64_t limit, const std::function<int64_t(IndexId atom)>& divisor) const;

 private:
  IndexId intern(IndexNode node);
  IndexId binary_atom(IndexKind kind, IndexId a, IndexId b);
  std::optional<int64_t> fold(IndexKind kind, int64_t a, int64_t b) const;

  std::vector<IndexNode> nodes_;
  IdSet<IndexNode> known_;
  bool overflowed_ = false;
};

}  // namespace tenon::ir
