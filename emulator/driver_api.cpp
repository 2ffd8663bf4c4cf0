#include "emulator/driver_api.h"

#include <atomic>

#include "emulator/driver_state.h"

namespace tenon::emulator {
namespace {

// The one slot through which C functions without a closure find their devices; owned by an Installation.
std::atomic<DriverState*> installed = nullptr;

}  // namespace

DriverState* installed_state() { return installed.load(); }

bool install_state(DriverState* state) {
  DriverState* expected = nullptr;
  return installed.compare_exchange_strong(expected, state);
}

void uninstall_state() { installed.store(nullptr); }

Installation::Installation(std::unique_ptr<DriverState> state) : state_(std::move(state)) {
#define TENON_DRIVER_FUNCTION(name, symbol, parameters) table_.name = entry_points::name;
#include "runtime/driver_api.def"
}

Installation::~Installation() { uninstall_state(); }

Result<std::unique_ptr<Installation>> Installation::create(std::vector<std::shared_ptr<Device>> devices) {
  if (devices.empty()) return fail(ErrorKind::kUsage, "an installation needs at least one device");
  auto state = std::make_unique<DriverState>(std::move(devices));
  if (!install_state(state.get())) return fail(ErrorKind::kUsage, "emulated devices are installed already");
  return std::unique_ptr<Installation>(new Installation(std::move(state)));
}

Device& Installation::device(size_t ordinal) { return *state_->devices.at(ordinal); }

std::vector<LaunchReport> Installation::take_reports() {
  const std::lock_guard lock(state_->mutex);
  return std::exchange(state_->reports, {});
}

std::string Installation::last_error() {
  const std::lock_guard lock(state_->mutex);
  return state_->last_error;
}

}  // namespace tenon::emulator
