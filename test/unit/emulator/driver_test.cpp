// Host code on the driver table.
#include <gtest/gtest.h>

#include <string>
#include <vector>

#include "emulator/driver_api.h"
#include "test/unit/emulator/harness.h"

namespace tenon::emulator::test {
namespace {

using namespace runtime;

const std::string kPtx = module_text(R"(
.visible .entry twice(.param .u64 p, .param .u32 offset) {
  .reg .b32 %r<5>; .reg .b64 %rd<4>;
  ld.param.u64 %rd1, [p];
  ld.param.u32 %r3, [offset];
  mov.u32 %r1, %tid.x;
  add.u32 %r1, %r1, %r3;
  mul.wide.u32 %rd2, %r1, 4;
  add.s64 %rd2, %rd1, %rd2;
  ld.global.u32 %r2, [%rd2];
  shl.b32 %r2, %r2, 1;
  st.global.u32 [%rd2], %r2;
  ret;
})");

class Driver : public ::testing::Test {
 protected:
  void SetUp() override {
    auto created = Installation::create({std::make_shared<Device>()});
    ASSERT_TRUE(created.has_value());
    installation = *std::move(created);
    table = installation->table();
    ASSERT_EQ(table.cuInit(0), kCudaSuccess);
    CUdevice device = 0;
    ASSERT_EQ(table.cuDeviceGet(&device, 0), kCudaSuccess);
    ASSERT_EQ(table.cuDevicePrimaryCtxRetain(&context, device), kCudaSuccess);
    ASSERT_EQ(table.cuCtxSetCurrent(context), kCudaSuccess);
  }
  void TearDown() override { table.cuCtxSetCurrent(nullptr); }

  CUfunction load(const std::string& ptx, const char* name) {
    CUmodule module = nullptr;
    CUfunction function = nullptr;
    EXPECT_EQ(table.cuModuleLoadDataEx(&module, ptx.c_str(), 0, nullptr, nullptr), kCudaSuccess);
    EXPECT_EQ(table.cuModuleGetFunction(&function, module, name), kCudaSuccess);
    return function;
  }
  CUresult launch(CUfunction function, CUdeviceptr pointer, uint32_t offset, unsigned threads) {
    void* parameters[] = {&pointer, &offset};
    return table.cuLaunchKernel(function, 1, 1, 1, threads, 1, 1, 0, nullptr, parameters, nullptr);
  }

  std::unique_ptr<Installation> installation;
  DriverTable table;
  CUcontext context = nullptr;
};

TEST_F(Driver, RunsAKernel) {
  int major = 0;
  EXPECT_EQ(table.cuDeviceGetAttribute(&major, kAttributeCapabilityMajor, 0), kCudaSuccess);
  EXPECT_EQ(major, 8);
  const CUfunction function = load(kPtx, "twice");
  std::vector<int> values = {1, 2, 3, 4};
  CUdeviceptr pointer = 0;
  ASSERT_EQ(table.cuMemAlloc(&pointer, 16), kCudaSuccess);
  ASSERT_EQ(table.cuMemcpyHtoD(pointer, values.data(), 16), kCudaSuccess);
  CUevent start = nullptr, end = nullptr;
  table.cuEventCreate(&start, 0);
  table.cuEventCreate(&end, 0);
  table.cuEventRecord(start, nullptr);
  ASSERT_EQ(launch(function, pointer, 0, 4), kCudaSuccess);
  table.cuEventRecord(end, nullptr);
  ASSERT_EQ(table.cuCtxSynchronize(), kCudaSuccess);
  float milliseconds = -1;
  EXPECT_EQ(table.cuEventElapsedTime(&milliseconds, start, end), kCudaSuccess);
  EXPECT_GE(milliseconds, 0);
  ASSERT_EQ(table.cuMemcpyDtoH(values.data(), pointer, 16), kCudaSuccess);
  EXPECT_EQ(values, (std::vector<int>{2, 4, 6, 8}));
  const auto reports = installation->take_reports();
  ASSERT_EQ(reports.size(), 1u);
  EXPECT_EQ(reports[0].total.global_bytes_written, 16u);
  EXPECT_EQ(table.cuMemFree(pointer), kCudaSuccess);
}

TEST_F(Driver, FaultsAreSticky) {
  const CUfunction function = load(kPtx, "twice");
  CUdeviceptr pointer = 0;
  ASSERT_EQ(table.cuMemAlloc(&pointer, 16), kCudaSuccess);
  ASSERT_EQ(table.cuMemsetD8(pointer, 1, 16), kCudaSuccess);
  // A refused launch leaves the context usable.
  EXPECT_EQ(launch(function, pointer, 0, 2000), kCudaInvalidValue);
  EXPECT_EQ(table.cuCtxSynchronize(), kCudaSuccess);
  EXPECT_EQ(launch(function, pointer, 1, 4), kCudaSuccess);
  EXPECT_EQ(table.cuCtxSynchronize(), kCudaIllegalAddress);
  EXPECT_EQ(table.cuMemsetD8(pointer, 1, 16), kCudaIllegalAddress);
  EXPECT_NE(installation->last_error().find("ld.global.u32 %r2, [%rd2]"), std::string::npos);
  EXPECT_EQ(installation->take_reports().back().faults.size(), 1u);
  // A new primary context works again.
  EXPECT_EQ(table.cuDevicePrimaryCtxRelease(0), kCudaSuccess);
  EXPECT_EQ(table.cuCtxSynchronize(), kCudaInvalidContext);
  EXPECT_EQ(table.cuDevicePrimaryCtxRetain(&context, 0), kCudaSuccess);
  EXPECT_EQ(table.cuCtxSynchronize(), kCudaSuccess);
}

TEST_F(Driver, BadHandlesAndModules) {
  CUmodule module = nullptr;
  char log[200] = "";
  int options[] = {kJitErrorLogBuffer, kJitErrorLogBufferBytes};
  void* values[] = {log, reinterpret_cast<void*>(sizeof log)};
  const std::string bad = module_text(".entry k() { frob; }");
  EXPECT_EQ(table.cuModuleLoadDataEx(&module, bad.c_str(), 2, options, values), kCudaInvalidPtx);
  EXPECT_EQ(std::string(log), "PTX line 4, column 14: unknown instruction 'frob'");
  CUfunction function = nullptr;
  EXPECT_EQ(table.cuModuleGetFunction(&function, module, "k"), kCudaInvalidHandle);
  EXPECT_EQ(table.cuMemFree(12345), kCudaInvalidValue);
  EXPECT_EQ(table.cuStreamSynchronize(reinterpret_cast<CUstream>(0x999)), kCudaInvalidHandle);
  const char* name = nullptr;
  EXPECT_EQ(table.cuGetErrorName(700, &name), kCudaSuccess);
  EXPECT_STREQ(name, "CUDA_ERROR_ILLEGAL_ADDRESS");
  EXPECT_FALSE(Installation::create({std::make_shared<Device>()}).has_value()) << "one at a time";
}

TEST(DriverTable, WithoutAnInstallation) {
  DriverTable table;
  {
    auto installation = Installation::create({std::make_shared<Device>()});
    ASSERT_TRUE(installation.has_value());
    table = (*installation)->table();
    int count = 0;
    EXPECT_EQ(table.cuDeviceGetCount(&count), kCudaNotInitialized);
  }
  EXPECT_EQ(table.cuInit(0), kCudaNoDevice);
}

}  // namespace
}  // namespace tenon::emulator::test
