#include "ir/monoid.h"

#include <array>
#include <limits>

#include "support/float_formats.h"

namespace tenon::ir {
namespace {

struct Row {
  std::string_view name;
  unsigned slots;
};

constexpr std::array kRows = {
#define TENON_MONOID(id, name, slots, doc) Row{name, slots},
#include "ir/monoids.def"
};

uint64_t width_mask(ElementType type) {
  return bit_width(type) == 64 ? ~0ull : (1ull << bit_width(type)) - 1;
}

// Of a type without infinities, its largest number, which is the bound of all others.
uint64_t infinity_bits(ElementType type, bool negative) {
  uint64_t sign = negative ? 1ull << (bit_width(type) - 1) : 0;
  return sign | with_float_format(type, []<class Format>(Format) {
           return Format::kInfinity == Format::kNan ? Format::kMaxFinite : Format::kInfinity;
         });
}

// The value that every other is above (or, for `highest`, below).
Constant extreme(ElementType type, bool highest) {
  if (is_float(type)) return {type, infinity_bits(type, !highest)};
  if (is_signed(type)) {
    uint64_t least = 1ull << (bit_width(type) - 1);
    return {type, (highest ? least - 1 : least) & width_mask(type)};
  }
  return {type, highest ? width_mask(type) : 0};
}

Constant one(ElementType type) { return {type, is_float(type) ? float_bits(type, 1) : 1}; }

Monoid scalar_monoid(MonoidKind kind, Constant identity, Opcode merge) {
  Monoid monoid;
  monoid.kind = kind;
  monoid.identity = {identity};
  ValueId a = monoid.merge.argument(identity.type, 0);
  ValueId b = monoid.merge.argument(identity.type, 1);
  monoid.merged = {monoid.merge.op(merge, {a, b})};
  monoid.projected = monoid.project.argument(identity.type, 0);
  return monoid;
}

// State (value, index). The right state wins if its value is better, or as good at a lower index; a NaN is
// better than any number and as good as another NaN. The identity has the greatest index, which projects to
// -1.
Monoid arg_monoid(MonoidKind kind, ElementType type, bool highest) {
  constexpr uint64_t kNone = std::numeric_limits<int64_t>::max();
  Monoid monoid;
  monoid.kind = kind;
  monoid.identity = {extreme(type, !highest), {ElementType::kIndex, kNone}};
  Body& merge = monoid.merge;
  ValueId va = merge.argument(type, 0);
  ValueId ia = merge.argument(ElementType::kIndex, 1);
  ValueId vb = merge.argument(type, 2);
  ValueId ib = merge.argument(ElementType::kIndex, 3);
  ValueId better = merge.op(highest ? Opcode::kGt : Opcode::kLt, {vb, va});
  ValueId equal = merge.op(Opcode::kEq, {vb, va});
  if (is_float(type)) {
    ValueId nan_a = merge.op(Opcode::kNe, {va, va});
    ValueId nan_b = merge.op(Opcode::kNe, {vb, vb});
    ValueId only_b = merge.op(Opcode::kAnd, {nan_b, merge.op(Opcode::kNot, {nan_a})});
    better = merge.op(Opcode::kOr, {better, only_b});
    equal = merge.op(Opcode::kOr, {equal, merge.op(Opcode::kAnd, {nan_a, nan_b})});
  }
  ValueId earlier = merge.op(Opcode::kLt, {ib, ia});
  ValueId take = merge.op(Opcode::kOr, {better, merge.op(Opcode::kAnd, {equal, earlier})});
  monoid.merged = {merge.op(Opcode::kSelect, {take, vb, va}), merge.op(Opcode::kSelect, {take, ib, ia})};

  Body& project = monoid.project;
  ValueId at = project.argument(ElementType::kIndex, 1);
  ValueId none = project.constant({ElementType::kIndex, kNone});
  ValueId minus_one = project.constant({ElementType::kIndex, ~0ull});
  monoid.projected = project.op(Opcode::kSelect, {project.op(Opcode::kEq, {at, none}), minus_one, at});
  return monoid;
}

Monoid monoid_of(MonoidKind kind, ElementType type) {
  switch (kind) {
    case MonoidKind::kSum:
      return scalar_monoid(kind, {type, 0}, Opcode::kAdd);
    case MonoidKind::kProd:
      return scalar_monoid(kind, one(type), Opcode::kMul);
    case MonoidKind::kMax:
      return scalar_monoid(kind, extreme(type, false), Opcode::kMax);
    case MonoidKind::kMin:
      return scalar_monoid(kind, extreme(type, true), Opcode::kMin);
    case MonoidKind::kAny:
      return scalar_monoid(kind, {type, 0}, Opcode::kOr);
    case MonoidKind::kAll:
      return scalar_monoid(kind, {type, 1}, Opcode::kAnd);
    case MonoidKind::kArgMax:
      return arg_monoid(kind, type, true);
    case MonoidKind::kArgMin:
      return arg_monoid(kind, type, false);
  }
  TENON_UNREACHABLE("unknown monoid");
}

}  // namespace

SharedMonoid make_monoid(MonoidKind kind, ElementType type) {
  return std::make_shared<const Monoid>(monoid_of(kind, type));
}

std::string_view name(MonoidKind kind) { return kRows[static_cast<size_t>(kind)].name; }
unsigned slots(MonoidKind kind) { return kRows[static_cast<size_t>(kind)].slots; }

std::optional<MonoidKind> monoid_by_name(std::string_view name) {
  for (size_t i = 0; i < kRows.size(); ++i)
    if (kRows[i].name == name) return static_cast<MonoidKind>(i);
  return std::nullopt;
}

bool is_inexact(MonoidKind kind, ElementType type) {
  return is_float(type) && (kind == MonoidKind::kSum || kind == MonoidKind::kProd);
}

}  // namespace tenon::ir
