// The runtime and the emulated device together: hand-written PTX, launched from a program record, gives
// values.
#include <gtest/gtest.h>

#include <cmath>

#include "axpy_ptx.h"
#include "emulator/driver_api.h"
#include "programs.h"
#include "runtime/host_launch.h"

namespace tenon::runtime {
namespace {

using enum ElementType;

class EmulatedLaunchTest : public testing::Test {
 protected:
  EmulatedLaunchTest()
      : installation_(emulator::Installation::create({std::make_shared<emulator::Device>()}).value()),
        device_(Device::open(installation_->table(), 0).value()) {}

  static Program real_axpy() {
    Program program = axpy_program();
    program.steps[0].variants[0].code->ptx = kAxpyVectorPtx;
    program.steps[0].variants[1].code->ptx = kAxpyAnyPtx;
    return program;
  }

  std::unique_ptr<LoadedProgram> load(Program program) {
    return LoadedProgram::create(device_, std::make_shared<Program>(std::move(program))).value();
  }

  static Array iota(int64_t n, double scale) {
    Array array = Array::zeros(kF32, {n}).value();
    for (int64_t i = 0; i < n; ++i) array.set_double(i, static_cast<double>(i) * scale + 1);
    return array;
  }

  // Runs axpy and holds its result against the host; gives the entry that ran.
  std::string check_axpy(LoadedProgram& axpy, int64_t n, const HostLaunchOptions& options) {
    std::vector<std::optional<Array>> arrays(4);
    arrays[0] = Array::zeros(kF32, {}).value();
    arrays[0]->set_double(0, 2.5);
    arrays[1] = iota(n, 0.5);
    arrays[2] = iota(n, -3);
    Result<LaunchPlan> plan = launch_on_host(axpy, arrays, options);
    if (!plan) return plan.error().message;
    std::span<const float> x = arrays[1]->as<float>();
    std::span<const float> y = arrays[2]->as<float>();
    std::span<const float> z = arrays[3]->as<float>();
    for (int64_t i = 0; i < n; ++i) EXPECT_EQ(z[i], std::fma(2.5f, x[i], y[i])) << i << " of " << n;
    return plan->launches.empty() ? "none" : plan->launches[0].entry();
  }

  std::unique_ptr<emulator::Installation> installation_;
  std::shared_ptr<Device> device_;
};

TEST_F(EmulatedLaunchTest, AxpyGivesTheValuesOfTheHost) {
  std::unique_ptr<LoadedProgram> axpy = load(real_axpy());
  for (bool poison : {true, false}) {
    for (int64_t n : {1, 3, 5, 255, 257, 1023}) EXPECT_EQ(check_axpy(*axpy, n, {{}, {}, poison}), "axpy_any");
    for (int64_t n : {4, 8, 1024, 1028, 4096})
      EXPECT_EQ(check_axpy(*axpy, n, {{}, {}, poison}), "axpy_vector");
    EXPECT_EQ(check_axpy(*axpy, 0, {{}, {}, poison}), "none");
  }
}

TEST_F(EmulatedLaunchTest, MovedBasesTakeTheVariantWithoutAlignment) {
  std::unique_ptr<LoadedProgram> axpy = load(real_axpy());
  for (size_t moved = 1; moved < 4; ++moved) {
    HostLaunchOptions options;
    options.offsets.resize(4);
    options.offsets[moved] = 1;
    EXPECT_EQ(check_axpy(*axpy, 1024, options), "axpy_any");
    options.offsets[moved] = 4;
    EXPECT_EQ(check_axpy(*axpy, 1024, options), "axpy_vector");
  }
}

TEST_F(EmulatedLaunchTest, ForcedVariantRuns) {
  std::unique_ptr<LoadedProgram> axpy = load(real_axpy());
  EXPECT_EQ(check_axpy(*axpy, 1024, {{{}, {1}}, {}, true}), "axpy_any");
}

TEST_F(EmulatedLaunchTest, ArgumentsOnTheDevice) {
  std::unique_ptr<LoadedProgram> axpy = load(real_axpy());
  Array x = iota(100, 1);
  Buffer x_memory = Buffer::allocate(*device_, 400).value();
  Buffer z_memory = Buffer::allocate(*device_, 400).value();
  ASSERT_TRUE(device_->copy_to_device(x_memory.address(), x.bytes()));
  // An input may be given twice.
  std::vector<LaunchArgument> arguments = {LaunchArgument::scalar_value(kF32, 3.0f),
                                           LaunchArgument::buffer(x_memory.address(), kF32, {100}),
                                           LaunchArgument::buffer(x_memory.address(), kF32, {100}),
                                           LaunchArgument::buffer(z_memory.address(), kF32, {100})};
  Stream stream = Stream::create(*device_).value();
  LaunchPlan plan = plan_launch(*axpy, arguments).value();
  ASSERT_TRUE(start(*device_, plan, stream.get()));
  ASSERT_TRUE(stream.synchronize());
  Array z = Array::zeros(kF32, {100}).value();
  ASSERT_TRUE(device_->copy_to_host(z.bytes(), z_memory.address()));
  for (int64_t i = 0; i < 100; ++i) EXPECT_EQ(z.as_double(i), 4.0 * (static_cast<double>(i) + 1));
}

TEST_F(EmulatedLaunchTest, PtxThatDoesNotCompileIsTold) {
  Program program = real_axpy();
  program.steps[0].variants[1].code->ptx =
      ".version 7.0\n.target sm_80\n.address_size 64\n.visible .entry axpy_any() { frobnicate; }\n";
  std::unique_ptr<LoadedProgram> axpy = load(program);
  std::string message = check_axpy(*axpy, 7, {});
  EXPECT_NE(message.find("cuModuleLoadDataEx failed to load variant any of kernel `axpy`"), std::string::npos)
      << message;
  EXPECT_NE(message.find("frobnicate"), std::string::npos) << message;
}

TEST_F(EmulatedLaunchTest, FaultPoisonsTheDevice) {
  Program program = real_axpy();
  // Claims that the vector kernel takes every size, so its last thread runs past the end.
  program.steps[0].variants[0].guard = {};
  std::unique_ptr<LoadedProgram> axpy = load(program);
  std::string message = check_axpy(*axpy, 5, {});
  EXPECT_NE(message.find("CUDA_ERROR_ILLEGAL_ADDRESS"), std::string::npos) << message;
  EXPECT_NE(message.find("cannot be used any more"), std::string::npos) << message;
  message = check_axpy(*axpy, 4, {});
  EXPECT_NE(message.find("the device was lost to an earlier CUDA_ERROR_ILLEGAL_ADDRESS"), std::string::npos)
      << message;
}

}  // namespace
}  // namespace tenon::runtime
