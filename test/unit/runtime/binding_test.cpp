#include "runtime/binding.h"

#include <gtest/gtest.h>

#include "programs.h"

namespace tenon::runtime {
namespace {

using enum ElementType;

LaunchArgument buffer(ElementType type, std::vector<int64_t> shape, CUdeviceptr address = 0) {
  return LaunchArgument::buffer(address, type, std::move(shape));
}
LaunchArgument f32(float value) { return LaunchArgument::scalar_value(kF32, value); }
LaunchArgument i32(int32_t value) { return LaunchArgument::scalar_value(kI32, value); }

// The message of a refused binding, or "accepted".
std::string refusal(const Program& program, std::vector<LaunchArgument> arguments,
                    std::vector<NamedSize> sizes = {}) {
  Result<Binding> binding = bind_arguments(program, arguments, sizes);
  return binding ? "accepted" : binding.error().message;
}

const std::string kAxpy = "kernel `axpy` refuses this launch: ";
const std::string kWindow = "kernel `window` refuses this launch: ";

TEST(Binding, BindsFromShapesAndScalars) {
  Result<Binding> binding = bind_arguments(
      window_program(), std::vector{buffer(kF16, {5, 12}), i32(3), LaunchArgument::absent()}, {});
  ASSERT_TRUE(binding) << binding.error().message;
  EXPECT_EQ(binding->symbols, (std::vector<Int128>{5, 12, 3}));
  EXPECT_EQ(binding->shapes[2], (std::vector<int64_t>{3, 4}));
  EXPECT_EQ(binding->bytes, (std::vector<int64_t>{120, 4, 48}));
}

TEST(Binding, SizesMustAgree) {
  EXPECT_EQ(refusal(axpy_program(), {f32(1), buffer(kF32, {3}), buffer(kF32, {4}), LaunchArgument::absent()}),
            kAxpy + "size N is 3 by axis 0 of `x: f32[N]`, but 4 by axis 0 of `y: f32[N]`");
  EXPECT_EQ(refusal(axpy_program(), {f32(1), buffer(kF32, {3}), buffer(kF32, {3}), buffer(kF32, {2})}),
            kAxpy + "size N is 3 by axis 0 of `x: f32[N]`, but 2 by axis 0 of `z: f32[N]`");
  EXPECT_EQ(refusal(axpy_program(), {f32(1), buffer(kF32, {3}), buffer(kF32, {3}), {}}, {{"N", 7}}),
            kAxpy + "size N is 7 as given by name, but 3 by axis 0 of `x: f32[N]`");
  Program fixed = axpy_program();
  fixed.symbols[SymbolId(0)].fixed = 1024;
  EXPECT_EQ(refusal(fixed, {f32(1), buffer(kF32, {3}), buffer(kF32, {3}), {}}),
            kAxpy + "size N is 1024 as fixed when compiling, but 3 by axis 0 of `x: f32[N]`");
  EXPECT_EQ(refusal(fixed, {f32(1), buffer(kF32, {1024}), buffer(kF32, {1024}), {}}), "accepted");
}

TEST(Binding, ArgumentsMustFitTheirParameters) {
  EXPECT_EQ(refusal(axpy_program(), {}), kAxpy + "it takes 4 arguments, results included, not 0");
  EXPECT_EQ(refusal(axpy_program(), {f32(1), buffer(kF16, {3}), buffer(kF32, {3}), {}}),
            kAxpy + "`x: f32[N]` has elements of f32, not of f16");
  EXPECT_EQ(refusal(axpy_program(), {f32(1), buffer(kF32, {3, 1}), buffer(kF32, {3}), {}}),
            kAxpy + "`x: f32[N]` has rank 1; the argument has shape [3, 1]");
  EXPECT_EQ(refusal(axpy_program(), {buffer(kF32, {}), buffer(kF32, {3}), buffer(kF32, {3}), {}}),
            kAxpy + "`a: f32` takes a value, not a buffer");
  EXPECT_EQ(refusal(axpy_program(), {f32(1), f32(1), buffer(kF32, {3}), {}}),
            kAxpy + "`x: f32[N]` takes a buffer, not a value");
  EXPECT_EQ(refusal(axpy_program(), {f32(1), {}, buffer(kF32, {3}), {}}), kAxpy + "`x: f32[N]` is not given");
  EXPECT_EQ(refusal(axpy_program(), {f32(1), buffer(kF32, {-3}), buffer(kF32, {3}), {}}),
            kAxpy + "the argument for `x: f32[N]` has a negative shape, [-3]");
}

TEST(Binding, IndexArraysMayBeI64) {
  Program program = axpy_program();
  program.parameters[ParameterId(1)].type = kIndex;
  EXPECT_EQ(refusal(program, {f32(1), buffer(kI64, {3}), buffer(kF32, {3}), {}}), "accepted");
}

TEST(Binding, ClausesAreToldWithTheirValues) {
  EXPECT_EQ(refusal(window_program(), {buffer(kF16, {5, 7}), i32(3), {}}),
            kWindow + "`N % n == 0` does not hold: N = 7, n = 3");
  EXPECT_EQ(refusal(window_program(), {buffer(kF16, {5, 7}), i32(0), {}}),
            kWindow + "`N % n == 0` does not hold, by division by zero: N = 7, n = 0");
  EXPECT_EQ(refusal(window_program(), {buffer(kF16, {2, 6}), i32(3), {}}),
            kWindow + "`M > 2` does not hold: M = 2\nIt is needed by the access x[i + 2, j]");
}

TEST(Binding, ComputedShapesAreChecked) {
  EXPECT_EQ(refusal(window_program(), {buffer(kF16, {5, 6}), i32(3), buffer(kF32, {4, 2})}),
            kWindow + "axis 0 of `y: f32[M - 2, N / n]` is M - 2 = 3 with M = 5, but the argument has 4");
  Program program = window_program();
  program.clauses.clear();
  EXPECT_EQ(refusal(program, {buffer(kF16, {1, 6}), i32(3), {}}),
            kWindow + "axis 0 of `y: f32[M - 2, N / n]` comes out negative: M - 2 = -1 with M = 1");
  EXPECT_EQ(refusal(program, {buffer(kF16, {3, 6}), i32(0), {}}),
            kWindow + "axis 1 of `y: f32[M - 2, N / n]` has no size, by division by zero: N = 6, n = 0");
  EXPECT_EQ(refusal(program, {buffer(kF16, {3, 6}), i32(-2), {}}),
            kWindow + "axis 1 of `y: f32[M - 2, N / n]` comes out negative: N / n = -3 with N = 6, n = -2");
}

TEST(Binding, SizesThatNoShapeBindsAreGivenByName) {
  Program program;
  program.name = "iota";
  SizeExpr n = add_dimension(program, "N");
  add_parameter(program, "y: i64[N * N]", kI64, Role::kResult, {n * n});
  const std::string prefix = "kernel `iota` refuses this launch: ";
  EXPECT_EQ(refusal(program, {{}}),
            prefix + "size N stands alone in the shape of no argument; give it by name");
  EXPECT_EQ(refusal(program, {{}}, {{"K", 3}}), "kernel `iota` has no size `K`; it has N");
  EXPECT_EQ(refusal(program, {{}}, {{"N", -3}}), prefix + "size N is negative: -3");
  EXPECT_EQ(refusal(program, {{}}, {{"N", 3}, {"N", 4}}),
            prefix + "size N is 3 as given by name, but 4 as given by name");
  EXPECT_EQ(refusal(program, {{}}, {{"N", 3}}), "accepted");
  EXPECT_EQ(refusal(program, {{}}, {{"N", int64_t{1} << 31}}),
            prefix + "`y: i64[N * N]` with shape [4611686018427387904] is too large");
  EXPECT_EQ(
      refusal(program, {{}}, {{"N", INT64_MAX}}),
      prefix +
          "axis 0 of `y: i64[N * N]` comes out too large: N * N = 85070591730234615847396907784232501249 "
          "with N = 9223372036854775807");
}

TEST(Binding, FixedScalarsMustMatch) {
  Program program = window_program();
  program.symbols[SymbolId(2)].fixed = 4;
  EXPECT_EQ(refusal(program, {buffer(kF16, {5, 12}), i32(3), {}}),
            kWindow + "`n: i32` is 3, but 4 was fixed when compiling");
}

TEST(Binding, ScalarsOfEveryWidthAreSizes) {
  auto value = [](LaunchArgument argument) {
    Program program;
    ParameterId n = add_parameter(program, "n: any", argument.type, Role::kInput, {});
    program.symbols.add({"n", SymbolKind::kScalar, n, {}});
    return to_text(bind_arguments(program, std::vector{argument}, {}).value().symbols[0]);
  };
  EXPECT_EQ(value(LaunchArgument::scalar_value(kI8, int8_t{-1})), "-1");
  EXPECT_EQ(value(LaunchArgument::scalar_value(kU8, uint8_t{200})), "200");
  EXPECT_EQ(value(LaunchArgument::scalar_value(kI16, int16_t{-300})), "-300");
  EXPECT_EQ(value(LaunchArgument::scalar_value(kU32, uint32_t{4000000000})), "4000000000");
  EXPECT_EQ(value(LaunchArgument::scalar_value(kU64, uint64_t{18446744073709551615u})),
            "18446744073709551615");
  EXPECT_EQ(value(LaunchArgument::scalar_value(kIndex, int64_t{-7})), "-7");
  EXPECT_EQ(value(LaunchArgument::scalar_value(kBool, uint8_t{2})), "1");
}

// The message of refused addresses for axpy with N = 4.
std::string address_refusal(CUdeviceptr x, CUdeviceptr y, CUdeviceptr z, int64_t n = 4) {
  Program program = axpy_program();
  std::vector<LaunchArgument> arguments = {f32(1), buffer(kF32, {n}, x), buffer(kF32, {n}, y),
                                           buffer(kF32, {n}, z)};
  Binding binding = bind_arguments(program, arguments, {}).value();
  Result<void> result = check_addresses(program, binding, arguments);
  return result ? "accepted" : result.error().message;
}

TEST(Addresses, OverlapWithWhatIsWrittenIsRefused) {
  EXPECT_EQ(address_refusal(1024, 2048, 4096), "accepted");
  EXPECT_EQ(address_refusal(1024, 1024, 4096), "accepted");
  EXPECT_EQ(address_refusal(1024, 1040, 1056), "accepted");
  EXPECT_EQ(
      address_refusal(1024, 2048, 1036),
      kAxpy + "the buffers for `x: f32[N]` and `z: f32[N]` overlap, and the kernel writes to one of them");
  EXPECT_EQ(
      address_refusal(1024, 2048, 2048),
      kAxpy + "the buffers for `y: f32[N]` and `z: f32[N]` overlap, and the kernel writes to one of them");
  EXPECT_EQ(address_refusal(1024, 1024, 1024, 0), "accepted");
}

TEST(Addresses, NullAndMisalignedAreRefused) {
  EXPECT_EQ(address_refusal(0, 2048, 4096), kAxpy + "the buffer for `x: f32[N]` is null");
  EXPECT_EQ(address_refusal(1024, 2050, 4096),
            kAxpy + "the buffer for `y: f32[N]` is not aligned to its elements of 4 bytes");
  EXPECT_EQ(address_refusal(0, 0, 0, 0), "accepted");
  EXPECT_EQ(address_refusal(1024, 2048, UINT64_MAX - 3),
            kAxpy + "the buffer for `z: f32[N]` runs past the end of memory");
}

TEST(Addresses, AbsentResultIsRefused) {
  Program program = axpy_program();
  std::vector<LaunchArgument> arguments = {f32(1), buffer(kF32, {4}, 64), buffer(kF32, {4}, 128), {}};
  Binding binding = bind_arguments(program, arguments, {}).value();
  EXPECT_EQ(check_addresses(program, binding, arguments).error().message, kAxpy + "`z: f32[N]` is not given");
}

}  // namespace
}  // namespace tenon::runtime
