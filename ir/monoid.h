// Reductions as monoids over a tuple of state: identity, merge and project, each as data, so that
// interpreters, tiling and code generation have one mechanism for sum, argmax, Welford and online softmax.
#pragma once

#include <memory>
#include <optional>
#include <string_view>
#include <vector>

#include "ir/body.h"

namespace tenon::ir {

enum class MonoidKind : uint8_t {
#define TENON_MONOID(id, name, slots, doc) k##id,
#include "ir/monoids.def"
};

struct Monoid {
  MonoidKind kind = MonoidKind::kSum;
  // One a slot of the state, of the slot's type.
  std::vector<Constant> identity;
  // Arguments 0..slots-1 are the left state, slots..2*slots-1 the right; `merged` has one value a slot. The
  // left state holds elements of lower index where the order matters to the caller.
  Body merge;
  std::vector<ValueId> merged;
  // Arguments 0..slots-1 are the final state; `projected` is the result.
  Body project;
  ValueId projected;

  size_t slots() const { return identity.size(); }
  ElementType result_type() const { return project.type(projected); }
};

// Operations that have it share one.
using SharedMonoid = std::shared_ptr<const Monoid>;

// The monoid over elements of `type`: for argmax and argmin the type of what is compared. The state of argmax
// is (value, index) with an identity index above all others.
SharedMonoid make_monoid(MonoidKind kind, ElementType type);

std::string_view name(MonoidKind kind);
unsigned slots(MonoidKind kind);
std::optional<MonoidKind> monoid_by_name(std::string_view name);

// Whether merging in another order may change bits: a sum or product of floats.
bool is_inexact(MonoidKind kind, ElementType type);

}  // namespace tenon::ir
