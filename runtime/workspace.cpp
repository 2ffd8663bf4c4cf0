#include "runtime/workspace.h"

#include <fmt/format.h>

#include <string>
#include <utility>

#include "runtime/device.h"

namespace tenon::runtime {

WorkspaceArena::~WorkspaceArena() {
  if (address_ != 0) device_.release([](const DriverTable& table) { return table.cuCtxSynchronize(); });
  free();
}

Result<WorkspaceLease> WorkspaceArena::lease(size_t bytes) {
  WorkspaceLease lease{std::unique_lock(mutex_)};
  if (bytes == 0) return lease;
  if (bytes > bytes_) TENON_TRY(grow(bytes));
  lease.address = address_;
  return lease;
}

Result<void> WorkspaceArena::grow(size_t bytes) {
  if (address_ != 0)
    TENON_TRY(device_.run("cuStreamSynchronize", "before growing the workspace",
                          [&](const DriverTable& table) { return table.cuStreamSynchronize(stream_); }));
  free();
  TENON_TRY(device_.run(
      "cuMemAlloc", [&] { return fmt::format("to get a workspace of {} bytes", bytes); },
      [&](const DriverTable& table) { return table.cuMemAlloc(&address_, bytes); }));
  bytes_ = bytes;
  return {};
}

void WorkspaceArena::free() {
  if (address_ != 0) device_.release([&](const DriverTable& table) { return table.cuMemFree(address_); });
  address_ = 0;
  bytes_ = 0;
}

}  // namespace tenon::runtime
