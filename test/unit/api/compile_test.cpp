// Compilation and introspection by the public interface.
#include <gtest/gtest.h>

#include <string>

#include "tenon/tenon.h"

namespace {

using tenon::CompileOptions;
using tenon::DataType;
using tenon::Expected;
using tenon::FailureKind;
using tenon::Kernel;

constexpr const char* kAxpy =
    "kernel axpy(a: f32, x: f32[N], y: f32[N]) -> (z: f32[N]) { z[i] = a * x[i] + y[i] }";
constexpr const char* kGeneric =
    "kernel twice<T: float, D: dim>(x: T[M, D]) -> (y: T[M, D]) { y[i, j] = x[i, j] + x[i, j] }";
constexpr const char* kTwo =
    "kernel one(x: f32[N]) -> (y: f32[N]) { y[i] = x[i] }\n"
    "kernel two(x: f32[N]) -> (y: f32[N]) { y[i] = x[i] * 2.0 }\n";

TEST(Version, OfTheHeaderIsThatOfTheLibrary) {
  const std::string header = std::to_string(TENON_VERSION_MAJOR) + "." + std::to_string(TENON_VERSION_MINOR) +
                             "." + std::to_string(TENON_VERSION_PATCH);
  EXPECT_EQ(tenon::version(), header);
}

TEST(DataTypes, NamesAndSizes) {
  EXPECT_EQ(tenon::name(DataType::kBF16), "bf16");
  EXPECT_EQ(tenon::byte_size(DataType::kBF16), 2u);
  EXPECT_EQ(tenon::name(DataType::kIndex), "index");
  EXPECT_EQ(tenon::byte_size(static_cast<DataType>(200)), 0u);
  static_assert(tenon::data_type_of<unsigned short>() == DataType::kU16);
  static_assert(tenon::data_type_of<long long>() == DataType::kI64);
  static_assert(tenon::data_type_of<bool>() == DataType::kBool);
  static_assert(tenon::data_type_of<double>() == DataType::kF64);
}

TEST(Compile, TellsAboutTheKernel) {
  Expected<Kernel> kernel = Kernel::compile(kAxpy);
  ASSERT_TRUE(kernel) << kernel.failure().message;
  EXPECT_EQ(kernel->name(), "axpy");
  EXPECT_EQ(kernel->target(), "sm_80");
  ASSERT_EQ(kernel->parameters().size(), 4u);
  EXPECT_TRUE(kernel->parameters()[0].by_value);
  EXPECT_EQ(kernel->parameters()[1].source, "x: f32[N]");
  EXPECT_EQ(kernel->parameters()[1].shape, std::vector<std::string>{"N"});
  EXPECT_EQ(kernel->parameters()[3].role, tenon::ParameterRole::kResult);
  ASSERT_EQ(kernel->sizes().size(), 1u);
  EXPECT_EQ(kernel->sizes()[0].name, "N");
  EXPECT_TRUE(kernel->sizes()[0].bound_by_shape);
  EXPECT_FALSE(kernel->sizes()[0].fixed);
  ASSERT_EQ(kernel->steps().size(), 1u);
  EXPECT_GE(kernel->steps()[0].variants.size(), 2u);
  EXPECT_FALSE(kernel->steps()[0].variants[0].schedule.empty());
  EXPECT_NE(kernel->steps()[0].variants[0].guard, "always");
}

TEST(Compile, EmitsPtxAndRecord) {
  CompileOptions options;
  options.target = "sm_90a";
  options.sizes = {{"N", 4096}};
  Expected<Kernel> kernel = Kernel::compile(kAxpy, options);
  ASSERT_TRUE(kernel) << kernel.failure().message;
  EXPECT_EQ(kernel->sizes()[0].fixed, 4096);
  Expected<std::string> ptx = kernel->ptx();
  ASSERT_TRUE(ptx) << ptx.failure().message;
  EXPECT_NE(ptx->find(".target sm_90a"), std::string::npos);
  Expected<std::string> record = kernel->record();
  ASSERT_TRUE(record) << record.failure().message;
  EXPECT_NE(record->find("\"steps\""), std::string::npos);
}

TEST(Compile, PinsSchedules) {
  CompileOptions options;
  options.schedule = "i = grid vec(2) lane(32) warp(2)";
  Expected<Kernel> kernel = Kernel::compile(kAxpy, options);
  ASSERT_TRUE(kernel) << kernel.failure().message;
  EXPECT_EQ(kernel->steps()[0].variants[0].schedule, "maps: warps(2); i = grid vec(2) lane(32) warp(2)");
  options.schedule = "i = grid lane(64)";
  Expected<Kernel> wrong = Kernel::compile(kAxpy, options);
  ASSERT_FALSE(wrong);
  ASSERT_EQ(wrong.failure().messages.size(), 1u);
  EXPECT_EQ(wrong.failure().messages[0].code, "E0822");
}

TEST(Compile, SaysWhereEachMistakeIs) {
  CompileOptions options;
  options.file_name = "a.tn";
  Expected<Kernel> kernel =
      Kernel::compile("kernel k(x: f32[N]) -> (y: f32[N]) {\n  y[i] = x[i] + p[i] + q[i]\n}", options);
  ASSERT_FALSE(kernel);
  const tenon::Failure& failure = kernel.failure();
  EXPECT_EQ(failure.kind, FailureKind::kProgram);
  ASSERT_EQ(failure.messages.size(), 2u);
  EXPECT_EQ(failure.messages[0].severity, tenon::MessageSeverity::kError);
  EXPECT_EQ(failure.messages[0].code[0], 'E');
  EXPECT_EQ(failure.messages[0].file, "a.tn");
  EXPECT_EQ(failure.messages[0].line, 2u);
  EXPECT_EQ(failure.messages[0].column, 17u);
  EXPECT_EQ(failure.messages[1].column, 24u);
  EXPECT_NE(failure.messages[0].rendered.find("a.tn:2:17: error"), std::string::npos);
  EXPECT_EQ(failure.messages[0].rendered.find("a.tn:2:24"), std::string::npos);
  EXPECT_NE(failure.message.find("a.tn:2:24: error"), std::string::npos);
  EXPECT_NE(failure.message.back(), '\n');
}

TEST(Compile, TakesGenerics) {
  CompileOptions options;
  EXPECT_EQ(Kernel::compile(kGeneric).failure().kind, FailureKind::kUsage);
  options.types = {{"T", DataType::kF16}};
  EXPECT_EQ(Kernel::compile(kGeneric, options).failure().kind, FailureKind::kUsage);
  options.sizes = {{"D", 64}};
  Expected<Kernel> kernel = Kernel::compile(kGeneric, options);
  ASSERT_TRUE(kernel) << kernel.failure().message;
  EXPECT_EQ(kernel->parameters()[0].type, DataType::kF16);
  EXPECT_EQ(kernel->parameters()[0].rank, 2u);
}

void expect_usage(const char* source, const CompileOptions& options, const char* part) {
  Expected<Kernel> kernel = Kernel::compile(source, options);
  ASSERT_FALSE(kernel);
  EXPECT_EQ(kernel.failure().kind, FailureKind::kUsage);
  EXPECT_NE(kernel.failure().message.find(part), std::string::npos) << kernel.failure().message;
}

TEST(Compile, RefusesOptionsThatMakeNoSense) {
  CompileOptions options;
  expect_usage(kTwo, options, "name one of one, two");
  expect_usage("", options, "no kernel");
  options.kernel = "three";
  expect_usage(kTwo, options, "`three`");
  options = {};
  options.target = "sm_13";
  expect_usage(kAxpy, options, "sm_13");
  options = {};
  options.sizes = {{"Q", 4}};
  expect_usage(kAxpy, options, "`Q`");
  options.sizes = {{"N", 4}, {"N", 8}};
  expect_usage(kAxpy, options, "twice");
  options = {};
  options.types = {{"T", static_cast<DataType>(99)}};
  expect_usage(kGeneric, options, "`T`");
  options = {};
  options.kernel = "two";
  EXPECT_TRUE(Kernel::compile(kTwo, options));
}

TEST(Compile, SurvivesBytesThatAreNoProgram) {
  std::string bytes;
  for (int i = 0; i < 5000; ++i) bytes += static_cast<char>((i * 7919 + 13) % 256);
  Expected<Kernel> kernel = Kernel::compile(bytes);
  ASSERT_FALSE(kernel);
  EXPECT_EQ(kernel.failure().kind, FailureKind::kProgram);
  EXPECT_FALSE(Kernel::compile(std::string(100000, '(')));
}

}  // namespace
