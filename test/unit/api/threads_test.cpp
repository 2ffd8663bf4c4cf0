// Many threads compile, and launch one kernel.
#include <gtest/gtest.h>

#include <cstdint>
#include <string>
#include <thread>
#include <vector>

#include "tenon/tenon.h"

namespace {

constexpr int kThreads = 24;

std::string source_of(int thread) {
  std::string k = std::to_string(thread + 1);
  return "kernel k" + k + "(x: i32[N]) -> (y: i32[N]) { y[i] = x[i] * " + k + " + i32(i % " + k + ") }";
}

// Compiles a kernel of its own and gives the PTX, empty where something failed.
std::string compile_and_run(int thread) {
  tenon::Expected<tenon::Kernel> kernel = tenon::Kernel::compile(source_of(thread));
  if (!kernel) return {};
  tenon::Expected<tenon::Device> device = tenon::Device::emulated();
  if (!device) return {};
  std::vector<int32_t> x = {1, 2, 3, 4, 5}, y(5);
  if (!kernel->run(*device,
                   {{"x", tenon::HostTensor(x.data(), {5})}, {"y", tenon::HostTensor(y.data(), {5})}}))
    return {};
  int32_t k = thread + 1;
  for (int32_t i = 0; i < 5; ++i)
    if (y[i] != x[i] * k + i % k) return {};
  tenon::Expected<std::string> ptx = kernel->ptx();
  return ptx ? *ptx : std::string();
}

TEST(Threads, CompileDistinctKernels) {
  std::vector<std::string> ptx(kThreads);
  std::vector<std::thread> threads;
  for (int i = 0; i < kThreads; ++i) threads.emplace_back([&, i] { ptx[i] = compile_and_run(i); });
  for (std::thread& thread : threads) thread.join();
  for (int i = 0; i < kThreads; ++i) {
    ASSERT_FALSE(ptx[i].empty()) << i;
    ASSERT_EQ(ptx[i], compile_and_run(i)) << i;
  }
}

TEST(Threads, LaunchOneKernel) {
  tenon::Expected<tenon::Kernel> kernel = tenon::Kernel::compile(source_of(4));
  ASSERT_TRUE(kernel) << kernel.failure().message;
  std::vector<int> right(kThreads);
  std::vector<std::thread> threads;
  for (int t = 0; t < kThreads; ++t) {
    threads.emplace_back([&, t] {
      tenon::Expected<tenon::Device> device = tenon::Device::emulated();
      std::vector<int32_t> x(100 + t, t), y(x.size());
      auto n = static_cast<int64_t>(x.size());
      tenon::Status done = kernel->run(
          *device, {{"x", tenon::HostTensor(x.data(), {n})}, {"y", tenon::HostTensor(y.data(), {n})}});
      right[t] = done && y.back() == t * 5 + static_cast<int32_t>(n - 1) % 5;
    });
  }
  for (std::thread& thread : threads) thread.join();
  EXPECT_EQ(right, std::vector<int>(kThreads, 1));
}

}  // namespace
