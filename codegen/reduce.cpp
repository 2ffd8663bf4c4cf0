#include <algorithm>
#include <span>

#include "codegen/emitter.h"
#include "support/check.h"

namespace tenon::codegen {

using ir::AxisId;
using ir::Layout;
using ir::TileOp;

Registers Emitter::emit_body(const ir::Body& body, const Registers& arguments,
                             std::span<const ir::ValueId> wanted) {
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

// In a thread: pairs at distance one register first, then at two, and so on.
Registers Emitter::reduce_registers(const ir::Monoid& monoid, std::vector<Registers> level) {
  while (level.size() > 1) {
    std::vector<Registers> next;
    for (size_t i = 0; i + 1 < level.size(); i += 2) next.push_back(merge(monoid, level[i], level[i + 1]));
    if (level.size() % 2 == 1) next.push_back(level.back());
    level = std::move(next);
  }
  return level[0];
}

// Products in a thread: at most four chains of multiply-adds, register r in chain r modulo their number, then
// as above.
Registers Emitter::reduce_products(const ir::Monoid& monoid, const std::vector<Registers>& factors) {
  size_t chains = ir::product_chains(factors.size());
  std::vector<Registers> sums(chains);
  for (size_t r = 0; r < factors.size(); ++r) {
    llvm::Value* a = factors[r][0];
    llvm::Value* b = factors[r][1];
    Registers& sum = sums[r % chains];
    if (sum.empty()) {
      sum = {b_.CreateFMul(a, b)};
    } else {
      sum = {b_.CreateIntrinsic(llvm::Intrinsic::fma, {a->getType()}, {a, b, sum[0]})};
    }
  }
  return reduce_registers(monoid, std::move(sums));
}

// The order of a reduction: the registers of a thread, then lanes, bit by bit from the lowest, by butterfly
// shuffles, then warps, likewise, through shared memory.
void Emitter::emit_reduce(const TileOp& op) {
  const ir::Monoid& monoid = *op.monoid;
  const ir::TileType& type = reduce_type(op);
  const Layout& layout = *type.layout;
  ir::AxisList kept = module_.values[op.results[0]].type.axes;
  std::vector<int32_t> to = layout.projected_registers(kept);
  int32_t results = kept.empty() ? 1 : layout.project(kept).register_count();

  std::vector<std::vector<Registers>> groups(results);
  for (int32_t reg = 0; reg < layout.register_count(); ++reg) {
    Registers state;
    for (ir::TileValueId operand : op.operands) state.push_back(value_at(operand, type, reg));
    groups[to[reg]].push_back(std::move(state));
  }
  std::vector<Registers> state;
  for (std::vector<Registers>& group : groups)
    state.push_back(op.product ? reduce_products(monoid, group) : reduce_registers(monoid, std::move(group)));

  auto reduced = [&](auto basis) {
    return std::any_of(op.reduced.begin(), op.reduced.end(), [&](AxisId axis) { return basis(axis) != 0; });
  };
  bool whole_warp = true;
  for (unsigned bit = 0; bit < ir::kLaneBits; ++bit) {
    if (!reduced([&](AxisId axis) { return layout.lane_basis(bit, axis); })) {
      whole_warp = false;
      continue;
    }
    for (Registers& one : state) {
      Registers other;
      for (llvm::Value* value : one) other.push_back(shuffle(value, 1 << bit));
      one = merge(monoid, one, other);
    }
  }
  std::vector<unsigned> warp_bits;
  for (unsigned bit = 0; (1 << bit) < layout.warp_count(); ++bit)
    if (reduced([&](AxisId axis) { return layout.warp_basis(bit, axis); })) warp_bits.push_back(bit);
  if (!warp_bits.empty()) merge_warps(monoid, state, warp_bits, layout.warp_count(), whole_warp);

  for (size_t slot = 0; slot < monoid.slots(); ++slot) {
    Registers registers;
    for (const Registers& one : state) registers.push_back(one[slot]);
    set(op.results[slot], std::move(registers));
  }
}

// The tile that a reduction runs over: that of its operand with the most axes; a product's factors may have
// fewer.
const ir::TileType& Emitter::reduce_type(const TileOp& op) const {
  const ir::TileType* widest = &module_.values[op.operands[0]].type;
  for (ir::TileValueId operand : op.operands)
    if (module_.values[operand].type.axes.size() > widest->axes.size())
      widest = &module_.values[operand].type;
  return *widest;
}

// Each warp leaves its state in shared memory, and after a barrier takes those of the warps that it is merged
// with: the one of its own lane or, where all lanes hold the same, a single one that the first lane wrote.
// Each reduction has scratch of its own, so one barrier is enough; a reduction in a loop waits before it
// writes again.
void Emitter::merge_warps(const ir::Monoid& monoid, std::vector<Registers>& state,
                          const std::vector<unsigned>& warp_bits, int32_t warps, bool whole_warp) {
  llvm::Value* tid = thread_id();
  if (scopes_.size() > 1) barrier();
  // Places of one slot and result: one for each lane of each warp, or one for each warp.
  int64_t lanes = whole_warp ? 1 : 32;
  int64_t places = int64_t{warps} * lanes;
  llvm::Value* place = whole_warp ? b_.CreateLShr(tid, ir::kLaneBits) : tid;
  std::vector<int64_t> base;
  for (const ir::Constant& identity : monoid.identity) {
    scratch_ = (scratch_ + 15) / 16 * 16;
    base.push_back(scratch_);
    scratch_ += static_cast<int64_t>(state.size()) * places * byte_size(identity.type);
  }
  auto leave = [&] {
    for (size_t slot = 0; slot < monoid.slots(); ++slot) {
      int64_t bytes = byte_size(monoid.identity[slot].type);
      llvm::Value* pointer =
          b_.CreateGEP(b_.getInt8Ty(), shared_pointer(base[slot]), b_.CreateMul(place, b_.getInt32(bytes)));
      for (size_t r = 0; r < state.size(); ++r)
        store_vector(b_.CreateConstGEP1_64(b_.getInt8Ty(), pointer, static_cast<int64_t>(r) * places * bytes),
                     monoid.identity[slot].type, {state[r][slot]});
    }
  };
  if (whole_warp) {
    branch_around(b_.CreateICmpEQ(b_.CreateAnd(tid, 31), b_.getInt32(0)), leave);
  } else {
    leave();
  }
  barrier();
  unsigned mask = 0;
  for (unsigned bit : warp_bits) mask |= 1u << bit;
  bool all_warps = mask + 1 == static_cast<unsigned>(warps);
  for (size_t r = 0; r < state.size(); ++r) {
    // Ascending in the reduced warp bits, so that the tree merges warps bit by bit from the lowest.
    std::vector<Registers> level(size_t{1} << warp_bits.size());
    for (size_t slot = 0; slot < monoid.slots(); ++slot) {
      ElementType element = monoid.identity[slot].type;
      int64_t bytes = byte_size(element);
      int64_t first = base[slot] + static_cast<int64_t>(r) * places * bytes;
      if (whole_warp && all_warps) {
        // The states lie side by side, the same for every thread.
        int32_t width = static_cast<int32_t>(std::min<int64_t>(places, 16 / bytes));
        for (int64_t at = 0; at < places; at += width) {
          Registers part = load_shared(shared_pointer(first + at * bytes), element, width);
          for (int32_t i = 0; i < width; ++i) level[at + i].push_back(part[i]);
        }
        continue;
      }
      llvm::Value* own = b_.CreateAnd(place, ~(static_cast<uint32_t>(mask) * static_cast<uint32_t>(lanes)));
      llvm::Value* pointer =
          b_.CreateGEP(b_.getInt8Ty(), shared_pointer(first), b_.CreateMul(own, b_.getInt32(bytes)));
      for (size_t combination = 0; combination < level.size(); ++combination) {
        int64_t warp = 0;
        for (size_t i = 0; i < warp_bits.size(); ++i)
          if (combination >> i & 1) warp |= int64_t{1} << warp_bits[i];
        llvm::Value* at = b_.CreateConstGEP1_64(b_.getInt8Ty(), pointer, warp * lanes * bytes);
        level[combination].push_back(load_shared(at, element, 1)[0]);
      }
    }
    state[r] = reduce_registers(monoid, std::move(level));
  }
}

}  // namespace tenon::codegen
