// Loads, stores, atomics and asynchronous copies.
#include <fmt/format.h>

#include <bit>
#include <vector>

#include "emulator/decoders.h"
#include "emulator/memory.h"
#include "emulator/memory_access.h"

namespace tenon::emulator::decoders {
namespace {

// Cache hints and memory order; true where one host access must do the whole.
bool take_access_modifiers(Decoder& decoder) {
  bool indivisible = false;
  for (const std::string_view order : {"volatile", "relaxed", "acquire", "release", "mmio"}) {
    indivisible |= decoder.take(order);
  }
  decoder.take("weak");
  decoder.take("unified");
  decoder.take_any({"cta", "cluster", "gpu", "sys"});
  decoder.take("nc");
  decoder.take_any({"ca", "cg", "cs", "lu", "cv", "wb", "wt"});
  decoder.take_all_starting_with("L1::");
  decoder.take_all_starting_with("L2::");
  return indivisible;
}

unsigned take_vector(Decoder& decoder) {
  if (decoder.take("v2")) return 2;
  if (decoder.take("v4")) return 4;
  if (decoder.take("v8")) return 8;
  return 1;
}

std::vector<const Operand*> lane_operands(const Operand& operand) {
  std::vector<const Operand*> result;
  if (operand.kind == Operand::Kind::kVector) {
    for (const Operand& element : operand.elements) result.push_back(&element);
  } else {
    result.push_back(&operand);
  }
  return result;
}

unsigned log2_bytes(PtxType type) { return static_cast<unsigned>(std::countr_zero(byte_size(type))); }

// The operands of a load or store have one width, at least the type's.
unsigned common_register_bits(Decoder& decoder, const std::vector<const Operand*>& operands, PtxType type) {
  unsigned bits = 0;
  for (const Operand* operand : operands) {
    const unsigned own = decoder.register_bits(*operand);
    if (own == 0) continue;
    if ((bits != 0 && own != bits) || own < bit_width(type)) {
      decoder.fail(operand->position, "the registers do not fit the type");
    }
    bits = own;
  }
  return bits == 0 ? bit_width(type) : bits;
}

struct AccessParts {
  AddressRef address;
  AccessFlags flags;
  std::vector<const Operand*> operands;
  PtxType type = PtxType::kB32;
};

AccessParts access_parts(Decoder& decoder, size_t address_operand, size_t data_operand) {
  AccessParts parts;
  parts.flags.indivisible = take_access_modifiers(decoder);
  const auto space = decoder.take_space();
  parts.flags.elements = take_vector(decoder);
  parts.type = decoder.expect_type();
  if (bit_width(parts.type) > 64 || parts.type == PtxType::kPred) decoder.fail("this type is not supported");
  parts.address = decoder.address(decoder.operand(address_operand), space);
  parts.operands = lane_operands(decoder.operand(data_operand));
  parts.flags.element_log2 = log2_bytes(parts.type);
  parts.flags.is_signed = is_signed(parts.type);
  parts.flags.wide_address = parts.address.wide;
  parts.flags.register_bits = common_register_bits(decoder, parts.operands, parts.type);
  if (parts.operands.size() != parts.flags.elements)
    decoder.fail("the vector has another number of elements");
  return parts;
}

void emit_access(Decoder& decoder, const AccessParts& parts, Handler handler,
                 const std::vector<uint32_t>& registers) {
  const uint32_t list = decoder.add_list(registers);
  Record& record = decoder.emit(handler);
  record.a = parts.address.base;
  record.immediate = parts.address.offset;
  record.extra = list;
  record.flags = parts.flags.pack();
}

}  // namespace

void decode_load(Decoder& decoder) {
  const AccessParts parts = access_parts(decoder, 1, 0);
  if (decoder.operand_count() > 3) return decoder.fail("too many operands");
  if (!decoder.ok()) return;
  std::vector<uint32_t> registers;
  for (const Operand* operand : parts.operands) {
    if (operand->kind == Operand::Kind::kSink) {
      registers.push_back(kNoOperand);
    } else if (operand->kind == Operand::Kind::kRegister) {
      registers.push_back(decoder.register_ref(*operand));
    } else {
      return decoder.fail(operand->position, "expected a register");
    }
  }
  emit_access(decoder, parts, load_handler(parts.address.space), registers);
}

void decode_store(Decoder& decoder) {
  const AccessParts parts = access_parts(decoder, 0, 1);
  if (decoder.operand_count() > 3) return decoder.fail("too many operands");
  if (!decoder.ok()) return;
  const bool registers_only = decoder.register_bits(*parts.operands[0]) != 0;
  std::vector<uint32_t> registers;
  for (const Operand* operand : parts.operands) {
    const bool is_register = operand->kind == Operand::Kind::kRegister;
    if (!is_register && registers_only && parts.flags.register_bits != bit_width(parts.type)) {
      return decoder.fail(operand->position, "constants mixed with wider registers are not supported");
    }
    registers.push_back(is_register ? decoder.register_ref(*operand) : decoder.source(*operand, parts.type));
  }
  emit_access(decoder, parts, store_handler(parts.address.space), registers);
}

namespace {

std::optional<AtomicOp> take_atomic_op(Decoder& decoder) {
  constexpr std::pair<std::string_view, AtomicOp> kOps[] = {
      {"add", AtomicOp::kAdd}, {"min", AtomicOp::kMin},   {"max", AtomicOp::kMax}, {"inc", AtomicOp::kInc},
      {"dec", AtomicOp::kDec}, {"and", AtomicOp::kAnd},   {"or", AtomicOp::kOr},   {"xor", AtomicOp::kXor},
      {"cas", AtomicOp::kCas}, {"exch", AtomicOp::kExch},
  };
  for (const auto& [name, op] : kOps) {
    if (decoder.take(name)) return op;
  }
  return std::nullopt;
}

std::optional<AtomicType> atomic_type(PtxType type, AtomicOp op) {
  const bool adds = op == AtomicOp::kAdd || op == AtomicOp::kMin || op == AtomicOp::kMax;
  switch (type) {
    case PtxType::kB32:
    case PtxType::kU32:
      return AtomicType::kU32;
    case PtxType::kS32:
      return AtomicType::kS32;
    case PtxType::kB64:
    case PtxType::kU64:
      return AtomicType::kU64;
    case PtxType::kS64:
      return AtomicType::kS64;
    case PtxType::kB16:
      return AtomicType::kB16;
    case PtxType::kF32:
      return op == AtomicOp::kExch ? AtomicType::kU32 : adds ? std::optional(AtomicType::kF32) : std::nullopt;
    case PtxType::kF64:
      return op == AtomicOp::kExch ? AtomicType::kU64 : adds ? std::optional(AtomicType::kF64) : std::nullopt;
    case PtxType::kF16:
      return adds ? std::optional(AtomicType::kF16) : std::nullopt;
    case PtxType::kBF16:
      return adds ? std::optional(AtomicType::kBF16) : std::nullopt;
    case PtxType::kF16X2:
      return adds ? std::optional(AtomicType::kF16X2) : std::nullopt;
    case PtxType::kBF16X2:
      return adds ? std::optional(AtomicType::kBF16X2) : std::nullopt;
    default:
      return std::nullopt;
  }
}

}  // namespace

void decode_atomic(Decoder& decoder) {
  const bool returns = decoder.opcode() == "atom";
  decoder.take_any({"relaxed", "acquire", "release", "acq_rel"});
  decoder.take_any({"cta", "cluster", "gpu", "sys"});
  decoder.take_all_starting_with("L2::");
  decoder.take("noftz");
  const auto space = decoder.take_space();
  const auto op = take_atomic_op(decoder);
  if (take_vector(decoder) != 1) return decoder.fail("vector atomics are not supported");
  const PtxType type = decoder.expect_type();
  const auto atomic = op ? atomic_type(type, *op) : std::nullopt;
  if (!atomic) return decoder.fail("this atomic operation is not supported");
  const size_t first = returns ? 1 : 0;
  const AddressRef address = decoder.address(decoder.operand(first), space);
  const LaneRef b = decoder.source(first + 1, type);
  const LaneRef c = *op == AtomicOp::kCas ? decoder.source(first + 2, type) : kNoOperand;
  const bool sink = returns && decoder.operand(0).kind == Operand::Kind::kSink;
  const LaneRef d = returns && !sink ? decoder.destination(0, type) : kNoOperand;
  if (!decoder.ok()) return;
  Record& record = decoder.emit(atomic_handler(address.space));
  record.d = d;
  record.a = address.base;
  record.b = b;
  record.c = c;
  record.immediate = address.offset;
  record.flags = atomic_flags(*op, *atomic, address.wide);
}

namespace {

void decode_copy(Decoder& decoder) {
  decoder.take_any({"ca", "cg"});
  decoder.take_all_starting_with("L2::");
  decoder.take_any({"shared", "shared::cta"});
  if (!decoder.take("global")) return decoder.fail("this form of cp.async is not supported");
  const AddressRef to = decoder.address(decoder.operand(0), StateSpace::kShared);
  const AddressRef from = decoder.address(decoder.operand(1), StateSpace::kGlobal);
  const uint64_t bytes = decoder.integer(2);
  if (bytes != 4 && bytes != 8 && bytes != 16) return decoder.fail("a copy has 4, 8 or 16 bytes");
  if (decoder.operand_count() > 4) return decoder.fail("cache policies are not supported");
  LaneRef size = kNoOperand;
  if (decoder.operand_count() > 3) {
    const Operand& operand = decoder.operand(3);
    const unsigned bits = decoder.register_bits(operand);
    if (bits == 1) return decoder.fail(operand.position, "ignore-src is not supported");
    size = decoder.source(operand, PtxType::kB32);
  }
  // Both offsets share the immediate.
  const auto fits = [](uint64_t offset) {
    return static_cast<int64_t>(offset) == static_cast<int64_t>(static_cast<int32_t>(offset));
  };
  LaneRef global = from.base;
  uint64_t global_offset = from.offset;
  if (!fits(global_offset)) {
    global = decoder.temporary(64);
    decoder.emit("add.i64", global, from.base, decoder.constant64(global_offset));
    global_offset = 0;
  }
  Record& record = decoder.emit(execute_copy_async);
  record.a = to.base;
  record.b = global;
  record.c = size;
  record.flags = static_cast<uint32_t>(bytes) | (to.wide ? 1u << 8 : 0);
  record.immediate = to.offset << 32 | (global_offset & 0xFFFFFFFF);
}

}  // namespace

void decode_cp(Decoder& decoder) {
  if (!decoder.take("async")) return decoder.fail("this form of cp is not supported");
  if (decoder.take("commit_group")) {
    decoder.emit(execute_copy_commit);
  } else if (decoder.take("wait_group")) {
    const uint64_t groups = decoder.integer(0);
    decoder.emit(execute_copy_wait).extra = static_cast<uint32_t>(std::min<uint64_t>(groups, kAllGroups - 1));
  } else if (decoder.take("wait_all")) {
    decoder.emit(execute_copy_wait).extra = kAllGroups;
  } else {
    decode_copy(decoder);
  }
}

}  // namespace tenon::emulator::decoders
