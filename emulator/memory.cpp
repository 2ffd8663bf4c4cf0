#include "emulator/memory.h"

#include <fmt/format.h>
#include <sys/mman.h>

#include <algorithm>
#include <cstring>

#include "support/check.h"

namespace tenon::emulator {
namespace {

uint64_t round_up(uint64_t value, uint64_t step) { return (value + step - 1) / step * step; }

uint8_t* reserve(uint64_t bytes) {
  void* pages =
      mmap(nullptr, bytes, PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS | MAP_NORESERVE, -1, 0);
  return pages == MAP_FAILED ? nullptr : static_cast<uint8_t*>(pages);
}

}  // namespace

GlobalMemory::GlobalMemory(uint64_t limit) : limit_(limit), next_(kGlobalWindow + kRedzone) {
  size_ = round_up(2 * limit + (uint64_t{1} << 24), uint64_t{1} << 21);
  data_ = reserve(size_);
  state_ = reserve(size_);
  if (data_ == nullptr || state_ == nullptr) give_up();
}

GlobalMemory::~GlobalMemory() { give_up(); }

void GlobalMemory::give_up() {
  if (data_ != nullptr) munmap(data_, size_);
  if (state_ != nullptr) munmap(state_, size_);
  data_ = state_ = nullptr;
  size_ = 0;
}

Result<DeviceAddress> GlobalMemory::allocate(uint64_t bytes, std::string name, bool read_only) {
  if (size_ == 0)
    return fail(ErrorKind::kDevice, "out of device memory: this process gets no address space for it");
  if (bytes > limit_ || live_bytes_ + bytes > limit_) {
    return fail(ErrorKind::kDevice, fmt::format("out of device memory: {} bytes wanted, {} of {} in use",
                                                bytes, live_bytes_, limit_));
  }
  const uint64_t span = round_up(std::max<uint64_t>(bytes, 1), kAlignment) + kRedzone;
  DeviceAddress address = 0;
  if (!make_room(span, address)) {
    return fail(ErrorKind::kDevice, fmt::format("out of device memory: no room for {} bytes", bytes));
  }
  std::memset(state(address), kWritable, bytes);
  live_bytes_ += bytes;
  allocations_[address] = Allocation{next_id_++, address, bytes, true, read_only, std::move(name)};
  return address;
}

// New memory comes from behind everything; when that is used up, freed allocations are given up, the oldest
// first, until a gap is large enough.
bool GlobalMemory::make_room(uint64_t span, DeviceAddress& address) {
  const DeviceAddress end = kGlobalWindow + size_;
  if (end - next_ >= span) {
    address = next_;
    next_ += span;
    return true;
  }
  while (true) {
    DeviceAddress gap = kGlobalWindow + kRedzone;
    for (const auto& [start, allocation] : allocations_) {
      if (start >= gap && start - gap >= span) break;
      gap = start + round_up(std::max<uint64_t>(allocation.bytes, 1), kAlignment) + kRedzone;
    }
    if (end - gap >= span) {
      address = gap;
      next_ = std::max(next_, gap + span);
      return true;
    }
    if (freed_.empty()) return false;
    allocations_.erase(freed_.front());
    freed_.erase(freed_.begin());
  }
}

Result<void> GlobalMemory::free(DeviceAddress address) {
  const auto found = allocations_.find(address);
  if (found == allocations_.end() || !found->second.live) {
    return fail(ErrorKind::kDevice,
                fmt::format("free of {:#x}, {}", address,
                            found == allocations_.end() ? describe(address, 1) : "which is freed already"));
  }
  Allocation& allocation = found->second;
  allocation.live = false;
  live_bytes_ -= allocation.bytes;
  std::memset(state(address), 0, allocation.bytes);
  // Whole pages go back to the machine.
  const auto begin = round_up(reinterpret_cast<uintptr_t>(data(address)), 4096);
  const auto end = reinterpret_cast<uintptr_t>(data(address) + allocation.bytes) / 4096 * 4096;
  if (end > begin) madvise(reinterpret_cast<void*>(begin), end - begin, MADV_DONTNEED);
  freed_.push_back(address);
  return {};
}

const Allocation* GlobalMemory::find(DeviceAddress address) const {
  auto after = allocations_.upper_bound(address);
  if (after == allocations_.begin()) return nullptr;
  const Allocation& allocation = std::prev(after)->second;
  return address - allocation.address < allocation.bytes ? &allocation : nullptr;
}

const Allocation* GlobalMemory::covering(DeviceAddress address, uint64_t bytes) const {
  const Allocation* allocation = find(address);
  if (allocation == nullptr || !allocation->live) return nullptr;
  return bytes <= allocation->bytes - (address - allocation->address) ? allocation : nullptr;
}

std::string GlobalMemory::describe(DeviceAddress address, uint64_t bytes) const {
  const auto text = [](const Allocation& a) {
    return fmt::format("{}allocation {}{} ({} bytes at {:#x})", a.live ? "" : "freed ", a.id,
                       a.name.empty() ? "" : fmt::format(" '{}'", a.name), a.bytes, a.address);
  };
  auto after = allocations_.upper_bound(address);
  const Allocation* below = after == allocations_.begin() ? nullptr : &std::prev(after)->second;
  const Allocation* above = after == allocations_.end() ? nullptr : &after->second;
  if (below != nullptr && address < below->address + below->bytes) {
    const uint64_t left = below->address + below->bytes - address;
    return bytes <= left ? fmt::format("at byte {} of {}", address - below->address, text(*below))
                         : fmt::format("across the end of {}", text(*below));
  }
  const uint64_t past = below == nullptr ? UINT64_MAX : address - (below->address + below->bytes);
  const uint64_t before = above == nullptr ? UINT64_MAX : above->address - address;
  constexpr uint64_t kNear = uint64_t{1} << 30;
  if (past <= before && past < kNear) return fmt::format("{} bytes beyond the end of {}", past, text(*below));
  if (before < kNear) return fmt::format("{} bytes before the start of {}", before, text(*above));
  return "near no allocation";
}

Result<void> GlobalMemory::write(DeviceAddress to, const void* from, uint64_t bytes) {
  if (bytes == 0) return {};
  if (covering(to, bytes) == nullptr) {
    return fail(ErrorKind::kDevice,
                fmt::format("copy of {} bytes to {:#x}, {}", bytes, to, describe(to, bytes)));
  }
  initialise(to, from, bytes);
  return {};
}

void GlobalMemory::initialise(DeviceAddress to, const void* from, uint64_t bytes) {
  std::memcpy(data(to), from, bytes);
  const Allocation* allocation = find(to);
  const bool read_only = allocation != nullptr && allocation->read_only;
  std::memset(state(to), read_only ? kReadable : kReadable | kWritable, bytes);
}

Result<void> GlobalMemory::read(void* to, DeviceAddress from, uint64_t bytes) const {
  if (bytes == 0) return {};
  if (covering(from, bytes) == nullptr) {
    return fail(ErrorKind::kDevice,
                fmt::format("copy of {} bytes from {:#x}, {}", bytes, from, describe(from, bytes)));
  }
  std::memcpy(to, data(from), bytes);
  return {};
}

Result<void> GlobalMemory::copy(DeviceAddress to, DeviceAddress from, uint64_t bytes) {
  if (bytes == 0) return {};
  if (covering(from, bytes) == nullptr || covering(to, bytes) == nullptr) {
    const DeviceAddress bad = covering(from, bytes) == nullptr ? from : to;
    return fail(ErrorKind::kDevice, fmt::format("copy of {} bytes from {:#x} to {:#x}: {:#x} is {}", bytes,
                                                from, to, bad, describe(bad, bytes)));
  }
  std::memmove(data(to), data(from), bytes);
  // What was never written stays so in the copy.
  std::memmove(state(to), state(from), bytes);
  for (uint64_t i = 0; i < bytes; ++i) state(to)[i] |= kWritable;
  return {};
}

Result<void> GlobalMemory::set(DeviceAddress to, uint8_t value, uint64_t bytes) {
  if (bytes == 0) return {};
  if (covering(to, bytes) == nullptr) {
    return fail(ErrorKind::kDevice,
                fmt::format("memset of {} bytes at {:#x}, {}", bytes, to, describe(to, bytes)));
  }
  std::memset(data(to), value, bytes);
  std::memset(state(to), kReadable | kWritable, bytes);
  return {};
}

std::vector<Allocation> GlobalMemory::live_allocations() const {
  std::vector<Allocation> live;
  for (const auto& [address, allocation] : allocations_) {
    if (allocation.live) live.push_back(allocation);
  }
  return live;
}

}  // namespace tenon::emulator
