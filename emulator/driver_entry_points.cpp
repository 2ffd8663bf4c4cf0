// The driver functions on emulated devices. Streams run at once, so every wait is over when it begins.
#include <fmt/format.h>

#include <algorithm>
#include <cstring>

#include "emulator/driver_api.h"
#include "emulator/driver_state.h"

namespace tenon::emulator::entry_points {
namespace {

constexpr uint64_t kDefaultDynamicShared = 49152;
constexpr int kDriverVersion = 13000;

// The calling thread's context: an ordinal plus one, 0 for none.
thread_local size_t current_context = 0;

CUcontext context_handle(size_t ordinal) { return reinterpret_cast<CUcontext>(ordinal + 1); }

template <class T>
uint64_t number(T handle) {
  return reinterpret_cast<uint64_t>(handle);
}

// One call: holds the lock, and finds what the function needs.
class Call {
 public:
  explicit Call(bool needs_initialised = true) : state_(installed_state()) {
    if (state_ == nullptr) {
      code_ = kCudaNoDevice;
      return;
    }
    lock_ = std::unique_lock(state_->mutex);
    if (needs_initialised && !state_->initialised) code_ = kCudaNotInitialized;
  }

  // The current context; sets the code of the call where there is none or it is poisoned.
  DriverContext* context() {
    if (code_ != kCudaSuccess) return nullptr;
    if (current_context == 0 || current_context > state_->contexts.size()) {
      fail(kCudaInvalidContext, "no context is current");
      return nullptr;
    }
    DriverContext& context = state_->contexts[current_context - 1];
    if (context.references == 0) {
      fail(kCudaInvalidContext, "the context was released");
      return nullptr;
    }
    code_ = context.sticky;
    return code_ == kCudaSuccess ? &context : nullptr;
  }
  Device& device(const DriverContext& context) { return *state_->devices[context.ordinal]; }
  bool valid_device(CUdevice device) {
    if (code_ != kCudaSuccess) return false;
    if (device >= 0 && static_cast<size_t>(device) < state_->devices.size()) return true;
    fail(kCudaInvalidDevice, "no such device");
    return false;
  }

  CUresult fail(CUresult code, std::string message) {
    if (state_ != nullptr) state_->last_error = std::move(message);
    return code_ = code;
  }
  // The code for a failed operation of the device.
  template <class T>
  CUresult finish(const Result<T>& result, CUresult code) {
    return result ? kCudaSuccess : fail(code, result.error().message);
  }

  DriverState& state() { return *state_; }
  CUresult code() const { return code_; }

 private:
  DriverState* state_;
  std::unique_lock<std::mutex> lock_;
  CUresult code_ = kCudaSuccess;
};

}  // namespace

CUresult cuInit(unsigned flags) {
  Call call(false);
  if (call.code() != kCudaSuccess) return call.code();
  if (flags != 0) return call.fail(kCudaInvalidValue, "the flags of cuInit must be 0");
  call.state().initialised = true;
  return kCudaSuccess;
}

CUresult cuDriverGetVersion(int* version) {
  if (version == nullptr) return kCudaInvalidValue;
  *version = kDriverVersion;
  return kCudaSuccess;
}

CUresult cuDeviceGetCount(int* count) {
  Call call;
  if (call.code() != kCudaSuccess) return call.code();
  if (count == nullptr) return call.fail(kCudaInvalidValue, "null pointer");
  *count = static_cast<int>(call.state().devices.size());
  return kCudaSuccess;
}

CUresult cuDeviceGet(CUdevice* device, int ordinal) {
  Call call;
  if (!call.valid_device(ordinal)) return call.code();
  if (device == nullptr) return call.fail(kCudaInvalidValue, "null pointer");
  *device = ordinal;
  return kCudaSuccess;
}

CUresult cuDeviceGetName(char* name, int length, CUdevice device) {
  Call call;
  if (!call.valid_device(device)) return call.code();
  if (name == nullptr || length <= 0) return call.fail(kCudaInvalidValue, "no room for the name");
  const std::string text = fmt::format("Tenon emulated device (sm_{})",
                                       call.state().devices[static_cast<size_t>(device)]->config().sm);
  const size_t copied = std::min(text.size(), static_cast<size_t>(length) - 1);
  std::memcpy(name, text.data(), copied);
  name[copied] = '\0';
  return kCudaSuccess;
}

CUresult cuDeviceGetAttribute(int* value, int attribute, CUdevice device) {
  Call call;
  if (!call.valid_device(device)) return call.code();
  if (value == nullptr) return call.fail(kCudaInvalidValue, "null pointer");
  const Device& emulated = *call.state().devices[static_cast<size_t>(device)];
  switch (attribute) {
    case kAttributeMaxSharedPerBlock:
      *value = kDefaultDynamicShared;
      break;
    case kAttributeWarpSize:
      *value = kLanes;
      break;
    case kAttributeMultiprocessorCount:
      *value = static_cast<int>(emulated.multiprocessors());
      break;
    case kAttributeCapabilityMajor:
      *value = static_cast<int>(emulated.config().sm / 10);
      break;
    case kAttributeCapabilityMinor:
      *value = static_cast<int>(emulated.config().sm % 10);
      break;
    case kAttributeMaxSharedPerBlockOptin:
      *value = static_cast<int>(emulated.shared_bytes_per_block());
      break;
    default:
      return call.fail(kCudaInvalidValue, fmt::format("unknown device attribute {}", attribute));
  }
  return kCudaSuccess;
}

CUresult cuDeviceTotalMem(size_t* bytes, CUdevice device) {
  Call call;
  if (!call.valid_device(device)) return call.code();
  if (bytes == nullptr) return call.fail(kCudaInvalidValue, "null pointer");
  *bytes = call.state().devices[static_cast<size_t>(device)]->config().memory_bytes;
  return kCudaSuccess;
}

CUresult cuDevicePrimaryCtxRetain(CUcontext* context, CUdevice device) {
  Call call;
  if (!call.valid_device(device)) return call.code();
  if (context == nullptr) return call.fail(kCudaInvalidValue, "null pointer");
  DriverContext& state = call.state().contexts[static_cast<size_t>(device)];
  if (state.references++ == 0) state.sticky = kCudaSuccess;
  *context = context_handle(state.ordinal);
  return kCudaSuccess;
}

// The last release unloads the context's modules, as the driver does; device memory stays, so that leaks can
// be seen.
CUresult cuDevicePrimaryCtxRelease(CUdevice device) {
  Call call;
  if (!call.valid_device(device)) return call.code();
  DriverContext& context = call.state().contexts[static_cast<size_t>(device)];
  if (context.references == 0) return call.fail(kCudaInvalidContext, "the context is not retained");
  if (--context.references > 0) return kCudaSuccess;
  context.sticky = kCudaSuccess;
  DriverState& state = call.state();
  std::erase_if(state.functions, [&](const auto& entry) {
    const auto found = state.modules.find(entry.second.module);
    return found == state.modules.end() || found->second.first == context.ordinal;
  });
  std::erase_if(state.modules, [&](const auto& entry) { return entry.second.first == context.ordinal; });
  return kCudaSuccess;
}

CUresult cuCtxSetCurrent(CUcontext context) {
  Call call;
  if (call.code() != kCudaSuccess) return call.code();
  if (number(context) > call.state().contexts.size())
    return call.fail(kCudaInvalidContext, "no such context");
  current_context = number(context);
  return kCudaSuccess;
}

CUresult cuCtxGetCurrent(CUcontext* context) {
  Call call;
  if (call.code() != kCudaSuccess) return call.code();
  if (context == nullptr) return call.fail(kCudaInvalidValue, "null pointer");
  *context = reinterpret_cast<CUcontext>(current_context);
  return kCudaSuccess;
}

CUresult cuCtxSynchronize() {
  Call call;
  call.context();
  return call.code();
}

namespace {

// Writes a message to the buffer that the JIT options name, if they do.
void write_error_log(const std::string& message, unsigned option_count, const int* options, void** values) {
  char* buffer = nullptr;
  size_t size = 0;
  for (unsigned i = 0; i < option_count; ++i) {
    if (options[i] == kJitErrorLogBuffer) buffer = static_cast<char*>(values[i]);
    if (options[i] == kJitErrorLogBufferBytes) size = number(values[i]) & 0xFFFFFFFF;
  }
  if (buffer == nullptr || size == 0) return;
  const size_t copied = std::min(message.size(), size - 1);
  std::memcpy(buffer, message.data(), copied);
  buffer[copied] = '\0';
}

}  // namespace

CUresult cuModuleLoadDataEx(CUmodule* module, const void* image, unsigned option_count, int* options,
                            void** values) {
  Call call;
  const DriverContext* context = call.context();
  if (context == nullptr) return call.code();
  if (module == nullptr || image == nullptr) return call.fail(kCudaInvalidValue, "null pointer");
  auto loaded = call.device(*context).load_module(static_cast<const char*>(image));
  if (!loaded) {
    write_error_log(loaded.error().message, option_count, options, values);
    return call.fail(kCudaInvalidPtx, loaded.error().message);
  }
  const uint64_t handle = call.state().new_handle();
  call.state().modules[handle] = {context->ordinal, *std::move(loaded)};
  *module = reinterpret_cast<CUmodule>(handle);
  return kCudaSuccess;
}

CUresult cuModuleUnload(CUmodule module) {
  Call call;
  if (call.code() != kCudaSuccess) return call.code();
  if (call.state().modules.erase(number(module)) == 0) return call.fail(kCudaInvalidHandle, "no such module");
  std::erase_if(call.state().functions,
                [&](const auto& entry) { return entry.second.module == number(module); });
  return kCudaSuccess;
}

CUresult cuModuleGetFunction(CUfunction* function, CUmodule module, const char* name) {
  Call call;
  const DriverContext* context = call.context();
  if (context == nullptr) return call.code();
  if (function == nullptr || name == nullptr) return call.fail(kCudaInvalidValue, "null pointer");
  const auto found = call.state().modules.find(number(module));
  if (found == call.state().modules.end()) return call.fail(kCudaInvalidHandle, "no such module");
  const Program* kernel = found->second.second->kernel(name);
  if (kernel == nullptr) return call.fail(kCudaNotFound, fmt::format("the module has no kernel '{}'", name));
  const uint64_t handle = call.state().new_handle();
  const uint64_t used = kernel->static_shared_bytes;
  call.state().functions[handle] = {number(module), kernel,
                                    used < kDefaultDynamicShared ? kDefaultDynamicShared - used : 0};
  *function = reinterpret_cast<CUfunction>(handle);
  return kCudaSuccess;
}

CUresult cuFuncSetAttribute(CUfunction function, int attribute, int value) {
  Call call;
  const DriverContext* context = call.context();
  if (context == nullptr) return call.code();
  const auto found = call.state().functions.find(number(function));
  if (found == call.state().functions.end()) return call.fail(kCudaInvalidHandle, "no such function");
  const uint64_t room = call.device(*context).shared_bytes_per_block();
  if (attribute != kFunctionMaxDynamicSharedBytes || value < 0 ||
      static_cast<uint64_t>(value) + found->second.kernel->static_shared_bytes > room) {
    return call.fail(kCudaInvalidValue, fmt::format("function attribute {} cannot be {}", attribute, value));
  }
  found->second.dynamic_shared_limit = static_cast<uint64_t>(value);
  return kCudaSuccess;
}

CUresult cuMemAlloc(CUdeviceptr* pointer, size_t bytes) {
  Call call;
  const DriverContext* context = call.context();
  if (context == nullptr) return call.code();
  if (pointer == nullptr || bytes == 0) return call.fail(kCudaInvalidValue, "an allocation of no bytes");
  const auto address = call.device(*context).allocate(bytes);
  if (address) *pointer = *address;
  return call.finish(address, kCudaOutOfMemory);
}

CUresult cuMemFree(CUdeviceptr pointer) {
  Call call;
  const DriverContext* context = call.context();
  if (context == nullptr) return call.code();
  if (pointer == 0) return kCudaSuccess;
  return call.finish(call.device(*context).free(pointer), kCudaInvalidValue);
}

CUresult cuMemcpyHtoD(CUdeviceptr to, const void* from, size_t bytes) {
  Call call;
  const DriverContext* context = call.context();
  if (context == nullptr) return call.code();
  if (from == nullptr && bytes != 0) return call.fail(kCudaInvalidValue, "null pointer");
  return call.finish(call.device(*context).write(to, from, bytes), kCudaInvalidValue);
}

CUresult cuMemcpyDtoH(void* to, CUdeviceptr from, size_t bytes) {
  Call call;
  const DriverContext* context = call.context();
  if (context == nullptr) return call.code();
  if (to == nullptr && bytes != 0) return call.fail(kCudaInvalidValue, "null pointer");
  return call.finish(call.device(*context).read(to, from, bytes), kCudaInvalidValue);
}

CUresult cuMemcpyDtoD(CUdeviceptr to, CUdeviceptr from, size_t bytes) {
  Call call;
  const DriverContext* context = call.context();
  if (context == nullptr) return call.code();
  return call.finish(call.device(*context).copy(to, from, bytes), kCudaInvalidValue);
}

CUresult cuMemcpyHtoDAsync(CUdeviceptr to, const void* from, size_t bytes, CUstream stream) {
  return cuMemcpyHtoD(to, from, bytes);
}

CUresult cuMemcpyDtoHAsync(void* to, CUdeviceptr from, size_t bytes, CUstream stream) {
  return cuMemcpyDtoH(to, from, bytes);
}

CUresult cuMemsetD8(CUdeviceptr pointer, unsigned char value, size_t bytes) {
  Call call;
  const DriverContext* context = call.context();
  if (context == nullptr) return call.code();
  return call.finish(call.device(*context).set(pointer, value, bytes), kCudaInvalidValue);
}

CUresult cuStreamCreate(CUstream* stream, unsigned flags) {
  Call call;
  const DriverContext* context = call.context();
  if (context == nullptr) return call.code();
  if (stream == nullptr || flags > 1) return call.fail(kCudaInvalidValue, "unknown flags of a stream");
  const uint64_t handle = call.state().new_handle();
  call.state().streams[handle] = context->ordinal;
  *stream = reinterpret_cast<CUstream>(handle);
  return kCudaSuccess;
}

namespace {

// Stream 0 and the legacy and per-thread default streams always exist.
bool valid_stream(Call& call, CUstream stream) {
  if (number(stream) <= 2 || call.state().streams.contains(number(stream))) return true;
  call.fail(kCudaInvalidHandle, "no such stream");
  return false;
}

}  // namespace

CUresult cuStreamDestroy(CUstream stream) {
  Call call;
  if (call.code() != kCudaSuccess) return call.code();
  if (call.state().streams.erase(number(stream)) == 0) return call.fail(kCudaInvalidHandle, "no such stream");
  return kCudaSuccess;
}

CUresult cuStreamSynchronize(CUstream stream) {
  Call call;
  if (call.context() != nullptr) valid_stream(call, stream);
  return call.code();
}

CUresult cuEventCreate(CUevent* event, unsigned flags) {
  Call call;
  if (call.context() == nullptr) return call.code();
  if (event == nullptr) return call.fail(kCudaInvalidValue, "null pointer");
  const uint64_t handle = call.state().new_handle();
  call.state().events[handle] = {};
  *event = reinterpret_cast<CUevent>(handle);
  return kCudaSuccess;
}

CUresult cuEventDestroy(CUevent event) {
  Call call;
  if (call.code() != kCudaSuccess) return call.code();
  if (call.state().events.erase(number(event)) == 0) return call.fail(kCudaInvalidHandle, "no such event");
  return kCudaSuccess;
}

CUresult cuEventRecord(CUevent event, CUstream stream) {
  Call call;
  if (call.context() == nullptr || !valid_stream(call, stream)) return call.code();
  const auto found = call.state().events.find(number(event));
  if (found == call.state().events.end()) return call.fail(kCudaInvalidHandle, "no such event");
  found->second = {true, std::chrono::steady_clock::now()};
  return kCudaSuccess;
}

CUresult cuEventSynchronize(CUevent event) {
  Call call;
  if (call.context() == nullptr) return call.code();
  return call.state().events.contains(number(event)) ? kCudaSuccess
                                                     : call.fail(kCudaInvalidHandle, "no such event");
}

CUresult cuEventElapsedTime(float* milliseconds, CUevent start, CUevent end) {
  Call call;
  if (call.context() == nullptr) return call.code();
  const auto first = call.state().events.find(number(start));
  const auto last = call.state().events.find(number(end));
  if (first == call.state().events.end() || last == call.state().events.end() || !first->second.recorded ||
      !last->second.recorded || milliseconds == nullptr) {
    return call.fail(kCudaInvalidHandle, "the events were not both recorded");
  }
  *milliseconds = std::chrono::duration<float, std::milli>(last->second.time - first->second.time).count();
  return kCudaSuccess;
}

CUresult cuLaunchKernel(CUfunction function, unsigned grid_x, unsigned grid_y, unsigned grid_z,
                        unsigned block_x, unsigned block_y, unsigned block_z, unsigned shared_bytes,
                        CUstream stream, void** parameters, void** extra) {
  Call call;
  DriverContext* context = call.context();
  if (context == nullptr || !valid_stream(call, stream)) return call.code();
  const auto found = call.state().functions.find(number(function));
  if (found == call.state().functions.end()) return call.fail(kCudaInvalidHandle, "no such function");
  if (extra != nullptr)
    return call.fail(kCudaNotSupported, "the extra options of a launch are not supported");
  const DriverFunction& target = found->second;
  if (shared_bytes > target.dynamic_shared_limit) {
    return call.fail(kCudaInvalidValue,
                     fmt::format("{} bytes of dynamic shared memory, the function allows {}", shared_bytes,
                                 target.dynamic_shared_limit));
  }
  const size_t count = target.kernel->parameters.size();
  if (count != 0 && parameters == nullptr)
    return call.fail(kCudaInvalidValue, "the launch has no parameters");
  LaunchRequest request;
  request.grid = {grid_x, grid_y, grid_z};
  request.block = {block_x, block_y, block_z};
  request.dynamic_shared_bytes = shared_bytes;
  request.arguments = std::span<const void* const>(parameters, count);
  auto report = call.device(*context).launch(*target.kernel, request);
  if (!report) return call.fail(kCudaInvalidValue, report.error().message);
  context->sticky = report->result_code();
  if (!report->ok()) {
    for (const Fault& fault : report->faults) {
      if (driver_code(fault.kind) != 0) call.state().last_error = render_text(fault);
    }
  }
  auto& reports = call.state().reports;
  if (reports.size() >= Installation::kMaxReports) reports.erase(reports.begin());
  reports.push_back(*std::move(report));
  return kCudaSuccess;
}

}  // namespace tenon::emulator::entry_points
