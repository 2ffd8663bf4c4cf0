#include <bit>

#include "codegen/emitter.h"
#include "support/check.h"

namespace tenon::codegen {

using ir::AxisId;
using ir::Layout;
using ir::TileOp;

Registers Emitter::emit_body(const ir::Body& body, const Registers& arguments,
                             const std::vector<ir::ValueId>& wanted) {
  Registers image;
  for (const ir::Instruction& instruction : body) {
    if (instruction.op == ir::Opcode::kArg) {
      image.push_back(arguments[instruction.bits]);
    } else if (instruction.op == ir::Opcode::kConst) {
      image.push_back(constant(instruction.type, instruction.bits));
    } else {
      std::vector<llvm::Value*> operands;
      for (unsigned i = 0; i < instruction.operand_count(); ++i)
        operands.push_back(image[instruction.operands[i].index()]);
      // The type of what is compared, not of a condition.
      ir::ValueId typed = instruction.operands[instruction.op == ir::Opcode::kSelect ? 1 : 0];
      image.push_back(
          emit_scalar(instruction.op, instruction.type, body.type(typed), operands, instruction.approx));
    }
  }
  Registers result;
  for (ir::ValueId value : wanted) result.push_back(image[value.index()]);
  return result;
}

Registers Emitter::merge(const ir::Monoid& monoid, const Registers& left, const Registers& right) {
  Registers arguments = left;
  arguments.insert(arguments.end(), right.begin(), right.end());
  return emit_body(monoid.merge, arguments, monoid.merged);
}

llvm::Value* Emitter::shuffle(llvm::Value* value, int32_t mask) {
  llvm::Type* type = value->getType();
  llvm::Type* i32 = b_.getInt32Ty();
  auto word = [&](llvm::Value* one) {
    return intrinsic(llvm::Intrinsic::nvvm_shfl_sync_bfly_i32,
                     {b_.getInt32(-1), one, b_.getInt32(mask), b_.getInt32(31)});
  };
  if (type->isFloatTy()) {
    return intrinsic(llvm::Intrinsic::nvvm_shfl_sync_bfly_f32,
                     {b_.getInt32(-1), value, b_.getInt32(mask), b_.getInt32(31)});
  }
  unsigned bits = type->getPrimitiveSizeInBits();
  llvm::Value* integer = b_.CreateBitCast(value, b_.getIntNTy(bits));
  if (bits <= 32)
    return b_.CreateBitCast(b_.CreateTrunc(word(b_.CreateZExt(integer, i32)), b_.getIntNTy(bits)), type);
  llvm::Value* low = word(b_.CreateTrunc(integer, i32));
  llvm::Value* high = word(b_.CreateTrunc(b_.CreateLShr(integer, 32), i32));
  llvm::Type* i64 = b_.getInt64Ty();
  llvm::Value* joined = b_.CreateOr(b_.CreateZExt(low, i64), b_.CreateShl(b_.CreateZExt(high, i64), 32));
  return b_.CreateBitCast(joined, type);
}

// The order of a reduction: in a thread a tree over the bits of its reduced positions, low to high, then
// lanes the same way by butterfly shuffles, then warps through shared memory.
void Emitter::emit_reduce(const TileOp& op) {
  const ir::Monoid& monoid = *op.monoid;
  const ir::TileType& type = module_.values[op.operands[0]].type;
  const Layout& layout = *type.layout;
  std::vector<AxisId> kept = module_.values[op.results[0]].type.axes;
  std::vector<int32_t> to = layout.projected_registers(kept);
  int32_t results = kept.empty() ? 1 : layout.project(kept).register_count();
  size_t slots = monoid.slots();

  // Registers with one result, in ascending order: pairs at distance 1 first, then 2, ...
  std::vector<std::vector<Registers>> groups(results);
  for (int32_t reg = 0; reg < layout.register_count(); ++reg) {
    Registers state;
    for (ir::TileValueId operand : op.operands) state.push_back(value_at(operand, type, reg));
    groups[to[reg]].push_back(std::move(state));
  }
  std::vector<Registers> state(results);
  for (int32_t r = 0; r < results; ++r) {
    std::vector<Registers>& level = groups[r];
    while (level.size() > 1) {
      std::vector<Registers> next;
      for (size_t i = 0; i + 1 < level.size(); i += 2) next.push_back(merge(monoid, level[i], level[i + 1]));
      if (level.size() % 2 == 1) next.push_back(level.back());
      level = std::move(next);
    }
    state[r] = level[0];
  }

  auto reduced = [&](auto basis) {
    for (AxisId axis : op.reduced)
      if (basis(axis) != 0) return true;
    return false;
  };
  unsigned reduced_lanes = 0;
  for (unsigned bit = 0; bit < ir::kLaneBits; ++bit) {
    if (!reduced([&](AxisId axis) { return layout.lane_basis(bit, axis); })) continue;
    reduced_lanes |= 1u << bit;
    for (Registers& one : state) {
      Registers other;
      for (llvm::Value* value : one) other.push_back(shuffle(value, 1 << bit));
      one = merge(monoid, one, other);
    }
  }
  std::vector<unsigned> warp_bits;
  for (unsigned bit = 0; (1 << bit) < layout.warp_count(); ++bit)
    if (reduced([&](AxisId axis) { return layout.warp_basis(bit, axis); })) warp_bits.push_back(bit);
  if (!warp_bits.empty()) merge_warps(monoid, state, warp_bits, layout.warp_count());

  for (size_t slot = 0; slot < slots; ++slot) {
    Registers registers;
    for (const Registers& one : state) registers.push_back(one[slot]);
    set(op.results[slot], std::move(registers));
  }
}

// Every lane leaves its state for its warp's slot; after a barrier it takes those of the other warps in its
// place. Each reduction has scratch of its own, so one barrier is enough; a reduction in a loop waits before
// it writes again.
void Emitter::merge_warps(const ir::Monoid& monoid, std::vector<Registers>& state,
                          const std::vector<unsigned>& warp_bits, int32_t warps) {
  std::vector<int64_t> base;
  llvm::Value* tid = thread_id();
  if (scopes_.size() > 1) barrier();
  int64_t threads = int64_t{warps} * 32;
  for (size_t slot = 0; slot < monoid.slots(); ++slot) {
    int64_t bytes = std::max<int64_t>(1, byte_size(monoid.identity[slot].type));
    scratch_ = (scratch_ + 7) / 8 * 8;
    base.push_back(scratch_);
    for (size_t r = 0; r < state.size(); ++r) {
      llvm::Value* at = b_.CreateMul(tid, b_.getInt32(bytes));
      llvm::Value* pointer = b_.CreateGEP(b_.getInt8Ty(), shared_pointer(scratch_), at);
      store_vector(b_.CreateConstGEP1_64(b_.getInt8Ty(), pointer, static_cast<int64_t>(r) * threads * bytes),
                   monoid.identity[slot].type, {state[r][slot]});
    }
    scratch_ += static_cast<int64_t>(state.size()) * threads * bytes;
  }
  barrier();
  for (size_t r = 0; r < state.size(); ++r) {
    // Warps that differ in the reduced bits, as a tree over those bits, low to high.
    std::vector<Registers> level;
    for (unsigned combination = 0; combination < 1u << warp_bits.size(); ++combination) {
      uint32_t mask = 0;
      uint32_t value = 0;
      for (size_t i = 0; i < warp_bits.size(); ++i) {
        mask |= 32u << warp_bits[i];
        if (combination >> i & 1) value |= 32u << warp_bits[i];
      }
      llvm::Value* thread = b_.CreateAnd(tid, ~mask);
      Registers one;
      for (size_t slot = 0; slot < monoid.slots(); ++slot) {
        ElementType element = monoid.identity[slot].type;
        int64_t bytes = byte_size(element);
        llvm::Value* at = b_.CreateMul(thread, b_.getInt32(bytes));
        llvm::Value* pointer = b_.CreateGEP(b_.getInt8Ty(), shared_pointer(base[slot]), at);
        pointer = b_.CreateConstGEP1_64(b_.getInt8Ty(), pointer,
                                        (static_cast<int64_t>(r) * threads + value) * bytes);
        TileOp shared;
        one.push_back(load_vector(shared, pointer, element, 1)[0]);
      }
      level.push_back(std::move(one));
    }
    while (level.size() > 1) {
      std::vector<Registers> next;
      for (size_t i = 0; i + 1 < level.size(); i += 2) next.push_back(merge(monoid, level[i], level[i + 1]));
      level = std::move(next);
    }
    state[r] = level[0];
  }
}

}  // namespace tenon::codegen
