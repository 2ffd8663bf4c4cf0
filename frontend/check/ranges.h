// The ranges of indices: where nothing else gives it, an index runs over the dimension at which it stands
// alone.
#pragma once

#include <optional>
#include <string_view>
#include <unordered_map>
#include <vector>

#include "frontend/check/instance.h"
#include "frontend/check/terms.h"

namespace tenon::frontend {

// The accesses without default of one expression in which a name stands alone as a subscript.
class RangeScan {
 public:
  RangeScan(const Instance& instance, const Module& module, const Scope& scope, ExprId root);

  struct Place {
    ExprId access;
    ir::IndexId dimension;
    Span subscript;
    VariableId variable;
  };
  // Within the subtree first..last, in source order.
  std::vector<Place> places(std::string_view name, ExprId first, ExprId last) const;
  // An access has a mistake, so that an index may stand nowhere because of it.
  bool meets_mistake() const { return meets_mistake_; }

 private:
  bool meets_mistake_ = false;
  std::unordered_map<std::string_view, std::vector<Place>> places_;
};

// The one size that an index has at all places of the scan (null: none) within first..last; reports an index
// that stands alone nowhere, and sizes that are not provably equal. Silent where a mistake in an access may
// be why.
std::optional<ir::IndexId> common_range(Instance& instance, Terms& terms, const Name& name,
                                        const RangeScan* scan, ExprId first, ExprId last);

// The least and the greatest value of an index expression over all values of its axes, as expressions without
// axes. Empty where they are not found.
struct Extremes {
  ir::IndexId low;
  ir::IndexId high;
};
std::optional<Extremes> extremes(Instance& instance, ir::IndexId index);

bool mentions_axes(const Instance& instance, ir::IndexId index);

}  // namespace tenon::frontend
