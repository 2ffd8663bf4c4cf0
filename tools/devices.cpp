#include <fmt/format.h>

#include <memory>
#include <string>
#include <string_view>

#include "emulator/device.h"
#include "emulator/driver_api.h"
#include "runtime/device.h"
#include "runtime/driver.h"
#include "support/targets.h"
#include "tools/command.h"

namespace tenon::tools {
namespace {

constexpr double kGibibyte = 1024.0 * 1024.0 * 1024.0;

std::string driver_version_text(int version) {
  return fmt::format("CUDA {}.{}", version / 1000, version % 1000 / 10);
}

void print_device(const std::string& label, const runtime::DeviceProperties& device) {
  const Target* target = target_for_capability(device.capability);
  fmt::print(
      "{:<10} {}, compute capability {}.{}, {}, {} multiprocessors, {:.1f} GiB, {} bytes of shared memory a "
      "block\n",
      label, device.name, device.capability / 10, device.capability % 10,
      driver_version_text(device.driver_version), device.multiprocessors,
      static_cast<double>(device.total_memory) / kGibibyte, device.max_shared_per_block);
  fmt::print("{:<10} --arch {}\n", "",
             target != nullptr ? target->name : "none: Tenon needs compute capability 8.0");
}

// Prints every device behind the table; returns a failure's text instead of ending, since the others count
// too.
Result<void> print_devices(const runtime::DriverTable& table, std::string_view label) {
  TENON_TRY_ASSIGN(int count, runtime::device_count(table));
  for (int ordinal = 0; ordinal < count; ++ordinal) {
    TENON_TRY_ASSIGN(std::shared_ptr<runtime::Device> device, runtime::Device::open(table, ordinal));
    print_device(count > 1 ? fmt::format("{}:{}", label, ordinal) : std::string(label), device->properties());
  }
  return {};
}

Result<void> print_cuda_devices() {
  TENON_TRY_ASSIGN(runtime::DriverTable table, runtime::load_cuda_driver());
  return print_devices(table, "cuda");
}

Result<void> print_emulated_device() {
  auto device = std::make_shared<emulator::Device>();
  TENON_TRY_ASSIGN(std::unique_ptr<emulator::Installation> installation,
                   emulator::Installation::create({device}));
  return print_devices(installation->table(), "emulator");
}

ExitStatus run_devices() {
  if (Result<void> cuda = print_cuda_devices(); !cuda)
    fmt::print("{:<10} none: {}\n", "cuda", cuda.error().message);
  Result<void> emulated = print_emulated_device();
  return emulated ? kOk : failed(emulated.error());
}

}  // namespace

Command add_devices(CLI::App& parent) {
  CLI::App* app = parent.add_subcommand("devices", "List the devices that programs can run on");
  return {app, run_devices};
}

}  // namespace tenon::tools
