// Running and launching by the public interface, on the emulated device.
#include <gtest/gtest.h>

#include <cstdint>
#include <numeric>
#include <string>
#include <vector>

#include "tenon/tenon.h"

namespace {

using tenon::DataType;
using tenon::Device;
using tenon::DeviceArgument;
using tenon::DeviceTensor;
using tenon::Expected;
using tenon::FailureKind;
using tenon::HostArgument;
using tenon::HostTensor;
using tenon::Kernel;
using tenon::LaunchOptions;
using tenon::Scalar;
using tenon::Shape;
using tenon::Status;

constexpr const char* kAxpy =
    "kernel axpy(a: f32, x: f32[N], y: f32[N]) -> (z: f32[N]) { z[i] = a * x[i] + y[i] }";
constexpr const char* kPad = "kernel pad(x: i32[N]) -> (y: i32[N + P]) { y[i] = i < N ? x[i] : 7 }";
constexpr const char* kAdd = "kernel add(x: inout f32[N], y: f32[N]) { x[i] = x[i] + y[i] }";
constexpr const char* kTotal = "kernel total(x: f32[N]) -> (s: f32) { s = sum[i](x[i]) }";

Device emulated() { return *Device::emulated(); }

Kernel compiled(const char* source) {
  Expected<Kernel> kernel = Kernel::compile(source);
  EXPECT_TRUE(kernel) << kernel.failure().message;
  return *kernel;
}

void expect_failure(const Status& status, FailureKind kind, const std::string& part) {
  ASSERT_FALSE(status);
  EXPECT_EQ(status.failure().kind, kind);
  EXPECT_NE(status.failure().message.find(part), std::string::npos) << status.failure().message;
}

// Vectors of the host and the arguments of axpy over them.
struct Axpy {
  explicit Axpy(int64_t n) : x(n), y(n, 1.0f), z(n) { std::iota(x.begin(), x.end(), 0.0f); }

  std::vector<HostArgument> arguments() {
    auto n = static_cast<int64_t>(x.size());
    return {{"z", HostTensor(z.data(), {n})},
            {"a", Scalar(2.0f)},
            {"x", HostTensor(static_cast<const float*>(x.data()), {n})},
            {"y", HostTensor(y.data(), {n})}};
  }

  std::vector<float> x, y, z;
};

TEST(Run, ComputesOnHostArrays) {
  Kernel kernel = compiled(kAxpy);
  for (int64_t n : {0, 1, 1000, 1023}) {
    Axpy axpy(n);
    Status done = kernel.run(emulated(), axpy.arguments());
    ASSERT_TRUE(done) << done.failure().message;
    for (int64_t i = 0; i < n; ++i) ASSERT_EQ(axpy.z[i], 2.0f * static_cast<float>(i) + 1.0f);
  }
}

TEST(Run, UpdatesInouts) {
  std::vector<float> x = {1, 2, 3}, y = {10, 20, 30};
  Status done =
      compiled(kAdd).run(emulated(), {{"x", HostTensor(x.data(), {3})}, {"y", HostTensor(y.data(), {3})}});
  ASSERT_TRUE(done) << done.failure().message;
  EXPECT_EQ(x, (std::vector<float>{11, 22, 33}));
}

TEST(Run, TakesSizesByName) {
  std::vector<int32_t> x = {1, 2}, y(5);
  Kernel kernel = compiled(kPad);
  std::vector<HostArgument> arguments = {{"x", HostTensor(x.data(), {2})}};
  LaunchOptions options;
  EXPECT_FALSE(kernel.result_shapes(arguments, options));
  options.sizes = {{"P", 3}};
  Expected<std::vector<Shape>> shapes = kernel.result_shapes(arguments, options);
  ASSERT_TRUE(shapes) << shapes.failure().message;
  EXPECT_EQ(*shapes, std::vector<Shape>{{5}});
  arguments.push_back({"y", HostTensor(y.data(), {5})});
  Status done = kernel.run(emulated(), arguments, options);
  ASSERT_TRUE(done) << done.failure().message;
  EXPECT_EQ(y, (std::vector<int32_t>{1, 2, 7, 7, 7}));
  bool found = false;
  for (const tenon::SizeInfo& size : kernel.sizes())
    if (size.name == "P") found = !size.bound_by_shape;
  EXPECT_TRUE(found);
}

TEST(Run, WritesScalarResults) {
  std::vector<float> x(100000, 1.0f);
  float sum = 0;
  Status done =
      compiled(kTotal).run(emulated(), {{"x", HostTensor(x.data(), {100000})}, {"s", HostTensor(&sum, {})}});
  ASSERT_TRUE(done) << done.failure().message;
  EXPECT_EQ(sum, 100000.0f);
}

TEST(Run, RefusesWhatDoesNotFit) {
  Kernel kernel = compiled(kAxpy);
  Device device = emulated();
  Axpy axpy(8);
  std::vector<HostArgument> arguments = axpy.arguments();
  arguments[0].value = HostTensor(axpy.z.data(), {7});
  expect_failure(kernel.run(device, arguments), FailureKind::kRefused, "N");
  arguments[0].value = HostTensor(static_cast<const float*>(axpy.z.data()), {8});
  expect_failure(kernel.run(device, arguments), FailureKind::kRefused, "const");
  arguments[0].value = HostTensor(axpy.x.data(), {8});
  expect_failure(kernel.run(device, arguments), FailureKind::kRefused, "overlap");
  arguments[0].value = HostTensor(static_cast<float*>(nullptr), {8});
  expect_failure(kernel.run(device, arguments), FailureKind::kRefused, "z");
  arguments = axpy.arguments();
  arguments[1].value = Scalar(2.0);
  expect_failure(kernel.run(device, arguments), FailureKind::kRefused, "f64");
  arguments = axpy.arguments();
  arguments.pop_back();
  expect_failure(kernel.run(device, arguments), FailureKind::kRefused, "y");
  arguments = axpy.arguments();
  arguments.erase(arguments.begin());
  expect_failure(kernel.run(device, arguments), FailureKind::kRefused, "z");
}

TEST(Run, KnowsItsNames) {
  Kernel kernel = compiled(kAxpy);
  Axpy axpy(8);
  std::vector<HostArgument> arguments = axpy.arguments();
  arguments[2].name = "w";
  expect_failure(kernel.run(emulated(), arguments), FailureKind::kUsage, "no parameter `w`");
  arguments[2].name = "y";
  expect_failure(kernel.run(emulated(), arguments), FailureKind::kUsage, "twice");
  LaunchOptions options;
  options.sizes = {{"Q", 1}};
  expect_failure(kernel.run(emulated(), axpy.arguments(), options), FailureKind::kUsage, "Q");
}

// `count` floats on a device.
class DeviceFloats {
 public:
  DeviceFloats(Device device, const std::vector<float>& values) : device_(device), count_(values.size()) {
    address_ = *device_.allocate(count_ * sizeof(float));
    EXPECT_TRUE(device_.copy_to_device(address_, values.data(), count_ * sizeof(float)));
  }
  ~DeviceFloats() { EXPECT_TRUE(device_.release(address_)); }
  DeviceFloats(const DeviceFloats&) = delete;
  DeviceFloats& operator=(const DeviceFloats&) = delete;

  DeviceTensor tensor() const { return {address_, DataType::kF32, {static_cast<int64_t>(count_)}}; }
  std::vector<float> values() {
    std::vector<float> values(count_);
    EXPECT_TRUE(device_.copy_to_host(values.data(), address_, count_ * sizeof(float)));
    return values;
  }

 private:
  Device device_;
  size_t count_;
  uint64_t address_;
};

TEST(Launch, RunsOnDevicePointersAndStreams) {
  Device device = emulated();
  EXPECT_TRUE(device.is_emulated());
  EXPECT_EQ(device.target(), "sm_80");
  Kernel kernel = compiled(kAxpy);
  ASSERT_TRUE(kernel.warm_up(device));
  DeviceFloats x(device, {1, 2, 3}), y(device, {1, 1, 1}), z(device, {0, 0, 0});
  std::vector<DeviceArgument> arguments = {
      {"a", Scalar(3.0f)}, {"x", x.tensor()}, {"y", y.tensor()}, {"z", z.tensor()}};
  Expected<void*> stream = device.create_stream();
  ASSERT_TRUE(stream) << stream.failure().message;
  LaunchOptions options;
  options.stream = *stream;
  Status done = kernel.launch(device, arguments, options);
  ASSERT_TRUE(done) << done.failure().message;
  ASSERT_TRUE(device.synchronize());
  EXPECT_EQ(z.values(), (std::vector<float>{4, 7, 10}));
  EXPECT_TRUE(device.destroy_stream(*stream));
  EXPECT_EQ(kernel.result_shapes(arguments).value(), std::vector<Shape>{{3}});
}

TEST(Launch, RefusesMisalignedAndOverlappingBuffers) {
  Device device = emulated();
  Kernel kernel = compiled(kAxpy);
  DeviceFloats x(device, {1, 2, 3, 4}), y(device, {1, 1, 1, 1});
  DeviceTensor moved = y.tensor();
  std::vector<DeviceArgument> arguments = {
      {"a", Scalar(3.0f)}, {"x", x.tensor()}, {"y", x.tensor()}, {"z", moved}};
  EXPECT_TRUE(kernel.launch(device, arguments));
  moved.address += 2;
  arguments[3].value = moved;
  expect_failure(kernel.launch(device, arguments), FailureKind::kRefused, "z");
  arguments[3].value = x.tensor();
  expect_failure(kernel.launch(device, arguments), FailureKind::kRefused, "overlap");
}

TEST(Launch, UsesTheWorkspaceGiven) {
  Device device = emulated();
  Kernel kernel = compiled(kTotal);
  const std::vector<float> ones(200000, 1.0f);
  DeviceFloats x(device, ones), s(device, {0});
  DeviceTensor scalar = s.tensor();
  scalar.shape = {};
  std::vector<DeviceArgument> arguments = {{"x", x.tensor()}, {"s", scalar}};
  Expected<size_t> bytes = kernel.workspace_bytes(device, arguments);
  ASSERT_TRUE(bytes) << bytes.failure().message;
  ASSERT_GT(*bytes, 0u);
  DeviceFloats workspace(device, std::vector<float>(*bytes / 4 + 64));
  LaunchOptions options;
  options.workspace = workspace.tensor().address;
  options.workspace_bytes = *bytes - 1;
  expect_failure(kernel.launch(device, arguments, options), FailureKind::kRefused, "workspace");
  options.workspace_bytes = *bytes;
  options.workspace += 4;
  expect_failure(kernel.launch(device, arguments, options), FailureKind::kRefused, "workspace");
  options.workspace -= 4;
  Status done = kernel.launch(device, arguments, options);
  ASSERT_TRUE(done) << done.failure().message;
  EXPECT_EQ(s.values(), std::vector<float>{200000.0f});
  ASSERT_TRUE(kernel.launch(device, arguments));
  EXPECT_EQ(s.values(), std::vector<float>{200000.0f});
  device.release_workspace(nullptr);
}

TEST(Devices, EmulateEveryTargetBesideEachOther) {
  Expected<Device> hopper = Device::emulated("sm_90a");
  ASSERT_TRUE(hopper) << hopper.failure().message;
  EXPECT_EQ(hopper->target(), "sm_90a");
  EXPECT_EQ(Device::emulated("sm_1").failure().kind, FailureKind::kUsage);
  tenon::CompileOptions options;
  options.target = "sm_90a";
  Expected<Kernel> kernel = Kernel::compile(kAxpy, options);
  ASSERT_TRUE(kernel) << kernel.failure().message;
  Axpy axpy(5);
  EXPECT_TRUE(kernel->run(*hopper, axpy.arguments()));
  expect_failure(kernel->run(emulated(), axpy.arguments()), FailureKind::kDevice, "sm_90a");
  Axpy again(5);
  EXPECT_TRUE(compiled(kAxpy).run(*hopper, again.arguments()));
}

TEST(Devices, GoAndCome) {
  Kernel kernel = compiled(kAxpy);
  for (int i = 0; i < 3; ++i) {
    Device device = emulated();
    Axpy axpy(16);
    Status done = kernel.run(device, axpy.arguments());
    ASSERT_TRUE(done) << done.failure().message;
    EXPECT_EQ(axpy.z[15], 31.0f);
  }
}

// Last: the emulated sm_120 cannot be used any more after it.
TEST(Faults, AreOfTheDevice) {
  Expected<Device> device = Device::emulated("sm_120");
  ASSERT_TRUE(device);
  Kernel kernel = compiled(kAxpy);
  DeviceTensor wrong{*device->allocate(12), DataType::kF32, {}};
  wrong.shape = {100000};
  DeviceTensor wrong_result = wrong;
  wrong_result.address += 400000 / 256 * 256 + 256;
  std::vector<DeviceArgument> arguments = {
      {"a", Scalar(3.0f)}, {"x", wrong}, {"y", wrong}, {"z", wrong_result}};
  Status started = kernel.launch(*device, arguments);
  Status waited = device->synchronize();
  ASSERT_FALSE(started && waited);
  expect_failure(waited, FailureKind::kDevice, "CUDA_ERROR_ILLEGAL_ADDRESS");
  expect_failure(kernel.launch(*device, arguments), FailureKind::kDevice, "lost");
  std::vector<std::string> faults = device->take_faults();
  ASSERT_FALSE(faults.empty());
  EXPECT_NE(faults[0].find("axpy"), std::string::npos) << faults[0];
  EXPECT_TRUE(device->take_faults().empty());
}

}  // namespace
