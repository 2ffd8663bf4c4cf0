#include <bit>

#include "codegen/emitter.h"
#include "support/check.h"

namespace tenon::codegen {

using ir::AxisId;
using ir::IndexId;
using ir::IndexKind;
using ir::IndexNode;
using ir::TileAxis;
using ir::TileValueId;

bool Emitter::is_host(IndexId index) const {
  return !module_.index.mentions(index,
                                 [](const IndexNode& node) { return node.kind != IndexKind::kSymbol; });
}

bool Emitter::mentions_tile_axis(IndexId index) const {
  return module_.index.mentions(index, [&](const IndexNode& node) {
    if (node.kind == IndexKind::kAxis)
      return module_.axes[AxisId(node.reference)].kind == TileAxis::Kind::kTile;
    if (node.kind == IndexKind::kValue) return !module_.values[TileValueId(node.reference)].type.axes.empty();
    return false;
  });
}

bool Emitter::mentions_value(IndexId index) const {
  return module_.index.mentions(index, [](const IndexNode& node) { return node.kind == IndexKind::kValue; });
}

llvm::Type* Emitter::index_type(IndexId index) {
  return kernel_.narrow_index && !mentions_value(index) ? b_.getInt32Ty() : b_.getInt64Ty();
}

llvm::Value* Emitter::to_type(llvm::Value* value, llvm::Type* type) {
  return b_.CreateSExtOrTrunc(value, type);
}

// Axes count from 0 and dimensions are sizes; sums and products of such stay there.
bool Emitter::nonnegative(IndexId index) const {
  const IndexNode& node = module_.index[index];
  switch (node.kind) {
    case IndexKind::kAxis:
      return true;
    case IndexKind::kSymbol:
      return module_.symbols[ir::SymbolId(node.reference)].kind == ir::Symbol::Kind::kDimension;
    case IndexKind::kValue:
      return false;
    case IndexKind::kPolynomial:
      for (const ir::Monomial& term : node.terms) {
        if (term.coefficient < 0) return false;
        for (IndexId factor : term.factors)
          if (!nonnegative(factor)) return false;
      }
      return true;
    case IndexKind::kFloorDiv:
    case IndexKind::kFloorMod:
    case IndexKind::kMin:
      return nonnegative(node.a) && nonnegative(node.b);
    case IndexKind::kMax:
      return nonnegative(node.a) || nonnegative(node.b);
    default:
      return true;
  }
}

// A divisor that is an extent of the domain: where it is 0 nothing of the domain runs, so its quotients do
// not matter.
bool Emitter::is_extent(IndexId index) const {
  for (const TileAxis& axis : module_.axes)
    if (axis.kind == TileAxis::Kind::kDomain && axis.count == index) return true;
  return false;
}

llvm::Value* Emitter::host_value(IndexId index) {
  llvm::Type* type = kernel_.narrow_index ? b_.getInt32Ty() : b_.getInt64Ty();
  if (auto value = module_.index.as_constant(index)) return llvm::ConstantInt::getSigned(type, *value);
  return argument({EntryArgument::Kind::kIndex, {}, index, type->getIntegerBitWidth() / 8}, type);
}

llvm::Value* Emitter::thread_id() {
  if (tid_ == nullptr) {
    llvm::IRBuilderBase::InsertPointGuard guard(b_);
    b_.SetInsertPoint(&function_->getEntryBlock(), function_->getEntryBlock().begin());
    tid_ = intrinsic(llvm::Intrinsic::nvvm_read_ptx_sreg_tid_x, {});
  }
  return tid_;
}

llvm::Value* Emitter::thread_position(AxisId axis, const ir::Layout& layout) {
  auto key = std::pair(canonical(layout), axis);
  if (auto found = positions_.find(key); found != positions_.end()) return found->second;
  llvm::Value* tid = thread_id();
  llvm::IRBuilderBase::InsertPointGuard guard(b_);
  b_.SetInsertPoint(llvm::cast<llvm::Instruction>(tid)->getParent(),
                    std::next(llvm::cast<llvm::Instruction>(tid)->getIterator()));
  unsigned warp_bits = std::countr_zero(static_cast<unsigned>(layout.warp_count()));
  unsigned bits = ir::kLaneBits + warp_bits;
  auto basis = [&](unsigned bit) {
    return bit < ir::kLaneBits ? layout.lane_basis(bit, axis) : layout.warp_basis(bit - ir::kLaneBits, axis);
  };
  // Runs of bits whose contributions double make one shift and one mask.
  llvm::Value* sum = nullptr;
  for (unsigned bit = 0; bit < bits;) {
    int32_t first = basis(bit);
    if (first == 0) {
      ++bit;
      continue;
    }
    TENON_CHECK(std::has_single_bit(static_cast<uint32_t>(first)), "a thread bit feeds two position bits");
    unsigned run = 1;
    while (bit + run < bits && basis(bit + run) == first << run) ++run;
    llvm::Value* part = bit == 0 ? tid : b_.CreateLShr(tid, bit);
    if (bit + run < bits) part = b_.CreateAnd(part, (uint64_t{1} << run) - 1);
    part = b_.CreateShl(part, std::countr_zero(static_cast<uint32_t>(first)));
    sum = sum == nullptr ? part : b_.CreateOr(sum, part);
    bit += run;
  }
  if (sum == nullptr) sum = b_.getInt32(0);
  return positions_[key] = sum;
}

Emitter::Split Emitter::split(IndexId index) const {
  Split result;
  for (ir::Monomial& term : module_.index.terms(index)) {
    AxisId axis;
    int tiles = 0;
    for (IndexId factor : term.factors) {
      if (!mentions_tile_axis(factor)) continue;
      ++tiles;
      const IndexNode& node = module_.index[factor];
      if (node.kind == IndexKind::kAxis) axis = AxisId(node.reference);
    }
    if (tiles == 0) {
      result.uniform.push_back(std::move(term));
    } else if (tiles == 1 && axis.valid()) {
      std::erase_if(term.factors, [&](IndexId factor) {
        const IndexNode& node = module_.index[factor];
        return node.kind == IndexKind::kAxis && AxisId(node.reference) == axis;
      });
      result.linear.emplace_back(axis, std::move(term));
    } else {
      result.other.push_back(std::move(term));
    }
  }
  return result;
}

// A sum of terms that mention no tile axis: what depends on sizes alone comes as one parameter.
llvm::Value* Emitter::emit_uniform(const std::vector<ir::Monomial>& terms, llvm::Type* type) {
  std::vector<ir::Monomial> host;
  std::vector<ir::Monomial> rest;
  for (const ir::Monomial& term : terms)
    (is_host(module_.index.from_terms({term})) ? host : rest).push_back(term);
  llvm::Value* sum = nullptr;
  for (const ir::Monomial& term : rest) {
    // Axes and values times a coefficient that depends on sizes alone.
    ir::Monomial coefficient{term.coefficient, {}};
    llvm::Value* product = nullptr;
    for (IndexId factor : term.factors) {
      if (is_host(factor)) {
        coefficient.factors.push_back(factor);
        continue;
      }
      llvm::Value* value = to_type(emit_index(factor, nullptr, 0), type);
      product = product == nullptr ? value : b_.CreateMul(product, value);
    }
    // A power of two stays with the axis, as in its position, so that fewer products come as parameters.
    if (term.coefficient > 1 && std::has_single_bit(static_cast<uint64_t>(term.coefficient))) {
      product = b_.CreateMul(product, llvm::ConstantInt::getSigned(type, term.coefficient));
      coefficient.coefficient = 1;
    }
    IndexId scale = module_.index.from_terms({coefficient});
    if (!module_.index.is_constant(scale, 1))
      product = b_.CreateMul(product, to_type(host_value(scale), type));
    sum = sum == nullptr ? product : b_.CreateAdd(sum, product);
  }
  IndexId of_host = module_.index.from_terms(std::move(host));
  if (sum == nullptr) return to_type(host_value(of_host), type);
  if (module_.index.is_constant(of_host, 0)) return sum;
  return b_.CreateAdd(sum, to_type(host_value(of_host), type));
}

llvm::Value* Emitter::emit_linear(const Split& split, const ir::Layout* layout, llvm::Type* type) {
  llvm::Value* sum = nullptr;
  for (const auto& [axis, coefficient] : split.linear) {
    llvm::Value* part = to_type(thread_position(axis, *layout), type);
    IndexId scale = module_.index.from_terms({coefficient});
    if (!module_.index.is_constant(scale, 1))
      part = b_.CreateMul(part, to_type(emit_index(scale, nullptr, 0), type));
    sum = sum == nullptr ? part : b_.CreateAdd(sum, part);
  }
  return sum;
}

Emitter::RegisterPart Emitter::register_part(const Split& split, const ir::Layout* layout, int32_t reg) {
  RegisterPart result;
  for (const auto& [axis, coefficient] : split.linear) {
    int64_t step = coefficient.coefficient * layout->register_offset(reg, axis);
    if (coefficient.factors.empty()) {
      result.constant += step;
    } else if (step != 0) {
      IndexId factors = module_.index.from_terms({{1, coefficient.factors}});
      result.multiples.emplace_back(emit_index(factors, nullptr, 0), step);
    }
  }
  return result;
}

llvm::Value* Emitter::emit_index(IndexId index, const ir::Layout* layout, int32_t reg) {
  if (is_host(index)) return host_value(index);
  bool per_register = mentions_tile_axis(index);
  auto key = std::tuple(index, per_register ? layout : nullptr, per_register ? reg : 0);
  if (llvm::Value* known = find_part(key)) return known;
  llvm::Type* type = index_type(index);
  llvm::Value* value = nullptr;
  if (module_.index[index].kind != IndexKind::kPolynomial && module_.index[index].kind != IndexKind::kAxis) {
    value = emit_index_atom(index, layout, reg);
  } else {
    Split parts = split(index);
    auto shared_key = std::tuple(index, layout, -1);
    llvm::Value* shared = find_part(shared_key);
    if (shared == nullptr && (!parts.uniform.empty() || !parts.linear.empty())) {
      if (module_.index[index].kind == IndexKind::kAxis && !per_register) {
        shared = to_type(axis_values_.at(AxisId(module_.index[index].reference)), type);
      } else {
        llvm::Value* linear = emit_linear(parts, layout, type);
        shared = parts.uniform.empty() ? linear : emit_uniform(parts.uniform, type);
        if (linear != nullptr && !parts.uniform.empty()) shared = b_.CreateAdd(shared, linear);
      }
      scopes_.back().parts[shared_key] = shared;
    }
    value = shared;
    RegisterPart own = register_part(parts, layout, reg);
    for (auto [of, times] : own.multiples) {
      llvm::Value* step = b_.CreateMul(to_type(of, type), llvm::ConstantInt::getSigned(type, times));
      value = value == nullptr ? step : b_.CreateAdd(value, step);
    }
    for (const ir::Monomial& term : parts.other) {
      llvm::Value* product = llvm::ConstantInt::getSigned(type, term.coefficient);
      for (IndexId factor : term.factors)
        product = b_.CreateMul(product, to_type(emit_index(factor, layout, reg), type));
      value = value == nullptr ? product : b_.CreateAdd(value, product);
    }
    if (own.constant != 0) value = b_.CreateAdd(value, llvm::ConstantInt::getSigned(type, own.constant));
  }
  return scopes_.back().parts[key] = value;
}

llvm::Value* Emitter::emit_condition(IndexId condition, const ir::Layout* layout, int32_t reg) {
  const IndexNode node = module_.index[condition];
  llvm::Type* type = index_type(condition);
  auto operand = [&](IndexId id) { return to_type(emit_index(id, layout, reg), type); };
  auto holds = [&](IndexId id) { return emit_condition(id, layout, reg); };
  if (is_host(condition)) return b_.CreateICmpNE(host_value(condition), llvm::ConstantInt::get(type, 0));
  switch (node.kind) {
    case IndexKind::kLess:
      return b_.CreateICmpSLT(operand(node.a), operand(node.b));
    case IndexKind::kEqual:
      return b_.CreateICmpEQ(operand(node.a), operand(node.b));
    case IndexKind::kAnd:
      return b_.CreateAnd(holds(node.a), holds(node.b));
    case IndexKind::kOr:
      return b_.CreateOr(holds(node.a), holds(node.b));
    case IndexKind::kNot:
      return b_.CreateNot(holds(node.a));
    default:
      return b_.CreateICmpNE(operand(condition), llvm::ConstantInt::get(type, 0));
  }
}

llvm::Value* Emitter::emit_index_atom(IndexId atom, const ir::Layout* layout, int32_t reg) {
  const IndexNode node = module_.index[atom];
  llvm::Type* type = index_type(atom);
  auto operand = [&](IndexId id) { return to_type(emit_index(id, layout, reg), type); };
  switch (node.kind) {
    case IndexKind::kValue: {
      TileValueId value(node.reference);
      const ir::TileType& own = module_.values[value].type;
      if (own.axes.empty()) return register_of(value, 0);
      return register_of(value, layout->projected_registers(own.axes)[reg]);
    }
    case IndexKind::kFloorDiv:
    case IndexKind::kFloorMod:
      return emit_division(node, layout, reg, type);
    case IndexKind::kMin:
      return b_.CreateBinaryIntrinsic(llvm::Intrinsic::smin, operand(node.a), operand(node.b));
    case IndexKind::kMax:
      return b_.CreateBinaryIntrinsic(llvm::Intrinsic::smax, operand(node.a), operand(node.b));
    case IndexKind::kLess:
    case IndexKind::kEqual:
    case IndexKind::kAnd:
    case IndexKind::kOr:
    case IndexKind::kNot:
      return b_.CreateZExt(emit_condition(atom, layout, reg), type);
    case IndexKind::kPolynomial:
    case IndexKind::kSymbol:
    case IndexKind::kAxis:
      break;
  }
  TENON_UNREACHABLE("an index expression of this kind is no atom");
}

llvm::Value* Emitter::emit_division(const IndexNode& node, const ir::Layout* layout, int32_t reg,
                                    llvm::Type* type) {
  bool remainder = node.kind == IndexKind::kFloorMod;
  llvm::Value* n = to_type(emit_index(node.a, layout, reg), type);
  auto constant = module_.index.as_constant(node.b);
  bool positive = nonnegative(node.a) && nonnegative(node.b);
  if (constant && *constant > 0) {
    llvm::Value* d = llvm::ConstantInt::getSigned(type, *constant);
    if (nonnegative(node.a)) return remainder ? b_.CreateURem(n, d) : b_.CreateUDiv(n, d);
    if (std::has_single_bit(static_cast<uint64_t>(*constant))) {
      // Arithmetic shifts and masks round down.
      return remainder ? b_.CreateAnd(n, *constant - 1)
                       : b_.CreateAShr(n, std::countr_zero(static_cast<uint64_t>(*constant)));
    }
  }
  if (positive && type->isIntegerTy(32) && is_host(node.b) && is_extent(node.b)) {
    // Multiplication by a number that the host computes; see runtime/program.h, MagicDivisor.
    llvm::Type* i32 = b_.getInt32Ty();
    llvm::Value* multiplier = argument({EntryArgument::Kind::kMagicMultiplier, {}, node.b, 4}, i32);
    llvm::Value* shift = argument({EntryArgument::Kind::kMagicShift, {}, node.b, 4}, i32);
    llvm::Value* high = intrinsic(llvm::Intrinsic::nvvm_mulhi_ui, {n, multiplier});
    llvm::Value* quotient = b_.CreateLShr(b_.CreateAdd(high, n), shift);
    if (!remainder) return quotient;
    return b_.CreateSub(n, b_.CreateMul(quotient, to_type(host_value(node.b), type)));
  }
  llvm::Value* d = to_type(emit_index(node.b, layout, reg), type);
  llvm::Value* zero = llvm::ConstantInt::get(type, 0);
  llvm::Value* one = llvm::ConstantInt::get(type, 1);
  llvm::Value* by_zero = b_.CreateICmpEQ(d, zero);
  // The divisor is guarded, not the quotient: LLVM would drop a select on a division that it thinks
  // undefined.
  llvm::Value* safe = b_.CreateSelect(by_zero, one, d);
  if (positive) {
    llvm::Value* quotient = b_.CreateUDiv(n, safe);
    if (remainder) return b_.CreateSelect(by_zero, n, b_.CreateSub(n, b_.CreateMul(quotient, safe)));
    return b_.CreateSelect(by_zero, zero, quotient);
  }
  llvm::Value* negated = b_.CreateICmpEQ(d, llvm::ConstantInt::getSigned(type, -1));
  llvm::Value* safer = b_.CreateSelect(negated, one, safe);
  llvm::Value* quotient = b_.CreateSDiv(n, safer);
  llvm::Value* rest = b_.CreateSub(n, b_.CreateMul(quotient, safer));
  llvm::Value* crosses =
      b_.CreateAnd(b_.CreateICmpNE(rest, zero), b_.CreateICmpSLT(b_.CreateXor(rest, safer), zero));
  if (remainder) {
    llvm::Value* floored = b_.CreateSelect(crosses, b_.CreateAdd(rest, safer), rest);
    return b_.CreateSelect(by_zero, n, floored);
  }
  llvm::Value* floored = b_.CreateSub(quotient, b_.CreateZExt(crosses, type));
  floored = b_.CreateSelect(negated, b_.CreateNeg(n), floored);
  return b_.CreateSelect(by_zero, zero, floored);
}

llvm::Value* Emitter::find_part(const std::tuple<IndexId, const ir::Layout*, int32_t>& key) const {
  for (auto scope = scopes_.rbegin(); scope != scopes_.rend(); ++scope)
    if (auto found = scope->parts.find(key); found != scope->parts.end()) return found->second;
  return nullptr;
}

}  // namespace tenon::codegen
