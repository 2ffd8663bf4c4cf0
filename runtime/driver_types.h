// The types and constants of the CUDA driver API that the runtime uses, declared here because a user's
// machine has no cuda.h. Values: CUDA Driver API reference, "Data types used by CUDA driver".
#pragma once

#include <cstddef>
#include <cstdint>

namespace tenon::runtime {

using CUresult = int;
using CUdevice = int;
using CUdeviceptr = uint64_t;
using CUcontext = struct CUctx_st*;
using CUmodule = struct CUmod_st*;
using CUfunction = struct CUfunc_st*;
using CUstream = struct CUstream_st*;
using CUevent = struct CUevent_st*;

inline constexpr CUresult kCudaSuccess = 0;
inline constexpr CUresult kCudaInvalidValue = 1;
inline constexpr CUresult kCudaOutOfMemory = 2;
inline constexpr CUresult kCudaNotInitialized = 3;
inline constexpr CUresult kCudaNoDevice = 100;
inline constexpr CUresult kCudaInvalidDevice = 101;
inline constexpr CUresult kCudaInvalidContext = 201;
inline constexpr CUresult kCudaInvalidPtx = 218;
inline constexpr CUresult kCudaUnsupportedPtxVersion = 222;
inline constexpr CUresult kCudaInvalidHandle = 400;
inline constexpr CUresult kCudaNotFound = 500;
inline constexpr CUresult kCudaNotReady = 600;
inline constexpr CUresult kCudaIllegalAddress = 700;
inline constexpr CUresult kCudaLaunchOutOfResources = 701;
inline constexpr CUresult kCudaLaunchTimeout = 702;
inline constexpr CUresult kCudaMisalignedAddress = 716;
inline constexpr CUresult kCudaIllegalInstruction = 715;
inline constexpr CUresult kCudaLaunchFailed = 719;
inline constexpr CUresult kCudaNotSupported = 801;
inline constexpr CUresult kCudaUnknown = 999;

// Whether the result leaves the context unusable: every later call in it fails with the same code. Source:
// the descriptions of the CUresult values that end in "The context cannot be used".
constexpr bool is_sticky(CUresult result) {
  constexpr CUresult kEccUncorrectable = 214;
  constexpr CUresult kAssert = 710;
  constexpr CUresult kHardwareStackError = 714;
  return result == kEccUncorrectable || result == kCudaIllegalAddress || result == kCudaLaunchTimeout ||
         result == kAssert || (result >= kHardwareStackError && result <= kCudaLaunchFailed);
}

// CUdevice_attribute
inline constexpr int kAttributeMaxSharedPerBlock = 8;
inline constexpr int kAttributeWarpSize = 10;
inline constexpr int kAttributeMultiprocessorCount = 16;
inline constexpr int kAttributeCapabilityMajor = 75;
inline constexpr int kAttributeCapabilityMinor = 76;
inline constexpr int kAttributeMaxSharedPerBlockOptin = 97;

// CUfunction_attribute
inline constexpr int kFunctionMaxDynamicSharedBytes = 8;

// CUjit_option
inline constexpr int kJitInfoLogBuffer = 3;
inline constexpr int kJitInfoLogBufferBytes = 4;
inline constexpr int kJitErrorLogBuffer = 5;
inline constexpr int kJitErrorLogBufferBytes = 6;

}  // namespace tenon::runtime
