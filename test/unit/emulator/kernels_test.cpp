#include <fmt/format.h>
#include <gtest/gtest.h>

#include <cmath>
#include <numeric>
#include <random>

#include "test/unit/emulator/harness.h"

namespace tenon::emulator::test {
namespace {

TEST(Kernels, AxpyByHand) {
  const std::string ptx = module_text(R"(
.visible .entry axpy(.param .u64 x, .param .u64 y, .param .f32 a, .param .u32 n) {
  .reg .pred %p<2>; .reg .b32 %r<6>; .reg .f32 %f<4>; .reg .b64 %rd<6>;
  ld.param.u64 %rd1, [x];
  ld.param.u64 %rd2, [y];
  ld.param.f32 %f1, [a];
  ld.param.u32 %r1, [n];
  mov.u32 %r2, %ctaid.x;
  mov.u32 %r3, %ntid.x;
  mov.u32 %r4, %tid.x;
  mad.lo.s32 %r5, %r2, %r3, %r4;
  setp.ge.u32 %p1, %r5, %r1;
  @%p1 bra $end;
  mul.wide.u32 %rd3, %r5, 4;
  add.s64 %rd4, %rd1, %rd3;
  add.s64 %rd5, %rd2, %rd3;
  ld.global.nc.f32 %f2, [%rd4];
  ld.global.f32 %f3, [%rd5];
  fma.rn.f32 %f3, %f1, %f2, %f3;
  st.global.f32 [%rd5], %f3;
$end:
  ret;
})");
  for (const uint32_t n : {0u, 1u, 31u, 32u, 33u, 1000u}) {
    std::vector<float> x(n), y(n);
    std::iota(x.begin(), x.end(), 1.0f);
    std::iota(y.begin(), y.end(), 0.25f);
    Array dx = Array::of(x), dy = Array::of(y);
    const LaunchReport report =
        KernelRun(ptx).grid(n / 128 + 1).block(128).array(dx).array(dy).value(2.5f).value(n).expect_ok();
    const auto result = dy.values<float>();
    for (uint32_t i = 0; i < n; ++i) ASSERT_EQ(result[i], std::fma(2.5f, x[i], y[i])) << i;
    EXPECT_EQ(report.total.global_bytes_read, uint64_t{n} * 8);
    EXPECT_EQ(report.total.global_bytes_written, uint64_t{n} * 4);
    EXPECT_EQ(report.total.global_sectors, report.total.least_global_sectors);
  }
}

}  // namespace
}  // namespace tenon::emulator::test
