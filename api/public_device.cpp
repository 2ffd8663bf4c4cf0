#include "api/public_device.h"

#include <fmt/format.h>

#include <span>
#include <string_view>
#include <utility>
#include <vector>

#include "api/public_convert.h"
#include "emulator/device.h"
#include "emulator/driver_api.h"
#include "runtime/driver.h"
#include "support/targets.h"

namespace tenon {
namespace {

using runtime::CUstream;
using runtime::DriverTable;

// Emulated devices, one for each target in the table's order. The driver's C functions find them through one
// slot, so there is one installation a process; it stays to the end, because hosts may keep devices that
// long.
const Result<std::unique_ptr<emulator::Installation>>& emulated_devices() {
  auto install = [] {
    std::vector<std::shared_ptr<emulator::Device>> devices;
    for (const Target& target : targets())
      devices.push_back(
          std::make_shared<emulator::Device>(emulator::DeviceConfig{.sm = target.sm, .instruction_set = {}}));
    return new Result<std::unique_ptr<emulator::Installation>>(
        emulator::Installation::create(std::move(devices)));
  };
  static const auto* const installation = install();
  return *installation;
}

bool has_cuda_device() {
  Result<DriverTable> table = runtime::load_cuda_driver();
  if (!table) return false;
  Result<int> count = runtime::device_count(*table);
  return count && *count > 0;
}

Result<Device> open_cuda(int ordinal) {
  auto impl = std::make_shared<Device::Impl>();
  TENON_TRY_ASSIGN(DriverTable table, runtime::load_cuda_driver());
  TENON_TRY_ASSIGN(impl->device, runtime::Device::open(table, ordinal));
  const runtime::DeviceProperties& properties = impl->device->properties();
  const Target* target = target_for_capability(properties.capability);
  if (target == nullptr)
    return fail(ErrorKind::kDevice,
                fmt::format("{} has compute capability {}.{}; Tenon needs 8.0", properties.name,
                            properties.capability / 10, properties.capability % 10));
  impl->target = target->name;
  return Device(std::move(impl));
}

Result<Device> open_emulated(std::string_view name) {
  const Target* target = target_by_name(name);
  if (target == nullptr) return fail(ErrorKind::kUsage, fmt::format("there is no target `{}`", name));
  const auto& installation = emulated_devices();
  if (!installation) return std::unexpected(installation.error());
  auto impl = std::make_shared<Device::Impl>();
  auto ordinal = static_cast<int>(target - targets().data());
  TENON_TRY_ASSIGN(impl->device, runtime::Device::open((*installation)->table(), ordinal));
  impl->target = target->name;
  impl->emulated = true;
  return Device(std::move(impl));
}

CUstream stream_of(void* stream) { return static_cast<CUstream>(stream); }

}  // namespace

Device::Device(std::shared_ptr<Impl> impl) : impl_(std::move(impl)) {}

Expected<Device> Device::open() {
  return api::expected(has_cuda_device() ? open_cuda(0) : open_emulated("sm_80"));
}

Expected<Device> Device::cuda(int ordinal) { return api::expected(open_cuda(ordinal)); }

Expected<Device> Device::emulated(std::string_view target) { return api::expected(open_emulated(target)); }

const std::shared_ptr<Device::Impl>& Device::impl() const { return impl_; }

const std::string& Device::name() const { return impl_->device->properties().name; }

const std::string& Device::target() const { return impl_->target; }

bool Device::is_emulated() const { return impl_->emulated; }

Expected<uint64_t> Device::allocate(size_t bytes) {
  uint64_t address = 0;
  if (bytes == 0) return address;
  Result<void> done = impl_->device->run(
      "cuMemAlloc", [&] { return fmt::format("to allocate {} bytes", bytes); },
      [&](const DriverTable& table) { return table.cuMemAlloc(&address, bytes); });
  if (!done) return api::failure(std::move(done).error());
  return address;
}

Status Device::release(uint64_t address) {
  if (address == 0) return std::monostate();
  return api::status(impl_->device->run("cuMemFree", "to free memory",
                                        [&](const DriverTable& table) { return table.cuMemFree(address); }));
}

Status Device::copy_to_device(uint64_t to, const void* from, size_t bytes) {
  return api::status(impl_->device->copy_to_device(to, {static_cast<const std::byte*>(from), bytes}));
}

Status Device::copy_to_host(void* to, uint64_t from, size_t bytes) {
  return api::status(impl_->device->copy_to_host({static_cast<std::byte*>(to), bytes}, from));
}

Status Device::synchronize() { return api::status(impl_->device->synchronize()); }

std::vector<std::string> Device::take_faults() {
  std::vector<std::string> faults;
  if (!impl_->emulated) return faults;
  for (const emulator::LaunchReport& report : (*emulated_devices())->take_reports())
    for (const emulator::Fault& fault : report.faults) faults.push_back(emulator::render_text(fault));
  return faults;
}

Expected<void*> Device::create_stream() {
  // CU_STREAM_NON_BLOCKING.
  constexpr unsigned kNonBlocking = 1;
  CUstream stream = nullptr;
  Result<void> done = impl_->device->run("cuStreamCreate", "", [&](const DriverTable& table) {
    return table.cuStreamCreate(&stream, kNonBlocking);
  });
  if (!done) return api::failure(std::move(done).error());
  return static_cast<void*>(stream);
}

Status Device::destroy_stream(void* stream) {
  impl_->device->release_arena(stream_of(stream));
  return api::status(impl_->device->run("cuStreamDestroy", "", [&](const DriverTable& table) {
    return table.cuStreamDestroy(stream_of(stream));
  }));
}

void Device::release_workspace(void* stream) { impl_->device->release_arena(stream_of(stream)); }

}  // namespace tenon
