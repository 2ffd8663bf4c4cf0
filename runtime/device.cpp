#include "runtime/device.h"

#include <fmt/format.h>

#include <array>
#include <utility>

#include "runtime/workspace.h"

namespace tenon::runtime {
namespace {

Error driver_error(const DriverTable& table, CUresult result, std::string_view function,
                   std::string_view purpose) {
  return {ErrorKind::kDevice, fmt::format("{} failed{}{}: {}", function, purpose.empty() ? "" : " ", purpose,
                                          result_text(table, result))};
}

// For calls before there is a context.
Result<void> plain_check(const DriverTable& table, CUresult result, std::string_view function) {
  if (result == kCudaSuccess) return {};
  return std::unexpected(driver_error(table, result, function, ""));
}

Result<int> attribute(const DriverTable& table, CUdevice device, int which) {
  int value = 0;
  TENON_TRY(plain_check(table, table.cuDeviceGetAttribute(&value, which, device), "cuDeviceGetAttribute"));
  return value;
}

Result<DeviceProperties> read_properties(const DriverTable& table, CUdevice device) {
  DeviceProperties properties;
  std::array<char, 256> name{};
  TENON_TRY(plain_check(table, table.cuDeviceGetName(name.data(), static_cast<int>(name.size()) - 1, device),
                        "cuDeviceGetName"));
  properties.name = name.data();
  TENON_TRY_ASSIGN(int major, attribute(table, device, kAttributeCapabilityMajor));
  TENON_TRY_ASSIGN(int minor, attribute(table, device, kAttributeCapabilityMinor));
  properties.capability = static_cast<unsigned>(major * 10 + minor);
  TENON_TRY_ASSIGN(properties.multiprocessors, attribute(table, device, kAttributeMultiprocessorCount));
  TENON_TRY_ASSIGN(properties.max_shared_per_block,
                   attribute(table, device, kAttributeMaxSharedPerBlockOptin));
  TENON_TRY(plain_check(table, table.cuDriverGetVersion(&properties.driver_version), "cuDriverGetVersion"));
  TENON_TRY(plain_check(table, table.cuDeviceTotalMem(&properties.total_memory, device), "cuDeviceTotalMem"));
  return properties;
}

}  // namespace

std::string result_text(const DriverTable& table, CUresult result) {
  const char* name = nullptr;
  if (table.cuGetErrorName(result, &name) != kCudaSuccess || name == nullptr)
    return fmt::format("CUresult {}", result);
  const char* text = nullptr;
  if (table.cuGetErrorString(result, &text) != kCudaSuccess || text == nullptr) return name;
  return fmt::format("{} ({})", name, text);
}

Result<int> device_count(const DriverTable& table) {
  CUresult result = table.cuInit(0);
  if (result == kCudaNoDevice) return 0;
  TENON_TRY(plain_check(table, result, "cuInit"));
  int count = 0;
  TENON_TRY(plain_check(table, table.cuDeviceGetCount(&count), "cuDeviceGetCount"));
  return count;
}

Result<std::shared_ptr<Device>> Device::open(const DriverTable& table, int ordinal) {
  TENON_TRY_ASSIGN(int count, device_count(table));
  if (count == 0) return fail(ErrorKind::kDevice, "the driver finds no device");
  if (ordinal < 0 || ordinal >= count)
    return fail(ErrorKind::kUsage, fmt::format("there is no device {}; the driver finds {} device{}", ordinal,
                                               count, count == 1 ? "" : "s"));
  CUdevice device = 0;
  TENON_TRY(plain_check(table, table.cuDeviceGet(&device, ordinal), "cuDeviceGet"));
  TENON_TRY_ASSIGN(DeviceProperties properties, read_properties(table, device));
  CUcontext context = nullptr;
  TENON_TRY(plain_check(table, table.cuDevicePrimaryCtxRetain(&context, device), "cuDevicePrimaryCtxRetain"));
  std::shared_ptr<Device> result(new Device(table, device, context));
  result->properties_ = std::move(properties);
  return result;
}

Device::Device(const DriverTable& table, CUdevice device, CUcontext context)
    : table_(table), device_(device), context_(context) {}

Device::~Device() {
  arenas_.clear();
  table_.cuDevicePrimaryCtxRelease(device_);
}

Result<void> Device::enter() const {
  CUresult poison = poison_.load();
  if (poison == kCudaSuccess) return {};
  return fail(ErrorKind::kDevice, "the device was lost to an earlier " + result_text(table_, poison));
}

CUresult Device::switch_context(CUcontext* previous) {
  CUresult result = table_.cuCtxGetCurrent(previous);
  if (result != kCudaSuccess || *previous == context_) return result;
  return table_.cuCtxSetCurrent(context_);
}

void Device::restore_context(CUcontext previous) {
  if (previous != context_ && previous != nullptr) table_.cuCtxSetCurrent(previous);
}

std::unexpected<Error> Device::failure(CUresult result, std::string_view function, std::string_view purpose) {
  Error error = driver_error(table_, result, function, purpose);
  CUresult healthy = kCudaSuccess;
  if (is_sticky(result) && poison_.compare_exchange_strong(healthy, result))
    error.message +=
        "\nThe fault may come from any launch before this call. The device's context cannot be used any "
        "more: every "
        "later call on it fails.";
  return std::unexpected(std::move(error));
}

Result<void> Device::copy_to_device(CUdeviceptr to, std::span<const std::byte> from) {
  if (from.empty()) return {};
  return run(
      "cuMemcpyHtoD", [&] { return fmt::format("to copy {} bytes to the device", from.size()); },
      [&](const DriverTable& table) { return table.cuMemcpyHtoD(to, from.data(), from.size()); });
}

Result<void> Device::copy_to_host(std::span<std::byte> to, CUdeviceptr from) {
  if (to.empty()) return {};
  return run(
      "cuMemcpyDtoH", [&] { return fmt::format("to copy {} bytes from the device", to.size()); },
      [&](const DriverTable& table) { return table.cuMemcpyDtoH(to.data(), from, to.size()); });
}

Result<void> Device::fill(CUdeviceptr pointer, unsigned char value, size_t bytes) {
  if (bytes == 0) return {};
  return run(
      "cuMemsetD8", [&] { return fmt::format("to fill {} bytes", bytes); },
      [&](const DriverTable& table) { return table.cuMemsetD8(pointer, value, bytes); });
}

Result<void> Device::synchronize() {
  return run("cuCtxSynchronize", "to wait for the device",
             [](const DriverTable& table) { return table.cuCtxSynchronize(); });
}

WorkspaceArena& Device::arena(CUstream stream) {
  std::lock_guard lock(arenas_mutex_);
  std::unique_ptr<WorkspaceArena>& slot = arenas_[stream];
  if (slot == nullptr) slot = std::make_unique<WorkspaceArena>(*this, stream);
  return *slot;
}

void Device::release_arena(CUstream stream) {
  std::unique_ptr<WorkspaceArena> arena;
  std::lock_guard lock(arenas_mutex_);
  auto found = arenas_.find(stream);
  if (found == arenas_.end()) return;
  arena = std::move(found->second);
  arenas_.erase(found);
}

}  // namespace tenon::runtime
