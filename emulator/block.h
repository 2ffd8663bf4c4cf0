// Executes blocks of a launch one after the other, on one host thread: shared and local memory, barriers,
// warps.
#pragma once

#include <array>
#include <atomic>
#include <chrono>
#include <cstdint>
#include <mutex>
#include <string>
#include <vector>

#include "emulator/aligned_bytes.h"
#include "emulator/memory.h"
#include "emulator/program.h"
#include "emulator/report.h"
#include "emulator/warp.h"

namespace tenon::emulator {

inline constexpr uint32_t kBarriers = 16;

// What all host threads of a launch share.
struct Launch {
  const Program* program = nullptr;
  GlobalMemory* global = nullptr;
  std::array<uint32_t, 3> grid = {1, 1, 1};
  std::array<uint32_t, 3> block = {1, 1, 1};
  uint64_t dynamic_shared_bytes = 0;
  unsigned multiprocessors = 1;
  uint64_t grid_id = 0;
  bool check_initialised = true;
  bool count_memory = true;
  uint64_t step_limit = UINT64_MAX;
  std::chrono::steady_clock::time_point deadline;

  std::atomic<uint64_t> next_block = 0;
  std::atomic<uint64_t> steps = 0;
  std::atomic<bool> stop = false;

  void report(Fault fault);

  std::mutex mutex;
  std::vector<Fault> faults;
  // Instructions that have reported a fault that does not stop: each reports once.
  std::vector<std::pair<FaultKind, uint32_t>> reported;
  uint64_t more_faults = 0;
};

// Data and state bytes of a range; null data where there is none.
struct Memory {
  uint8_t* data = nullptr;
  uint8_t* state = nullptr;
};

class Block {
 public:
  explicit Block(Launch& launch);

  // Runs the block with this linear index in the grid.
  void run(uint64_t block_index);

  Launch& launch() { return launch_; }
  const std::vector<Counters>& counters() const { return counters_; }
  Counters* counters_data() { return counters_.data(); }
  std::array<uint32_t, 3> block_index() const { return block_index_; }
  std::array<uint32_t, 3> thread_index(unsigned thread) const;
  uint64_t linear_block_index() const { return linear_block_index_; }
  uint32_t warp_count() const { return static_cast<uint32_t>(warps_.size()); }
  uint64_t shared_bytes() const { return shared_size_; }

  // The range [address, address + bytes) of a space, wholly inside it. Shared and local addresses are
  // offsets.
  Memory global(DeviceAddress address, uint64_t bytes) {
    if (!launch_.global->contains(address, bytes)) return {};
    return {launch_.global->data(address), launch_.global->state(address)};
  }
  Memory shared(uint64_t offset, uint64_t bytes) {
    if (offset >= shared_size_ || bytes > shared_size_ - offset) return {};
    return {shared_data_.data() + offset, shared_state_.data() + offset};
  }
  Memory local(unsigned thread, uint64_t offset, uint64_t bytes) {
    if (offset >= local_size_ || bytes > local_size_ - offset) return {};
    return {local_data_.data() + thread * local_size_ + offset,
            local_state_.data() + thread * local_size_ + offset};
  }
  // A generic address of a thread, in whatever window it lies.
  Memory generic(unsigned thread, DeviceAddress address, uint64_t bytes);
  std::string describe(StateSpace space, uint64_t address, uint64_t bytes) const;

  // Lanes of a warp arrive at a barrier. `expected` is a number of threads, 0 for all of the block. Returns
  // false after a fault. Completes the barrier when everybody has come.
  bool arrive(Warp& warp, const Record& record, LaneMask mask, uint32_t barrier, uint32_t expected,
              bool waits);
  // Barriers that were only short of the lanes that have exited.
  void lanes_exited();

 private:
  struct Barrier {
    uint32_t arrived = 0;
    uint32_t expected = 0;
    // Arrived lanes of each warp.
    std::vector<LaneMask> lanes;
    // bar.red: over the threads that have arrived.
    uint32_t count = 0;
    bool all = true;
    bool any = false;
  };

  void reset(uint64_t block_index);
  bool complete(const Barrier& barrier) const;
  void finish_barrier(uint32_t index);
  void report_deadlock();
  bool within_limits(uint64_t steps);

  Launch& launch_;
  const Program& program_;
  uint32_t threads_;
  std::vector<Counters> counters_;
  AlignedBytes registers_;
  uint64_t warp_bytes_ = 0;
  std::vector<uint8_t> shared_data_;
  std::vector<uint8_t> shared_state_;
  uint64_t shared_size_ = 0;
  std::vector<uint8_t> local_data_;
  std::vector<uint8_t> local_state_;
  uint64_t local_size_ = 0;
  std::vector<Warp> warps_;
  std::array<Barrier, kBarriers> barriers_;
  std::array<uint32_t, 3> block_index_ = {0, 0, 0};
  uint64_t linear_block_index_ = 0;
};

}  // namespace tenon::emulator
