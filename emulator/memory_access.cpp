#include "emulator/memory_access.h"

#include <algorithm>
#include <bit>
#include <cstring>

#include "emulator/memory_request.h"

namespace tenon::emulator {
namespace {

// Copies that another thread may not see half done.
void copy_indivisibly(uint8_t* to, const uint8_t* from, unsigned bytes, bool load) {
  const auto move = [&]<class T>(T) {
    if (load) {
      const T value = __atomic_load_n(reinterpret_cast<const T*>(from), __ATOMIC_ACQUIRE);
      std::memcpy(to, &value, sizeof value);
    } else {
      T value;
      std::memcpy(&value, from, sizeof value);
      __atomic_store_n(reinterpret_cast<T*>(to), value, __ATOMIC_RELEASE);
    }
  };
  switch (bytes) {
    case 1:
      return move(uint8_t{});
    case 2:
      return move(uint16_t{});
    case 4:
      return move(uint32_t{});
    case 8:
      return move(uint64_t{});
    default:
      std::memcpy(to, from, bytes);
  }
}

// One element of every lane, `stride` bytes apart, into lanes of type S.
template <class E, class S>
void spread(const uint8_t* from, size_t stride, S* to, LaneMask mask, S register_mask) {
  for (unsigned lane = 0; lane < kLanes; ++lane) {
    if (mask != kAllLanes && !(mask >> lane & 1)) continue;
    E value;
    std::memcpy(&value, from + lane * stride, sizeof value);
    to[lane] = static_cast<S>(value) & register_mask;
  }
}

// Lane 0's element lies at `from`.
void write_register(Warp& warp, LaneRef ref, const uint8_t* from, size_t stride, const AccessFlags& access,
                    LaneMask mask) {
  if (access.register_bits == 64) {
    auto* to = warp.lanes<uint64_t>(ref);
    constexpr uint64_t kAll = UINT64_MAX;
    switch (access.element_log2 | (access.is_signed ? 16 : 0)) {
      case 0:
        return spread<uint8_t>(from, stride, to, mask, kAll);
      case 1:
        return spread<uint16_t>(from, stride, to, mask, kAll);
      case 2:
        return spread<uint32_t>(from, stride, to, mask, kAll);
      case 16:
        return spread<int8_t>(from, stride, to, mask, kAll);
      case 17:
        return spread<int16_t>(from, stride, to, mask, kAll);
      case 18:
        return spread<int32_t>(from, stride, to, mask, kAll);
      default:
        return spread<uint64_t>(from, stride, to, mask, kAll);
    }
  }
  auto* to = warp.lanes<uint32_t>(ref);
  const uint32_t all = access.register_bits == 32 ? UINT32_MAX : (uint32_t{1} << access.register_bits) - 1;
  switch (access.element_log2 | (access.is_signed ? 16 : 0)) {
    case 0:
      return spread<uint8_t>(from, stride, to, mask, all);
    case 1:
      return spread<uint16_t>(from, stride, to, mask, all);
    case 16:
      return spread<int8_t>(from, stride, to, mask, all);
    case 17:
      return spread<int16_t>(from, stride, to, mask, all);
    default:
      // The stride is known for most loads, which lets the loop be vector code.
      if (stride == 4) return spread<uint32_t>(from, 4, to, mask, all);
      if (stride == 16) return spread<uint32_t>(from, 16, to, mask, all);
      return spread<uint32_t>(from, stride, to, mask, all);
  }
}

// Each lane for itself, `kBytes` of it. False after a fault that stops.
template <StateSpace kSpace, unsigned kBytes>
bool load_each(const Record& record, Warp& warp, const Request& request, uint8_t* buffer) {
  for (LaneMask rest = request.mask; rest != 0; rest &= rest - 1) {
    const auto lane = static_cast<unsigned>(std::countr_zero(rest));
    const uint64_t address = request.addresses[lane];
    Memory memory = locate<kSpace>(warp, lane, address, kBytes);
    if (memory.data == nullptr || address % kBytes != 0 || !all_have(memory.state, kBytes, kReadable)) {
      memory = check_lane<kSpace>(record, warp, lane, address, kBytes, false, true);
      if (memory.data == nullptr) return false;
    }
    std::memcpy(buffer + lane * kBytes, memory.data, kBytes);
  }
  return true;
}

// Calls `use` with the bytes of a lane as a constant.
template <class Use>
decltype(auto) with_lane_bytes(unsigned bytes, Use&& use) {
  switch (bytes) {
    case 1:
      return use(std::integral_constant<unsigned, 1>());
    case 2:
      return use(std::integral_constant<unsigned, 2>());
    case 4:
      return use(std::integral_constant<unsigned, 4>());
    case 8:
      return use(std::integral_constant<unsigned, 8>());
    case 16:
      return use(std::integral_constant<unsigned, 16>());
    case 32:
      return use(std::integral_constant<unsigned, 32>());
    default:
      return use(std::integral_constant<unsigned, kMaxLaneBytes>());
  }
}

template <StateSpace kSpace>
bool load_lanes(const Record& record, Warp& warp, const Request& request, uint8_t* buffer) {
  return with_lane_bytes(request.bytes, [&]<unsigned kBytes>(std::integral_constant<unsigned, kBytes>) {
    return load_each<kSpace, kBytes>(record, warp, request, buffer);
  });
}

template <StateSpace kSpace>
bool load_indivisibly(const Record& record, Warp& warp, const Request& request, const AccessFlags& access,
                      uint8_t* buffer) {
  for (LaneMask rest = request.mask; rest != 0; rest &= rest - 1) {
    const auto lane = static_cast<unsigned>(std::countr_zero(rest));
    const Memory memory =
        check_lane<kSpace>(record, warp, lane, request.addresses[lane], request.bytes, false, true);
    if (memory.data == nullptr) return false;
    for (unsigned e = 0; e < access.elements; ++e) {
      const unsigned offset = e << access.element_log2;
      copy_indivisibly(buffer + lane * request.bytes + offset, memory.data + offset, access.element_bytes(),
                       true);
    }
  }
  return true;
}

template <StateSpace kSpace>
void execute_load(const Record& record, Warp& warp, LaneMask mask) {
  const AccessFlags access = AccessFlags::unpack(record.flags);
  const unsigned bytes = access.bytes();
  Request request;
  read_addresses(request, record, warp, mask, access.wide_address, bytes);
  classify(request);
  count_traffic<kSpace>(record, warp, request, false);

  alignas(64) uint8_t buffer[kLanes * kMaxLaneBytes];
  const uint8_t* lane_zero = buffer;
  size_t stride = bytes;
  bool found = false;
  if (one_range<kSpace>(request) && !access.indivisible) {
    const bool uniform = request.pattern == Pattern::kUniform;
    const uint64_t address = request.addresses[request.first];
    const uint64_t span = uniform ? bytes : uint64_t{request.lanes()} * bytes;
    const Memory memory = locate<kSpace>(warp, request.first, address, span);
    if (memory.data != nullptr && address % bytes == 0 && all_have(memory.state, span, kReadable)) {
      found = true;
      lane_zero = uniform ? memory.data : memory.data - size_t{request.first} * bytes;
      stride = uniform ? 0 : bytes;
    }
  }
  if (!found && access.indivisible) {
    if (!load_indivisibly<kSpace>(record, warp, request, access, buffer)) return;
  } else if (!found) {
    if (!load_lanes<kSpace>(record, warp, request, buffer)) return;
  }
  if (access.indivisible) ++warp.polls;
  const uint32_t* registers = warp.program->lists.data() + record.extra;
  for (unsigned e = 0; e < access.elements; ++e) {
    if (registers[e] == kNoOperand) continue;
    write_register(warp, registers[e], lane_zero + (e << access.element_log2), stride, access, mask);
  }
}

template <class E, class S>
void gather(const S* from, uint8_t* to, size_t stride) {
  for (unsigned lane = 0; lane < kLanes; ++lane) {
    const E value = static_cast<E>(from[lane]);
    std::memcpy(to + lane * stride, &value, sizeof value);
  }
}

void read_register(Warp& warp, LaneRef ref, uint8_t* to, size_t stride, const AccessFlags& access) {
  if (access.register_bits == 64) {
    const auto* from = warp.lanes<uint64_t>(ref);
    switch (access.element_log2) {
      case 0:
        return gather<uint8_t>(from, to, stride);
      case 1:
        return gather<uint16_t>(from, to, stride);
      case 2:
        return gather<uint32_t>(from, to, stride);
      default:
        return gather<uint64_t>(from, to, stride);
    }
  }
  const auto* from = warp.lanes<uint32_t>(ref);
  switch (access.element_log2) {
    case 0:
      return gather<uint8_t>(from, to, stride);
    case 1:
      return gather<uint16_t>(from, to, stride);
    default:
      if (stride == 4) return gather<uint32_t>(from, to, 4);
      return gather<uint32_t>(from, to, stride);
  }
}

template <StateSpace kSpace, unsigned kBytes>
void store_each(const Record& record, Warp& warp, const Request& request, const uint8_t* buffer) {
  for (LaneMask rest = request.mask; rest != 0; rest &= rest - 1) {
    const auto lane = static_cast<unsigned>(std::countr_zero(rest));
    const uint64_t address = request.addresses[lane];
    Memory memory = locate<kSpace>(warp, lane, address, kBytes);
    if (memory.data == nullptr || address % kBytes != 0 || !all_have(memory.state, kBytes, kWritable)) {
      memory = check_lane<kSpace>(record, warp, lane, address, kBytes, true, false);
      if (memory.data == nullptr) return;
    }
    std::memcpy(memory.data, buffer + lane * kBytes, kBytes);
    std::memset(memory.state, kReadable | kWritable, kBytes);
  }
}

template <StateSpace kSpace>
void store_lanes(const Record& record, Warp& warp, const Request& request, const uint8_t* buffer) {
  with_lane_bytes(request.bytes, [&]<unsigned kBytes>(std::integral_constant<unsigned, kBytes>) {
    store_each<kSpace, kBytes>(record, warp, request, buffer);
  });
}

template <StateSpace kSpace>
void store_indivisibly(const Record& record, Warp& warp, const Request& request, const AccessFlags& access,
                       const uint8_t* buffer) {
  for (LaneMask rest = request.mask; rest != 0; rest &= rest - 1) {
    const auto lane = static_cast<unsigned>(std::countr_zero(rest));
    const Memory memory =
        check_lane<kSpace>(record, warp, lane, request.addresses[lane], request.bytes, true, false);
    if (memory.data == nullptr) return;
    for (unsigned e = 0; e < access.elements; ++e) {
      const unsigned offset = e << access.element_log2;
      copy_indivisibly(memory.data + offset, buffer + lane * request.bytes + offset, access.element_bytes(),
                       false);
    }
    std::memset(memory.state, kReadable | kWritable, request.bytes);
  }
}

template <StateSpace kSpace>
void execute_store(const Record& record, Warp& warp, LaneMask mask) {
  const AccessFlags access = AccessFlags::unpack(record.flags);
  const unsigned bytes = access.bytes();
  Request request;
  read_addresses(request, record, warp, mask, access.wide_address, bytes);
  classify(request);
  count_traffic<kSpace>(record, warp, request, true);

  alignas(64) uint8_t buffer[kLanes * kMaxLaneBytes];
  const uint32_t* registers = warp.program->lists.data() + record.extra;
  for (unsigned e = 0; e < access.elements; ++e) {
    read_register(warp, registers[e], buffer + (e << access.element_log2), bytes, access);
  }
  if (request.pattern == Pattern::kContiguous && one_range<kSpace>(request) && !access.indivisible) {
    const uint64_t address = request.addresses[request.first];
    const uint64_t span = uint64_t{request.lanes()} * bytes;
    const Memory memory = locate<kSpace>(warp, request.first, address, span);
    if (memory.data != nullptr && address % bytes == 0 && all_have(memory.state, span, kWritable)) {
      std::memcpy(memory.data, buffer + size_t{request.first} * bytes, span);
      std::memset(memory.state, kReadable | kWritable, span);
      return;
    }
  }
  if (access.indivisible) return store_indivisibly<kSpace>(record, warp, request, access, buffer);
  store_lanes<kSpace>(record, warp, request, buffer);
}

}  // namespace

Handler load_handler(StateSpace space) {
  switch (space) {
    case StateSpace::kGeneric:
      return execute_load<StateSpace::kGeneric>;
    case StateSpace::kGlobal:
      return execute_load<StateSpace::kGlobal>;
    case StateSpace::kShared:
      return execute_load<StateSpace::kShared>;
    case StateSpace::kLocal:
      return execute_load<StateSpace::kLocal>;
    case StateSpace::kConst:
    case StateSpace::kParam:
      return execute_load<StateSpace::kParam>;
  }
  return nullptr;
}

Handler store_handler(StateSpace space) {
  switch (space) {
    case StateSpace::kGeneric:
      return execute_store<StateSpace::kGeneric>;
    case StateSpace::kGlobal:
      return execute_store<StateSpace::kGlobal>;
    case StateSpace::kShared:
      return execute_store<StateSpace::kShared>;
    case StateSpace::kLocal:
      return execute_store<StateSpace::kLocal>;
    case StateSpace::kConst:
    case StateSpace::kParam:
      return execute_store<StateSpace::kParam>;
  }
  return nullptr;
}

void execute_copy_local(const Record& record, Warp& warp, LaneMask mask) {
  for (; mask != 0; mask &= mask - 1) {
    const unsigned thread = warp.thread_of(static_cast<unsigned>(std::countr_zero(mask)));
    const Memory from = warp.block->local(thread, record.extra, record.immediate);
    const Memory to = warp.block->local(thread, record.flags, record.immediate);
    std::memcpy(to.data, from.data, record.immediate);
    std::memcpy(to.state, from.state, record.immediate);
  }
}

}  // namespace tenon::emulator
