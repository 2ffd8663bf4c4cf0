// What the handlers of memory instructions share: the request of a warp, its checks and its counters.
#pragma once

#include <bit>
#include <cstdint>
#include <cstring>

#include "emulator/block.h"
#include "emulator/memory_access.h"
#include "emulator/traffic.h"
#include "emulator/warp.h"

namespace tenon::emulator {

inline constexpr unsigned kMaxLaneBytes = 64;

// How the active lanes' addresses lie.
enum class Pattern : uint8_t { kAny, kUniform, kContiguous };

// One request of a warp.
struct Request {
  alignas(64) uint64_t addresses[kLanes];
  LaneMask mask = 0;
  unsigned bytes = 0;
  unsigned first = 0;
  unsigned last = 0;
  Pattern pattern = Pattern::kAny;

  // Lanes from the first active to the last.
  unsigned lanes() const { return last - first + 1; }
};

inline void read_addresses(Request& request, const Record& record, Warp& warp, LaneMask mask, bool wide,
                           unsigned bytes) {
  if (wide) {
    const auto* base = warp.lanes<uint64_t>(record.a);
    for (unsigned lane = 0; lane < kLanes; ++lane) request.addresses[lane] = base[lane] + record.immediate;
  } else {
    const auto* base = warp.lanes<uint32_t>(record.a);
    for (unsigned lane = 0; lane < kLanes; ++lane) {
      request.addresses[lane] = static_cast<uint32_t>(base[lane] + record.immediate);
    }
  }
  request.mask = mask;
  request.bytes = bytes;
  request.first = static_cast<unsigned>(std::countr_zero(mask));
  request.last = kLanes - 1 - static_cast<unsigned>(std::countl_zero(mask));
}

inline void classify(Request& request) {
  const uint64_t origin = request.addresses[request.first] - uint64_t{request.first} * request.bytes;
  uint64_t uniform = 0;
  uint64_t contiguous = 0;
  for (unsigned lane = 0; lane < kLanes; ++lane) {
    const uint64_t relevant = request.mask >> lane & 1 ? ~uint64_t{0} : 0;
    uniform |= (request.addresses[lane] ^ request.addresses[request.first]) & relevant;
    contiguous |= (request.addresses[lane] ^ (origin + uint64_t{lane} * request.bytes)) & relevant;
  }
  const bool dense = static_cast<unsigned>(std::popcount(request.mask)) == request.lanes();
  if (uniform == 0) {
    request.pattern = Pattern::kUniform;
  } else if (contiguous == 0 && dense) {
    request.pattern = Pattern::kContiguous;
  }
}

inline bool all_have(const uint8_t* state, uint64_t bytes, uint8_t bit) {
  if (bytes == 4) {
    const uint32_t four = 0x01010101u * bit;
    uint32_t word = 0;
    std::memcpy(&word, state, 4);
    return (word & four) == four;
  }
  const uint64_t wanted = 0x0101010101010101 * bit;
  uint64_t common = wanted;
  uint64_t i = 0;
  for (; i + 8 <= bytes; i += 8) {
    uint64_t word = 0;
    std::memcpy(&word, state + i, 8);
    common &= word;
  }
  for (; i < bytes; ++i) common &= (state[i] & bit) != 0 ? wanted : 0;
  return common == wanted;
}

template <StateSpace kSpace>
Memory locate(Warp& warp, unsigned lane, uint64_t address, uint64_t bytes) {
  Block& block = *warp.block;
  if constexpr (kSpace == StateSpace::kShared) return block.shared(address, bytes);
  if constexpr (kSpace == StateSpace::kLocal) return block.local(warp.thread_of(lane), address, bytes);
  if constexpr (kSpace == StateSpace::kGeneric) return block.generic(warp.thread_of(lane), address, bytes);
  return block.global(address, bytes);
}

// Lanes far apart in local memory are never contiguous.
template <StateSpace kSpace>
bool one_range(const Request& request) {
  if constexpr (kSpace == StateSpace::kLocal) return request.mask == LaneMask{1} << request.first;
  if constexpr (kSpace == StateSpace::kGeneric) {
    if (request.addresses[request.first] - kLocalWindow < kWindowBytes) {
      return request.mask == LaneMask{1} << request.first;
    }
  }
  return request.pattern != Pattern::kAny;
}

// Equal or contiguous addresses: no two words of a group share a bank, and a group's bytes are one wavefront.
// Lanes narrower than a bank may begin inside one, and those wider than 16 bytes form groups of their own;
// they are counted.
inline Wavefronts regular_wavefronts(const Request& request) {
  const bool dense = static_cast<unsigned>(std::popcount(request.mask)) == request.lanes();
  if (!dense || request.bytes < 4 || request.bytes > 16) {
    return count_wavefronts(request.addresses, request.mask, request.bytes);
  }
  const unsigned group_lanes = 128 / request.bytes;
  const uint64_t groups = request.last / group_lanes - request.first / group_lanes + 1;
  return {groups, groups};
}

template <StateSpace kSpace>
void count_traffic(const Record& record, Warp& warp, const Request& request, bool write) {
  if constexpr (kSpace == StateSpace::kLocal || kSpace == StateSpace::kParam || kSpace == StateSpace::kConst)
    return;
  Counters& counters = warp.counters(record);
  LaneMask global = kSpace == StateSpace::kGlobal ? request.mask : 0;
  LaneMask shared = kSpace == StateSpace::kShared ? request.mask : 0;
  if constexpr (kSpace == StateSpace::kGeneric) {
    for (unsigned lane = 0; lane < kLanes; ++lane) {
      const LaneMask bit = request.mask & LaneMask{1} << lane;
      if (request.addresses[lane] >= kGlobalWindow) {
        global |= bit;
      } else if (request.addresses[lane] < kLocalWindow) {
        shared |= bit;
      }
    }
  }
  const bool detail = warp.block->launch().count_memory;
  if (global != 0) {
    const uint64_t bytes = static_cast<uint64_t>(std::popcount(global)) * request.bytes;
    (write ? counters.global_bytes_written : counters.global_bytes_read) += bytes;
    if (detail && request.pattern == Pattern::kContiguous) {
      const uint64_t begin = request.addresses[request.first];
      counters.global_sectors += (begin + bytes - 1) / kSectorBytes - begin / kSectorBytes + 1;
      counters.least_global_sectors += (bytes + kSectorBytes - 1) / kSectorBytes;
    } else if (detail) {
      const Sectors sectors = count_sectors(request.addresses, global, request.bytes);
      counters.global_sectors += sectors.touched;
      counters.least_global_sectors += sectors.least;
    }
  }
  if (shared != 0) {
    counters.shared_bytes += static_cast<uint64_t>(std::popcount(shared)) * request.bytes;
    if (!detail) return;
    const bool regular = request.pattern != Pattern::kAny && shared == request.mask;
    const Wavefronts wavefronts =
        regular ? regular_wavefronts(request) : count_wavefronts(request.addresses, shared, request.bytes);
    counters.shared_wavefronts += wavefronts.needed;
    counters.ideal_shared_wavefronts += wavefronts.ideal;
  }
}

// Checks one lane; null data after a fault that stops.
template <StateSpace kSpace>
Memory check_lane(const Record& record, Warp& warp, unsigned lane, uint64_t address, unsigned bytes,
                  bool write, bool read) {
  if (address % bytes != 0) {
    warp.fault(FaultKind::kMisaligned, record, lane, address, bytes,
               warp.block->describe(kSpace, address, bytes));
    return {};
  }
  const Memory memory = locate<kSpace>(warp, lane, address, bytes);
  bool mapped = memory.data != nullptr;
  bool writable = mapped;
  bool readable = mapped;
  bool pending = false;
  for (unsigned i = 0; mapped && i < bytes; ++i) {
    mapped &= (memory.state[i] & (kReadable | kWritable)) != 0;
    writable &= (memory.state[i] & kWritable) != 0;
    readable &= (memory.state[i] & kReadable) != 0;
    pending |= (memory.state[i] & kAsyncPending) != 0;
  }
  if (!mapped || (write && !writable)) {
    warp.fault(mapped ? FaultKind::kReadOnly : FaultKind::kOutOfBounds, record, lane, address, bytes,
               warp.block->describe(kSpace, address, bytes));
    return {};
  }
  if (read && !readable && warp.block->launch().check_initialised) {
    warp.fault(pending ? FaultKind::kAsyncPending : FaultKind::kUninitialised, record, lane, address, bytes,
               warp.block->describe(kSpace, address, bytes));
  }
  return memory;
}

}  // namespace tenon::emulator
