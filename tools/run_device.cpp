#include "tools/run_device.h"

#include <fmt/format.h>

#include <utility>

#include "emulator/device.h"
#include "runtime/driver.h"

namespace tenon::tools {
namespace {

constexpr std::string_view kDefaultTarget = "sm_80";

bool has_cuda_device() {
  Result<runtime::DriverTable> table = runtime::load_cuda_driver();
  if (!table) return false;
  Result<int> count = runtime::device_count(*table);
  return count && *count > 0;
}

}  // namespace

Result<RunDevice> RunDevice::open(const std::string& name, const Target* wanted) {
  bool cuda = name == "cuda" || (name == "auto" && has_cuda_device());
  return cuda ? open_cuda(wanted) : open_emulator(wanted);
}

Result<RunDevice> RunDevice::open_cuda(const Target* wanted) {
  RunDevice run;
  TENON_TRY_ASSIGN(runtime::DriverTable table, runtime::load_cuda_driver());
  TENON_TRY_ASSIGN(run.device_, runtime::Device::open(table, 0));
  const runtime::DeviceProperties& properties = run.device_->properties();
  run.target_ = wanted != nullptr ? wanted : target_for_capability(properties.capability);
  if (run.target_ == nullptr)
    return fail(ErrorKind::kDevice,
                fmt::format("{} has compute capability {}.{}; Tenon needs 8.0", properties.name,
                            properties.capability / 10, properties.capability % 10));
  const Target* own = target_for_capability(properties.capability);
  // Of a target with its own instructions, code runs on that one alone.
  bool runs = run.target_->name.ends_with('a') ? run.target_->sm == properties.capability
                                               : run.target_->sm <= properties.capability;
  if (!runs && own != nullptr)
    return fail(ErrorKind::kDevice, fmt::format("{} does not run what is compiled for {}; it is an {}",
                                                properties.name, run.target_->name, own->name));
  return run;
}

Result<RunDevice> RunDevice::open_emulator(const Target* wanted) {
  RunDevice run;
  run.target_ = wanted != nullptr ? wanted : target_by_name(kDefaultTarget);
  auto device = std::make_shared<emulator::Device>(emulator::DeviceConfig{.sm = run.target_->sm});
  TENON_TRY_ASSIGN(run.installation_, emulator::Installation::create({device}));
  TENON_TRY_ASSIGN(run.device_, runtime::Device::open(run.installation_->table(), 0));
  return run;
}

std::vector<emulator::LaunchReport> RunDevice::take_reports() {
  if (installation_ == nullptr) return {};
  return installation_->take_reports();
}

}  // namespace tenon::tools
