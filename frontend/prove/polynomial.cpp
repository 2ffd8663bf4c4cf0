#include "frontend/prove/polynomial.h"

#include <algorithm>
#include <cstdlib>
#include <limits>
#include <numeric>

#include "support/check.h"

namespace tenon::prove {
namespace {

// |a| as unsigned, right for the least integer too.
uint64_t magnitude(int64_t a) {
  return a < 0 ? uint64_t{0} - static_cast<uint64_t>(a) : static_cast<uint64_t>(a);
}

// gcd(a, b) for the coefficients' gcd; the least integer's magnitude counts as 1, which divides everything.
int64_t gcd_of(int64_t a, int64_t b) {
  uint64_t g = std::gcd(magnitude(a), magnitude(b));
  return g > static_cast<uint64_t>(std::numeric_limits<int64_t>::max()) ? 1 : static_cast<int64_t>(g);
}

}  // namespace

int64_t floor_divide(int64_t a, int64_t positive_divisor) {
  TENON_CHECK(positive_divisor > 0, "floor_divide by a divisor that is not positive");
  int64_t quotient = a / positive_divisor;
  return a % positive_divisor < 0 ? quotient - 1 : quotient;
}

bool Monomial::contains(AtomId atom) const { return std::ranges::find(atoms(), atom) != atoms().end(); }

std::strong_ordering compare_atoms(const Monomial& a, const Monomial& b) {
  return std::lexicographical_compare_three_way(a.atoms().begin(), a.atoms().end(), b.atoms().begin(),
                                                b.atoms().end());
}

std::optional<Monomial> multiply(const Monomial& a, const Monomial& b) {
  Monomial product;
  if (a.degree + b.degree > kMaxDegree) return std::nullopt;
  if (__builtin_mul_overflow(a.coefficient, b.coefficient, &product.coefficient)) return std::nullopt;
  product.degree = a.degree + b.degree;
  std::merge(a.atoms().begin(), a.atoms().end(), b.atoms().begin(), b.atoms().end(), product.factors.begin());
  return product;
}

std::optional<Monomial> divide(const Monomial& a, const Monomial& b) {
  if (b.coefficient == 0 || b.coefficient == -1 || a.coefficient % b.coefficient != 0) {
    if (b.coefficient != -1 || a.coefficient == std::numeric_limits<int64_t>::min()) return std::nullopt;
  }
  Monomial quotient;
  quotient.coefficient = a.coefficient / b.coefficient;
  size_t next = 0;
  for (AtomId atom : a.atoms()) {
    if (next < b.degree && b.factors[next] == atom) {
      ++next;
    } else {
      quotient.factors[quotient.degree++] = atom;
    }
  }
  if (next != b.degree) return std::nullopt;
  return quotient;
}

Monomial common_factor(const Monomial& a, const Monomial& b) {
  Monomial common;
  common.coefficient = gcd_of(a.coefficient, b.coefficient);
  size_t i = 0;
  size_t j = 0;
  while (i < a.degree && j < b.degree) {
    if (a.factors[i] == b.factors[j]) {
      common.factors[common.degree++] = a.factors[i];
      ++i;
      ++j;
    } else if (a.factors[i] < b.factors[j]) {
      ++i;
    } else {
      ++j;
    }
  }
  return common;
}

std::optional<int64_t> Polynomial::constant_value() const {
  if (monomials.empty()) return 0;
  if (monomials.size() == 1 && monomials[0].degree == 0) return monomials[0].coefficient;
  return std::nullopt;
}

int64_t Polynomial::constant_part() const {
  return !monomials.empty() && monomials[0].degree == 0 ? monomials[0].coefficient : 0;
}

bool Polynomial::contains(AtomId atom) const {
  return std::ranges::any_of(monomials, [&](const Monomial& m) { return m.contains(atom); });
}

Polynomial monomial_polynomial(const Monomial& monomial) {
  Polynomial result;
  if (monomial.coefficient != 0) result.monomials.push_back(monomial);
  return result;
}

Polynomial constant_polynomial(int64_t value) {
  Monomial monomial;
  monomial.coefficient = value;
  return monomial_polynomial(monomial);
}

Polynomial atom_polynomial(AtomId atom) {
  Monomial monomial;
  monomial.factors[0] = atom;
  monomial.degree = 1;
  monomial.coefficient = 1;
  return monomial_polynomial(monomial);
}

std::optional<Polynomial> canonical(std::vector<Monomial> monomials) {
  std::ranges::sort(monomials, [](const Monomial& a, const Monomial& b) { return compare_atoms(a, b) < 0; });
  Polynomial result;
  for (const Monomial& monomial : monomials) {
    std::vector<Monomial>& out = result.monomials;
    if (!out.empty() && compare_atoms(out.back(), monomial) == 0) {
      if (__builtin_add_overflow(out.back().coefficient, monomial.coefficient, &out.back().coefficient)) {
        return std::nullopt;
      }
      continue;
    }
    if (!out.empty() && out.back().coefficient == 0) out.pop_back();
    out.push_back(monomial);
  }
  if (!result.monomials.empty() && result.monomials.back().coefficient == 0) result.monomials.pop_back();
  if (result.monomials.size() > kMaxMonomials) return std::nullopt;
  return result;
}

std::optional<Polynomial> add(const Polynomial& a, const Polynomial& b, int64_t factor) {
  std::vector<Monomial> monomials = a.monomials;
  monomials.reserve(a.monomials.size() + b.monomials.size());
  for (Monomial monomial : b.monomials) {
    if (__builtin_mul_overflow(monomial.coefficient, factor, &monomial.coefficient)) return std::nullopt;
    if (monomial.coefficient != 0) monomials.push_back(monomial);
  }
  return canonical(std::move(monomials));
}

std::optional<Polynomial> multiply(const Polynomial& a, const Polynomial& b) {
  std::vector<Monomial> monomials;
  monomials.reserve(a.monomials.size() * b.monomials.size());
  for (const Monomial& x : a.monomials) {
    for (const Monomial& y : b.monomials) {
      std::optional<Monomial> product = multiply(x, y);
      if (!product) return std::nullopt;
      monomials.push_back(*product);
    }
  }
  return canonical(std::move(monomials));
}

std::optional<Polynomial> scale(const Polynomial& a, int64_t factor) {
  return multiply(a, constant_polynomial(factor));
}

std::optional<Polynomial> divide(const Polynomial& a, const Monomial& b) {
  std::vector<Monomial> monomials;
  for (const Monomial& monomial : a.monomials) {
    std::optional<Monomial> quotient = divide(monomial, b);
    if (!quotient) return std::nullopt;
    monomials.push_back(*quotient);
  }
  return canonical(std::move(monomials));
}

Monomial common_factor(const Polynomial& a) {
  Monomial common;
  common.coefficient = 1;
  if (a.is_zero()) return common;
  common = a.monomials[0];
  for (const Monomial& monomial : a.monomials) common = common_factor(common, monomial);
  return common;
}

int64_t content_without_constant(const Polynomial& a) {
  int64_t content = 0;
  for (const Monomial& monomial : a.monomials) {
    if (monomial.degree > 0) content = gcd_of(content, monomial.coefficient);
  }
  return content;
}

AtomSplit split_by(const Polynomial& p, AtomId atom) {
  AtomSplit split;
  for (const Monomial& monomial : p.monomials) {
    const auto atoms = monomial.atoms();
    const auto place = std::ranges::find(atoms, atom);
    if (place == atoms.end()) {
      split.rest.monomials.push_back(monomial);
      continue;
    }
    Monomial quotient;
    quotient.coefficient = monomial.coefficient;
    for (auto it = atoms.begin(); it != atoms.end(); ++it) {
      if (it != place) quotient.factors[quotient.degree++] = *it;
    }
    split.coefficient.monomials.push_back(quotient);
  }
  // Taking a factor out can change the order.
  std::ranges::sort(split.coefficient.monomials,
                    [](const Monomial& a, const Monomial& b) { return compare_atoms(a, b) < 0; });
  return split;
}

uint64_t hash_value(const Polynomial& p) {
  uint64_t hash = 0x9E3779B97F4A7C15;
  auto mix = [&hash](uint64_t value) {
    hash ^= value + 0x9E3779B97F4A7C15 + (hash << 6) + (hash >> 2);
    hash *= 0xFF51AFD7ED558CCD;
  };
  for (const Monomial& monomial : p.monomials) {
    mix(monomial.degree);
    for (AtomId atom : monomial.atoms()) mix(atom.index());
    mix(static_cast<uint64_t>(monomial.coefficient));
  }
  return hash;
}

}  // namespace tenon::prove
