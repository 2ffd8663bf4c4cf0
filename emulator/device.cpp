#include "emulator/device.h"

#include <fmt/format.h>

#include <algorithm>
#include <chrono>
#include <cstring>
#include <thread>

#include "emulator/block.h"
#include "support/check.h"
#include "support/targets.h"

namespace tenon::emulator {
namespace {

constexpr uint64_t kParameterBytes = 32768;
constexpr uint32_t kMaxThreadsPerBlock = 1024;
constexpr std::array<uint32_t, 3> kMaxBlock = {1024, 1024, 64};
constexpr std::array<uint32_t, 3> kMaxGrid = {2147483647, 65535, 65535};

uint64_t volume(const std::array<uint32_t, 3>& extents) {
  return uint64_t{extents[0]} * extents[1] * extents[2];
}

std::string text(const std::array<uint32_t, 3>& extents) {
  return fmt::format("({}, {}, {})", extents[0], extents[1], extents[2]);
}

// Runs the launch's blocks until none is left or something stops it.
void run_blocks(Launch& launch, Block& block, uint64_t blocks) {
  while (!launch.stop) {
    const uint64_t next = launch.next_block.fetch_add(1);
    if (next >= blocks) return;
    block.run(next);
  }
}

LaunchReport make_report(const Program& kernel, Launch& launch,
                         const std::vector<std::unique_ptr<Block>>& workers) {
  LaunchReport report;
  report.kernel = kernel.name;
  report.grid = launch.grid;
  report.block = launch.block;
  report.dynamic_shared_bytes = launch.dynamic_shared_bytes;
  for (size_t i = 0; i < kernel.instructions.size(); ++i) {
    InstructionReport row{kernel.instructions[i], {}};
    for (const auto& worker : workers) row.counters += worker->counters()[i];
    report.total += row.counters;
    report.by_class[static_cast<size_t>(row.info.instruction_class)] += row.counters;
    report.instructions.push_back(std::move(row));
  }
  report.faults = std::move(launch.faults);
  // Threads report in no fixed order.
  std::sort(report.faults.begin(), report.faults.end(), [](const Fault& a, const Fault& b) {
    return std::tuple(a.line, a.kind, a.block, a.thread) < std::tuple(b.line, b.kind, b.block, b.thread);
  });
  report.more_faults = launch.more_faults;
  return report;
}

}  // namespace

Device::Device(DeviceConfig config) : config_(config) {
  const Target* target = target_for_capability(std::max(config_.sm, 80u));
  TENON_CHECK(target != nullptr, "no target for the emulated device");
  multiprocessors_ = target->multiprocessors;
  shared_per_block_ = target->shared_per_block;
  memory_ = std::make_shared<GlobalMemory>(config_.memory_bytes);
  parameter_address_ = memory_->allocate(kParameterBytes, "kernel parameters", true).value_or(0);
}

Result<DeviceAddress> Device::allocate(uint64_t bytes, std::string name) {
  const std::lock_guard lock(mutex_);
  return memory_->allocate(bytes, std::move(name));
}
Result<void> Device::free(DeviceAddress address) {
  const std::lock_guard lock(mutex_);
  return memory_->free(address);
}
Result<void> Device::write(DeviceAddress to, const void* from, uint64_t bytes) {
  const std::lock_guard lock(mutex_);
  return memory_->write(to, from, bytes);
}
Result<void> Device::read(void* to, DeviceAddress from, uint64_t bytes) {
  const std::lock_guard lock(mutex_);
  return memory_->read(to, from, bytes);
}
Result<void> Device::copy(DeviceAddress to, DeviceAddress from, uint64_t bytes) {
  const std::lock_guard lock(mutex_);
  return memory_->copy(to, from, bytes);
}
Result<void> Device::set(DeviceAddress to, uint8_t value, uint64_t bytes) {
  const std::lock_guard lock(mutex_);
  return memory_->set(to, value, bytes);
}

std::vector<Allocation> Device::live_allocations() {
  const std::lock_guard lock(mutex_);
  std::vector<Allocation> live = memory_->live_allocations();
  std::erase_if(live, [&](const Allocation& allocation) { return allocation.address == parameter_address_; });
  return live;
}

uint64_t Device::free_bytes() {
  const std::lock_guard lock(mutex_);
  return memory_->limit() - memory_->live_bytes();
}

Result<std::shared_ptr<Module>> Device::load_module(std::string ptx) {
  if (ptx.size() > config_.module_bytes_limit) {
    return fail(ErrorKind::kDevice, fmt::format("the module has {} bytes, the limit is {}", ptx.size(),
                                                config_.module_bytes_limit));
  }
  const std::lock_guard lock(mutex_);
  return Module::load(std::move(ptx), config_.sm, memory_, parameter_address_,
                      config_.instruction_set.value_or(best_instruction_set()));
}

Result<void> Device::check_request(const Program& kernel, const LaunchRequest& request) const {
  const auto refuse = [&](std::string why) {
    return fail(ErrorKind::kRefused, fmt::format("launch of '{}' refused: {}", kernel.name, why));
  };
  for (size_t i = 0; i < 3; ++i) {
    if (request.grid[i] == 0 || request.grid[i] > kMaxGrid[i]) return refuse("grid " + text(request.grid));
    if (request.block[i] == 0 || request.block[i] > kMaxBlock[i])
      return refuse("block " + text(request.block));
  }
  if (volume(request.block) > kMaxThreadsPerBlock) {
    return refuse(fmt::format("block {} has more than {} threads", text(request.block), kMaxThreadsPerBlock));
  }
  if (kernel.required_threads[0] != 0 && kernel.required_threads != request.block) {
    return refuse(fmt::format("block {} where .reqntid asks for {}", text(request.block),
                              text(kernel.required_threads)));
  }
  if (kernel.max_threads[0] != 0 && volume(request.block) > volume(kernel.max_threads)) {
    return refuse(
        fmt::format("block {} where .maxntid allows {}", text(request.block), text(kernel.max_threads)));
  }
  if (request.dynamic_shared_bytes + kernel.static_shared_bytes > shared_per_block_) {
    return refuse(fmt::format("{} bytes of static and {} of dynamic shared memory, a block has {}",
                              kernel.static_shared_bytes, request.dynamic_shared_bytes, shared_per_block_));
  }
  if (request.arguments.size() != kernel.parameters.size()) {
    return refuse(
        fmt::format("{} arguments for {} parameters", request.arguments.size(), kernel.parameters.size()));
  }
  return {};
}

void Device::write_parameters(const Program& kernel, const LaunchRequest& request) {
  std::memset(memory_->state(parameter_address_), 0, kParameterBytes);
  for (size_t i = 0; i < kernel.parameters.size(); ++i) {
    const PlacedVariable& parameter = kernel.parameters[i];
    memory_->initialise(parameter_address_ + parameter.offset, request.arguments[i], parameter.bytes);
  }
}

Result<LaunchReport> Device::launch(const Program& kernel, const LaunchRequest& request) {
  if (parameter_address_ == 0)
    return fail(ErrorKind::kDevice, "out of device memory: there is none for parameters");
  TENON_TRY(check_request(kernel, request));
  const std::lock_guard lock(mutex_);
  write_parameters(kernel, request);
  Launch launch;
  launch.program = &kernel;
  launch.global = memory_.get();
  launch.grid = request.grid;
  launch.block = request.block;
  launch.dynamic_shared_bytes = request.dynamic_shared_bytes;
  launch.multiprocessors = multiprocessors_;
  launch.grid_id = ++launches_;
  launch.check_initialised = config_.check_initialised;
  launch.count_memory = config_.count_memory;
  launch.step_limit = config_.step_limit;
  const auto start = std::chrono::steady_clock::now();
  launch.deadline = start + std::chrono::duration_cast<std::chrono::steady_clock::duration>(
                                std::chrono::duration<double>(config_.time_limit_seconds));

  const uint64_t blocks = volume(request.grid);
  const unsigned cores =
      config_.threads != 0 ? config_.threads : std::max(1u, std::thread::hardware_concurrency());
  std::vector<std::unique_ptr<Block>> workers;
  for (uint64_t i = 0; i < std::min<uint64_t>(cores, blocks); ++i)
    workers.push_back(std::make_unique<Block>(launch));
  {
    std::vector<std::jthread> threads;
    for (size_t i = 1; i < workers.size(); ++i) {
      threads.emplace_back([&launch, &workers, i, blocks] { run_blocks(launch, *workers[i], blocks); });
    }
    run_blocks(launch, *workers[0], blocks);
  }
  LaunchReport report = make_report(kernel, launch, workers);
  report.seconds = std::chrono::duration<double>(std::chrono::steady_clock::now() - start).count();
  return report;
}

}  // namespace tenon::emulator
