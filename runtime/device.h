// One device, opened on a driver table: its context, its memory, its properties, and what its failures mean.
#pragma once

#include <atomic>
#include <cstddef>
#include <map>
#include <memory>
#include <mutex>
#include <span>
#include <string>
#include <string_view>
#include <type_traits>

#include "runtime/driver.h"
#include "runtime/driver_types.h"
#include "support/result.h"

namespace tenon::runtime {

class WorkspaceArena;

struct DeviceProperties {
  std::string name;
  // Compute capability as in targets.def: major * 10 + minor.
  unsigned capability = 0;
  // As cuDriverGetVersion gives it: 12040 for CUDA 12.4.
  int driver_version = 0;
  int multiprocessors = 0;
  // Bytes of shared memory that a block may ask for, after cuFuncSetAttribute.
  int max_shared_per_block = 0;
  // Bytes.
  size_t total_memory = 0;
};

// The number of devices behind a table.
Result<int> device_count(const DriverTable& table);

// Thread-safe. Buffers, streams, events and modules keep their device alive.
class Device : public std::enable_shared_from_this<Device> {
 public:
  // Opens the primary context of device `ordinal`. Fails with kUsage for an ordinal that does not exist, else
  // kDevice.
  static Result<std::shared_ptr<Device>> open(const DriverTable& table, int ordinal);
  ~Device();
  Device(const Device&) = delete;
  Device& operator=(const Device&) = delete;

  const DeviceProperties& properties() const { return properties_; }
  const DriverTable& table() const { return table_; }

  // Synchronous copies and fills on the null stream. Sizes in bytes.
  Result<void> copy_to_device(CUdeviceptr to, std::span<const std::byte> from);
  Result<void> copy_to_host(std::span<std::byte> to, CUdeviceptr from);
  Result<void> fill(CUdeviceptr pointer, unsigned char value, size_t bytes);
  // Waits for everything in the context.
  Result<void> synchronize();

  // Runs a driver call in this device's context, and turns its result into an Error of kind kDevice that
  // names the call, what it was for, and the CUresult. A sticky error poisons the context: that error says
  // so, and from then on every call fails at once without reaching the driver. `call` is invoked with the
  // table. `purpose` is a text, or a function that makes one on failure: "to allocate 100 bytes".
  template <class Purpose, class Call>
  Result<void> run(std::string_view function, Purpose&& purpose, Call&& call) {
    TENON_TRY(enter());
    CUcontext previous = nullptr;
    CUresult result = switch_context(&previous);
    if (result == kCudaSuccess) result = call(table_);
    restore_context(previous);
    if (result == kCudaSuccess) return {};
    if constexpr (std::is_invocable_v<Purpose>) {
      return failure(result, function, purpose());
    } else {
      return failure(result, function, purpose);
    }
  }

  // For destructors: the call is made if the context still works, and its result is of no interest.
  template <class Call>
  void release(Call&& call) {
    if (poison_.load() != kCudaSuccess) return;
    CUcontext previous = nullptr;
    if (switch_context(&previous) == kCudaSuccess) call(table_);
    restore_context(previous);
  }

  // The scratch memory of launches on `stream`; made on first use. See workspace.h.
  WorkspaceArena& arena(CUstream stream);
  // Frees it. Call before a stream of your own is destroyed; the wrapper Stream does.
  void release_arena(CUstream stream);

  // The first sticky error of this context, kCudaSuccess while it works.
  CUresult poison() const { return poison_.load(); }

 private:
  Device(const DriverTable& table, CUdevice device, CUcontext context);

  Result<void> enter() const;
  CUresult switch_context(CUcontext* previous);
  // Gives a host application its own context back. A thread that had none keeps ours, which saves a call each
  // time.
  void restore_context(CUcontext previous);
  std::unexpected<Error> failure(CUresult result, std::string_view function, std::string_view purpose);

  const DriverTable table_;
  const CUdevice device_;
  const CUcontext context_;
  DeviceProperties properties_;
  std::atomic<CUresult> poison_ = kCudaSuccess;
  std::mutex arenas_mutex_;
  // Looked up by stream, never walked.
  std::map<CUstream, std::unique_ptr<WorkspaceArena>> arenas_;
};

// "CUDA_ERROR_OUT_OF_MEMORY (out of memory)", or "CUresult 1234" for a code that the driver does not know.
std::string result_text(const DriverTable& table, CUresult result);

}  // namespace tenon::runtime
