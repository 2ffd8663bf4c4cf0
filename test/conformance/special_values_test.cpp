// NaN, infinities, zeros of both signs, subnormals and the ends of the types, through the language and on the
// emulated device, in every variant that takes the launch.
#include <fmt/format.h>
#include <gtest/gtest.h>

#include <bit>
#include <cmath>
#include <functional>
#include <limits>

#include "functions_text.h"
#include "subject.h"

namespace tenon::conformance {
namespace {

constexpr double kNan = std::numeric_limits<double>::quiet_NaN();
constexpr double kInf = std::numeric_limits<double>::infinity();

using Arrays = std::map<std::string, Array>;

Array make_array(ElementType type, std::vector<int64_t> shape, const std::function<double(int64_t)>& value) {
  Array array = Array::zeros(type, std::move(shape)).value();
  for (int64_t i = 0; i < array.element_count(); ++i) array.set_double(i, value(i));
  return array;
}

// The first zero whose sign is not the reference's; empty where there is none.
std::string wrong_sign(const Array& actual, const Array& expected) {
  if (!is_float(actual.type())) return "";
  for (int64_t i = 0; i < actual.element_count(); ++i) {
    const double a = actual.as_double(i);
    const double e = expected.as_double(i);
    if (a == 0 && e == 0 && std::signbit(a) != std::signbit(e))
      return fmt::format("element {}: {} is not {}", i, a, e);
  }
  return "";
}

enum class Zeros : uint8_t { kSigned, kFree };

// A kernel, compiled once.
class Checked {
 public:
  explicit Checked(const std::string& source) : program_("special.tn", source, {}) {
    EXPECT_EQ(program_.kernels().size(), 1u) << source << program_.complaints();
    if (!program_.kernels().empty()) subject_.emplace(program_, program_.kernels()[0], machine_);
  }

  // On these values, in every variant of every step. Where `zeros` are signed, their signs are the
  // reference's too.
  void run(const Sizes& sizes, const Arrays& given, Zeros zeros) {
    if (!subject_) return;
    std::optional<Case> trial = subject_->make_case(sizes, Fill::kRandom, 1, given);
    ASSERT_TRUE(trial.has_value());
    const std::vector<runtime::Step>& steps = subject_->program().steps;
    for (size_t s = 0; s < steps.size(); ++s) {
      for (uint32_t v = 0; v < steps[s].variants.size(); ++v) {
        runtime::HostLaunchOptions launch;
        launch.launch.variants.resize(s + 1);
        launch.launch.variants[s] = v;
        hold(subject_->run(*trial, launch), *trial, zeros, steps[s].variants[v].name);
      }
    }
  }

 private:
  void hold(const Outcome& outcome, const Case& trial, Zeros zeros, const std::string& variant) {
    if (outcome.refused) return;
    EXPECT_EQ(outcome.failure, "") << variant;
    if (!outcome.ok() || zeros == Zeros::kFree) return;
    const ir::Kernel& kernel = subject_->kernel();
    for (size_t p = 0; p < outcome.arrays.size(); ++p)
      if (kernel.parameters[p].output.valid())
        EXPECT_EQ(wrong_sign(*outcome.arrays[p], trial.expected[p].values), "")
            << variant << ", " << kernel.parameters[p].name;
  }

  SourceProgram program_;
  Machine machine_;
  std::optional<Subject> subject_;
};

// Rows whose extremes are hard to get right; element `j` of `n`.
constexpr double (*kRows[])(int64_t j, int64_t n) = {
    [](int64_t j, int64_t) { return j == 0 ? kNan : static_cast<double>(j % 7); },
    [](int64_t j, int64_t n) { return j == n - 1 ? kNan : static_cast<double>(j % 7); },
    [](int64_t j, int64_t n) { return j == n / 2 ? kNan
                                      : j == 0   ? kInf
                                                 : -kInf; },
    [](int64_t j, int64_t n) { return j == n / 3 || j == n / 2 ? kNan : static_cast<double>(j % 7); },
    [](int64_t, int64_t) { return kNan; },
    [](int64_t, int64_t) { return -kInf; },
    [](int64_t, int64_t) { return kInf; },
    [](int64_t, int64_t) { return 2.0; },
    [](int64_t j, int64_t) { return j % 3 == 1 ? 1.0 : 0.5; },
    [](int64_t j, int64_t n) { return j == n - 1 ? 3.0 : -kInf; },
    [](int64_t j, int64_t n) { return j == n - 1 ? -3.0 : kInf; },
    [](int64_t j, int64_t) { return j % 2 == 0 ? -0.0 : 0.0; },
    [](int64_t j, int64_t n) { return j == n - 1 ? 0.0 : -0.0; },
    [](int64_t j, int64_t n) { return j == n - 1 ? -0.0 : 0.0; },
    [](int64_t, int64_t) { return -0.0; },
    [](int64_t j, int64_t) { return j == 0 ? 0x1p-149 : -0x1p-149; },
};
constexpr int64_t kRowCount = std::size(kRows);

class ExtremesTest : public testing::TestWithParam<const char*> {
 protected:
  static std::string results(std::string_view shape) {
    return fmt::format("h: {0}{1}, l: {0}{1}, p: i64{1}, q: i64{1}", GetParam(), shape);
  }
  static ElementType type() { return *element_type_by_name(GetParam()); }
};

TEST_P(ExtremesTest, OfRows) {
  Checked kernel(
      fmt::format("kernel k(x: {}[M, N]) -> ({}) {{ h[i] = max[j](x[i, j]) l[i] = min[j](x[i, j]) p[i] = "
                  "i64(argmax[j](x[i, j]))"
                  " q[i] = i64(argmin[j](x[i, j])) }}",
                  GetParam(), results("[M]")));
  for (int64_t n : {1, 2, 31, 32, 130, 1000, 4100, 33000})
    kernel.run({{"M", kRowCount}, {"N", n}},
               {{"x", make_array(type(), {kRowCount, n}, [n](int64_t i) { return kRows[i / n](i % n, n); })}},
               Zeros::kSigned);
}

TEST_P(ExtremesTest, OfColumns) {
  Checked kernel(
      fmt::format("kernel k(x: {}[N, M]) -> ({}) {{ h[i] = max[j](x[j, i]) l[i] = min[j](x[j, i]) p[i] = "
                  "i64(argmax[j](x[j, i]))"
                  " q[i] = i64(argmin[j](x[j, i])) }}",
                  GetParam(), results("[M]")));
  for (int64_t n : {1, 2, 33, 130, 2000, 9000})
    kernel.run({{"M", kRowCount}, {"N", n}},
               {{"x", make_array(type(), {n, kRowCount},
                                 [n](int64_t i) { return kRows[i % kRowCount](i / kRowCount, n); })}},
               Zeros::kSigned);
}

TEST_P(ExtremesTest, OfWholeTensors) {
  Checked kernel(fmt::format(
      "kernel k(x: {}[N]) -> ({}) {{ h = max[j](x[j]) l = min[j](x[j]) p = i64(argmax[j](x[j])) q = "
      "i64(argmin[j](x[j])) }}",
      GetParam(), results("")));
  constexpr int64_t kLength = 70'001;
  for (int64_t row = 0; row < kRowCount; ++row)
    kernel.run({{"N", kLength}},
               {{"x", make_array(type(), {kLength}, [row](int64_t j) { return kRows[row](j, kLength); })}},
               Zeros::kSigned);
}

INSTANTIATE_TEST_SUITE_P(All, ExtremesTest, testing::Values("f32", "f16", "bf16"),
                         [](const auto& info) { return std::string(info.param); });

// Values of both signs where functions turn, round, overflow or give up.
constexpr double kMagnitudes[] = {0,
                                  kNan,
                                  kInf,
                                  0.5,
                                  1,
                                  1.5,
                                  2,
                                  2.5,
                                  3,
                                  0x1p-149,
                                  0x1p-130,
                                  0x1p-127,
                                  0x1p-126,
                                  0x1p-24,
                                  0x1p-15,
                                  0x1p-14,
                                  0x1.fffffep-1,
                                  0x1.000002p0,
                                  65504,
                                  65520,
                                  88.72284,
                                  103.97,
                                  127.99,
                                  149.5,
                                  1e-20,
                                  1e20,
                                  0x1p23,
                                  0x1p31,
                                  0x1p63,
                                  255.5,
                                  128.5,
                                  32767.5,
                                  1.5707964,
                                  3.1415927,
                                  1e6,
                                  8388608.5,
                                  0x1.fffffep127};
constexpr int64_t kSpecialCount = 2 * std::size(kMagnitudes);

double special(int64_t i) { return i % 2 == 0 ? kMagnitudes[i / 2] : -kMagnitudes[i / 2]; }

// In pairs (x[i], z[i]) each value meets every other.
constexpr int64_t kPairCount = kSpecialCount * kSpecialCount;

Arrays special_pairs(ElementType type) {
  return {{"x", make_array(type, {kPairCount}, [](int64_t i) { return special(i % kSpecialCount); })},
          {"z", make_array(type, {kPairCount}, [](int64_t i) { return special(i / kSpecialCount); })}};
}

class FunctionsTest : public testing::TestWithParam<std::tuple<const char*, const char*>> {};

TEST_P(FunctionsTest, AtSpecialValues) {
  const auto& [type, attribute] = GetParam();
  Checked(functions_text(attribute, type))
      .run({{"N", kPairCount}}, special_pairs(*element_type_by_name(type)), Zeros::kFree);
}

INSTANTIATE_TEST_SUITE_P(All, FunctionsTest,
                         testing::Combine(testing::Values("f64", "f32", "f16", "bf16"),
                                          testing::Values("", "@allow(approx)")),
                         [](const auto& info) {
                           return fmt::format("{}{}", std::get<0>(info.param),
                                              *std::get<1>(info.param) == '\0' ? "" : "_approximate");
                         });

// Functions that only move or round a value keep the sign of a zero.
TEST(SpecialValues, SignsOfZeros) {
  Checked(R"(kernel k(x: f32[N], z: f32[N])
  -> (a: f32[N], b: f32[N], c: f32[N], d: f32[N], e: f32[N], f: f32[N], g: f32[N], h: f16[N], m: f32[N], n: f32[N]) {
  a[i] = abs(x[i]) b[i] = -x[i] c[i] = floor(x[i]) d[i] = ceil(x[i]) e[i] = round(x[i]) f[i] = trunc(x[i])
  g[i] = sqrt(x[i]) h[i] = f16(x[i]) m[i] = max(x[i], z[i]) n[i] = min(x[i], z[i])
})")
      .run({{"N", kPairCount}}, special_pairs(ElementType::kF32), Zeros::kSigned);
}

constexpr const char* kTargets[] = {"f64", "f32", "f16", "bf16", "i64", "i32", "i16",
                                    "i8",  "u64", "u32", "u16",  "u8",  "bool"};

// Powers of two, what lies between two numbers of 8, 11, 24 and 53 bits, their neighbours, and the negatives
// of all.
std::vector<int64_t> edges() {
  std::vector<uint64_t> values;
  for (int top = 0; top < 64; ++top)
    for (int digits : {64, 8, 11, 24, 53})
      for (uint64_t tie : {1, 3})
        for (uint64_t near : {-1, 0, 1}) {
          const uint64_t power = uint64_t{1} << top;
          values.push_back(power + (digits <= top ? tie << (top - digits) : 0) + near);
          values.push_back(-values.back());
        }
  return {values.begin(), values.end()};
}

// From one type to all others.
class CastsTest : public testing::TestWithParam<const char*> {};

TEST_P(CastsTest, AtTheEndsOfTheTypes) {
  std::string results;
  std::string body;
  for (const char* target : kTargets) {
    results += fmt::format("{}r_{}: {}[N]", results.empty() ? "" : ", ", target, target);
    body += fmt::format(" r_{0}[i] = {0}(x[i])", target);
  }
  ElementType type = *element_type_by_name(GetParam());
  const std::vector<int64_t> bits = edges();
  const int64_t count = kSpecialCount + static_cast<int64_t>(bits.size());
  Array x = Array::zeros(type, {count}).value();
  for (int64_t i = 0; i < count; ++i) {
    if (i < kSpecialCount)
      x.set_double(i, special(i));
    else
      x.set_int64(i, bits[static_cast<size_t>(i - kSpecialCount)]);
  }
  Checked(fmt::format("kernel k(x: {}[N]) -> ({}) {{{} }}", GetParam(), results, body))
      .run({{"N", count}}, {{"x", x}}, Zeros::kSigned);
}

INSTANTIATE_TEST_SUITE_P(All, CastsTest, testing::ValuesIn(kTargets),
                         [](const auto& info) { return std::string(info.param); });

// Integers at the ends of their types: quotients, remainders, shifts, and what wraps.
class IntegersTest : public testing::TestWithParam<const char*> {};

TEST_P(IntegersTest, AtTheEndsOfTheTypes) {
  ElementType type = *element_type_by_name(GetParam());
  const int width = static_cast<int>(8 * byte_size(type));
  std::vector<int64_t> values;
  for (int shift : {0, 1, width / 2, width - 2, width - 1})
    for (int64_t near : {-1, 0, 1})
      values.push_back(static_cast<int64_t>((uint64_t{1} << shift) + static_cast<uint64_t>(near)));
  for (int64_t small : {-1, -2, -3, 3, 5, 7, -7, 63, 64, 65}) values.push_back(small);
  const auto count = static_cast<int64_t>(values.size());
  Array x = Array::zeros(type, {count * count}).value();
  Array z = x;
  for (int64_t i = 0; i < count * count; ++i) {
    x.set_int64(i, values[static_cast<size_t>(i % count)]);
    z.set_int64(i, values[static_cast<size_t>(i / count)]);
  }
  constexpr const char* kOperators[] = {"+", "-", "*", "/", "%", "&", "|", "^", "<<", ">>"};
  std::string results;
  std::string body;
  auto add = [&](const std::string& value, std::string_view result) {
    results += fmt::format("{}r{}: {}[N]", results.empty() ? "" : ", ", body.size(), result);
    body += fmt::format(" r{}[i] = {}", body.size(), value);
  };
  for (const char* op : kOperators) add(fmt::format("x[i] {} z[i]", op), GetParam());
  for (const char* call :
       {"max(x[i], z[i])", "min(x[i], z[i])", "abs(x[i])", "-x[i]", "~x[i]", "popcount(x[i])", "clz(x[i])"})
    add(call, GetParam());
  for (const char* op : {"<", "<=", ">", ">=", "==", "!="}) add(fmt::format("x[i] {} z[i]", op), "bool");
  Checked(fmt::format("kernel k(x: {0}[N], z: {0}[N]) -> ({1}) {{{2} }}", GetParam(), results, body))
      .run({{"N", count * count}}, {{"x", x}, {"z", z}}, Zeros::kFree);
}

INSTANTIATE_TEST_SUITE_P(All, IntegersTest,
                         testing::Values("i64", "i32", "i16", "i8", "u64", "u32", "u16", "u8"),
                         [](const auto& info) { return std::string(info.param); });

}  // namespace
}  // namespace tenon::conformance
