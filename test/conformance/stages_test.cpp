// The tile interpreter against the emulated device, bit for bit, in every variant that takes the launch; the
// examples are compared at all sizes by examples_test.
#include <gtest/gtest.h>

#include "functions_text.h"
#include "subject.h"

namespace tenon::conformance {
namespace {

// In each variant that takes the launch: the device's results are right, and the tiles' the same.
void agree(const char* text, const char* name, const Sizes& sizes) {
  SourceProgram program("test.tn", text, {});
  const ir::Kernel* kernel = program.kernel(name);
  ASSERT_NE(kernel, nullptr) << program.complaints();
  Machine machine;
  Subject subject(program, *kernel, machine);
  auto trial = subject.make_case(sizes, Fill::kRandom, 1);
  ASSERT_TRUE(trial.has_value());
  int ran = 0;
  for (uint32_t variant = 0; variant < subject.program().steps[0].variants.size(); ++variant) {
    runtime::HostLaunchOptions launch;
    launch.launch.variants = {variant};
    Outcome device = subject.run(*trial, launch);
    if (device.refused) continue;
    EXPECT_EQ(device.failure, "");
    if (device.ok()) {
      EXPECT_EQ(subject.check_tile_stage(*trial, device), "");
    }
    ++ran;
  }
  EXPECT_GT(ran, 0);
}

// A tile that the reduction fills exactly needs no mask, which would give the terms its axis.
TEST(Stages, TermsThatDoNotDependOnTheReducedAxis) {
  constexpr const char* kText = R"(
kernel sums(x: f32[N]) -> (y: f32[N]) { y[i] = sum[k in 0..256](x[i]) }
kernel first(x: f32[N]) -> (y: i32[N]) { y[i] = i32(argmin[k in 0..256](x[i])) }
)";
  agree(kText, "sums", {{"N", 40}});
  agree(kText, "first", {{"N", 40}});
}

// Parts and their merge have one order.
TEST(Stages, SplitReductions) {
  constexpr const char* kText = R"(
kernel rows(x: f16[M, N]) -> (s: f32[M], p: i32[M]) {
  s[i] = sum[j](wide(x[i, j]))
  p[i] = i32(argmax[j](x[i, j]))
}
kernel columns(x: f32[M, N]) -> (s: f32[N], t: f32[N]) {
  s[j] = sum[i](x[i, j])
  t[j] = s[j] * 2 + 1
}
kernel total(x: f32[M, N]) -> (s: f32) { s = sum[i, j](x[i, j]) }
kernel softmax(x: f32[M, N]) -> (y: f32[M, N]) {
  e[i, j] = exp(x[i, j] - max[k](x[i, k]))
  y[i, j] = e[i, j] / sum[k](e[i, k])
}
kernel product(a: f32[M, K], b: f32[K, N]) -> (c: f32[M, N]) { c[i, j] = max(sum[k](a[i, k] * b[k, j]), 0) }
)";
  agree(kText, "rows", {{"M", 3}, {"N", 30'001}});
  agree(kText, "columns", {{"M", 5000}, {"N", 52}});
  agree(kText, "columns", {{"M", 5001}, {"N", 33}});
  agree(kText, "total", {{"M", 300}, {"N", 400}});
  agree(kText, "softmax", {{"M", 2}, {"N", 66'003}});
  agree(kText, "product", {{"M", 33}, {"N", 68}, {"K", 1500}});
  agree(kText, "product", {{"M", 31}, {"N", 67}, {"K", 1501}});
}

TEST(Stages, NarrowMultiplyAddsRoundOnce) {
  constexpr const char* kText = R"(
kernel halves(a: f16[N], b: f16[N], c: f16[N]) -> (y: f16[N]) { y[i] = fma(a[i], b[i], c[i]) }
kernel brains(a: bf16[N], b: bf16[N], c: bf16[N]) -> (y: bf16[N]) { y[i] = fma(a[i], b[i], c[i]) }
)";
  agree(kText, "halves", {{"N", 100'000}});
  agree(kText, "brains", {{"N", 100'000}});
}

TEST(Stages, FunctionsAgree) {
  for (std::string_view attribute : {"", "@allow(approx)"})
    for (std::string_view type : {"f32", "f16", "bf16"})
      agree(functions_text(attribute, type).c_str(), "functions", {{"N", 3000}});
}

}  // namespace
}  // namespace tenon::conformance
