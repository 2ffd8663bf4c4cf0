#include "runtime/device.h"

#include <gtest/gtest.h>

#include "fake_driver.h"
#include "runtime/resources.h"
#include "runtime/workspace.h"

namespace tenon::runtime {
namespace {

TEST(Driver, MissingLibraryIsTold) {
  Result<DriverTable> table = load_cuda_driver();
  if (table) GTEST_SKIP() << "this machine has a driver";
  EXPECT_EQ(table.error().kind, ErrorKind::kDevice);
  EXPECT_NE(table.error().message.find("libcuda.so.1"), std::string::npos) << table.error().message;
}

TEST(Device, ReadsProperties) {
  FakeDriver driver;
  std::shared_ptr<Device> device = Device::open(driver.table(), 0).value();
  EXPECT_EQ(device->properties().name, "fake");
  EXPECT_EQ(device->properties().capability, 80u);
  EXPECT_EQ(device->properties().driver_version, 12040);
  EXPECT_EQ(device->properties().max_shared_per_block, 166912);
}

TEST(Device, OrdinalMustExist) {
  FakeDriver driver;
  Error error = Device::open(driver.table(), 1).error();
  EXPECT_EQ(error.kind, ErrorKind::kUsage);
  EXPECT_EQ(error.message, "there is no device 1; the driver finds 1 device");
  driver.device_count = 0;
  EXPECT_EQ(Device::open(driver.table(), 0).error().message, "the driver finds no device");
  driver.failures["cuInit"] = kCudaNoDevice;
  EXPECT_EQ(device_count(driver.table()).value(), 0);
}

TEST(Device, GivesEverythingBack) {
  FakeDriver driver;
  {
    std::shared_ptr<Device> device = Device::open(driver.table(), 0).value();
    Buffer buffer = Buffer::allocate(*device, 100).value();
    Buffer moved = std::move(buffer);
    buffer = Buffer::allocate(*device, 50).value();
    EXPECT_EQ(Buffer::allocate(*device, 0).value().address(), 0u);
    Stream stream = Stream::create(*device).value();
    ASSERT_TRUE(device->arena(stream.get()).lease(1000));
    ASSERT_TRUE(device->arena(nullptr).lease(1000));
    device.reset();
    EXPECT_EQ(driver.count("cuDevicePrimaryCtxRelease"), 0u);
  }
  EXPECT_TRUE(driver.allocations.empty());
  EXPECT_EQ(driver.count("cuStreamDestroy"), 1u);
  EXPECT_EQ(driver.calls.back(), "cuDevicePrimaryCtxRelease");
}

TEST(Device, KeepsTheHostsContext) {
  FakeDriver driver;
  std::shared_ptr<Device> device = Device::open(driver.table(), 0).value();
  auto hosts = reinterpret_cast<CUcontext>(uintptr_t{4096});
  driver.current = hosts;
  ASSERT_TRUE(device->synchronize());
  EXPECT_EQ(driver.current, hosts);
}

TEST(Device, FailuresNameTheCallAndTheResult) {
  FakeDriver driver;
  std::shared_ptr<Device> device = Device::open(driver.table(), 0).value();
  driver.failures["cuMemAlloc"] = kCudaOutOfMemory;
  Error error = Buffer::allocate(*device, 100).error();
  EXPECT_EQ(error.kind, ErrorKind::kDevice);
  EXPECT_EQ(error.message,
            "cuMemAlloc failed to allocate 100 bytes: CUDA_ERROR_OUT_OF_MEMORY (out of memory)");
  driver.failures["cuMemAlloc"] = 1234;
  EXPECT_EQ(Buffer::allocate(*device, 100).error().message,
            "cuMemAlloc failed to allocate 100 bytes: CUresult 1234");
  driver.failures.clear();
  EXPECT_TRUE(Buffer::allocate(*device, 100));
}

TEST(Device, StickyErrorPoisonsTheContextAndSaysSoOnce) {
  FakeDriver driver;
  std::shared_ptr<Device> device = Device::open(driver.table(), 0).value();
  Buffer buffer = Buffer::allocate(*device, 16).value();
  driver.failures["cuCtxSynchronize"] = kCudaIllegalAddress;
  std::string first = device->synchronize().error().message;
  EXPECT_NE(first.find("CUDA_ERROR_ILLEGAL_ADDRESS"), std::string::npos);
  EXPECT_NE(first.find("cannot be used any more"), std::string::npos);
  size_t calls = driver.calls.size();
  std::string second = device->fill(buffer.address(), 0, 16).error().message;
  EXPECT_EQ(second, "the device was lost to an earlier CUDA_ERROR_ILLEGAL_ADDRESS");
  EXPECT_EQ(driver.calls.size(), calls);
}

TEST(Module, FailureHoldsTheJitLog) {
  FakeDriver driver;
  std::shared_ptr<Device> device = Device::open(driver.table(), 0).value();
  driver.failures["cuModuleLoadDataEx"] = kCudaInvalidPtx;
  driver.jit_log = "ptxas: line 3: syntax error\n";
  EXPECT_EQ(Module::load(*device, "junk", "variant 0 of f").error().message,
            "cuModuleLoadDataEx failed to load variant 0 of f: CUDA_ERROR_INVALID_PTX\nptxas: line 3: syntax "
            "error");
}

TEST(WorkspaceArena, GrowsAndIsKept) {
  FakeDriver driver;
  std::shared_ptr<Device> device = Device::open(driver.table(), 0).value();
  WorkspaceArena& arena = device->arena(nullptr);
  EXPECT_EQ(arena.lease(0).value().address, 0u);
  CUdeviceptr first = arena.lease(100).value().address;
  EXPECT_EQ(arena.lease(50).value().address, first);
  EXPECT_EQ(driver.count("cuMemAlloc"), 1u);
  EXPECT_EQ(driver.count("cuStreamSynchronize"), 0u);
  EXPECT_TRUE(arena.lease(1000));
  EXPECT_EQ(driver.count("cuStreamSynchronize"), 1u);
  EXPECT_EQ(driver.allocations.size(), 1u);
  driver.failures["cuMemAlloc"] = kCudaOutOfMemory;
  EXPECT_FALSE(arena.lease(5000));
  driver.failures.clear();
  EXPECT_TRUE(arena.lease(5000));
}

}  // namespace
}  // namespace tenon::runtime
