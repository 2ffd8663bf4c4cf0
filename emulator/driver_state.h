// What stands behind the handles of the driver functions.
#pragma once

#include <chrono>
#include <cstdint>
#include <map>
#include <memory>
#include <mutex>
#include <string>
#include <utility>
#include <vector>

#include "emulator/device.h"
#include "runtime/driver_types.h"

namespace tenon::emulator {

struct DriverContext {
  size_t ordinal = 0;
  unsigned references = 0;
  // The code that every call gives after a fault.
  runtime::CUresult sticky = runtime::kCudaSuccess;
};

struct DriverFunction {
  uint64_t module = 0;
  const Program* kernel = nullptr;
  uint64_t dynamic_shared_limit = 0;
};

struct DriverEvent {
  bool recorded = false;
  std::chrono::steady_clock::time_point time;
};

// Handles are numbers, never addresses: a stale one is noticed. The functions hold `mutex`.
class DriverState {
 public:
  explicit DriverState(std::vector<std::shared_ptr<Device>> devices)
      : devices(std::move(devices)), contexts(this->devices.size()) {
    for (size_t i = 0; i < contexts.size(); ++i) contexts[i].ordinal = i;
  }

  uint64_t new_handle() { return next_handle_ += 16; }

  std::mutex mutex;
  bool initialised = false;
  std::vector<std::shared_ptr<Device>> devices;
  // The primary context of each device.
  std::vector<DriverContext> contexts;
  std::map<uint64_t, std::pair<size_t, std::shared_ptr<Module>>> modules;
  std::map<uint64_t, DriverFunction> functions;
  std::map<uint64_t, size_t> streams;
  std::map<uint64_t, DriverEvent> events;
  std::vector<LaunchReport> reports;
  std::string last_error;

 private:
  uint64_t next_handle_ = 0x1000;
};

// The state that the driver functions use; null while nothing is installed.
DriverState* installed_state();
// False if one is installed already.
bool install_state(DriverState* state);
void uninstall_state();

// Fills a table with the functions of driver_entry_points.cpp.
namespace entry_points {
#define TENON_DRIVER_FUNCTION(name, symbol, parameters) runtime::CUresult name parameters;
using namespace runtime;
#include "runtime/driver_api.def"
}  // namespace entry_points

}  // namespace tenon::emulator
