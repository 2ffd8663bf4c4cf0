// Operands: registers, constants, special registers, addresses.
#include <fmt/format.h>

#include <bit>
#include <cstring>

#include "emulator/decoder.h"
#include "emulator/memory.h"

namespace tenon::emulator {
namespace {

constexpr uint64_t kMaxRegisterBytes = uint64_t{1} << 26;

struct SpecialName {
  std::string_view name;
  SpecialRegister source;
};

constexpr SpecialName kSpecialNames[] = {
    {"%tid.x", SpecialRegister::kTidX},
    {"%tid.y", SpecialRegister::kTidY},
    {"%tid.z", SpecialRegister::kTidZ},
    {"%ntid.x", SpecialRegister::kNtidX},
    {"%ntid.y", SpecialRegister::kNtidY},
    {"%ntid.z", SpecialRegister::kNtidZ},
    {"%ctaid.x", SpecialRegister::kCtaidX},
    {"%ctaid.y", SpecialRegister::kCtaidY},
    {"%ctaid.z", SpecialRegister::kCtaidZ},
    {"%nctaid.x", SpecialRegister::kNctaidX},
    {"%nctaid.y", SpecialRegister::kNctaidY},
    {"%nctaid.z", SpecialRegister::kNctaidZ},
    {"%laneid", SpecialRegister::kLaneId},
    {"%warpid", SpecialRegister::kWarpId},
    {"%nwarpid", SpecialRegister::kNwarpId},
    {"%lanemask_eq", SpecialRegister::kLanemaskEq},
    {"%lanemask_lt", SpecialRegister::kLanemaskLt},
    {"%lanemask_le", SpecialRegister::kLanemaskLe},
    {"%lanemask_gt", SpecialRegister::kLanemaskGt},
    {"%lanemask_ge", SpecialRegister::kLanemaskGe},
    {"%smid", SpecialRegister::kSmId},
    {"%nsmid", SpecialRegister::kNsmId},
    {"%dynamic_smem_size", SpecialRegister::kDynamicSharedSize},
    {"%total_smem_size", SpecialRegister::kTotalSharedSize},
    {"%gridid", SpecialRegister::kGridId},
    {"%tid.w", SpecialRegister::kZero},
    {"%ctaid.w", SpecialRegister::kZero},
};

}  // namespace

const Operand& Decoder::operand(size_t index) {
  static const Operand kAbsent;
  if (index < instruction_->operands.size()) return instruction_->operands[index];
  fail("operands are missing");
  return kAbsent;
}

unsigned Decoder::register_bits(const Operand& operand) const {
  return operand.kind == Operand::Kind::kRegister ? bit_width(frame_->function->registers[operand.index].type)
                                                  : 0;
}

LaneRef Decoder::register_ref(const Operand& operand) {
  LaneRef& ref = frame_->registers[operand.index];
  if (ref != kNoOperand) return ref;
  const unsigned bits = register_bits(operand);
  if (bits == 1) {
    if (predicate_chunk_ == kNoOperand || predicates_used_ == 16) {
      predicate_chunk_ = static_cast<LaneRef>(program_.register_bytes);
      program_.register_bytes += 64;
      predicates_used_ = 0;
    }
    return ref = predicate_chunk_ + 4 * predicates_used_++;
  }
  ref = static_cast<LaneRef>(program_.register_bytes);
  program_.register_bytes += bits > 32 ? 256 : 128;
  if (program_.register_bytes > kMaxRegisterBytes) fail("too many registers");
  return ref;
}

LaneRef Decoder::temporary(unsigned bits) {
  auto& pool = bits == 1 ? temporary_predicates_ : bits > 32 ? temporaries64_ : temporaries32_;
  size_t& used = bits == 1 ? used_predicates_ : bits > 32 ? used64_ : used32_;
  if (used == pool.size()) {
    pool.push_back(static_cast<LaneRef>(program_.register_bytes));
    program_.register_bytes += bits == 1 ? 64 : bits > 32 ? 256 : 128;
  }
  return pool[used++];
}

LaneRef Decoder::source(const Operand& operand, PtxType type) {
  if (!ok()) return 0;
  switch (operand.kind) {
    case Operand::Kind::kRegister:
      if (type == PtxType::kPred) return predicate(operand);
      if (register_bits(operand) != bit_width(type)) {
        fail(operand.position, fmt::format("register '{}' has {} bits, the instruction wants {}",
                                           operand.name, register_bits(operand), bit_width(type)));
        return 0;
      }
      if (operand.negated || operand.has_second)
        fail(operand.position, "only predicates can be negated or paired");
      return register_ref(operand);
    case Operand::Kind::kInteger:
    case Operand::Kind::kFloat32:
    case Operand::Kind::kFloat64:
      return literal(operand, type);
    case Operand::Kind::kVariable:
    case Operand::Kind::kSymbol:
      return address_constant(operand, type);
    default:
      fail(operand.position, "this kind of operand is not expected here");
      return 0;
  }
}

LaneRef Decoder::literal(const Operand& operand, PtxType type) {
  uint64_t bits = operand.bits;
  const bool to_double = type == PtxType::kF64;
  const bool to_float = type == PtxType::kF32;
  if (operand.kind == Operand::Kind::kFloat64 && to_float) {
    bits = std::bit_cast<uint32_t>(static_cast<float>(std::bit_cast<double>(bits)));
  } else if (operand.kind == Operand::Kind::kFloat32 && to_double) {
    bits = std::bit_cast<uint64_t>(static_cast<double>(std::bit_cast<float>(static_cast<uint32_t>(bits))));
  } else if (operand.kind == Operand::Kind::kInteger && (to_double || to_float)) {
    fail(operand.position, "expected a floating-point constant");
  }
  if (type == PtxType::kPred) return constant_predicate(bits != 0);
  const unsigned width = bit_width(type);
  if (width > 32) return constant64(bits);
  return constant32(static_cast<uint32_t>(width == 32 ? bits : bits & ((uint64_t{1} << width) - 1)));
}

std::optional<uint64_t> Decoder::variable_address(const Operand& operand, StateSpace& space) {
  if (operand.kind == Operand::Kind::kVariable) {
    const Variable& variable = frame_->function->variables[operand.index];
    space = variable.space;
    // Parameters of functions, and arguments on their way, are local memory.
    if (space == StateSpace::kParam && frame_->variables[operand.index] < kGlobalWindow)
      space = StateSpace::kLocal;
    return frame_->variables[operand.index];
  }
  const Variable* variable = module_variable(operand.name);
  if (variable == nullptr) return std::nullopt;
  space = variable->space;
  if (space == StateSpace::kShared) return shared_offsets_[variable->name];
  const auto found = context_.addresses->find(variable->name);
  if (found == context_.addresses->end()) return std::nullopt;
  return found->second;
}

LaneRef Decoder::address_constant(const Operand& operand, PtxType type) {
  if (operand.kind == Operand::Kind::kSymbol) {
    if (operand.name == "WARP_SZ") return bit_width(type) > 32 ? constant64(kLanes) : constant32(kLanes);
    const LaneRef special = special_register(operand.name);
    if (special != kNoOperand) {
      if (bit_width(type) == 32) return special;
      if (bit_width(type) == 16) {
        // The lanes are below 2^16 wherever this is written.
        return special;
      }
      const LaneRef wide = temporary(64);
      emit("zext32", wide, special);
      return wide;
    }
  }
  StateSpace space = StateSpace::kGeneric;
  const auto address = variable_address(operand, space);
  if (!address) {
    fail(operand.position, fmt::format("unknown name '{}'", operand.name));
    return 0;
  }
  const uint64_t value = *address + operand.bits;
  return bit_width(type) > 32 ? constant64(value) : constant32(static_cast<uint32_t>(value));
}

LaneRef Decoder::special_register(std::string_view name) {
  for (const SpecialName& row : kSpecialNames) {
    if (row.name != name) continue;
    const auto [place, fresh] =
        specials_.try_emplace(row.source, static_cast<LaneRef>(program_.register_bytes));
    if (fresh) program_.register_bytes += 128;
    return place->second;
  }
  return kNoOperand;
}

LaneRef Decoder::predicate(const Operand& operand) {
  if (!ok()) return 0;
  if (operand.kind == Operand::Kind::kInteger)
    return constant_predicate((operand.bits != 0) != operand.negated);
  if (register_bits(operand) != 1) {
    fail(operand.position, "expected a predicate");
    return 0;
  }
  return register_ref(operand) | (operand.negated ? kNegated : 0);
}

LaneRef Decoder::destination(const Operand& operand, PtxType type) {
  if (!ok()) return 0;
  if (operand.kind == Operand::Kind::kSink) return temporary(bit_width(type));
  if (operand.kind != Operand::Kind::kRegister || operand.negated) {
    fail(operand.position, "expected a register to write to");
    return 0;
  }
  if (register_bits(operand) != bit_width(type)) {
    fail(operand.position, fmt::format("register '{}' has {} bits, the instruction gives {}", operand.name,
                                       register_bits(operand), bit_width(type)));
    return 0;
  }
  return register_ref(operand);
}

LaneRef Decoder::destination_predicate(const Operand& operand) {
  if (!ok()) return 0;
  if (operand.kind == Operand::Kind::kSink) return temporary(1);
  if (register_bits(operand) != 1 || operand.negated) {
    fail(operand.position, "expected a predicate register to write to");
    return 0;
  }
  return register_ref(operand);
}

uint64_t Decoder::integer(size_t index) {
  const Operand& value = operand(index);
  if (value.kind != Operand::Kind::kInteger) fail(value.position, "expected an integer constant");
  return value.bits;
}

AddressRef Decoder::address(const Operand& operand, std::optional<StateSpace> space) {
  AddressRef result;
  result.space = space.value_or(StateSpace::kGeneric);
  if (operand.kind != Operand::Kind::kAddress || operand.elements.size() != 1) {
    fail(operand.position, "expected an address");
    return result;
  }
  const Operand& base = operand.elements[0];
  result.offset = operand.bits;
  if (base.kind == Operand::Kind::kRegister) {
    const unsigned bits = register_bits(base);
    if (bits != 32 && bits != 64) fail(base.position, "an address register has 32 or 64 bits");
    result.base = register_ref(base);
    result.wide = bits == 64;
    if (result.space == StateSpace::kParam && !in_entry()) result.space = StateSpace::kLocal;
    return result;
  }
  result.base = constant64(0);
  if (base.kind == Operand::Kind::kInteger) {
    result.offset += base.bits;
    return result;
  }
  StateSpace actual = StateSpace::kGeneric;
  const auto address = base.kind == Operand::Kind::kVariable || base.kind == Operand::Kind::kSymbol
                           ? variable_address(base, actual)
                           : std::nullopt;
  if (!address) {
    fail(base.position, fmt::format("unknown name '{}'", base.name));
    return result;
  }
  const bool fits =
      !space || *space == actual || (*space == StateSpace::kParam && actual == StateSpace::kLocal);
  if (!fits) fail(base.position, fmt::format("'{}' lies in another space", base.name));
  result.space = actual;
  result.offset += *address;
  return result;
}

LaneRef Decoder::add_constant(std::span<const std::byte> bytes) {
  const size_t offset = constant_bytes_.size();
  constant_bytes_.insert(constant_bytes_.end(), bytes.begin(), bytes.end());
  if (constant_bytes_.size() > kMaxRegisterBytes) fail("too many constants");
  return static_cast<LaneRef>(offset) | kConstantSpace;
}

LaneRef Decoder::constant32(uint32_t value) {
  const auto [place, fresh] = constants_.try_emplace({value, 32}, 0);
  if (fresh) {
    std::vector<uint32_t> lanes(kLanes, value);
    place->second = add_constant(std::as_bytes(std::span(lanes)));
  }
  return place->second;
}

LaneRef Decoder::constant64(uint64_t value) {
  const auto [place, fresh] = constants_.try_emplace({value, 64}, 0);
  if (fresh) {
    std::vector<uint64_t> lanes(kLanes, value);
    place->second = add_constant(std::as_bytes(std::span(lanes)));
  }
  return place->second;
}

LaneRef Decoder::constant_predicate(bool value) {
  const auto [place, fresh] = constants_.try_emplace({value ? 1 : 0, 1}, 0);
  if (fresh) {
    std::vector<uint32_t> masks(16, value ? kAllLanes : 0);
    place->second = add_constant(std::as_bytes(std::span(masks)));
  }
  return place->second;
}

}  // namespace tenon::emulator
