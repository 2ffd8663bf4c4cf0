#include <algorithm>
#include <bit>

#include "codegen/emitter.h"
#include "passes/analysis/access.h"
#include "support/check.h"

namespace tenon::codegen {

using ir::IndexId;
using ir::TileOp;
using ir::TileType;

namespace {

// LLVM address space.
constexpr unsigned kGlobal = 1;

bool is_true(llvm::Value* mask) {
  auto* constant = llvm::dyn_cast_or_null<llvm::ConstantInt>(mask);
  return constant != nullptr && constant->isOne();
}

}  // namespace

// base + uniform + thread part + register part: the first two are shared by all registers, the last is an
// immediate wherever the step is a constant.
llvm::Value* Emitter::global_address(const TileOp& op, const ir::Layout* layout, int32_t reg) {
  IndexId offset = offset_of(op);
  int64_t bytes = byte_size(module_.tensors[op.tensor].element);
  llvm::Type* type = index_type(offset);
  Split parts = split(offset);
  auto wide = [&](llvm::Value* value) { return to_type(value, b_.getInt64Ty()); };
  auto scaled = [&](llvm::Value* value) { return b_.CreateMul(wide(value), b_.getInt64(bytes)); };
  // Narrow offsets fit 31 bits in bytes too. What several accesses share takes one register in 32 bits.
  auto scaled_part = [&](llvm::Value* value) {
    bool with_sign = std::any_of(parts.linear.begin(), parts.linear.end(), [&](const auto& term) {
      return !nonnegative(module_.index.from_terms({term.second}));
    });
    if (with_sign || shared_parts_[linear_part(parts)].size() < 2) return scaled(value);
    return b_.CreateZExt(b_.CreateMul(value, llvm::ConstantInt::get(type, bytes)), b_.getInt64Ty());
  };
  auto move = [&](llvm::Value* pointer, llvm::Value* by) {
    return b_.CreateGEP(b_.getInt8Ty(), pointer, by);
  };

  auto key = std::tuple(op.tensor, offset, layout);
  llvm::Value* pointer = nullptr;
  for (auto scope = scopes_.rbegin(); scope != scopes_.rend() && pointer == nullptr; ++scope)
    if (auto found = scope->pointers.find(key); found != scope->pointers.end()) pointer = found->second;
  if (pointer == nullptr) {
    pointer = argument({EntryArgument::Kind::kTensor, op.tensor, {}, 8}, b_.getPtrTy(kGlobal));
    if (!parts.uniform.empty()) pointer = move(pointer, scaled(emit_uniform(parts.uniform, type)));
    if (llvm::Value* linear = emit_linear(parts, layout, type)) pointer = move(pointer, scaled_part(linear));
    scopes_.back().pointers[key] = pointer;
  }
  RegisterPart own = register_part(parts, layout, reg);
  for (auto [value, times] : own.multiples)
    pointer = move(pointer, b_.CreateMul(wide(value), b_.getInt64(times * bytes)));
  for (const ir::Monomial& term : parts.other) {
    llvm::Value* product = llvm::ConstantInt::getSigned(type, term.coefficient);
    for (IndexId factor : term.factors)
      product = b_.CreateMul(product, to_type(emit_index(factor, layout, reg), type));
    pointer = move(pointer, scaled(product));
  }
  if (own.constant != 0) pointer = move(pointer, b_.getInt64(own.constant * bytes));
  return pointer;
}

void Emitter::find_shared_parts(ir::RegionId region) {
  for (ir::TileOpId id : module_.regions[region].ops) {
    const TileOp& op = module_.ops[id];
    bool access = op.op == ir::Opcode::kLoad || op.op == ir::Opcode::kStore;
    if (access && op.tensor.valid() && !by_value(module_, op.tensor)) {
      Split parts = split(offset_of(op));
      IndexId linear = linear_part(parts);
      shared_parts_[linear].insert(module_.index.from_terms(std::move(parts.uniform)));
    }
    for (ir::RegionId inner : op.regions) find_shared_parts(inner);
  }
}

IndexId Emitter::linear_part(const Split& split) {
  IndexId sum = module_.index.constant(0);
  for (const auto& [axis, coefficient] : split.linear)
    sum = module_.index.add(
        sum, module_.index.mul(module_.index.axis(axis), module_.index.from_terms({coefficient})));
  return sum;
}

IndexId Emitter::offset_of(const TileOp& op) const {
  return passes::linear_offset(module_.index, module_.tensors[op.tensor].shape, op.subscripts);
}

llvm::Value* Emitter::address(const TileOp& op, const ir::Layout* layout, int32_t reg) {
  return op.tensor.valid() ? global_address(op, layout, reg) : shared_address(op, layout, reg);
}

llvm::Value* Emitter::first_copy(const ir::Layout* layout) {
  unsigned copies = 0;
  unsigned warp_bits = std::countr_zero(static_cast<unsigned>(kernel_.warps));
  for (unsigned bit = 0; bit < ir::kLaneBits + warp_bits; ++bit) {
    bool feeds = false;
    if (layout != nullptr) {
      for (ir::AxisId axis : layout->axes()) {
        int32_t basis = bit < ir::kLaneBits ? layout->lane_basis(bit, axis)
                                            : layout->warp_basis(bit - ir::kLaneBits, axis);
        feeds = feeds || basis != 0;
      }
    }
    if (!feeds) copies |= 1u << bit;
  }
  if (copies == 0) return nullptr;
  return b_.CreateICmpEQ(b_.CreateAnd(thread_id(), copies), b_.getInt32(0));
}

void Emitter::branch_around(llvm::Value* condition, const std::function<void()>& then) {
  llvm::BasicBlock* inside = llvm::BasicBlock::Create(context_, "", function_);
  llvm::BasicBlock* after = llvm::BasicBlock::Create(context_, "", function_);
  b_.CreateCondBr(condition, inside, after);
  b_.SetInsertPoint(inside);
  then();
  b_.CreateBr(after);
  b_.SetInsertPoint(after);
}

void Emitter::in_scope(llvm::Value* condition, const std::function<void()>& then) {
  branch_around(condition, [&] {
    scopes_.emplace_back();
    then();
    scopes_.pop_back();
  });
}

Registers Emitter::load_elements(llvm::LoadInst* load, ElementType element, int32_t width) {
  Registers registers;
  for (int32_t i = 0; i < width; ++i) {
    llvm::Value* value = width == 1 ? static_cast<llvm::Value*>(load) : b_.CreateExtractElement(load, i);
    if (element == ElementType::kBool) value = b_.CreateICmpNE(value, b_.getInt8(0));
    registers.push_back(value);
  }
  return registers;
}

llvm::LoadInst* Emitter::create_load(llvm::Value* pointer, ElementType element, int32_t width) {
  llvm::Type* one = memory_type(element);
  llvm::Type* type = width == 1 ? one : llvm::FixedVectorType::get(one, width);
  return b_.CreateAlignedLoad(type, pointer, llvm::Align(int64_t{width} * byte_size(element)));
}

Registers Emitter::load_shared(llvm::Value* pointer, ElementType element, int32_t width) {
  return load_elements(create_load(pointer, element, width), element, width);
}

Registers Emitter::load_vector(const TileOp& op, llvm::Value* pointer, int32_t width) {
  ElementType element = module_.values[op.results[0]].type.element;
  llvm::LoadInst* load = create_load(pointer, element, width);
  // What nothing in this launch writes may go through the read-only cache.
  if (op.tensor.valid() && !written_.contains(op.tensor))
    load->setMetadata(llvm::LLVMContext::MD_invariant_load, llvm::MDNode::get(context_, {}));
  return load_elements(load, element, width);
}

void Emitter::emit_load(const TileOp& op) {
  const TileType& type = module_.values[op.results[0]].type;
  const ir::Layout* layout = type.layout ? canonical(*type.layout) : nullptr;
  auto [begin, end] = emitted_now(register_count(op.results[0]));
  int32_t width = op.vector;
  Registers registers;
  if (op.tensor.valid() && by_value(module_, op.tensor)) {
    EntryArgument scalar{EntryArgument::Kind::kScalar, op.tensor, {}, byte_size(type.element)};
    llvm::Value* value = argument(scalar, memory_type(type.element));
    if (type.element == ElementType::kBool) value = b_.CreateICmpNE(value, b_.getInt8(0));
    set(op.results[0], Registers(end - begin, value));
    return;
  }
  if (op.operands.empty()) {
    for (int32_t reg = begin; reg < end; reg += width) {
      Registers part = load_vector(op, address(op, layout, reg), width);
      registers.insert(registers.end(), part.begin(), part.end());
    }
    set(op.results[0], std::move(registers));
    return;
  }
  // Addresses and values elsewhere come before the branches; vectors with one mask share a branch.
  std::vector<llvm::Value*> pointers;
  std::vector<llvm::Value*> masks;
  for (int32_t reg = begin; reg < end; reg += width) {
    pointers.push_back(address(op, layout, reg));
    masks.push_back(value_at(op.operands[0], type, reg));
  }
  Registers otherwise(end - begin, constant(type.element, 0));
  for (int32_t reg = begin; reg < end && op.operands.size() > 1; ++reg)
    otherwise[reg - begin] = value_at(op.operands[1], type, reg);
  for (size_t first = 0; first < pointers.size();) {
    size_t last = first + 1;
    while (last < pointers.size() && masks[last] == masks[first]) ++last;
    if (is_true(masks[first])) {
      for (; first < last; ++first) {
        Registers part = load_vector(op, pointers[first], width);
        registers.insert(registers.end(), part.begin(), part.end());
      }
      continue;
    }
    llvm::BasicBlock* before = b_.GetInsertBlock();
    Registers loaded;
    llvm::BasicBlock* inside = nullptr;
    branch_around(masks[first], [&] {
      for (size_t i = first; i < last; ++i) {
        Registers part = load_vector(op, pointers[i], width);
        loaded.insert(loaded.end(), part.begin(), part.end());
      }
      inside = b_.GetInsertBlock();
    });
    for (size_t i = 0; i < loaded.size(); ++i) {
      llvm::PHINode* phi = b_.CreatePHI(loaded[i]->getType(), 2);
      phi->addIncoming(loaded[i], inside);
      phi->addIncoming(otherwise[first * width + i], before);
      registers.push_back(phi);
    }
    first = last;
  }
  set(op.results[0], std::move(registers));
}

void Emitter::store_vector(llvm::Value* pointer, ElementType element, const Registers& registers) {
  llvm::Type* one = memory_type(element);
  auto in_memory = [&](llvm::Value* value) {
    return element == ElementType::kBool ? b_.CreateZExt(value, one) : value;
  };
  llvm::Value* value = nullptr;
  if (registers.size() == 1) {
    value = in_memory(registers[0]);
  } else {
    value = llvm::PoisonValue::get(llvm::FixedVectorType::get(one, registers.size()));
    for (size_t i = 0; i < registers.size(); ++i)
      value = b_.CreateInsertElement(value, in_memory(registers[i]), i);
  }
  b_.CreateAlignedStore(value, pointer, llvm::Align(registers.size() * byte_size(element)));
}

void Emitter::emit_store(const TileOp& op) {
  // A value without some of the subscripts' axes is stored once for each of their positions: its type at the
  // store.
  TileType type = accessed_type(op);
  const ir::Layout* layout = type.layout ? canonical(*type.layout) : nullptr;
  auto [begin, end] = emitted_now(layout == nullptr ? 1 : layout->register_count());
  int32_t width = op.vector;
  ElementType element = module_.values[op.operands[0]].type.element;
  llvm::Value* acts = first_copy(layout);
  auto store = [&](int32_t reg, llvm::Value* pointer) {
    Registers part;
    for (int32_t i = 0; i < width; ++i) part.push_back(value_at(op.operands[0], type, reg + i));
    store_vector(pointer, element, part);
  };
  if (op.operands.size() < 2 && acts == nullptr) {
    for (int32_t reg = begin; reg < end; reg += width) store(reg, address(op, layout, reg));
    return;
  }
  std::vector<llvm::Value*> pointers;
  std::vector<llvm::Value*> masks;
  for (int32_t reg = begin; reg < end; reg += width) {
    pointers.push_back(address(op, layout, reg));
    llvm::Value* mask = op.operands.size() < 2 ? nullptr : value_at(op.operands[1], type, reg);
    masks.push_back(is_true(mask) ? nullptr : mask);
    for (int32_t i = 0; i < width; ++i) value_at(op.operands[0], type, reg + i);
  }
  for (size_t first = 0; first < pointers.size();) {
    size_t last = first + 1;
    while (last < pointers.size() && masks[last] == masks[first]) ++last;
    llvm::Value* condition = masks[first];
    if (condition == nullptr)
      condition = acts;
    else if (acts != nullptr)
      condition = b_.CreateAnd(condition, acts);
    auto store_all = [&] {
      for (size_t i = first; i < last; ++i) store(begin + static_cast<int32_t>(i) * width, pointers[i]);
    };
    if (condition == nullptr) {
      store_all();
    } else {
      branch_around(condition, store_all);
    }
    first = last;
  }
}

// Each element outside the mask becomes 0: its copy reads no bytes.
void Emitter::emit_copy(const TileOp& op) {
  TileType type = accessed_type(op);
  const ir::Layout* layout = type.layout ? canonical(*type.layout) : nullptr;
  int32_t count = layout == nullptr ? 1 : layout->register_count();
  int64_t bytes = int64_t{op.vector} * byte_size(type.element);
  TileOp source = op;
  source.buffer = {};
  TileOp target = op;
  target.tensor = {};
  target.subscripts = op.target_subscripts;
  auto copies = [&] {
    for (int32_t reg = 0; reg < count; reg += op.vector) {
      llvm::Value* from = global_address(source, layout, reg);
      llvm::Value* to = shared_address(target, layout, reg);
      copy_bytes(to, from, bytes, op.operands.empty() ? nullptr : value_at(op.operands[0], type, reg));
    }
  };
  if (llvm::Value* acts = first_copy(layout)) {
    in_scope(acts, copies);
  } else {
    copies();
  }
}

// 16 bytes go past the first cache, which copies of fewer bytes must go through. `mask` may be null.
void Emitter::copy_bytes(llvm::Value* to, llvm::Value* from, int64_t bytes, llvm::Value* mask) {
  llvm::Intrinsic::ID whole = bytes == 16  ? llvm::Intrinsic::nvvm_cp_async_cg_shared_global_16
                              : bytes == 8 ? llvm::Intrinsic::nvvm_cp_async_ca_shared_global_8
                                           : llvm::Intrinsic::nvvm_cp_async_ca_shared_global_4;
  llvm::Intrinsic::ID part = bytes == 16  ? llvm::Intrinsic::nvvm_cp_async_cg_shared_global_16_s
                             : bytes == 8 ? llvm::Intrinsic::nvvm_cp_async_ca_shared_global_8_s
                                          : llvm::Intrinsic::nvvm_cp_async_ca_shared_global_4_s;
  if (mask == nullptr) {
    intrinsic(whole, {to, from});
  } else {
    intrinsic(part, {to, from, b_.CreateSelect(mask, b_.getInt32(bytes), b_.getInt32(0))});
  }
}

TileType Emitter::accessed_type(const TileOp& op) const {
  TileType type = ir::accessed_type(module_, op);
  TENON_CHECK(type.axes.empty() || type.layout, "no home holds the axes of an access");
  return type;
}

}  // namespace tenon::codegen
