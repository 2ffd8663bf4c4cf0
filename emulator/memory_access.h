// Handlers of loads, stores, atomics and copies.
#pragma once

#include "emulator/ast.h"
#include "emulator/program.h"

namespace tenon::emulator {

// The `flags` of a memory record.
struct AccessFlags {
  // log2 of the bytes of an element, and elements of a lane: 1, 2, 4 or 8.
  unsigned element_log2 = 2;
  unsigned elements = 1;
  // Loads: the element is signed and is extended to `register_bits`.
  bool is_signed = false;
  unsigned register_bits = 32;
  // The address register has 64 bits.
  bool wide_address = true;
  // Volatile, relaxed, acquire, release: one access of the host that is not torn.
  bool indivisible = false;

  unsigned element_bytes() const { return 1u << element_log2; }
  unsigned bytes() const { return elements << element_log2; }
  uint32_t pack() const {
    return element_log2 | elements << 4 | (is_signed ? 1u << 8 : 0) | (wide_address ? 1u << 9 : 0) |
           (indivisible ? 1u << 10 : 0) | register_bits << 16;
  }
  static AccessFlags unpack(uint32_t flags) {
    AccessFlags result;
    result.element_log2 = flags & 15;
    result.elements = flags >> 4 & 15;
    result.is_signed = flags >> 8 & 1;
    result.wide_address = flags >> 9 & 1;
    result.indivisible = flags >> 10 & 1;
    result.register_bits = flags >> 16;
    return result;
  }
};

enum class AtomicOp : uint8_t { kAdd, kMin, kMax, kInc, kDec, kAnd, kOr, kXor, kExch, kCas };
enum class AtomicType : uint8_t { kU32, kS32, kU64, kS64, kF32, kF64, kF16, kBF16, kF16X2, kBF16X2, kB16 };

// a: addresses; `immediate`: offset; `extra`: a list of the registers, kNoOperand for `_`.
Handler load_handler(StateSpace space);
Handler store_handler(StateSpace space);
// d: the old value or kNoOperand; b, c: operands. `flags`: AtomicOp | AtomicType << 8 | wide address << 16.
Handler atomic_handler(StateSpace space);
uint32_t atomic_flags(AtomicOp op, AtomicType type, bool wide_address);

// a: shared addresses (32- or 64-bit, flag bit 8), b: global addresses (64-bit), c: bytes to read of the
// source or kNoOperand; `flags`: bytes of the copy; `immediate`: offsets, shared in the upper half.
void execute_copy_async(const Record& record, Warp& warp, LaneMask mask);
void execute_copy_commit(const Record& record, Warp& warp, LaneMask mask);
// `extra`: groups that may stay under way; kAllGroups waits for everything, committed or not.
inline constexpr uint32_t kAllGroups = UINT32_MAX;
void execute_copy_wait(const Record& record, Warp& warp, LaneMask mask);

// Local memory of the same thread: `immediate` bytes from offset `extra` to offset `flags`. Arguments of
// calls.
void execute_copy_local(const Record& record, Warp& warp, LaneMask mask);

}  // namespace tenon::emulator
