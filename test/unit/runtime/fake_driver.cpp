#include "fake_driver.h"

#include <algorithm>
#include <cstdlib>
#include <cstring>
#include <memory>

namespace tenon::runtime {
namespace {

FakeDriver* active = nullptr;

// Notes the call; what the test wants it to return.
CUresult note(const char* name) {
  std::lock_guard lock(active->mutex);
  active->calls.push_back(name);
  auto failure = active->failures.find(name);
  return failure == active->failures.end() ? kCudaSuccess : failure->second;
}

template <class Handle>
Handle handle(uintptr_t value) {
  return reinterpret_cast<Handle>(value);
}

CUresult error_name(CUresult error, const char** name) {
  if (error == kCudaOutOfMemory) return *name = "CUDA_ERROR_OUT_OF_MEMORY", kCudaSuccess;
  if (error == kCudaIllegalAddress) return *name = "CUDA_ERROR_ILLEGAL_ADDRESS", kCudaSuccess;
  if (error == kCudaInvalidPtx) return *name = "CUDA_ERROR_INVALID_PTX", kCudaSuccess;
  return kCudaInvalidValue;
}

CUresult error_string(CUresult error, const char** text) {
  if (error == kCudaOutOfMemory) return *text = "out of memory", kCudaSuccess;
  return kCudaInvalidValue;
}

CUresult get_attribute(int* value, int attribute, CUdevice) {
  *value = attribute == kAttributeCapabilityMajor          ? active->capability / 10
           : attribute == kAttributeCapabilityMinor        ? active->capability % 10
           : attribute == kAttributeMaxSharedPerBlockOptin ? active->max_shared
                                                           : 4;
  return kCudaSuccess;
}

CUresult allocate(CUdeviceptr* pointer, size_t bytes) {
  if (CUresult failure = note("cuMemAlloc")) return failure;
  if (bytes == 0) return kCudaInvalidValue;
  *pointer = reinterpret_cast<CUdeviceptr>(std::aligned_alloc(256, (bytes + 255) / 256 * 256));
  std::lock_guard lock(active->mutex);
  active->allocations[*pointer] = bytes;
  return kCudaSuccess;
}

CUresult deallocate(CUdeviceptr pointer) {
  if (CUresult failure = note("cuMemFree")) return failure;
  std::lock_guard lock(active->mutex);
  if (active->allocations.erase(pointer) == 0) return kCudaInvalidValue;
  std::free(reinterpret_cast<void*>(pointer));
  return kCudaSuccess;
}

CUresult load_module(CUmodule* module, const void* image, unsigned count, int* options, void** values) {
  for (unsigned i = 0; i < count; ++i)
    if (options[i] == kJitErrorLogBuffer) std::strcpy(static_cast<char*>(values[i]), active->jit_log.c_str());
  if (CUresult failure = note("cuModuleLoadDataEx")) return failure;
  std::lock_guard lock(active->mutex);
  active->loaded_ptx.push_back(static_cast<const char*>(image));
  *module = handle<CUmodule>(active->loaded_ptx.size());
  return kCudaSuccess;
}

CUresult get_function(CUfunction* function, CUmodule, const char* name) {
  if (CUresult failure = note("cuModuleGetFunction")) return failure;
  auto entry = active->entries.find(name);
  if (entry == active->entries.end()) return kCudaNotFound;
  *function = reinterpret_cast<CUfunction>(&*entry);
  return kCudaSuccess;
}

CUresult launch(CUfunction function, unsigned grid, unsigned, unsigned, unsigned block, unsigned, unsigned,
                unsigned shared, CUstream stream, void** parameters, void**) {
  if (CUresult failure = note("cuLaunchKernel")) return failure;
  auto* entry = reinterpret_cast<std::pair<const std::string, size_t>*>(function);
  RecordedLaunch recorded{entry->first, grid, block, shared, stream, {}};
  for (size_t i = 0; i < entry->second; ++i)
    recorded.arguments.push_back(*static_cast<uint64_t*>(parameters[i]));
  std::lock_guard lock(active->mutex);
  active->launches.push_back(std::move(recorded));
  return kCudaSuccess;
}

void fill_context_functions(DriverTable& table) {
  table.cuInit = [](unsigned) { return note("cuInit"); };
  table.cuDriverGetVersion = [](int* version) { return *version = 12040, kCudaSuccess; };
  table.cuGetErrorName = error_name;
  table.cuGetErrorString = error_string;
  table.cuDeviceGetCount = [](int* count) { return *count = active->device_count, kCudaSuccess; };
  table.cuDeviceGet = [](CUdevice* device, int ordinal) { return *device = ordinal, kCudaSuccess; };
  table.cuDeviceGetName = [](char* name, int, CUdevice) { return std::strcpy(name, "fake"), kCudaSuccess; };
  table.cuDeviceGetAttribute = get_attribute;
  table.cuDeviceTotalMem = [](size_t* bytes, CUdevice) { return *bytes = 1 << 30, kCudaSuccess; };
  table.cuDevicePrimaryCtxRetain = [](CUcontext* context, CUdevice) {
    *context = handle<CUcontext>(64);
    return note("cuDevicePrimaryCtxRetain");
  };
  table.cuDevicePrimaryCtxRelease = [](CUdevice) { return note("cuDevicePrimaryCtxRelease"); };
  table.cuCtxSetCurrent = [](CUcontext context) { return active->current = context, kCudaSuccess; };
  table.cuCtxGetCurrent = [](CUcontext* context) { return *context = active->current, kCudaSuccess; };
  table.cuCtxSynchronize = [] { return note("cuCtxSynchronize"); };
}

void fill_memory_functions(DriverTable& table) {
  table.cuMemAlloc = allocate;
  table.cuMemFree = deallocate;
  table.cuMemcpyHtoD = [](CUdeviceptr to, const void* from, size_t bytes) {
    std::memcpy(reinterpret_cast<void*>(to), from, bytes);
    return note("cuMemcpyHtoD");
  };
  table.cuMemcpyDtoH = [](void* to, CUdeviceptr from, size_t bytes) {
    std::memcpy(to, reinterpret_cast<void*>(from), bytes);
    return note("cuMemcpyDtoH");
  };
  table.cuMemsetD8 = [](CUdeviceptr pointer, unsigned char value, size_t bytes) {
    std::memset(reinterpret_cast<void*>(pointer), value, bytes);
    return note("cuMemsetD8");
  };
}

void fill_launch_functions(DriverTable& table) {
  table.cuModuleLoadDataEx = load_module;
  table.cuModuleUnload = [](CUmodule) { return note("cuModuleUnload"); };
  table.cuModuleGetFunction = get_function;
  table.cuFuncSetAttribute = [](CUfunction, int, int) { return note("cuFuncSetAttribute"); };
  table.cuStreamCreate = [](CUstream* stream, unsigned) {
    *stream = handle<CUstream>(128 + active->calls.size());
    return note("cuStreamCreate");
  };
  table.cuStreamDestroy = [](CUstream) { return note("cuStreamDestroy"); };
  table.cuStreamSynchronize = [](CUstream) { return note("cuStreamSynchronize"); };
  table.cuLaunchKernel = launch;
}

}  // namespace

FakeDriver::FakeDriver() { active = this; }
FakeDriver::~FakeDriver() {
  for (auto& [pointer, bytes] : allocations) std::free(reinterpret_cast<void*>(pointer));
  active = nullptr;
}

DriverTable FakeDriver::table() const {
  DriverTable table;
  fill_context_functions(table);
  fill_memory_functions(table);
  fill_launch_functions(table);
  return table;
}

size_t FakeDriver::count(const std::string& call) const { return std::ranges::count(calls, call); }

}  // namespace tenon::runtime
