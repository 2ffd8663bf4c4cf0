// The device of a run: a GPU, or the emulated one.
#pragma once

#include <memory>
#include <string>
#include <vector>

#include "emulator/driver_api.h"
#include "emulator/report.h"
#include "runtime/device.h"
#include "support/result.h"
#include "support/targets.h"

namespace tenon::tools {

class RunDevice {
 public:
  // `name` is auto (a GPU if there is one), cuda or emulator. `wanted` is the target to compile for; null
  // takes the device's, and sm_80 for the emulated one.
  static Result<RunDevice> open(const std::string& name, const Target* wanted);

  const std::shared_ptr<runtime::Device>& device() const { return device_; }
  const Target& target() const { return *target_; }
  bool emulated() const { return installation_ != nullptr; }
  // The reports of launches since the last call; none from a GPU.
  std::vector<emulator::LaunchReport> take_reports();

 private:
  RunDevice() = default;
  static Result<RunDevice> open_cuda(const Target* wanted);
  static Result<RunDevice> open_emulator(const Target* wanted);

  // The device uses the installation's functions until it is closed, so it goes first.
  std::unique_ptr<emulator::Installation> installation_;
  std::shared_ptr<runtime::Device> device_;
  const Target* target_ = nullptr;
};

}  // namespace tenon::tools
