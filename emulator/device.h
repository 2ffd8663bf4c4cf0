// The emulated CUDA device: memory, modules, launches. See report.h for what a launch tells.
#pragma once

#include <array>
#include <cstdint>
#include <memory>
#include <mutex>
#include <optional>
#include <span>
#include <string>
#include <string_view>
#include <vector>

#include "emulator/lane_ops.h"
#include "emulator/memory.h"
#include "emulator/module.h"
#include "emulator/program.h"
#include "emulator/report.h"
#include "support/result.h"

namespace tenon::emulator {

struct DeviceConfig {
  // Compute capability: 80, 86, 89, 90, ...
  unsigned sm = 80;
  // Host threads that run blocks; 0: one a core.
  unsigned threads = 0;
  uint64_t memory_bytes = uint64_t{4} << 30;
  // Warp instructions and seconds of one launch.
  uint64_t step_limit = uint64_t{20'000'000'000};
  double time_limit_seconds = 600;
  uint64_t module_bytes_limit = uint64_t{64} << 20;
  // Bounds and alignment are always checked.
  bool check_initialised = true;
  // Sectors and wavefronts; bytes and instructions are always counted.
  bool count_memory = true;
  // Null: the best of this machine.
  std::optional<InstructionSet> instruction_set;
};

struct LaunchRequest {
  std::array<uint32_t, 3> grid = {1, 1, 1};
  std::array<uint32_t, 3> block = {1, 1, 1};
  uint64_t dynamic_shared_bytes = 0;
  // Each points to the value of one parameter, in order.
  std::span<const void* const> arguments;
};

// Calls may come from several threads; launches run one after the other.
class Device {
 public:
  explicit Device(DeviceConfig config = {});

  const DeviceConfig& config() const { return config_; }
  unsigned multiprocessors() const { return multiprocessors_; }
  // The most shared memory of one block.
  uint64_t shared_bytes_per_block() const { return shared_per_block_; }

  Result<DeviceAddress> allocate(uint64_t bytes, std::string name = {});
  Result<void> free(DeviceAddress address);
  Result<void> write(DeviceAddress to, const void* from, uint64_t bytes);
  Result<void> read(void* to, DeviceAddress from, uint64_t bytes);
  Result<void> copy(DeviceAddress to, DeviceAddress from, uint64_t bytes);
  Result<void> set(DeviceAddress to, uint8_t value, uint64_t bytes);
  // What nobody has freed, modules' variables included.
  std::vector<Allocation> live_allocations();
  uint64_t free_bytes();

  Result<std::shared_ptr<Module>> load_module(std::string ptx);

  // Runs a kernel to its end. An Error says that the launch was refused (kRefused: arguments, sizes) and did
  // not start; faults of the kernel are in the report.
  Result<LaunchReport> launch(const Program& kernel, const LaunchRequest& request);

 private:
  Result<void> check_request(const Program& kernel, const LaunchRequest& request) const;
  void write_parameters(const Program& kernel, const LaunchRequest& request);

  DeviceConfig config_;
  unsigned multiprocessors_ = 1;
  uint64_t shared_per_block_ = 0;
  std::mutex mutex_;
  std::shared_ptr<GlobalMemory> memory_;
  // 0 where the process gets no memory for the device: then nothing is launched.
  DeviceAddress parameter_address_ = 0;
  uint64_t launches_ = 0;
};

}  // namespace tenon::emulator
