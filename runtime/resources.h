// What a device hands out: memory, streams, events, modules. Each is owned by one object, moves, frees
// itself, and keeps its device alive.
#pragma once

#include <cstddef>
#include <memory>
#include <string>
#include <utility>

#include "runtime/device.h"

namespace tenon::runtime {

// A driver handle and the device it is of. `Traits::release(table, handle)` gives it back.
template <class Handle, class Traits>
class Owned {
 public:
  Owned() = default;
  Owned(std::shared_ptr<Device> device, Handle handle) : device_(std::move(device)), handle_(handle) {}
  Owned(Owned&& other) noexcept
      : device_(std::move(other.device_)), handle_(std::exchange(other.handle_, Handle{})) {}
  Owned& operator=(Owned&& other) noexcept {
    std::swap(device_, other.device_);
    std::swap(handle_, other.handle_);
    return *this;
  }
  ~Owned() {
    if (handle_ != Handle{}) Traits::release(*device_, handle_);
  }

  Handle get() const { return handle_; }
  Device& device() const { return *device_; }

 private:
  std::shared_ptr<Device> device_;
  Handle handle_ = Handle{};
};

struct BufferTraits {
  static void release(Device& device, CUdeviceptr pointer);
};
struct StreamTraits {
  static void release(Device& device, CUstream stream);
};
struct EventTraits {
  static void release(Device& device, CUevent event);
};
struct ModuleTraits {
  static void release(Device& device, CUmodule module);
};

// Device memory; not initialised. A buffer of 0 bytes has address 0.
class Buffer {
 public:
  Buffer() = default;
  static Result<Buffer> allocate(Device& device, size_t bytes);

  CUdeviceptr address() const { return memory_.get(); }
  size_t size() const { return bytes_; }

 private:
  Owned<CUdeviceptr, BufferTraits> memory_;
  size_t bytes_ = 0;
};

class Stream {
 public:
  // A stream that does not wait for the null stream.
  static Result<Stream> create(Device& device);

  CUstream get() const { return stream_.get(); }
  // Waits for the work enqueued so far; a fault in it comes back here.
  Result<void> synchronize();

 private:
  Owned<CUstream, StreamTraits> stream_;
};

class Event {
 public:
  static Result<Event> create(Device& device);

  CUevent get() const { return event_.get(); }
  Result<void> record(CUstream stream);
  Result<void> synchronize();
  // Milliseconds from `start` to this event; both must have been reached.
  Result<float> milliseconds_since(const Event& start);

 private:
  Owned<CUevent, EventTraits> event_;
};

class Module {
 public:
  Module() = default;
  // Compiles PTX text for the device. `what` names it in messages; the Error holds the JIT compiler's log.
  static Result<Module> load(Device& device, const std::string& ptx, std::string_view what);

  Result<CUfunction> function(const std::string& entry) const;

 private:
  Owned<CUmodule, ModuleTraits> module_;
};

}  // namespace tenon::runtime
