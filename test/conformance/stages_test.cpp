// The tile interpreter against the emulated device: bit for bit, in every variant that takes the launch. A
// NaN matches any NaN.
#include "api/stages.h"

#include <fmt/format.h>
#include <gtest/gtest.h>

#include "examples.h"
#include "functions_text.h"
#include "subject.h"

namespace tenon::conformance {
namespace {

// Sizes of which each symbol takes one after the other, so that different ones meet.
constexpr int64_t kSizes[] = {1, 4, 5, 33, 64, 100, 128, 259};

struct Stages {
  const char* name;
  const char* example;
  // The product of all sizes is at most this.
  int64_t most_points;
};

class StagesTest : public testing::TestWithParam<Stages> {
 protected:
  static const Example& example(std::string_view name) {
    for (const Example& example : examples())
      if (name == example.name) return example;
    ADD_FAILURE() << "no example " << name;
    return examples().front();
  }

  // Small enough, rotating through the sizes.
  static Sizes sizes_of(const ir::Kernel& kernel, size_t round, int64_t most_points) {
    Sizes sizes;
    int64_t points = 1;
    size_t next = round;
    for (const ir::Symbol& symbol : kernel.symbols) {
      int64_t size = kSizes[next++ % std::size(kSizes)];
      while (size > 1 && points * size > most_points) size /= 2;
      sizes[symbol.name] = symbol.fixed.value_or(size);
      points *= sizes[symbol.name];
    }
    return sizes;
  }
};

// The elements that differ, a few of them; empty where none does.
std::string difference(const Array& tile, const Array& device) {
  if (same_values(tile, device)) return "";
  std::string text;
  int shown = 0;
  for (int64_t i = 0; i < tile.element_count() && shown < 4; ++i) {
    if (tile.as_double(i) == device.as_double(i)) continue;
    text += fmt::format("element {}: {:a} by tiles, {:a} on the device\n", i, tile.as_double(i),
                        device.as_double(i));
    ++shown;
  }
  return text.empty() ? "only bits differ\n" : text;
}

TEST_P(StagesTest, TilesAgreeWithTheDeviceBitForBit) {
  const Stages& stages = GetParam();
  SourceProgram program = load(example(stages.example));
  const ir::Kernel* kernel = program.kernel(example(stages.example).kernel);
  ASSERT_NE(kernel, nullptr) << program.complaints();
  Machine machine;
  Subject subject(program, *kernel, machine);
  api::CompiledKernel compiled(*kernel, {.target = target_by_name("sm_80")}, nullptr);
  size_t most_variants = 1;
  for (const runtime::Step& step : subject.program().steps)
    most_variants = std::max(most_variants, step.variants.size());
  int compared = 0;
  for (size_t round = 0; round < std::size(kSizes); ++round) {
    auto trial = subject.make_case(sizes_of(*kernel, round, stages.most_points), Fill::kRandom, round);
    if (!trial) continue;
    // The variant chosen, then each forced wherever a step has it.
    for (size_t forced = 0; forced <= most_variants; ++forced) {
      runtime::HostLaunchOptions launch;
      api::StageOptions options;
      for (const runtime::Step& step : subject.program().steps) {
        std::optional<uint32_t> variant;
        if (forced > 0 && forced - 1 < step.variants.size()) variant = forced - 1;
        launch.launch.variants.push_back(variant);
      }
      options.variants = launch.launch.variants;
      for (const auto& [name, value] : trial->sizes)
        for (const ir::Symbol& symbol : kernel->symbols)
          if (symbol.name == name && symbol.kind == ir::Symbol::Kind::kDimension)
            options.sizes.push_back({name, value});
      std::vector<std::optional<Array>> arrays = trial->inputs;
      Outcome device = subject.run(*trial, launch);
      auto tiles = api::run_at(api::Stage::kTile, compiled, arrays, options);
      std::string place = fmt::format("{}, variant {}", trial->text, forced);
      if (device.refused) {
        EXPECT_FALSE(tiles.has_value()) << place << ": only the device refuses: " << device.failure;
        continue;
      }
      ASSERT_TRUE(tiles.has_value()) << place << ": " << tiles.error().message;
      EXPECT_EQ(*tiles, device.variants) << place;
      EXPECT_EQ(device.failure, "") << place;
      for (size_t p = 0; p < arrays.size(); ++p) {
        if (!kernel->parameters[p].output.valid() || !device.arrays[p]) continue;
        EXPECT_EQ(difference(*arrays[p], *device.arrays[p]), "")
            << place << ", " << kernel->parameters[p].name;
      }
      ++compared;
      if (HasFailure()) return;
    }
  }
  EXPECT_GE(compared, 8);
}

// In each variant that takes the launch: the device's results are right, and the tiles' the same.
void agree(const char* text, const char* name, const Sizes& sizes) {
  SourceProgram program("test.tn", text, {});
  const ir::Kernel* kernel = program.kernel(name);
  ASSERT_NE(kernel, nullptr) << program.complaints();
  Machine machine;
  Subject subject(program, *kernel, machine);
  api::CompiledKernel compiled(*kernel, {.target = target_by_name("sm_80")}, nullptr);
  auto trial = subject.make_case(sizes, Fill::kRandom, 1);
  ASSERT_TRUE(trial.has_value());
  int ran = 0;
  for (uint32_t variant = 0; variant < subject.program().steps[0].variants.size(); ++variant) {
    runtime::HostLaunchOptions launch;
    launch.launch.variants = {variant};
    Outcome device = subject.run(*trial, launch);
    if (device.refused) continue;
    EXPECT_EQ(device.failure, "");
    std::vector<std::optional<Array>> arrays = trial->inputs;
    auto tiles = api::run_at(api::Stage::kTile, compiled, arrays, {.variants = {variant}});
    ASSERT_TRUE(tiles.has_value()) << tiles.error().message;
    for (size_t p = 0; p < arrays.size(); ++p) {
      if (!kernel->parameters[p].output.valid()) continue;
      EXPECT_EQ(difference(*arrays[p], *device.arrays[p]), "")
          << trial->text << ", variant " << variant << ", " << kernel->parameters[p].name;
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

constexpr Stages kStages[] = {
    {"Softmax", "Softmax", 60'000},
    {"LogSoftmaxF16", "LogSoftmaxF16", 30'000},
    {"Axpy", "Axpy", 60'000},
    {"Layernorm", "Layernorm", 60'000},
    {"Variance", "Variance", 30'000},
    {"Argmax", "Argmax", 30'000},
    {"Sum", "Sum", 100'000},
    {"Transpose", "Transpose", 60'000},
    {"Permute", "Permute", 60'000},
    {"Matmul", "Matmul", 60'000},
    {"MatmulTN", "MatmulTN", 60'000},
    {"BiasGelu", "BiasGelu", 20'000},
    {"LinearGeluResidualF16", "LinearGeluResidualF16", 30'000},
    {"Conv2d", "Conv2d", 150},
};

INSTANTIATE_TEST_SUITE_P(All, StagesTest, testing::ValuesIn(kStages),
                         [](const auto& info) { return std::string(info.param.name); });

}  // namespace
}  // namespace tenon::conformance
