#include "runtime/launch.h"

#include <gtest/gtest.h>

#include <cstring>
#include <thread>

#include "fake_driver.h"
#include "programs.h"
#include "runtime/host_launch.h"

namespace tenon::runtime {
namespace {

using enum ElementType;

class LaunchTest : public testing::Test {
 protected:
  LaunchTest() {
    driver_.entries = {{"axpy_vector", 5}, {"axpy_any", 5}, {"first", 2}, {"combine", 2}, {"second", 5}};
    device_ = Device::open(driver_.table(), 0).value();
  }

  std::unique_ptr<LoadedProgram> load(Program program, VariantSource source = {}) {
    return LoadedProgram::create(device_, std::make_shared<Program>(std::move(program)), std::move(source))
        .value();
  }

  static std::vector<LaunchArgument> axpy_arguments(int64_t n, CUdeviceptr x = 0x10000) {
    return {LaunchArgument::scalar_value(kF32, 2.5f), LaunchArgument::buffer(x, kF32, {n}),
            LaunchArgument::buffer(0x20000, kF32, {n}), LaunchArgument::buffer(0x30000, kF32, {n})};
  }

  static std::vector<LaunchArgument> window_arguments(int64_t m, int64_t n, int32_t divisor) {
    return {LaunchArgument::buffer(0x10000, kF16, {m, n}), LaunchArgument::scalar_value(kI32, divisor),
            LaunchArgument::buffer(0x2000000, kF32, {m - 2, n / divisor})};
  }

  FakeDriver driver_;
  std::shared_ptr<Device> device_;
};

TEST_F(LaunchTest, PassesArgumentsInOrder) {
  std::unique_ptr<LoadedProgram> axpy = load(axpy_program());
  LaunchPlan plan = plan_launch(*axpy, axpy_arguments(4100)).value();
  ASSERT_TRUE(start(*device_, plan, nullptr));
  ASSERT_EQ(driver_.launches.size(), 1u);
  const RecordedLaunch& launch = driver_.launches[0];
  EXPECT_EQ(launch.entry, "axpy_vector");
  EXPECT_EQ(launch.grid, 5u);
  EXPECT_EQ(launch.block, 256u);
  uint32_t bits;
  float value = 2.5f;
  std::memcpy(&bits, &value, sizeof bits);
  EXPECT_EQ(launch.arguments, (std::vector<uint64_t>{bits, 0x10000, 0x20000, 0x30000, 4100}));
  EXPECT_EQ(driver_.count("cuMemAlloc"), 0u);
}

TEST_F(LaunchTest, LoadsEachVariantOnceAndOnlyWhenNeeded) {
  std::unique_ptr<LoadedProgram> axpy = load(axpy_program());
  EXPECT_TRUE(driver_.loaded_ptx.empty());
  for (int64_t n : {8, 7, 8, 7}) ASSERT_TRUE(plan_launch(*axpy, axpy_arguments(n)));
  EXPECT_EQ(driver_.loaded_ptx, (std::vector<std::string>{"// vector", "// any"}));
}

TEST_F(LaunchTest, EmptyGridIsSkipped) {
  std::unique_ptr<LoadedProgram> axpy = load(axpy_program());
  LaunchPlan plan = plan_launch(*axpy, axpy_arguments(0)).value();
  EXPECT_TRUE(plan.launches.empty());
  ASSERT_TRUE(start(*device_, plan, nullptr));
  EXPECT_TRUE(driver_.launches.empty());
}

TEST_F(LaunchTest, AsksTheSourceForMissingVariants) {
  Program program = axpy_program();
  LoweredVariant code = *program.steps[0].variants[1].code;
  program.steps[0].variants[1].code.reset();
  int asked = 0;
  std::unique_ptr<LoadedProgram> axpy =
      load(program, [&](uint32_t step, uint32_t variant) -> Result<LoweredVariant> {
        EXPECT_EQ(step, 0u);
        EXPECT_EQ(variant, 1u);
        if (++asked == 1) return fail(ErrorKind::kMachine, "no memory");
        return code;
      });
  EXPECT_EQ(plan_launch(*axpy, axpy_arguments(7)).error().message, "no memory");
  std::vector<std::thread> threads;
  for (int i = 0; i < 4; ++i)
    threads.emplace_back([&] { EXPECT_TRUE(plan_launch(*axpy, axpy_arguments(7))); });
  for (std::thread& thread : threads) thread.join();
  EXPECT_EQ(asked, 2);
  EXPECT_EQ(driver_.loaded_ptx.size(), 1u);
}

TEST_F(LaunchTest, MissingVariantWithoutSource) {
  Program program = axpy_program();
  program.steps[0].variants[1].code.reset();
  std::unique_ptr<LoadedProgram> axpy = load(program);
  EXPECT_EQ(plan_launch(*axpy, axpy_arguments(7)).error().message,
            "kernel `axpy` comes without variant any, and there is no compiler to ask");
}

TEST_F(LaunchTest, BadCodeFromTheSourceIsRefused) {
  Program program = axpy_program();
  LoweredVariant code = *program.steps[0].variants[1].code;
  program.steps[0].variants[1].code.reset();
  code.launches[0].block = 0;
  std::unique_ptr<LoadedProgram> axpy =
      load(program, [&](uint32_t, uint32_t) { return Result<LoweredVariant>(code); });
  EXPECT_FALSE(plan_launch(*axpy, axpy_arguments(7)));
}

TEST_F(LaunchTest, WorkspaceIsLaidOutForAllSteps) {
  std::unique_ptr<LoadedProgram> window = load(window_program());
  LaunchPlan plan = plan_launch(*window, window_arguments(10, 30, 3)).value();
  // 1200 bytes between the steps end at 1280; the second step's 256 and 80 bytes take a unit of 256 each.
  EXPECT_EQ(plan.workspace_bytes, 1280u + 512u);
  ASSERT_TRUE(start(*device_, plan, nullptr, 0x100000));
  ASSERT_EQ(driver_.launches.size(), 3u);
  EXPECT_EQ(driver_.launches[0].arguments, (std::vector<uint64_t>{0x10000, 0x100000}));
  EXPECT_EQ(driver_.launches[1].arguments, (std::vector<uint64_t>{0x100000, 0x100000 + 1280 + 256}));
  EXPECT_EQ(driver_.launches[1].shared, 120u);
  MagicDivisor magic = magic_divisor(30);
  EXPECT_EQ(driver_.launches[2].arguments,
            (std::vector<uint64_t>{0x100000 + 1280, 3, 0x2000000, magic.multiplier, magic.shift}));
}

TEST_F(LaunchTest, ArenaServesTheWorkspace) {
  std::unique_ptr<LoadedProgram> window = load(window_program());
  LaunchPlan plan = plan_launch(*window, window_arguments(10, 30, 3)).value();
  ASSERT_TRUE(start(*device_, plan, nullptr));
  ASSERT_TRUE(start(*device_, plan, nullptr));
  ASSERT_EQ(driver_.launches.size(), 6u);
  EXPECT_EQ(driver_.launches[0].arguments[1], driver_.launches[3].arguments[1]);
  EXPECT_EQ(driver_.count("cuMemAlloc"), 1u);
}

TEST_F(LaunchTest, LargeSharedMemoryIsAllowedFirst) {
  std::unique_ptr<LoadedProgram> window = load(window_program());
  LaunchPlan plan = plan_launch(*window, window_arguments(3, 30000, 3)).value();
  ASSERT_TRUE(start(*device_, plan, nullptr));
  ASSERT_TRUE(start(*device_, plan, nullptr));
  EXPECT_EQ(driver_.count("cuFuncSetAttribute"), 1u);
  EXPECT_EQ(
      plan_launch(*window, window_arguments(3, 60000, 3)).error().message,
      "kernel `window` refuses this launch: the bytes of dynamic shared memory of entry combine, N * 4, is "
      "240000, not in 0 to 166912: N = 60000");
}

TEST_F(LaunchTest, WhatDoesNotFitIsRefused) {
  std::unique_ptr<LoadedProgram> axpy = load(axpy_program());
  EXPECT_EQ(plan_launch(*axpy, axpy_arguments(int64_t{1} << 33)).error().kind, ErrorKind::kRefused);
  Program program = axpy_program();
  program.steps[0].variants[0].code->launches[0].grid = SizeExpr::symbol(SymbolId(0));
  std::unique_ptr<LoadedProgram> wide = load(program);
  std::vector<LaunchArgument> arguments = axpy_arguments(int64_t{1} << 32, 0x10'0000'0000);
  arguments[2].address = 0x20'0000'0000;
  arguments[3].address = 0x30'0000'0000;
  EXPECT_EQ(plan_launch(*wide, arguments).error().message,
            "kernel `axpy` refuses this launch: the grid of entry axpy_vector, N, is 4294967296, not in 0 to "
            "2147483647: N = 4294967296");
  EXPECT_EQ(plan_launch(*axpy, arguments).error().message,
            "kernel `axpy` refuses this launch: an argument of entry axpy_vector, N, is 4294967296, not in "
            "-2147483648 "
            "to 4294967295: N = 4294967296");
}

TEST_F(LaunchTest, ForcedVariant) {
  std::unique_ptr<LoadedProgram> axpy = load(axpy_program());
  LaunchPlan plan = plan_launch(*axpy, axpy_arguments(8), {.sizes = {}, .variants = {1}}).value();
  EXPECT_EQ(plan.launches[0].entry(), "axpy_any");
  EXPECT_EQ(plan_launch(*axpy, axpy_arguments(7), {.sizes = {}, .variants = {0}}).error().kind,
            ErrorKind::kRefused);
}

TEST_F(LaunchTest, FailedLaunchNamesTheEntry) {
  std::unique_ptr<LoadedProgram> axpy = load(axpy_program());
  LaunchPlan plan = plan_launch(*axpy, axpy_arguments(8)).value();
  driver_.failures["cuLaunchKernel"] = kCudaIllegalAddress;
  std::string message = start(*device_, plan, nullptr).error().message;
  EXPECT_EQ(message.substr(0, message.find('\n')),
            "cuLaunchKernel failed to launch entry axpy_vector with a grid of 1 and a block of 256: "
            "CUDA_ERROR_ILLEGAL_ADDRESS");
}

TEST_F(LaunchTest, TargetMustRunOnTheDevice) {
  auto open = [&](const char* target, int capability) {
    driver_.capability = capability;
    std::shared_ptr<Device> device = Device::open(driver_.table(), 0).value();
    Program program = axpy_program();
    program.target = target;
    return LoadedProgram::create(device, std::make_shared<Program>(program)).has_value();
  };
  EXPECT_TRUE(open("sm_80", 80));
  EXPECT_TRUE(open("sm_80", 120));
  EXPECT_FALSE(open("sm_89", 86));
  EXPECT_TRUE(open("sm_90a", 90));
  EXPECT_FALSE(open("sm_90a", 100));
}

TEST_F(LaunchTest, HostArraysGoThereAndBack) {
  std::unique_ptr<LoadedProgram> axpy = load(axpy_program());
  std::vector<std::optional<Array>> arrays(4);
  arrays[0] = Array::zeros(kF32, {}).value();
  arrays[1] = Array::zeros(kF32, {7}).value();
  arrays[2] = Array::zeros(kF32, {7}).value();
  LaunchPlan plan = launch_on_host(*axpy, arrays, {.launch = {}, .offsets = {0, 1}, .poison = true}).value();
  EXPECT_EQ(plan.launches[0].entry(), "axpy_any");
  EXPECT_EQ(driver_.launches[0].arguments[1] % 16, 4u);
  ASSERT_TRUE(arrays[3]);
  EXPECT_EQ(arrays[3]->shape(), (std::vector<int64_t>{7}));
  // The recorded launch wrote nothing, so the poison comes back.
  for (std::byte byte : arrays[3]->bytes()) EXPECT_EQ(byte, std::byte{0xFF});
  EXPECT_TRUE(driver_.allocations.empty());
}

TEST_F(LaunchTest, HostArraysThatDoNotFitAreRefused) {
  std::unique_ptr<LoadedProgram> axpy = load(axpy_program());
  std::vector<std::optional<Array>> arrays(3);
  EXPECT_EQ(launch_on_host(*axpy, arrays).error().message,
            "kernel `axpy` refuses this launch: it takes 4 arguments, results included, not 3");
  arrays.resize(4);
  arrays[0] = Array::zeros(kF64, {}).value();
  EXPECT_EQ(launch_on_host(*axpy, arrays).error().message,
            "kernel `axpy` refuses this launch: `a: f32` has elements of f32, not of f64");
  arrays[0] = Array::zeros(kF32, {1}).value();
  EXPECT_EQ(launch_on_host(*axpy, arrays).error().message,
            "kernel `axpy` refuses this launch: `a: f32` takes a value, not a buffer");
}

}  // namespace
}  // namespace tenon::runtime
