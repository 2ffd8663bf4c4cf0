// What statements become: operations, domains, predicates, reads.
#include "test/unit/check/checked.h"

namespace tenon::frontend {
namespace {

TEST(Lowering, EachReductionIsAnOperationOverTheAxesThatItUses) {
  const Checked checked(R"(
kernel softmax(x: f32[M, N]) -> (y: f32[M, N]) {
  e[i, j] = exp(x[i, j] - max[k](x[i, k]))
  y[i, j] = e[i, j] / sum[k](e[i, k])
})");
  EXPECT_EQ(checked.ir(), R"(kernel @softmax<M, N>(%x: f32[M, N]) -> (%y: f32[M, N]) {
  %max.1: f32[M] = reduce<max> [i: M | k: N] {
    %0 = read %x[i, k] : f32
    yield %0
  }
  %e: f32[M, N] = map [i: M, j: N] {
    %0 = read %x[i, j] : f32
    %1 = read %max.1[i] : f32
    %2 = sub %0, %1 : f32
    %3 = exp %2 : f32
    yield %3
  }
  %sum.1: f32[M] = reduce<sum> [i: M | k: N] {
    %0 = read %e[i, k] : f32
    yield %0
  }
  %y: f32[M, N] = map [i: M, j: N] {
    %0 = read %e[i, j] : f32
    %1 = read %sum.1[i] : f32
    %2 = div %0, %1 : f32
    yield %2
  }
}
)");
}

TEST(Lowering, ASumIsItsTargetAndComputesWide) {
  const Checked checked(
      "kernel mm(a: f16[M, K], b: f16[K, N]) -> (c: f32[M, N]) { c[i, j] = sum[k](a[i, k] * b[k, j]) }");
  EXPECT_EQ(checked.ir(), R"(kernel @mm<M, K, N>(%a: f16[M, K], %b: f16[K, N]) -> (%c: f32[M, N]) {
  %c: f32[M, N] = reduce<sum> [i: M, j: N | k: K] {
    %0 = read %a[i, k] : f16
    %1 = cast %0 : f32
    %2 = read %b[k, j] : f16
    %3 = cast %2 : f32
    %4 = mul %1, %3 : f32
    yield %4
  }
}
)");
}

TEST(Lowering, ASumThatVariesAlongFewerAxesIsReadByAMap) {
  const Checked checked("kernel k(x: f32[M, K]) -> (y: f32[M, N]) { y[i, j] = sum[k](x[i, k]) }");
  EXPECT_NE(checked.ir().find("%sum.1: f32[M] = reduce<sum> [i: M | k: K]"), std::string::npos);
  EXPECT_NE(checked.ir().find("%y: f32[M, N] = map [i: M, j: N]"), std::string::npos);
}

TEST(Lowering, ATermOfABoolCountsAsI32) {
  const Checked checked("kernel k(x: f32[N]) -> (n: i32) { n = sum[i](x[i] > 0) }");
  EXPECT_EQ(checked.ir(), R"(kernel @k<N>(%x: f32[N]) -> (%n: i32) {
  %n: i32 = reduce<sum> [| i: N] {
    %0 = read %x[i] : f32
    %1 = const 0x0p+0 : f32
    %2 = gt %0, %1 : bool
    %3 = cast %2 : i32
    yield %3
  }
}
)");
}

TEST(Lowering, ADefaultTestsOnlyWhatIsNotProved) {
  const Checked checked("kernel k(x: f32[N], c: f32) -> (y: f32[N]) { y[i] = x[i + 1 | c] }");
  EXPECT_EQ(checked.ir(), R"(kernel @k<N>(%x: f32[N], %c: f32) -> (%y: f32[N]) {
  %y: f32[N] = map [i: N] {
    %0 = read %c[] : f32
    %1 = index i + 1 : index
    %2 = index N : index
    %3 = lt %1, %2 : bool
    %4 = read %x[i + 1] where %3 else %0 : f32
    yield %4
  }
}
)");
  const Checked never("kernel k(x: f32[N]) -> (y: f32[N]) { y[i] = x[i | 7] }");
  EXPECT_EQ(never.ir().find("where"), std::string::npos);
}

TEST(Lowering, AGuardedReadThatNeedsItsGuardIsPredicated) {
  const Checked checked(
      "kernel concat(a: f16[M], b: f16[N]) -> (y: f16[M + N]) { y[i] = i < M ? a[i] : b[i - M] }");
  EXPECT_EQ(checked.ir(), R"(kernel @concat<M, N>(%a: f16[M], %b: f16[N]) -> (%y: f16[M + N]) {
  %y: f16[M + N] = map [i: M + N] {
    %0 = index i : index
    %1 = index M : index
    %2 = lt %0, %1 : bool
    %3 = const 0x0p+0 : f16
    %4 = read %a[i] where %2 else %3 : f16
    %5 = not %2 : bool
    %6 = const 0x0p+0 : f16
    %7 = read %b[i - M] where %5 else %6 : f16
    %8 = select %2, %4, %7 : f16
    yield %8
  }
}
)");
  // Within bounds anyway: read without a predicate.
  const Checked tril("kernel tril(x: f32[N, N]) -> (y: f32[N, N]) { y[i, j] = j <= i ? x[i, j] : 0 }");
  EXPECT_EQ(tril.ir().find("where"), std::string::npos);
}

TEST(Lowering, AndAndOrGuardTheirRightSides) {
  const Checked checked(
      "kernel k(x: f32[N]) -> (y: bool[N], z: bool[N]) {\n"
      "  y[i] = i >= 1 && x[i - 1] > 0\n"
      "  z[i] = i == 0 || x[i - 1] > 0\n}");
  EXPECT_EQ(checked.messages(), "");
}

TEST(Lowering, TheWhereOfAReductionIsItsPredicate) {
  const Checked checked("kernel cumsum(x: f32[N]) -> (y: f32[N]) { y[i] = sum[k where k <= i](x[k]) }");
  EXPECT_EQ(checked.ir(), R"(kernel @cumsum<N>(%x: f32[N]) -> (%y: f32[N]) {
  %y: f32[N] = reduce<sum> [i: N | k: N] {
    %0 = index k : index
    %1 = index i : index
    %2 = le %0, %1 : bool
    %3 = read %x[k] : f32
    yield %3 where %2
  }
}
)");
}

TEST(Lowering, RangesStartAtZeroAndVaryingBoundsBecomePredicates) {
  const Checked shifted("kernel k(x: f32[8]) -> (y: f32) { y = sum[j in 2..6](x[j]) }");
  EXPECT_NE(shifted.ir().find("reduce<sum> [| j: 4]"), std::string::npos);
  EXPECT_NE(shifted.ir().find("read %x[j + 2]"), std::string::npos);
  const Checked triangle("kernel k(x: f32[N, N]) -> (y: f32[N]) { y[i] = sum[j in 0..i + 1](x[i, j]) }");
  EXPECT_EQ(triangle.ir(), R"(kernel @k<N>(%x: f32[N, N]) -> (%y: f32[N]) {
  %y: f32[N] = reduce<sum> [i: N | j: N] {
    %0 = index j : index
    %1 = index i + 1 : index
    %2 = lt %0, %1 : bool
    %3 = read %x[i, j] : f32
    yield %3 where %2
  }
}
)");
}

TEST(Lowering, APossiblyNegativeRangeIsEmpty) {
  const Checked checked("kernel k(x: f32[N], n: index) -> (y: f32) { y = sum[j in 0..n](x[j | 0]) }");
  EXPECT_NE(checked.ir().find("max(0, n)"), std::string::npos);
}

TEST(Lowering, ArgmaxCountsFromTheLowerBound) {
  const Checked checked("kernel k(x: f32[N]) -> (y: index) { y = argmax[j in 2..N](x[j]) }");
  EXPECT_EQ(checked.ir(), R"(kernel @k<N>(%x: f32[N]) -> (%y: index) {
  %argmax.1: index = reduce<argmax> [| j: max(0, N - 2)] {
    %0 = read %x[j + 2] : f32
    %1 = index j : index
    yield (%0, %1)
  }
  %y: index = map [] {
    %0 = read %argmax.1[] : index
    %1 = index 0 : index
    %2 = lt %0, %1 : bool
    %3 = index %0 + 2 : index
    %4 = select %2, %0, %3 : index
    yield %4
  }
}
)");
}

TEST(Lowering, DataDependentSubscriptsAreValuesOfTheBody) {
  const Checked checked(
      "kernel k(t: f16[V, D], ids: i64[N]) -> (y: f16[N, D]) { y[n, d] = t[ids[n], d | 0] }");
  EXPECT_EQ(checked.ir(), R"(kernel @k<V, D, N>(%t: f16[V, D], %ids: i64[N]) -> (%y: f16[N, D]) {
  %y: f16[N, D] = map [n: N, d: D] {
    %0 = read %ids[n] : i64
    %1 = cast %0 : index
    %2 = const 0x0p+0 : f16
    %3 = index 0 : index
    %4 = ge %1, %3 : bool
    %5 = index V : index
    %6 = lt %1, %5 : bool
    %7 = and %4, %6 : bool
    %8 = read %t[%1, d] where %7 else %2 : f16
    yield %8
  }
}
)");
}

TEST(Lowering, AnInoutHasTwoTensors) {
  const Checked checked("kernel axpy(x: f32[N], y: inout f32[N], a: f32) { y[i] = a * x[i] + y[N - 1 - i] }");
  EXPECT_EQ(checked.ir(), R"(kernel @axpy<N>(%x: f32[N], %y: inout f32[N] as %y.out, %a: f32) {
  %y.out: f32[N] = map [i: N] {
    %0 = read %a[] : f32
    %1 = read %x[i] : f32
    %2 = mul %0, %1 : f32
    %3 = read %y[N - i - 1] : f32
    %4 = add %2, %3 : f32
    yield %4
  }
}
)");
}

TEST(Lowering, ConditionsOverSizesAloneAreCheckedAtLaunch) {
  const Checked checked("kernel k(x: f32[N]) -> (y: f32) where N % 4 == 0 { y = x[3] + x[3] }");
  ASSERT_EQ(checked.messages(), "");
  const auto& where = checked.result.module.kernels[0].where;
  ASSERT_EQ(where.size(), 2u);
  EXPECT_EQ(where[0].text, "N % 4 == 0");
  EXPECT_FALSE(where[0].implicit);
  EXPECT_EQ(where[1].text, "N >= 4");
  EXPECT_TRUE(where[1].implicit);
}

TEST(Lowering, AClauseThatDividesByZeroDoesNotHold) {
  const Checked checked("kernel k(x: f32[N], g: index) -> (y: f32[N]) where N % g == 0 { y[i] = x[i] }");
  ASSERT_EQ(checked.messages(), "");
  const ir::Kernel& kernel = checked.result.module.kernels[0];
  const auto holds = [&](int64_t n, int64_t g) {
    return kernel.index.evaluate(kernel.where[0].condition, [&](ir::IndexId atom) -> std::optional<int64_t> {
      return kernel.symbols[ir::SymbolId(kernel.index[atom].reference)].name == "N" ? n : g;
    });
  };
  EXPECT_EQ(holds(8, 4), 1);
  EXPECT_EQ(holds(8, 3), 0);
  EXPECT_EQ(holds(0, 0), 0);
}

TEST(Lowering, IndexScalarsOfSizesAloneAreNames) {
  const Checked checked(
      "kernel k(x: f32[N], n: index) -> (y: f32[n]) where n <= N { h = n / 2 y[i] = x[i] * f32(h) }");
  EXPECT_NE(checked.ir().find("index n / 2"), std::string::npos);
  EXPECT_EQ(checked.ir().find("%h"), std::string::npos);
}

TEST(Lowering, SizesAndTypesAreFixedBySettings) {
  CheckOptions options;
  options.sizes = {{"N", 4096}, {"unknown", 1}};
  options.types = {{"T", ElementType::kBF16}};
  const Checked checked("kernel k<T: float>(x: T[M, N]) -> (y: T[M, N]) { y[i, j] = x[i, j] + T(0.1) }",
                        options);
  EXPECT_EQ(checked.ir(), R"(kernel @k<M, N = 4096>(%x: bf16[M, 4096]) -> (%y: bf16[M, 4096]) {
  %y: bf16[M, 4096] = map [i: M, j: 4096] {
    %0 = read %x[i, j] : bf16
    %1 = const 0x1.9ap-4 : bf16
    %2 = add %0, %1 : bf16
    yield %2
  }
}
)");
  EXPECT_EQ(checked.result.unused_settings, std::vector<std::string>{"unknown"});
}

TEST(Lowering, GenericKernelsWithoutValuesAreListed) {
  CheckOptions options;
  options.kernels = {"k", "missing"};
  const Checked checked(
      "kernel k<T: float, D: dim>(x: T[D]) -> (y: T[D]) { y[i] = x[i] }\n"
      "kernel other(x: f32[N]) -> (y: f32[N]) { y[i] = x[i] }",
      options);
  EXPECT_TRUE(checked.result.module.kernels.empty());
  ASSERT_EQ(checked.result.uninstantiated.size(), 1u);
  EXPECT_EQ(checked.result.uninstantiated[0].kernel, "k");
  ASSERT_EQ(checked.result.uninstantiated[0].missing.size(), 2u);
  EXPECT_EQ(checked.result.uninstantiated[0].missing[0].name, "T");
  EXPECT_EQ(checked.result.uninstantiated[0].missing[1].name, "D");
  EXPECT_EQ(checked.result.unknown_kernels, std::vector<std::string>{"missing"});
}

TEST(Lowering, ApproximateFormsNeedPermission) {
  constexpr std::string_view kBody = "kernel k(x: f32[N]) -> (y: f32[N]) { y[i] = exp(x[i]) / 3 + x[i] }";
  const auto approximate = [](const Checked& checked) {
    std::vector<std::string_view> ops;
    for (const ir::Instruction& each : checked.result.module.kernels[0].ops[ir::TensorOpId(0)].body)
      if (each.approx) ops.push_back(ir::row(each.op).mnemonic);
    return ops;
  };
  EXPECT_TRUE(approximate(Checked(kBody)).empty());
  const Checked allowed("@allow(approx, narrow)\n" + std::string(kBody));
  EXPECT_EQ(approximate(allowed), (std::vector<std::string_view>{"exp", "div"}));
  EXPECT_EQ(allowed.result.module.kernels[0].permissions, ir::kApprox | ir::kNarrow);
}

TEST(Lowering, ProductsThatCrossAFunctionAreRounded) {
  const Checked checked(
      "fn f(p: f32, c: f32) -> f32 = p + c\nkernel k(x: f32[N]) -> (y: f32[N]) { y[i] = f(x[i] * x[i], x[i]) "
      "}");
  EXPECT_NE(checked.ir().find("%4 = cast %2 : f32\n    %5 = add %4, %3 : f32\n"), std::string::npos)
      << checked.ir();
}

TEST(Lowering, TensorFunctionsAreInlinedUnderTheirNames) {
  const Checked checked(R"(use std.nn
kernel k(x: f16[B, M, N]) -> (y: f16[B, M, N]) {
  a = softmax(x)
  y = softmax(a)
})");
  ASSERT_EQ(checked.messages(), "");
  const std::string text = checked.ir();
  for (std::string_view name : {"%softmax.e: f32[B, M, N]", "%softmax.e.1: f32[B, M, N]", "%a: f16[B, M, N]"})
    EXPECT_NE(text.find(name), std::string::npos) << name << "\n" << text;
}

TEST(Lowering, ShapesOfArgumentsAreProvedOrCheckedAtLaunch) {
  constexpr std::string_view kDot = "fn dot(a: f32[N], b: f32[N]) -> (s: f32) { s = sum[i](a[i] * b[i]) }\n";
  const Checked checked(std::string(kDot) + "kernel k(x: f32[N], z: f32[M]) -> (y: f32) { y = dot(x, z) }");
  ASSERT_EQ(checked.messages(), "");
  ASSERT_EQ(checked.result.module.kernels[0].where.size(), 1u);
  EXPECT_TRUE(checked.result.module.kernels[0].where[0].implicit);
  const Checked known(std::string(kDot) +
                      "kernel k(x: f32[N], z: f32[M]) -> (y: f32) where M == N { y = dot(x, z) }");
  EXPECT_EQ(known.result.module.kernels[0].where.size(), 1u);
}

TEST(Lowering, BoolAndIndexDefinitionsAreLookedThrough) {
  const Checked checked(R"(
kernel k(x: f32[H], z: f32[P]) -> (y: f32[P]) where H >= 1 {
  inside: bool[P]
  at[p] = min(max(index(floor(z[p])), 0), H - 1)
  inside[p] = p >= 1
  y[p] = x[at[p]] + (inside[p] ? z[p - 1] : 0)
})");
  EXPECT_EQ(checked.messages(), "");
}

TEST(Lowering, CastsOfIntegersThatLoseNothingAreLookedThrough) {
  const std::string source =
      "kernel k(x: f32[V], ids: i32[N]) -> (y: f32[N]){} {{ y[i] = ids[i] >= 0 && ids[i] < i32(V) ? "
      "x[ids[i]] : 0 }}";
  EXPECT_EQ(Checked(fmt::format(fmt::runtime(source), " where V < 2147483648")).messages(), "");
  EXPECT_EQ(Checked(fmt::format(fmt::runtime(source), " where V < 2147483649")).messages().substr(0, 5),
            "E0401");
  EXPECT_EQ(Checked(fmt::format(fmt::runtime(source), "")).messages().substr(0, 5), "E0401");
}

TEST(Lowering, NormsOfTheLibraryTakeF64) {
  EXPECT_EQ(
      Checked(
          "use std.nn kernel k(x: f64[M, N], g: f64[N], b: f64[N], e: f32) -> (y: f64[M, N], z: f64[M, N]) {"
          " y = layernorm(x, g, b, e) z = rmsnorm(x, g, e) }")
          .rendered(),
      "");
}

TEST(Lowering, FunctionsOfTheLibraryTakeEveryFloatTypeThatIsBuilt) {
  for (std::string_view type : {"f32", "f16", "bf16"}) {
    std::string source = "use std.nn\n";
    for (std::string_view function : {"relu", "gelu", "gelu_tanh", "silu", "sigmoid", "softplus"})
      source +=
          fmt::format("kernel k_{0}(x: {1}[N]) -> (y: {1}[N]) {{ y[i] = {0}(x[i]) }}\n", function, type);
    for (std::string_view function : {"softmax", "log_softmax"})
      source += fmt::format(
          "kernel k_{0}(x: {1}[M, N]) -> (y: {1}[M, N]) {{ y = {0}(x) }}\n"
          "kernel k1_{0}(x: {1}[N]) -> (y: {1}[N]) {{ y = {0}(x) }}\n",
          function, type);
    source += fmt::format(
        "kernel k_ln(x: {0}[M, N], g: {0}[N], b: {0}[N], e: f32) -> (y: {0}[M, N]) {{ y = layernorm(x, g, b, "
        "e) }}\n",
        type);
    source += fmt::format(
        "kernel k_rms(x: {0}[M, N], g: {0}[N], e: f32) -> (y: {0}[M, N]) {{ y = rmsnorm(x, g, e) }}\n", type);
    const Checked checked(source);
    EXPECT_EQ(checked.rendered(), "");
    EXPECT_EQ(checked.result.module.kernels.size(), 12u);
  }
}

}  // namespace
}  // namespace tenon::frontend
