// The names of the driver's error codes.
#include "emulator/driver_state.h"

namespace tenon::emulator::entry_points {
namespace {

struct CodeName {
  CUresult code;
  const char* name;
  const char* text;
};

constexpr CodeName kCodes[] = {
    {kCudaSuccess, "CUDA_SUCCESS", "no error"},
    {kCudaInvalidValue, "CUDA_ERROR_INVALID_VALUE", "invalid argument"},
    {kCudaOutOfMemory, "CUDA_ERROR_OUT_OF_MEMORY", "out of memory"},
    {kCudaNotInitialized, "CUDA_ERROR_NOT_INITIALIZED", "initialization error"},
    {kCudaNoDevice, "CUDA_ERROR_NO_DEVICE", "no CUDA-capable device is detected"},
    {kCudaInvalidDevice, "CUDA_ERROR_INVALID_DEVICE", "invalid device ordinal"},
    {kCudaInvalidContext, "CUDA_ERROR_INVALID_CONTEXT", "invalid device context"},
    {kCudaInvalidPtx, "CUDA_ERROR_INVALID_PTX", "a PTX JIT compilation failed"},
    {kCudaUnsupportedPtxVersion, "CUDA_ERROR_UNSUPPORTED_PTX_VERSION",
     "the provided PTX was compiled with an unsupported toolchain"},
    {kCudaInvalidHandle, "CUDA_ERROR_INVALID_HANDLE", "invalid resource handle"},
    {kCudaNotFound, "CUDA_ERROR_NOT_FOUND", "named symbol not found"},
    {kCudaNotReady, "CUDA_ERROR_NOT_READY", "device not ready"},
    {kCudaIllegalAddress, "CUDA_ERROR_ILLEGAL_ADDRESS", "an illegal memory access was encountered"},
    {kCudaLaunchOutOfResources, "CUDA_ERROR_LAUNCH_OUT_OF_RESOURCES",
     "too many resources requested for launch"},
    {kCudaLaunchTimeout, "CUDA_ERROR_LAUNCH_TIMEOUT", "the launch timed out and was terminated"},
    {kCudaIllegalInstruction, "CUDA_ERROR_ILLEGAL_INSTRUCTION", "an illegal instruction was encountered"},
    {kCudaMisalignedAddress, "CUDA_ERROR_MISALIGNED_ADDRESS", "misaligned address"},
    {kCudaLaunchFailed, "CUDA_ERROR_LAUNCH_FAILED", "unspecified launch failure"},
    {kCudaNotSupported, "CUDA_ERROR_NOT_SUPPORTED", "operation not supported"},
    {kCudaUnknown, "CUDA_ERROR_UNKNOWN", "unknown error"},
};

const CodeName* find_code(CUresult code) {
  for (const CodeName& row : kCodes) {
    if (row.code == code) return &row;
  }
  return nullptr;
}

}  // namespace

CUresult cuGetErrorName(CUresult error, const char** name) {
  const CodeName* row = find_code(error);
  if (name == nullptr) return kCudaInvalidValue;
  *name = row == nullptr ? nullptr : row->name;
  return row == nullptr ? kCudaInvalidValue : kCudaSuccess;
}

CUresult cuGetErrorString(CUresult error, const char** text) {
  const CodeName* row = find_code(error);
  if (text == nullptr) return kCudaInvalidValue;
  *text = row == nullptr ? nullptr : row->text;
  return row == nullptr ? kCudaInvalidValue : kCudaSuccess;
}

}  // namespace tenon::emulator::entry_points
