// Polynomials with 64-bit integer coefficients over atoms. Every operation that would leave the
// representation (a coefficient beyond 64 bits, more than kMaxMonomials monomials, a degree beyond
// kMaxDegree) gives nothing instead.
#pragma once

#include <array>
#include <compare>
#include <cstdint>
#include <optional>
#include <span>
#include <vector>

#include "support/ids.h"

namespace tenon::prove {

struct Atom;
using AtomId = Id<Atom>;

inline constexpr size_t kMaxMonomials = 96;
inline constexpr size_t kMaxDegree = 8;

// coefficient * product of atoms, which are sorted and may repeat. No atoms: a constant.
struct Monomial {
  std::array<AtomId, kMaxDegree> factors;
  uint32_t degree = 0;
  int64_t coefficient = 0;

  std::span<const AtomId> atoms() const { return {factors.data(), degree}; }
  bool contains(AtomId atom) const;
  bool operator==(const Monomial&) const = default;
};

// Orders by the atoms alone: the constant first.
std::strong_ordering compare_atoms(const Monomial& a, const Monomial& b);
std::optional<Monomial> multiply(const Monomial& a, const Monomial& b);
// a / b where it is exact, coefficients too.
std::optional<Monomial> divide(const Monomial& a, const Monomial& b);
// The greatest monomial with positive coefficient that divides both exactly.
Monomial common_factor(const Monomial& a, const Monomial& b);

// Sorted by compare_atoms, no zero coefficients; empty is 0.
struct Polynomial {
  std::vector<Monomial> monomials;

  bool is_zero() const { return monomials.empty(); }
  std::optional<int64_t> constant_value() const;
  // The coefficient of the monomial without atoms.
  int64_t constant_part() const;
  bool contains(AtomId atom) const;
  bool operator==(const Polynomial&) const = default;
};

Polynomial constant_polynomial(int64_t value);
Polynomial atom_polynomial(AtomId atom);
Polynomial monomial_polynomial(const Monomial& monomial);
// Sorts, merges and drops zeros.
std::optional<Polynomial> canonical(std::vector<Monomial> monomials);
// a + b * factor.
std::optional<Polynomial> add(const Polynomial& a, const Polynomial& b, int64_t factor = 1);
std::optional<Polynomial> multiply(const Polynomial& a, const Polynomial& b);
std::optional<Polynomial> scale(const Polynomial& a, int64_t factor);
// The quotient where every monomial of `a` is a multiple of `b`.
std::optional<Polynomial> divide(const Polynomial& a, const Monomial& b);
// The greatest monomial with positive coefficient that divides every monomial; of the polynomial 0, the
// constant 1.
Monomial common_factor(const Polynomial& a);
// The greatest positive integer that divides every coefficient but the constant's; 0 if there is no other.
int64_t content_without_constant(const Polynomial& a);
// p = coefficient * atom + rest, where rest is free of the atom (the coefficient is too if p is linear in
// it).
struct AtomSplit {
  Polynomial coefficient;
  Polynomial rest;
};
AtomSplit split_by(const Polynomial& p, AtomId atom);
uint64_t hash_value(const Polynomial& p);

int64_t floor_divide(int64_t a, int64_t positive_divisor);

}  // namespace tenon::prove
