// atom and red. Every lane performs its access on its own, in lane order, as one atomic access of the host.
#include <bit>
#include <cstring>

#include "emulator/memory_request.h"
#include "support/device_math.h"
#include "support/numeric.h"

namespace tenon::emulator {
namespace {

AtomicOp op_of(const Record& record) { return static_cast<AtomicOp>(record.flags & 0xFF); }
AtomicType type_of(const Record& record) { return static_cast<AtomicType>(record.flags >> 8 & 0xFF); }
bool wide_address(const Record& record) { return record.flags >> 16 & 1; }

unsigned bytes_of(AtomicType type) {
  switch (type) {
    case AtomicType::kU64:
    case AtomicType::kS64:
    case AtomicType::kF64:
      return 8;
    case AtomicType::kF16:
    case AtomicType::kBF16:
    case AtomicType::kB16:
      return 2;
    default:
      return 4;
  }
}

template <class T>
T combine_integers(AtomicOp op, T old, T b, T c) {
  switch (op) {
    case AtomicOp::kAdd:
      return wrapping_add(old, b);
    case AtomicOp::kMin:
      return b < old ? b : old;
    case AtomicOp::kMax:
      return b > old ? b : old;
    case AtomicOp::kInc:
      return old >= b ? T{0} : wrapping_add(old, T{1});
    case AtomicOp::kDec:
      return old == 0 || old > b ? b : wrapping_sub(old, T{1});
    case AtomicOp::kAnd:
      return static_cast<T>(old & b);
    case AtomicOp::kOr:
      return static_cast<T>(old | b);
    case AtomicOp::kXor:
      return static_cast<T>(old ^ b);
    case AtomicOp::kExch:
      return b;
    case AtomicOp::kCas:
      return old == b ? c : old;
  }
  return old;
}

template <class T>
T combine_floats(AtomicOp op, T old, T b) {
  if (op == AtomicOp::kMin) return minimum_number(old, b);
  if (op == AtomicOp::kMax) return maximum_number(old, b);
  return old + b;
}

uint16_t combine_f16(AtomicOp op, uint16_t old, uint16_t b) {
  return f16_from_f32(combine_floats(op, f32_from_f16(old), f32_from_f16(b)));
}
uint16_t combine_bf16(AtomicOp op, uint16_t old, uint16_t b) {
  return bf16_from_f32(combine_floats(op, f32_from_bf16(old), f32_from_bf16(b)));
}

template <class F>
uint32_t on_halves(uint32_t old, uint32_t b, F f) {
  const uint32_t low = f(static_cast<uint16_t>(old), static_cast<uint16_t>(b));
  const uint32_t high = f(static_cast<uint16_t>(old >> 16), static_cast<uint16_t>(b >> 16));
  return low | high << 16;
}

// Sums of f32 in global memory flush denormals, as the devices' memory units do.
float add_f32(AtomicOp op, float old, float b, bool global) {
  if (!global || op != AtomicOp::kAdd) return combine_floats(op, old, b);
  return device::flush(device::flush(old) + device::flush(b));
}

uint64_t combine(AtomicOp op, AtomicType type, uint64_t old, uint64_t b, uint64_t c, bool global) {
  const auto old32 = static_cast<uint32_t>(old);
  const auto b32 = static_cast<uint32_t>(b);
  const auto old16 = static_cast<uint16_t>(old);
  const auto b16 = static_cast<uint16_t>(b);
  switch (type) {
    case AtomicType::kU32:
      return combine_integers<uint32_t>(op, old32, b32, static_cast<uint32_t>(c));
    case AtomicType::kS32:
      return static_cast<uint32_t>(combine_integers<int32_t>(
          op, static_cast<int32_t>(old32), static_cast<int32_t>(b32), static_cast<int32_t>(c)));
    case AtomicType::kU64:
      return combine_integers<uint64_t>(op, old, b, c);
    case AtomicType::kS64:
      return static_cast<uint64_t>(combine_integers<int64_t>(
          op, static_cast<int64_t>(old), static_cast<int64_t>(b), static_cast<int64_t>(c)));
    case AtomicType::kF32:
      return std::bit_cast<uint32_t>(
          add_f32(op, std::bit_cast<float>(old32), std::bit_cast<float>(b32), global));
    case AtomicType::kF64:
      return std::bit_cast<uint64_t>(
          combine_floats(op, std::bit_cast<double>(old), std::bit_cast<double>(b)));
    case AtomicType::kF16:
      return combine_f16(op, old16, b16);
    case AtomicType::kBF16:
      return combine_bf16(op, old16, b16);
    case AtomicType::kF16X2:
      return on_halves(old32, b32, [&](uint16_t x, uint16_t y) { return combine_f16(op, x, y); });
    case AtomicType::kBF16X2:
      return on_halves(old32, b32, [&](uint16_t x, uint16_t y) { return combine_bf16(op, x, y); });
    case AtomicType::kB16:
      return combine_integers<uint16_t>(op, old16, b16, static_cast<uint16_t>(c));
  }
  return old;
}

template <class T, class F>
T exchange(uint8_t* data, F next) {
  T* place = reinterpret_cast<T*>(data);
  T old = __atomic_load_n(place, __ATOMIC_ACQUIRE);
  while (!__atomic_compare_exchange_n(place, &old, static_cast<T>(next(old)), false, __ATOMIC_ACQ_REL,
                                      __ATOMIC_ACQUIRE)) {
  }
  return old;
}

uint64_t operand_lane(Warp& warp, LaneRef ref, unsigned lane, unsigned bytes) {
  if (ref == kNoOperand) return 0;
  return bytes == 8 ? warp.lanes<uint64_t>(ref)[lane] : warp.lanes<uint32_t>(ref)[lane];
}

template <StateSpace kSpace>
void execute_atomic(const Record& record, Warp& warp, LaneMask mask) {
  const AtomicOp op = op_of(record);
  const AtomicType type = type_of(record);
  const unsigned bytes = bytes_of(type);
  Request request;
  read_addresses(request, record, warp, mask, wide_address(record), bytes);
  classify(request);
  count_traffic<kSpace>(record, warp, request, true);
  ++warp.polls;
  for (LaneMask rest = mask; rest != 0; rest &= rest - 1) {
    const auto lane = static_cast<unsigned>(std::countr_zero(rest));
    const uint64_t address = request.addresses[lane];
    const Memory memory = check_lane<kSpace>(record, warp, lane, address, bytes, true, true);
    if (memory.data == nullptr) return;
    const uint64_t b = operand_lane(warp, record.b, lane, bytes);
    const uint64_t c = operand_lane(warp, record.c, lane, bytes);
    const bool global =
        kSpace == StateSpace::kGlobal || (kSpace == StateSpace::kGeneric && address >= kGlobalWindow);
    const auto next = [&](uint64_t old) { return combine(op, type, old, b, c, global); };
    uint64_t old = 0;
    if (bytes == 8) {
      old = exchange<uint64_t>(memory.data, next);
    } else if (bytes == 4) {
      old = exchange<uint32_t>(memory.data, next);
    } else {
      old = exchange<uint16_t>(memory.data, next);
    }
    // After a report of a never-written location it counts as written.
    if (!(memory.state[0] & kReadable)) std::memset(memory.state, kReadable | kWritable, bytes);
    if (record.d == kNoOperand) continue;
    if (bytes == 8) {
      warp.lanes<uint64_t>(record.d)[lane] = old;
    } else {
      warp.lanes<uint32_t>(record.d)[lane] = static_cast<uint32_t>(old);
    }
  }
}

}  // namespace

Handler atomic_handler(StateSpace space) {
  if (space == StateSpace::kGlobal) return execute_atomic<StateSpace::kGlobal>;
  if (space == StateSpace::kShared) return execute_atomic<StateSpace::kShared>;
  return execute_atomic<StateSpace::kGeneric>;
}

uint32_t atomic_flags(AtomicOp op, AtomicType type, bool wide) {
  return static_cast<uint32_t>(op) | static_cast<uint32_t>(type) << 8 | (wide ? 1u << 16 : 0);
}

}  // namespace tenon::emulator
