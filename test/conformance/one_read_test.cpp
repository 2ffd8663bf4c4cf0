// Programs over rows that are in no example: each is one launch that reads its input once, by the emulator's
// counters.
#include <gtest/gtest.h>

#include "examples.h"

namespace tenon::conformance {
namespace {

struct RowProgram {
  const char* name;
  const char* source;
  // The longest row that is read once: columns stay in registers or are streamed.
  int64_t longest = 20'000;
};

// Every program has rows of N elements, M of them.
constexpr RowProgram kPrograms[] = {
    {"ResidualLayernorm",
     "kernel k(x: f32[M, N], r: f32[M, N], g: f32[N], b: f32[N]) -> (y: f32[M, N]) {"
     " s[i, j] = x[i, j] + r[i, j]  mean[i] = sum[j](s[i, j]) / f32(N)  d[i, j] = s[i, j] - mean[i]"
     " v[i] = rsqrt(sum[j](d[i, j] * d[i, j]) / f32(N) + 1e-5)  y[i, j] = d[i, j] * v[i] * g[j] + b[j] }"},
    {"MaskedScaledSoftmaxInF16",
     "kernel k(x: f16[M, N], bias: f16[N], mask: bool[M, N], scale: f32) -> (y: f16[M, N]) {"
     " s[i, j] = mask[i, j] ? scale * wide(x[i, j]) + wide(bias[j]) : -inf  m[i] = max[j](s[i, j])"
     " e[i, j] = exp(s[i, j] - m[i])  y[i, j] = f16(e[i, j] / sum[k](e[i, k])) }"},
    {"SoftmaxOverTheMiddle",
     "kernel k(x: f32[M, N, 32]) -> (y: f32[M, N, 32]) { e[a, b, c] = exp(x[a, b, c] - max[k](x[a, k, c]))"
     " y[a, b, c] = e[a, b, c] / sum[k](e[a, k, c]) }",
     1024},
    {"Logsumexp",
     "kernel k(x: f32[M, N]) -> (y: f32[M]) { m[i] = max[j](x[i, j])  y[i] = m[i] + log(sum[j](exp(x[i, j] - "
     "m[i]))) }"},
    {"RmsnormToInt8",
     "kernel k(x: f32[M, N], g: f32[N]) -> (q: i8[M, N], scale: f32[M]) {"
     " r[i] = rsqrt(sum[j](x[i, j] * x[i, j]) / f32(N) + 1e-5)  h[i, j] = x[i, j] * r[i] * g[j]"
     " scale[i] = max[j](abs(h[i, j])) / 127  q[i, j] = i8(round(h[i, j] / scale[i])) }"},
    {"SoftmaxWithATemperature",
     "kernel k(x: f32[M, N], t: f32[M]) -> (y: f32[M, N]) { s[i, j] = x[i, j] / (abs(t[i]) + 1)"
     " e[i, j] = exp(s[i, j] - max[k](s[i, k]))  y[i, j] = e[i, j] / sum[k](e[i, k]) }"},
    {"CrossEntropyWithGradient",
     "kernel k(x: f32[M, N], p: f32[M, N]) -> (loss: f32[M], dx: f32[M, N]) { m[i] = max[j](x[i, j])"
     " e[i, j] = exp(x[i, j] - m[i])  s[i] = sum[j](e[i, j])"
     " loss[i] = log(s[i]) + m[i] - sum[j](p[i, j] * x[i, j])  dx[i, j] = e[i, j] / s[i] - p[i, j] }"},
};

// Rows that registers hold, and rows that shared memory does.
struct RowSize {
  int64_t rows;
  int64_t length;
};
constexpr RowSize kSizes[] = {{8, 1024}, {2, 20'000}};

using Trial = std::tuple<RowProgram, RowSize>;

std::vector<Trial> trials() {
  std::vector<Trial> all;
  for (const RowProgram& program : kPrograms)
    for (const RowSize& size : kSizes)
      if (size.length <= program.longest) all.emplace_back(program, size);
  return all;
}

class OneReadTest : public testing::TestWithParam<Trial> {};

TEST_P(OneReadTest, OneLaunchReadsEachInputOnce) {
  const auto& [row_program, size] = GetParam();
  const auto [rows, length] = size;
  SourceProgram program("row.tn", row_program.source, {});
  ASSERT_EQ(program.kernels().size(), 1u) << program.complaints();
  Machine machine;
  Subject subject(program, program.kernels()[0], machine);
  EXPECT_EQ(subject.program().steps.size(), 1u);
  std::optional<Case> trial = subject.make_case({{"M", rows}, {"N", length}}, Fill::kRandom, 1);
  ASSERT_TRUE(trial.has_value());
  Outcome outcome = subject.run(*trial);
  ASSERT_TRUE(outcome.ok()) << outcome.failure;
  ASSERT_EQ(outcome.reports.size(), 1u);
  const emulator::LaunchReport& report = outcome.reports[0];
  // A vector along the row is read by every row; what belongs to a row alone, by each thread.
  int64_t least = 0;
  int64_t slack = 0;
  for (const std::optional<Array>& input : trial->inputs) {
    if (!input || input->rank() == 0) continue;
    bool along_row = input->rank() == 1 && input->shape()[0] == length;
    bool of_rows = input->rank() == 1 && !along_row;
    if (of_rows) slack += int64_t{report.grid[0]} * report.block[0] * 4;
    if (!of_rows) least += static_cast<int64_t>(input->bytes().size()) * (along_row ? rows : 1);
  }
  EXPECT_LE(static_cast<int64_t>(report.total.global_bytes_read), least + slack);
}

INSTANTIATE_TEST_SUITE_P(All, OneReadTest, testing::ValuesIn(trials()), [](const auto& info) {
  return std::get<0>(info.param).name + std::to_string(std::get<1>(info.param).length);
});

}  // namespace
}  // namespace tenon::conformance
