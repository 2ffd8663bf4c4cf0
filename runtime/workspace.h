// Scratch memory of launches: one growing buffer a stream, so that launches on one stream share it in order
// and launches on different streams never do.
#pragma once

#include <cstddef>
#include <mutex>

#include "runtime/driver_types.h"
#include "support/result.h"

namespace tenon::runtime {

class Device;

// The right to use an arena's memory for the launches that are enqueued while it lives. Nobody else can
// enqueue work on that memory in between.
struct WorkspaceLease {
  std::unique_lock<std::mutex> lock;
  // A multiple of kWorkspaceAlignment; 0 where 0 bytes were asked for.
  CUdeviceptr address = 0;
};

class WorkspaceArena {
 public:
  // `device` owns the arena.
  WorkspaceArena(Device& device, CUstream stream) : device_(device), stream_(stream) {}
  // Waits for the device, since the stream may be gone already.
  ~WorkspaceArena();
  WorkspaceArena(const WorkspaceArena&) = delete;
  WorkspaceArena& operator=(const WorkspaceArena&) = delete;

  // At least `bytes` bytes, not initialised. Growing waits for the stream first.
  Result<WorkspaceLease> lease(size_t bytes);

 private:
  Result<void> grow(size_t bytes);
  void free();

  Device& device_;
  const CUstream stream_;
  std::mutex mutex_;
  CUdeviceptr address_ = 0;
  size_t bytes_ = 0;
};

}  // namespace tenon::runtime
