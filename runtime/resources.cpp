#include "runtime/resources.h"

#include <fmt/format.h>

#include <array>

namespace tenon::runtime {
namespace {

// CU_STREAM_NON_BLOCKING.
constexpr unsigned kNonBlocking = 1;

// The logs that the JIT compiler writes while it loads a module.
class JitLog {
 public:
  std::array<int, 4> options = {kJitErrorLogBuffer, kJitErrorLogBufferBytes, kJitInfoLogBuffer,
                                kJitInfoLogBufferBytes};
  // The driver takes a size in the place of the pointer, and writes back there. One byte stays for the end of
  // the text.
  std::array<void*, 4> values() {
    void* size = reinterpret_cast<void*>(uintptr_t{kBytes - 1});
    return {error_.data(), size, info_.data(), size};
  }

  // What was written, errors first; empty if nothing was.
  std::string text() const {
    std::string text = error_.data();
    if (!text.empty() && info_[0] != 0) text += '\n';
    text += info_.data();
    while (text.ends_with('\n')) text.pop_back();
    return text;
  }

 private:
  static constexpr size_t kBytes = 16384;
  std::array<char, kBytes> error_{};
  std::array<char, kBytes> info_{};
};

}  // namespace

void BufferTraits::release(Device& device, CUdeviceptr pointer) {
  device.release([&](const DriverTable& table) { return table.cuMemFree(pointer); });
}
void StreamTraits::release(Device& device, CUstream stream) {
  device.release_arena(stream);
  device.release([&](const DriverTable& table) { return table.cuStreamDestroy(stream); });
}
void EventTraits::release(Device& device, CUevent event) {
  device.release([&](const DriverTable& table) { return table.cuEventDestroy(event); });
}
void ModuleTraits::release(Device& device, CUmodule module) {
  device.release([&](const DriverTable& table) { return table.cuModuleUnload(module); });
}

Result<Buffer> Buffer::allocate(Device& device, size_t bytes) {
  Buffer buffer;
  if (bytes == 0) return buffer;
  CUdeviceptr pointer = 0;
  TENON_TRY(device.run(
      "cuMemAlloc", [&] { return fmt::format("to allocate {} bytes", bytes); },
      [&](const DriverTable& table) { return table.cuMemAlloc(&pointer, bytes); }));
  buffer.memory_ = {device.shared_from_this(), pointer};
  buffer.bytes_ = bytes;
  return buffer;
}

Result<Stream> Stream::create(Device& device) {
  CUstream handle = nullptr;
  TENON_TRY(device.run("cuStreamCreate", "", [&](const DriverTable& table) {
    return table.cuStreamCreate(&handle, kNonBlocking);
  }));
  Stream stream;
  stream.stream_ = {device.shared_from_this(), handle};
  return stream;
}

Result<void> Stream::synchronize() {
  return stream_.device().run("cuStreamSynchronize", "to wait for a stream", [&](const DriverTable& table) {
    return table.cuStreamSynchronize(stream_.get());
  });
}

Result<Event> Event::create(Device& device) {
  CUevent handle = nullptr;
  TENON_TRY(device.run("cuEventCreate", "",
                       [&](const DriverTable& table) { return table.cuEventCreate(&handle, 0); }));
  Event event;
  event.event_ = {device.shared_from_this(), handle};
  return event;
}

Result<void> Event::record(CUstream stream) {
  return event_.device().run("cuEventRecord", "", [&](const DriverTable& table) {
    return table.cuEventRecord(event_.get(), stream);
  });
}

Result<void> Event::synchronize() {
  return event_.device().run("cuEventSynchronize", "to wait for an event", [&](const DriverTable& table) {
    return table.cuEventSynchronize(event_.get());
  });
}

Result<float> Event::milliseconds_since(const Event& start) {
  float milliseconds = 0;
  TENON_TRY(event_.device().run("cuEventElapsedTime", "", [&](const DriverTable& table) {
    return table.cuEventElapsedTime(&milliseconds, start.get(), event_.get());
  }));
  return milliseconds;
}

Result<Module> Module::load(Device& device, const std::string& ptx, std::string_view what) {
  JitLog log;
  std::array<void*, 4> values = log.values();
  CUmodule handle = nullptr;
  Result<void> loaded =
      device.run("cuModuleLoadDataEx", fmt::format("to load {}", what), [&](const DriverTable& table) {
        return table.cuModuleLoadDataEx(&handle, ptx.c_str(), static_cast<unsigned>(log.options.size()),
                                        log.options.data(), values.data());
      });
  if (!loaded) {
    Error error = std::move(loaded).error();
    if (std::string text = log.text(); !text.empty()) error.message += "\n" + text;
    return std::unexpected(std::move(error));
  }
  Module module;
  module.module_ = {device.shared_from_this(), handle};
  return module;
}

Result<CUfunction> Module::function(const std::string& entry) const {
  CUfunction function = nullptr;
  TENON_TRY(module_.device().run(
      "cuModuleGetFunction", [&] { return fmt::format("to find entry '{}'", entry); },
      [&](const DriverTable& table) {
        return table.cuModuleGetFunction(&function, module_.get(), entry.c_str());
      }));
  return function;
}

}  // namespace tenon::runtime
