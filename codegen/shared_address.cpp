// Addresses in shared memory: a uniform part, one that all registers of a thread share, and an immediate,
// wherever the swizzle of the buffer leaves the sum in parts.
#include <algorithm>
#include <utility>

#include "codegen/emitter.h"
#include "support/check.h"

namespace tenon::codegen {

using ir::IndexId;
using ir::TileOp;

namespace {

// LLVM's address space.
constexpr unsigned kShared = 3;

// The bits of a buffer's offsets that are added to lower ones.
class Swizzle {
 public:
  explicit Swizzle(const ir::Buffer& buffer)
      : bits_(buffer.swizzle_bits), from_(buffer.swizzle_from), to_(buffer.swizzle_to) {}

  bool none() const { return bits_ == 0; }
  // What moves an offset by a multiple of this stays outside of the swizzle.
  int64_t period() const { return int64_t{1} << (from_ + bits_); }

  int64_t operator()(int64_t at) const { return at ^ ((at >> from_ & mask()) << to_); }
  llvm::Value* operator()(llvm::IRBuilder<>& b, llvm::Value* at) const {
    if (none()) return at;
    return b.CreateXor(at, b.CreateShl(b.CreateAnd(b.CreateLShr(at, from_), mask()), to_));
  }

 private:
  int64_t mask() const { return (int64_t{1} << bits_) - 1; }

  unsigned bits_, from_, to_;
};

// The bits of an offset that threads feed, before and after the swizzle; and whether no two contributions
// meet in one.
struct ThreadBits {
  int64_t fed = 0;
  int64_t swizzled = 0;
  bool disjoint = true;

  void add(int64_t contribution, const Swizzle& swizzle) {
    disjoint = disjoint && (fed & contribution) == 0;
    fed |= contribution;
    swizzled |= swizzle(contribution);
  }
};

}  // namespace

llvm::Value* Emitter::shared_pointer(int64_t offset) {
  constexpr const char* kName = "tenon_shared";
  llvm::GlobalVariable* memory = llvm_module_.getNamedGlobal(kName);
  if (memory == nullptr) {
    memory = new llvm::GlobalVariable(llvm_module_, llvm::ArrayType::get(b_.getInt8Ty(), 0), false,
                                      llvm::GlobalValue::ExternalLinkage, nullptr, kName, nullptr,
                                      llvm::GlobalValue::NotThreadLocal, kShared);
    memory->setAlignment(llvm::Align(128));
  }
  return b_.CreateConstGEP1_64(b_.getInt8Ty(), memory, offset);
}

int64_t Emitter::take_known_terms(std::vector<ir::Monomial>& terms) const {
  int64_t sum = 0;
  std::erase_if(terms, [&](const ir::Monomial& term) {
    int64_t product = term.coefficient;
    for (IndexId factor : term.factors) {
      const ir::IndexNode& node = module_.index[factor];
      if (node.kind != ir::IndexKind::kAxis) return false;
      auto* value = llvm::dyn_cast<llvm::ConstantInt>(axis_values_.at(ir::AxisId(node.reference)));
      if (value == nullptr) return false;
      product *= value->getSExtValue();
    }
    sum += product;
    return true;
  });
  return sum;
}

llvm::Value* Emitter::shared_address(const TileOp& op, const ir::Layout* layout, int32_t reg) {
  const ir::Buffer& buffer = module_.buffers[op.buffer];
  const Swizzle swizzle(buffer);
  IndexId offset = module_.index.constant(0);
  for (size_t i = 0; i < op.subscripts.size(); ++i)
    offset = module_.index.add(offset, module_.index.scale(op.subscripts[i], buffer.strides[i]));
  Split parts = split(offset);
  TENON_CHECK(parts.other.empty(), "a shared buffer is indexed by more than tile axes and loop counters");
  // Unrolled loop counters are constants of this iteration.
  int64_t constant = take_known_terms(parts.uniform) + register_part(parts, layout, reg).constant;
  ThreadBits bits;
  for (const auto& [axis, coefficient] : parts.linear) {
    for (unsigned bit = 0; bit < ir::kLaneBits; ++bit)
      bits.add(layout->lane_basis(bit, axis) * coefficient.coefficient, swizzle);
    for (unsigned bit = 0; (1 << bit) < layout->warp_count(); ++bit)
      bits.add(layout->warp_basis(bit, axis) * coefficient.coefficient, swizzle);
  }
  // The slice of a ring moves by whole periods.
  bool apart = std::all_of(parts.uniform.begin(), parts.uniform.end(), [&](const ir::Monomial& term) {
    return term.coefficient % swizzle.period() == 0;
  });
  llvm::Type* i32 = b_.getInt32Ty();
  llvm::Value* bytes = b_.getInt32(byte_size(buffer.element));
  llvm::Value* pointer = shared_pointer(buffer.offset);
  auto move = [&](llvm::Value* by) { pointer = b_.CreateGEP(b_.getInt8Ty(), pointer, by); };
  auto linear = [&] {
    llvm::Value* value = emit_linear(parts, layout, i32);
    return value == nullptr ? b_.getInt32(0) : value;
  };
  if (!apart || !(swizzle.none() || (bits.disjoint && (bits.fed & constant) == 0))) {
    llvm::Value* at = linear();
    if (!parts.uniform.empty()) at = b_.CreateAdd(at, emit_uniform(parts.uniform, i32));
    move(b_.CreateMul(swizzle(b_, b_.CreateAdd(at, b_.getInt32(constant))), bytes));
    return pointer;
  }
  // Buffers differ in swizzles and in widths.
  std::tuple key{offset, layout, kThreadOffset - static_cast<int32_t>(op.buffer.index())};
  llvm::Value* thread = find_part(key);
  if (thread == nullptr) scopes_.back().parts[key] = thread = b_.CreateMul(swizzle(b_, linear()), bytes);
  if (!parts.uniform.empty())
    move(b_.CreateMul(to_type(emit_index(module_.index.from_terms(parts.uniform), nullptr, 0), i32), bytes));
  // Bits that threads feed too come by exclusive or, the rest as an immediate.
  int64_t own = swizzle(constant);
  int64_t both = swizzle.none() ? 0 : own & bits.swizzled;
  int64_t width = byte_size(buffer.element);
  move(both == 0 ? thread : b_.CreateXor(thread, b_.getInt32(static_cast<uint32_t>(both * width))));
  return own == both ? pointer : b_.CreateConstGEP1_64(b_.getInt8Ty(), pointer, (own ^ both) * width);
}

}  // namespace tenon::codegen
