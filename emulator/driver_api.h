// The emulated devices behind the functions of the CUDA driver API, so that the same host code runs on them.
#pragma once

#include <cstdint>
#include <memory>
#include <string>
#include <vector>

#include "emulator/device.h"
#include "emulator/report.h"
#include "runtime/driver.h"
#include "support/result.h"

namespace tenon::emulator {

class DriverState;

// Makes devices reachable through a driver table while it lives. The functions of the table are plain C
// functions that find the devices through one process-wide slot, so at most one installation lives at a time;
// it must outlive every use of the table.
//
// The table behaves as the CUDA driver does: handles are checked, a launch whose kernel faults succeeds, and
// every later call on its context gives the fault's code (700 for an illegal address, 716, 702, ...) until
// the context is released. A refused launch fails at once and leaves the context usable.
class Installation {
 public:
  static Result<std::unique_ptr<Installation>> create(std::vector<std::shared_ptr<Device>> devices);
  ~Installation();
  Installation(const Installation&) = delete;
  Installation& operator=(const Installation&) = delete;

  const runtime::DriverTable& table() const { return table_; }
  Device& device(size_t ordinal);

  // The reports of launches since the last call, oldest first; at most kMaxReports, the oldest are dropped.
  static constexpr size_t kMaxReports = 1024;
  std::vector<LaunchReport> take_reports();
  // Why the last function failed, in words: the text behind the CUresult. Empty if none has failed.
  std::string last_error();

 private:
  explicit Installation(std::unique_ptr<DriverState> state);

  std::unique_ptr<DriverState> state_;
  runtime::DriverTable table_;
};

}  // namespace tenon::emulator
