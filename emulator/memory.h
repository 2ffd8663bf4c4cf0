// The device's global memory: one arena, and for each of its bytes a state byte. Allocations lie apart; freed
// ones are kept aside, so that a stale pointer is noticed. Constants and kernel parameters live here too.
#pragma once

#include <cstdint>
#include <map>
#include <string>
#include <vector>

#include "support/result.h"

namespace tenon::emulator {

// What may be done with a byte; 0: nothing.
inline constexpr uint8_t kWritable = 1;
inline constexpr uint8_t kReadable = 2;      // written, or constant
inline constexpr uint8_t kAsyncPending = 4;  // an asynchronous copy into it is under way

using DeviceAddress = uint64_t;

// Generic addresses: three windows. Below the shared one nothing is valid.
inline constexpr DeviceAddress kSharedWindow = 0x1'0000'0000;
inline constexpr DeviceAddress kLocalWindow = 0x2'0000'0000;
inline constexpr DeviceAddress kGlobalWindow = 0x10'0000'0000;
inline constexpr uint64_t kWindowBytes = 0x1'0000'0000;

struct Allocation {
  uint64_t id = 0;
  DeviceAddress address = 0;
  uint64_t bytes = 0;
  bool live = true;
  bool read_only = false;
  // What it is, where that is known: the variable's name.
  std::string name;
};

class GlobalMemory {
 public:
  static constexpr uint64_t kAlignment = 256;
  static constexpr uint64_t kRedzone = 256;

  // Reserves address space for `limit` bytes of live allocations and as much for freed ones. Where the
  // process may not have it, every allocation fails.
  explicit GlobalMemory(uint64_t limit);
  ~GlobalMemory();
  GlobalMemory(const GlobalMemory&) = delete;
  GlobalMemory& operator=(const GlobalMemory&) = delete;

  Result<DeviceAddress> allocate(uint64_t bytes, std::string name = {}, bool read_only = false);
  Result<void> free(DeviceAddress address);
  // Copies between host and device check bounds, also against redzones.
  Result<void> write(DeviceAddress to, const void* from, uint64_t bytes);
  Result<void> read(void* to, DeviceAddress from, uint64_t bytes) const;
  Result<void> copy(DeviceAddress to, DeviceAddress from, uint64_t bytes);
  Result<void> set(DeviceAddress to, uint8_t value, uint64_t bytes);
  // As `write`, for memory that the device may only read.
  void initialise(DeviceAddress to, const void* from, uint64_t bytes);

  // The range lies in the arena; says nothing about allocations.
  bool contains(DeviceAddress address, uint64_t bytes) const {
    return address - kGlobalWindow < size_ && bytes <= size_ - (address - kGlobalWindow);
  }
  uint8_t* data(DeviceAddress address) const { return data_ + (address - kGlobalWindow); }
  uint8_t* state(DeviceAddress address) const { return state_ + (address - kGlobalWindow); }

  // "4 bytes beyond the end of allocation 3 (1024 bytes at 0x1000000100)": the nearest allocation.
  std::string describe(DeviceAddress address, uint64_t bytes) const;
  const Allocation* find(DeviceAddress address) const;
  std::vector<Allocation> live_allocations() const;
  uint64_t live_bytes() const { return live_bytes_; }
  uint64_t limit() const { return limit_; }

 private:
  const Allocation* covering(DeviceAddress address, uint64_t bytes) const;
  bool make_room(uint64_t span, DeviceAddress& address);
  void give_up();

  uint64_t limit_;
  uint64_t size_ = 0;
  uint8_t* data_ = nullptr;
  uint8_t* state_ = nullptr;
  DeviceAddress next_;
  uint64_t next_id_ = 1;
  uint64_t live_bytes_ = 0;
  std::map<DeviceAddress, Allocation> allocations_;
  // Addresses of freed allocations, oldest first.
  std::vector<DeviceAddress> freed_;
};

}  // namespace tenon::emulator
