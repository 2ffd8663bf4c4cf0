#include "passes/analysis/vectors.h"

#include <algorithm>

namespace tenon::passes {

using ir::AxisId;
using ir::IndexId;
using ir::IndexKind;
using ir::IndexNode;
using ir::Opcode;
using ir::TileValueId;

bool VectorAnalysis::mentions_axis(IndexId expression) const {
  return module_.index.mentions(expression, [&](const IndexNode& node) {
    if (node.kind == IndexKind::kAxis) return node.reference == axis_.index();
    if (node.kind == IndexKind::kValue) {
      const ir::AxisList& axes = module_.values[TileValueId(node.reference)].type.axes;
      return std::find(axes.begin(), axes.end(), axis_) != axes.end();
    }
    return false;
  });
}

VectorAnalysis::Step VectorAnalysis::step(IndexId expression) {
  if (!mentions_axis(expression)) return Step::kConstant;
  const IndexNode node = module_.index[expression];
  switch (node.kind) {
    case IndexKind::kAxis:
      return Step::kUnit;
    case IndexKind::kSymbol:
      return Step::kConstant;
    case IndexKind::kValue:
      return Step::kOther;
    case IndexKind::kPolynomial: {
      int64_t units = 0;
      for (const ir::Monomial& term : node.terms) {
        if (std::none_of(term.factors.begin(), term.factors.end(),
                         [&](IndexId f) { return mentions_axis(f); }))
          continue;
        if (term.factors.size() != 1 && std::any_of(term.factors.begin(), term.factors.end(),
                                                    [&](IndexId f) { return step(f) != Step::kConstant; }))
          return Step::kOther;
        if (term.factors.size() == 1) {
          Step inner = step(term.factors[0]);
          if (inner == Step::kOther) return Step::kOther;
          if (inner == Step::kUnit) units += term.coefficient;
        }
      }
      return units == 0 ? Step::kConstant : units == 1 ? Step::kUnit : Step::kOther;
    }
    case IndexKind::kFloorDiv:
    case IndexKind::kFloorMod: {
      // A run that starts at a multiple of the width stays between two multiples of a divisor that is one
      // too.
      bool whole = step(node.a) == Step::kUnit && step(node.b) == Step::kConstant && aligned(node.a) &&
                   aligned(node.b);
      bool still = step(node.a) == Step::kConstant && step(node.b) == Step::kConstant;
      if (still) return Step::kConstant;
      if (!whole) return Step::kOther;
      return node.kind == IndexKind::kFloorMod ? Step::kUnit : Step::kConstant;
    }
    default: {
      bool still = step(node.a) == Step::kConstant && (!node.b.valid() || step(node.b) == Step::kConstant);
      return still ? Step::kConstant : Step::kOther;
    }
  }
}

int64_t VectorAnalysis::factor_divisor(IndexId factor) {
  for (const auto& [expression, by] : module_.divisible)
    if (expression == factor) return std::min(by, width_);
  const IndexNode node = module_.index[factor];
  switch (node.kind) {
    case IndexKind::kAxis:
      return node.reference == axis_.index() ? width_ : 1;
    case IndexKind::kMin:
    case IndexKind::kMax:
    case IndexKind::kFloorMod:
      return std::min(divisor(node.a), divisor(node.b));
    default:
      return 1;
  }
}

int64_t VectorAnalysis::divisor(IndexId expression) {
  for (const auto& [known, by] : module_.divisible)
    if (known == expression && by >= width_) return width_;
  int64_t common = width_;
  for (const ir::Monomial& term : module_.index.terms(expression)) {
    int64_t power = term.coefficient & -term.coefficient;
    int64_t of_term = std::min(power, width_);
    for (IndexId factor : term.factors) of_term = std::min(width_, of_term * factor_divisor(factor));
    if (term.factors.size() > 1) {
      IndexId product = module_.index.from_terms({{1, term.factors}});
      for (const auto& [known, by] : module_.divisible)
        if (known == product) of_term = std::max(of_term, std::min(by, width_));
    }
    common = std::min(common, of_term);
  }
  return common;
}

bool VectorAnalysis::uniform(TileValueId value) {
  const ir::TileValue& tile = module_.values[value];
  if (std::find(tile.type.axes.begin(), tile.type.axes.end(), axis_) == tile.type.axes.end()) return true;
  if (!tile.definition.valid()) return false;
  const ir::TileOp& op = module_.ops[tile.definition];
  if (op.op == Opcode::kConst) return true;
  if (op.op == Opcode::kIndex) return step(op.index) == Step::kConstant;
  if (op.op == Opcode::kLt || op.op == Opcode::kGe) {
    // p < E for a run p that starts at a multiple and a bound that is one: all or none.
    const ir::TileOp* left = nullptr;
    const ir::TileOp* right = nullptr;
    if (ir::TileOpId a = module_.values[op.operands[0]].definition; a.valid()) left = &module_.ops[a];
    if (ir::TileOpId b = module_.values[op.operands[1]].definition; b.valid()) right = &module_.ops[b];
    if (left != nullptr && right != nullptr && left->op == Opcode::kIndex && right->op == Opcode::kIndex &&
        step(left->index) == Step::kUnit && step(right->index) == Step::kConstant && aligned(left->index) &&
        aligned(right->index))
      return true;
  }
  if (ir::row(op.op).stage != ir::Stage::kBody) return false;
  return std::all_of(op.operands.begin(), op.operands.end(),
                     [&](TileValueId operand) { return uniform(operand); });
}

}  // namespace tenon::passes
