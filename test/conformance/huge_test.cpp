// Sizes at which tensors have more than 2^31 bytes: the variant that a launch takes then computes its offsets
// in 64 bits. Nothing of that size is allocated; the same variants run on small data in the sweeps.
#include <fmt/format.h>
#include <gtest/gtest.h>

#include <array>
#include <span>

#include "examples.h"
#include "runtime/selection.h"

namespace tenon::conformance {
namespace {

constexpr int64_t kHuge = (int64_t{1} << 31) + 8;
constexpr int64_t kOther = 4;
constexpr std::array<std::byte, 8> kZero = {};

class HugeTest : public testing::TestWithParam<Example> {
 protected:
  using Values = std::vector<int64_t>;

  static std::optional<int64_t> value(const ir::IndexPool& pool, ir::IndexId index, const Values& symbols) {
    return pool.evaluate(index,
                         [&](ir::IndexId atom) { return std::optional(symbols[pool[atom].reference]); });
  }

  // Buffers at aligned addresses far from each other; empty where a shape makes no sense.
  static std::vector<runtime::LaunchArgument> arguments(const ir::Kernel& kernel, const Values& symbols) {
    std::vector<runtime::LaunchArgument> list;
    for (const ir::Parameter& parameter : kernel.parameters) {
      const ir::Tensor& tensor = kernel.tensors[parameter.tensor()];
      std::vector<int64_t> shape;
      for (ir::IndexId extent : tensor.shape) {
        shape.push_back(value(kernel.index, extent, symbols).value_or(-1));
        if (shape.back() < 0) return {};
      }
      const runtime::CUdeviceptr address = (list.size() + 1) << 50;
      list.push_back(shape.empty() && !parameter.output.valid()
                         ? runtime::LaunchArgument::scalar_bytes(
                               tensor.element, std::span(kZero).first(byte_size(tensor.element)))
                         : runtime::LaunchArgument::buffer(address, tensor.element, std::move(shape)));
    }
    return list;
  }

  // Whether the region reaches a tensor of more than 2^31 bytes.
  static bool reaches_far(const ir::TileModule& module, ir::RegionId region, const Values& symbols) {
    for (ir::TileOpId id : module.regions[region].ops) {
      const ir::TileOp& op = module.ops[id];
      for (ir::RegionId inner : op.regions)
        if (reaches_far(module, inner, symbols)) return true;
      if (!op.tensor.valid()) continue;
      const ir::Tensor& tensor = module.tensors[op.tensor];
      double bytes = byte_size(tensor.element);
      for (ir::IndexId extent : tensor.shape)
        bytes *= static_cast<double>(value(module.index, extent, symbols).value_or(0));
      if (bytes > 0x1p31) return true;
    }
    return false;
  }
};

TEST_P(HugeTest, OffsetsOf64Bits) {
  SourceProgram source = load(GetParam());
  const ir::Kernel* kernel = source.kernel(GetParam().kernel);
  ASSERT_NE(kernel, nullptr) << source.complaints();
  api::CompiledKernel compiled(*kernel, {.target = target_by_name("sm_80")}, nullptr);
  const runtime::Program& program = compiled.program();
  int far = 0;
  for (const ir::Symbol& huge : kernel->symbols) {
    if (huge.fixed || huge.kind != ir::Symbol::Kind::kDimension) continue;
    SCOPED_TRACE(huge.name);
    Values symbols;
    std::vector<runtime::NamedSize> sizes;
    for (const ir::Symbol& symbol : kernel->symbols) {
      symbols.push_back(symbol.fixed.value_or(symbol.name == huge.name ? kHuge : kOther));
      sizes.push_back({symbol.name, symbols.back()});
    }
    std::vector<runtime::LaunchArgument> list = arguments(*kernel, symbols);
    Result<runtime::Binding> binding = runtime::bind_arguments(program, list, sizes);
    if (list.empty() || !binding) continue;
    for (uint32_t s = 0; s < program.steps.size(); ++s) {
      Result<uint32_t> variant = runtime::select_variant(program, s, *binding, list);
      ASSERT_TRUE(variant.has_value()) << variant.error().message;
      ir::TileModule module = compiled.lower_to_tile(s, *variant);
      for (const ir::TileKernel& launch : module.kernels) {
        if (!reaches_far(module, launch.body, symbols)) continue;
        EXPECT_FALSE(launch.narrow_index) << launch.name;
        ++far;
      }
    }
  }
  EXPECT_GT(far, 0);
}

INSTANTIATE_TEST_SUITE_P(All, HugeTest, testing::ValuesIn(examples()),
                         [](const auto& info) { return std::string(info.param.name); });

}  // namespace
}  // namespace tenon::conformance
