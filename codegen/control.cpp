#include <llvm/IR/Verifier.h>

#include <algorithm>

#include "codegen/emitter.h"
#include "passes/analysis/masks.h"
#include "support/check.h"

namespace tenon::codegen {

using ir::AxisId;
using ir::IndexId;
using ir::Opcode;
using ir::TileOp;
using ir::TileOpId;
using ir::TileValueId;

namespace {

void forbid_unrolling(llvm::BranchInst& back) {
  llvm::LLVMContext& context = back.getContext();
  llvm::Metadata* disable =
      llvm::MDNode::get(context, llvm::MDString::get(context, "llvm.loop.unroll.disable"));
  llvm::MDNode* loop = llvm::MDNode::getDistinct(context, {nullptr, disable});
  loop->replaceOperandWith(0, loop);
  back.setMetadata(llvm::LLVMContext::MD_loop, loop);
}

}  // namespace

Entry Emitter::run() {
  entry_.name = entry_name(kernel_.name);
  entry_.threads = static_cast<uint32_t>(kernel_.warps) * 32;
  for (const TileOp& op : module_.ops)
    if (op.op == Opcode::kStore && op.tensor.valid()) written_.insert(op.tensor);
  for (auto [input, output] : module_.same_memory)
    if (written_.contains(output)) written_.insert(input);
  scratch_ = buffer_bytes(module_, kernel_);
  auto* type = llvm::FunctionType::get(b_.getVoidTy(), false);
  llvm::Function* draft =
      llvm::Function::Create(type, llvm::GlobalValue::InternalLinkage, "draft", llvm_module_);
  function_ = draft;
  b_.SetInsertPoint(llvm::BasicBlock::Create(context_, "entry", draft));
  scopes_.emplace_back();
  find_shared_parts(kernel_.body);
  if (line_info_ != nullptr) line_info_->begin_function(entry_.name, first_places(module_, kernel_));
  emit_grid();
  emit_region(kernel_.body);
  b_.CreateRetVoid();
  finish_function(draft);
  entry_.shared_bytes = scratch_;
  for (const auto& [what, value] : arguments_) entry_.arguments.push_back(what);
  return std::move(entry_);
}

// Coordinates of the block, the first axis fastest.
void Emitter::emit_grid() {
  llvm::Type* type = kernel_.narrow_index ? b_.getInt32Ty() : b_.getInt64Ty();
  entry_.grid = module_.index.constant(1);
  for (AxisId axis : kernel_.grid) entry_.grid = module_.index.mul(entry_.grid, module_.axes[axis].count);
  llvm::Value* rest = nullptr;
  for (size_t i = 0; i < kernel_.grid.size(); ++i) {
    AxisId axis = kernel_.grid[i];
    IndexId count = module_.axes[axis].count;
    if (module_.index.is_constant(count, 1)) {
      axis_values_[axis] = llvm::ConstantInt::get(type, 0);
      continue;
    }
    if (rest == nullptr)
      rest = b_.CreateZExt(intrinsic(llvm::Intrinsic::nvvm_read_ptx_sreg_ctaid_x, {}), type);
    bool last = true;
    for (size_t k = i + 1; k < kernel_.grid.size(); ++k)
      last = last && module_.index.is_constant(module_.axes[kernel_.grid[k]].count, 1);
    if (last) {
      axis_values_[axis] = rest;
      continue;
    }
    // A block runs, so no count is 0.
    llvm::Value* quotient = nullptr;
    if (module_.index.as_constant(count) || !kernel_.narrow_index) {
      quotient = b_.CreateUDiv(rest, host_value(count));
    } else {
      llvm::Value* multiplier = argument({EntryArgument::Kind::kMagicMultiplier, {}, count, 4}, type);
      llvm::Value* shift = argument({EntryArgument::Kind::kMagicShift, {}, count, 4}, type);
      llvm::Value* high = intrinsic(llvm::Intrinsic::nvvm_mulhi_ui, {rest, multiplier});
      quotient = b_.CreateLShr(b_.CreateAdd(high, rest), shift);
    }
    axis_values_[axis] = b_.CreateSub(rest, b_.CreateMul(quotient, host_value(count)));
    rest = quotient;
  }
}

void Emitter::finish_function(llvm::Function* draft) {
  std::vector<llvm::Type*> types;
  for (const auto& [what, value] : arguments_) types.push_back(value->getType());
  auto* type = llvm::FunctionType::get(b_.getVoidTy(), types, false);
  llvm::Function* entry =
      llvm::Function::Create(type, llvm::GlobalValue::ExternalLinkage, entry_.name, llvm_module_);
  entry->setCallingConv(llvm::CallingConv::PTX_Kernel);
  entry->addFnAttr("nvvm.reqntid", std::to_string(entry_.threads));
  if (int32_t blocks = wanted_blocks(); blocks > 0) entry->addFnAttr("nvvm.minctasm", std::to_string(blocks));
  entry->addFnAttr(llvm::Attribute::NoUnwind);
  entry->splice(entry->begin(), draft);
  draft->eraseFromParent();
  if (line_info_ != nullptr) line_info_->end_function(*entry);
  for (size_t i = 0; i < arguments_.size(); ++i) {
    auto& [what, placeholder] = arguments_[i];
    llvm::Argument* argument = entry->getArg(i);
    placeholder->replaceAllUsesWith(argument);
    if (what.kind != EntryArgument::Kind::kTensor) continue;
    bool twice = std::any_of(module_.same_memory.begin(), module_.same_memory.end(), [&](const auto& pair) {
      return pair.first == what.tensor || pair.second == what.tensor;
    });
    if (!twice) argument->addAttr(llvm::Attribute::NoAlias);
    if (!written_.contains(what.tensor)) argument->addAttr(llvm::Attribute::ReadOnly);
    int64_t alignment = std::max<int64_t>(module_.tensor_alignment[what.tensor],
                                          byte_size(module_.tensors[what.tensor].element));
    argument->addAttr(llvm::Attribute::getWithAlignment(context_, llvm::Align(alignment)));
  }
}

std::span<const TileValueId> Emitter::yielded(ir::RegionId region) const {
  return module_.ops[module_.regions[region].ops.back()].operands;
}

void Emitter::emit_region(ir::RegionId region) {
  IndexId last;
  int64_t before_last = scratch_;
  std::span<const TileOpId> ops = module_.regions[region].ops;
  size_t next_scan = 0;
  for (size_t i = 0; i < ops.size(); ++i) {
    if (i >= next_scan) {
      Run run = sliced_run(ops.subspan(i));
      next_scan = i + std::max(run.scanned, size_t{1});
      if (run.length > 0) {
        emit_slices(ops.subspan(i, run.length));
        i += run.length - 1;
        next_scan = i + 1;
        last = {};
        continue;
      }
    }
    TileOpId id = ops[i];
    const TileOp& op = module_.ops[id];
    IndexId count = op.op == Opcode::kLoop ? module_.axes[op.axis].count : IndexId();
    // A block runs one of two alternatives, so they have the same scratch.
    int64_t after_last = scratch_;
    bool alternative = passes::are_alternatives(module_.index, last, count);
    if (alternative) scratch_ = before_last;
    emit_op(id);
    before_last = after_last;
    if (alternative) scratch_ = std::max(scratch_, after_last);
    last = count;
  }
}

void Emitter::emit_op(TileOpId id) {
  const TileOp& op = module_.ops[id];
  if (line_info_ != nullptr)
    if (llvm::DebugLoc place = line_info_->place(places(module_, op))) b_.SetCurrentDebugLocation(place);
  switch (op.op) {
    case Opcode::kConst: {
      ElementType element = module_.values[op.results[0]].type.element;
      auto [begin, end] = emitted_now(register_count(op.results[0]));
      set(op.results[0], Registers(end - begin, constant(element, op.bits)));
      break;
    }
    // Evaluated where it is used.
    case Opcode::kIndex:
      break;
    case Opcode::kLoad:
      emit_load(op);
      break;
    case Opcode::kStore:
      emit_store(op);
      break;
    case Opcode::kTileReduce:
      emit_reduce(op);
      break;
    case Opcode::kMma:
      emit_mma(op);
      break;
    case Opcode::kLoop:
      if (op.unroll) {
        emit_unrolled(op);
      } else if (passes::runs_at_most_once(module_, op)) {
        emit_conditional(op);
      } else {
        emit_loop(op);
      }
      break;
    case Opcode::kBarrier:
      barrier();
      break;
    case Opcode::kCopyAsync:
      emit_copy(op);
      break;
    case Opcode::kCopyCommit:
      intrinsic(llvm::Intrinsic::nvvm_cp_async_commit_group, {});
      break;
    case Opcode::kCopyWait:
      intrinsic(llvm::Intrinsic::nvvm_cp_async_wait_group, {b_.getInt32(op.bits)});
      break;
    case Opcode::kYield:
      break;
    default:
      TENON_CHECK(ir::row(op.op).stage == ir::Stage::kBody, "codegen does not know this op");
      emit_elementwise(op);
  }
}

std::vector<Registers> Emitter::initial(const TileOp& loop) {
  const std::vector<TileValueId>& arguments = module_.regions[loop.regions[0]].arguments;
  std::vector<Registers> values(arguments.size());
  for (size_t i = 0; i < arguments.size(); ++i)
    for (int32_t reg = 0; reg < register_count(arguments[i]); ++reg)
      values[i].push_back(value_at(loop.operands[i], module_.values[arguments[i]].type, reg));
  return values;
}

std::vector<Registers> Emitter::next(const TileOp& loop) {
  const std::vector<TileValueId>& arguments = module_.regions[loop.regions[0]].arguments;
  std::vector<Registers> values(arguments.size());
  for (size_t i = 0; i < arguments.size(); ++i)
    for (int32_t reg = 0; reg < register_count(arguments[i]); ++reg)
      values[i].push_back(value_at(yielded(loop.regions[0])[i], module_.values[arguments[i]].type, reg));
  return values;
}

void Emitter::emit_loop(const TileOp& op) {
  const ir::Region& region = module_.regions[op.regions[0]];
  llvm::Type* type = kernel_.narrow_index ? b_.getInt32Ty() : b_.getInt64Ty();
  llvm::Value* count = to_type(emit_index(module_.axes[op.axis].count, nullptr, 0), type);
  std::vector<Registers> first = initial(op);
  llvm::BasicBlock* before = b_.GetInsertBlock();
  llvm::BasicBlock* body = llvm::BasicBlock::Create(context_, "loop", function_);
  llvm::BasicBlock* after = llvm::BasicBlock::Create(context_, "after", function_);
  b_.CreateCondBr(b_.CreateICmpSGT(count, llvm::ConstantInt::get(type, 0)), body, after);

  b_.SetInsertPoint(body);
  llvm::PHINode* counter = b_.CreatePHI(type, 2);
  counter->addIncoming(llvm::ConstantInt::get(type, 0), before);
  axis_values_[op.axis] = counter;
  std::vector<std::vector<llvm::PHINode*>> carried;
  for (size_t i = 0; i < first.size(); ++i) {
    Registers registers;
    carried.emplace_back();
    for (llvm::Value* value : first[i]) {
      carried.back().push_back(b_.CreatePHI(value->getType(), 2));
      carried.back().back()->addIncoming(value, before);
      registers.push_back(carried.back().back());
    }
    set(region.arguments[i], std::move(registers));
  }
  scopes_.emplace_back();
  emit_region(op.regions[0]);
  std::vector<Registers> last = next(op);
  scopes_.pop_back();
  llvm::Value* following = b_.CreateAdd(counter, llvm::ConstantInt::get(type, 1), "", true, true);
  llvm::BasicBlock* latch = b_.GetInsertBlock();
  counter->addIncoming(following, latch);
  llvm::BranchInst* back = b_.CreateCondBr(b_.CreateICmpSLT(following, count), body, after);
  // ptxas would unroll the loop, and keep so many more registers for what is on its way.
  if (bytes_in_flight(op.regions[0]) >= kEnoughInFlight) forbid_unrolling(*back);

  b_.SetInsertPoint(after);
  for (size_t i = 0; i < first.size(); ++i) {
    Registers registers;
    for (size_t reg = 0; reg < first[i].size(); ++reg) {
      carried[i][reg]->addIncoming(last[i][reg], latch);
      llvm::PHINode* result = b_.CreatePHI(last[i][reg]->getType(), 2);
      result->addIncoming(first[i][reg], before);
      result->addIncoming(last[i][reg], latch);
      registers.push_back(result);
    }
    set(op.results[i], std::move(registers));
  }
}

void Emitter::emit_conditional(const TileOp& op) {
  const ir::Region& region = module_.regions[op.regions[0]];
  std::vector<Registers> carried = initial(op);
  llvm::Value* condition = emit_condition(module_.axes[op.axis].count, nullptr, 0);
  axis_values_[op.axis] = llvm::ConstantInt::get(kernel_.narrow_index ? b_.getInt32Ty() : b_.getInt64Ty(), 0);
  for (size_t i = 0; i < carried.size(); ++i) set(region.arguments[i], carried[i]);
  llvm::BasicBlock* before = b_.GetInsertBlock();
  llvm::BasicBlock* inside = llvm::BasicBlock::Create(context_, "inside", function_);
  llvm::BasicBlock* after = llvm::BasicBlock::Create(context_, "after", function_);
  b_.CreateCondBr(condition, inside, after);
  b_.SetInsertPoint(inside);
  scopes_.emplace_back();
  emit_region(op.regions[0]);
  std::vector<Registers> changed = next(op);
  scopes_.pop_back();
  llvm::BasicBlock* end = b_.GetInsertBlock();
  b_.CreateBr(after);
  b_.SetInsertPoint(after);
  for (size_t i = 0; i < carried.size(); ++i) {
    for (size_t reg = 0; reg < carried[i].size(); ++reg) {
      llvm::PHINode* result = b_.CreatePHI(carried[i][reg]->getType(), 2);
      result->addIncoming(carried[i][reg], before);
      result->addIncoming(changed[i][reg], end);
      carried[i][reg] = result;
    }
    set(op.results[i], std::move(carried[i]));
  }
}

int64_t Emitter::bytes_in_flight(ir::RegionId region) const {
  int64_t bytes = 0;
  for (TileOpId id : module_.regions[region].ops) {
    const TileOp& op = module_.ops[id];
    if (op.op != Opcode::kLoad || !op.tensor.valid()) continue;
    const ir::TileType& type = module_.values[op.results[0]].type;
    bytes += int64_t{byte_size(type.element)} * register_count(op.results[0]);
  }
  return bytes;
}

void Emitter::emit_unrolled(const TileOp& op) {
  const ir::Region& region = module_.regions[op.regions[0]];
  auto count = module_.index.as_constant(module_.axes[op.axis].count);
  TENON_CHECK(count.has_value(), "an unrolled loop has a constant count");
  llvm::Type* type = kernel_.narrow_index ? b_.getInt32Ty() : b_.getInt64Ty();
  std::vector<Registers> carried = initial(op);
  for (int64_t iteration = 0; iteration < *count; ++iteration) {
    axis_values_[op.axis] = llvm::ConstantInt::get(type, iteration);
    for (size_t i = 0; i < carried.size(); ++i) set(region.arguments[i], carried[i]);
    scopes_.emplace_back();
    emit_region(op.regions[0]);
    carried = next(op);
    scopes_.pop_back();
  }
  for (size_t i = 0; i < carried.size(); ++i) set(op.results[i], std::move(carried[i]));
}

// On CUDA cores: one multiply-add for each register of the accumulator.
void Emitter::emit_mma(const TileOp& op) {
  const ir::TileType& type = module_.values[op.results[0]].type;
  auto widened = [&](TileValueId value) {
    Registers registers;
    ElementType from = module_.values[value].type.element;
    for (int32_t reg = 0; reg < register_count(value); ++reg)
      registers.push_back(emit_cast(register_of(value, reg), from, type.element));
    return registers;
  };
  auto map = [&](TileValueId value) {
    const ir::AxisList& axes = module_.values[value].type.axes;
    return type.layout ? type.layout->projected_registers(axes) : std::vector<int32_t>{0};
  };
  Registers a = widened(op.operands[0]);
  Registers b = widened(op.operands[1]);
  std::vector<int32_t> map_a = map(op.operands[0]);
  std::vector<int32_t> map_b = map(op.operands[1]);
  Registers result;
  for (int32_t reg = 0; reg < register_count(op.results[0]); ++reg) {
    llvm::Value* accumulator = value_at(op.operands[2], type, reg);
    llvm::Value* x = a[map_a[reg]];
    llvm::Value* y = b[map_b[reg]];
    if (is_float(type.element)) {
      result.push_back(b_.CreateIntrinsic(llvm::Intrinsic::fma, {x->getType()}, {x, y, accumulator}));
    } else {
      result.push_back(b_.CreateAdd(b_.CreateMul(x, y), accumulator));
    }
  }
  set(op.results[0], std::move(result));
}

void Emitter::barrier() { intrinsic(llvm::Intrinsic::nvvm_barrier_cta_sync_aligned_all, {b_.getInt32(0)}); }

}  // namespace tenon::codegen
