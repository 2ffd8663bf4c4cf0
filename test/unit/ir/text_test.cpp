#include <gtest/gtest.h>

#include <random>
#include <set>

#include "ir/body_text.h"
#include "parsed.h"

namespace tenon::ir {
namespace {

constexpr const char* kSoftmax = R"(@allow(approx)
kernel @softmax<M, N>(%x: f32[M, N]) -> (%y: f32[M, N]) where N % 4 == 0, implicit M < 100 as "M < \"100\"" {
  %m: f32[M] = reduce<max> [i: M | k: N] {
    %0 = read %x[i, k] : f32
    yield %0
  }
  %e: f32[M, N] = map [i: M, j: N] {
    %0 = read %x[i, j] : f32
    %1 = read %m[i] : f32
    %2 = sub %0, %1 : f32
    %3 = exp %2 : f32 approx
    yield %3
  }
  %s: f32[M] = reduce<sum> [i: M | k: N] {
    %0 = read %e[i, k] : f32
    yield %0
  }
  %y: f32[M, N] = map [i: M, j: N] {
    %0 = read %e[i, j] : f32
    %1 = read %s[i] : f32
    %2 = div %0, %1 : f32 approx
    yield %2
  }
}
)";

constexpr const char* kVaried =
    R"(kernel @varied<N, K = 64, n: scalar>(%x: f16[N, 64], %acc: inout f32[N] as %acc.new, %n: index = n, %t: i64[N]) -> (%best: index[N], %top: f32[N], %total: f32) {
  group @rows {
    %w: f32[N], %top: f32[N], %best: index[N] = reduce<sum, max, argmax> [i: N | k: 64] {
      %0 = index i + n / 2 : index
      %1 = index 0 <= i + n / 2 && i + n / 2 < N : index
      %2 = const 0 : index
      %3 = ne %1, %2 : bool
      %4 = const 0x0p+0 : f16
      %5 = read %x[i + n / 2, k] where %3 else %4 : f16
      %6 = cast %5 : f32
      %7 = index k : index
      %8 = lt %7, %0 : bool
      yield %6, %6, (%6, %7) where %8
    }
    %acc.new: f32[N] = map [i: N] {
      %0 = read %t[i] : i64
      %1 = cast %0 : index
      %2 = index max(0, min(%1, N - 1)) : index
      %3 = read %w[%2] : f32
      %4 = read %acc[i] : f32
      %5 = fma %3, %4, %4 : f32
      yield %5
    }
  }
  group @rest {
    %total: f32 = reduce<sum> [| i: N] {
      %0 = read %acc.new[i] : f32
      yield %0
    }
  }
}
)";

std::string reprinted(const std::string& text) {
  Parsed parsed(text);
  return parsed.ok() ? print(*parsed.module) : parsed.errors();
}

TEST(Text, ComesBackTheSame) {
  EXPECT_EQ(reprinted(kSoftmax), kSoftmax);
  EXPECT_EQ(reprinted(kVaried), kVaried);
  EXPECT_EQ(reprinted(std::string(kSoftmax) + "\n" + kVaried), std::string(kSoftmax) + "\n" + kVaried);
  EXPECT_EQ(reprinted(""), "");
  EXPECT_EQ(reprinted("kernel @nothing() {\n}\n"), "kernel @nothing() {\n}\n");
}

TEST(Text, HasTheStructureThatItSays) {
  Parsed parsed(kVaried);
  ASSERT_TRUE(parsed.ok()) << parsed.errors();
  Kernel& kernel = parsed.kernel();
  EXPECT_EQ(kernel.name, "varied");
  ASSERT_EQ(kernel.symbols.size(), 3u);
  EXPECT_EQ(kernel.symbols[SymbolId(1)].fixed, 64);
  EXPECT_EQ(kernel.symbols[SymbolId(2)].kind, Symbol::Kind::kScalar);
  ASSERT_EQ(kernel.parameters.size(), 7u);
  EXPECT_TRUE(kernel.parameters[1].inout());
  EXPECT_EQ(kernel.parameters[2].symbol, SymbolId(2));
  EXPECT_FALSE(kernel.parameters[4].input.valid());
  EXPECT_EQ(kernel.tensors[kernel.parameters[1].output].role, Tensor::Role::kResult);
  ASSERT_EQ(kernel.groups.size(), 2u);
  EXPECT_EQ(kernel.groups[0].ops.size(), 2u);
  const TensorOp& reduce = kernel.ops[TensorOpId(0)];
  EXPECT_EQ(reduce.parallel.size(), 1u);
  EXPECT_EQ(reduce.reduction.size(), 1u);
  ASSERT_EQ(reduce.outputs.size(), 3u);
  EXPECT_EQ(reduce.outputs[2].values, (std::vector<ValueId>{ValueId(6), ValueId(7)}));
  EXPECT_EQ(reduce.outputs[2].monoid->kind, MonoidKind::kArgMax);
  EXPECT_EQ(reduce.predicate, ValueId(8));
  EXPECT_EQ(kernel.tensors[reduce.outputs[0].tensor].role, Tensor::Role::kLocal);
}

TEST(Text, PermissionsAndClauses) {
  Parsed parsed(kSoftmax);
  ASSERT_TRUE(parsed.ok()) << parsed.errors();
  Kernel& kernel = parsed.kernel();
  EXPECT_EQ(kernel.permissions, kApprox);
  ASSERT_EQ(kernel.where.size(), 2u);
  EXPECT_EQ(kernel.where[0].text, "N % 4 == 0");
  EXPECT_TRUE(kernel.where[1].implicit);
  EXPECT_EQ(kernel.where[1].text, "M < \"100\"");
  EXPECT_EQ(reprinted("@allow(f8, ftz, tf32, narrow)\nkernel @k() {\n}\n"),
            "@allow(ftz, tf32, narrow, f8)\nkernel @k() {\n}\n");
}

TEST(Text, FreerFormsAreRead) {
  EXPECT_EQ(reprinted(R"(// RUN: something
    kernel @k<N>(%x: f32[N]) -> (%y: f32[N]) { %y: f32[N] = map [i: N] {
      %a = read %x[i] : f32  // a comment
      %two = const 2.5 : f32
      %b = mul %a, %two : f32
      yield %b } })"),
            R"(kernel @k<N>(%x: f32[N]) -> (%y: f32[N]) {
  %y: f32[N] = map [i: N] {
    %0 = read %x[i] : f32
    %1 = const 0x1.4p+1 : f32
    %2 = mul %0, %1 : f32
    yield %2
  }
}
)");
}

TEST(Text, NamesAreMadeUnique) {
  Kernel kernel;
  kernel.name = "strange name";
  IndexId n = kernel.index.symbol(kernel.symbols.add({"i", Symbol::Kind::kDimension, {}, {}}));
  kernel.symbols.add({"where", Symbol::Kind::kDimension, {}, {}});
  TensorId x = kernel.tensors.add({"x", ElementType::kF32, {n}, Tensor::Role::kLocal, {}});
  TensorId input = kernel.tensors.add({"x", ElementType::kF32, {n}, Tensor::Role::kInput, {}});
  TensorId y = kernel.tensors.add({"", ElementType::kF32, {n}, Tensor::Role::kResult, {}});
  kernel.parameters.push_back({"x", input, {}, {}, {}});
  kernel.parameters.push_back({"8y", {}, y, {}, {}});
  for (auto [from, to] : {std::pair(input, x), std::pair(x, y)}) {
    TensorOp op;
    op.parallel = {kernel.axes.add({"i", n})};
    Instruction read;
    read.op = Opcode::kRead;
    read.tensor = from;
    read.subscripts = {kernel.index.axis(op.parallel[0])};
    OpOutput output;
    output.values = {op.body.add(read)};
    output.tensor = to;
    op.outputs.push_back(output);
    kernel.ops.add(op);
  }
  kernel.ops.add(TensorOp{});
  std::string text = print(kernel);
  EXPECT_EQ(text, R"(kernel @strange_name<i, where.1>(%x: f32[i]) -> (%_8y: f32[i]) {
  %x.1: f32[i] = map [i.1: i] {
    %0 = read %x[i.1] : f32
    yield %0
  }
  %_8y: f32[i] = map [i.1: i] {
    %0 = read %x.1[i.1] : f32
    yield %0
  }
}
)");
  EXPECT_EQ(reprinted(text), text);
  EXPECT_EQ(print_op(kernel, TensorOpId(1)), R"(%_8y: f32[i] = map [i.1: i] {
  %0 = read %x.1[i.1] : f32
  yield %0
}
)");
}

TEST(Text, LocationsAreComments) {
  Parsed parsed(kSoftmax);
  ASSERT_TRUE(parsed.ok());
  std::string text = print(*parsed.module, {&parsed.sources});
  EXPECT_NE(text.find("%m: f32[M] = reduce<max> [i: M | k: N] {  // loc(test.tir:3:3)\n"), std::string::npos)
      << text;
  EXPECT_NE(text.find("    %0 = read %x[i, k] : f32  // loc(test.tir:4:5)\n"), std::string::npos) << text;
  EXPECT_EQ(reprinted(text), kSoftmax);
}

std::string constant_round_trip(ElementType type, const std::string& text) {
  SourceManager sources;
  Diagnostics diagnostics;
  FileId file = sources.add("constant", text);
  TextScanner scanner(sources, file, diagnostics);
  Constant constant = ConstantText(scanner).as(type, scanner);
  if (!scanner.failed() && !scanner.at_end()) return "more follows";
  return scanner.failed() ? diagnostics.all().front().message : constant_text(constant);
}

TEST(Text, ConstantsAreExact) {
  EXPECT_EQ(constant_round_trip(ElementType::kF32, "0.1"), "0x1.99999ap-4");
  EXPECT_EQ(constant_round_trip(ElementType::kF64, "0.1"), "0x1.999999999999ap-4");
  EXPECT_EQ(constant_round_trip(ElementType::kF32, "-0x0p+0"), "-0x0p+0");
  EXPECT_EQ(constant_round_trip(ElementType::kF32, "1e-45"), "0x1p-149");
  EXPECT_EQ(constant_round_trip(ElementType::kF16, "-inf"), "-inf");
  EXPECT_EQ(constant_round_trip(ElementType::kBF16, "nan"), "nan");
  EXPECT_EQ(constant_round_trip(ElementType::kF32, "nan(0x7fc00001)"), "nan(0x7fc00001)");
  EXPECT_EQ(constant_round_trip(ElementType::kF32, "nan(0x7f800000)"),
            "`nan(0x7f800000)` is not a constant of f32");
  EXPECT_EQ(constant_round_trip(ElementType::kI8, "-128"), "-128");
  EXPECT_EQ(constant_round_trip(ElementType::kI8, "128"), "`128` is not a constant of i8");
  EXPECT_EQ(constant_round_trip(ElementType::kU8, "255"), "255");
  EXPECT_EQ(constant_round_trip(ElementType::kU8, "-1"), "`-1` is not a constant of u8");
  EXPECT_EQ(constant_round_trip(ElementType::kU64, "18446744073709551615"), "18446744073709551615");
  EXPECT_EQ(constant_round_trip(ElementType::kBool, "true"), "true");
  EXPECT_EQ(constant_round_trip(ElementType::kBool, "2"), "`2` is not a constant of bool");
  EXPECT_EQ(constant_round_trip(ElementType::kF32, "1.5.2"), "`1.5.2` is not a constant of f32");
}

TEST(Text, EveryBitPatternOfSmallFloatsComesBack) {
  for (ElementType type :
       {ElementType::kF16, ElementType::kBF16, ElementType::kF8E4M3, ElementType::kF8E5M2}) {
    for (uint64_t bits = 0; bits < (uint64_t{1} << bit_width(type)); ++bits) {
      SourceManager sources;
      Diagnostics diagnostics;
      FileId file = sources.add("constant", constant_text({type, bits}));
      TextScanner scanner(sources, file, diagnostics);
      ASSERT_EQ(ConstantText(scanner).as(type, scanner).bits, bits) << constant_text({type, bits});
    }
  }
}

// Each row: a text and its first error.
struct Mistake {
  const char* text;
  const char* error;
};
constexpr Mistake kMistakes[] = {
    {"kernel softmax", "1:8: expected the name of a kernel, `@name`, found `softmax`"},
    {"kernel @k(", "1:11: expected `)`, found the end"},
    {"module {}", "1:1: expected `kernel`, found `module`"},
    {"@allow(fast) kernel @k() {}", "1:8: there is no permission `fast` here"},
    {"kernel @k<N, N>() {}", "1:14: `N` is defined already"},
    {"kernel @k(%x: f32, %x: f32) {}", "1:20: `%x` is defined already"},
    {"kernel @k(%x: f33) {}", "1:15: expected an element type, found `f33`"},
    {"kernel @k(%x: f32[N]) {}", "1:19: there is no symbol or axis `N` here"},
    {"kernel @k(%n: index = n) {}", "1:23: there is no symbol `n` here"},
    {"kernel @k() { %y: f32 = fold [] { yield %0 } }", "1:25: there is no operation on tensors `fold` here"},
    {"kernel @k() { %y: f32 = reduce<mean> [] { } }", "1:32: there is no monoid `mean` here"},
    {"kernel @k() { %y: f32 = reduce [] { } }",
     "1:25: a reduction has a monoid for each result: expected 1, not 0"},
    {"kernel @k() { %y: f32 = map [] { %0 = load : f32 yield %0 } }",
     "1:39: there is no scalar operation `load` here"},
    {"kernel @k() { %y: f32 = map [] { %0 = neg %1 : f32 yield %0 } }", "1:43: there is no value `1` here"},
    {"kernel @k() { %y: f32 = map [] { %0 = read %z[] : f32 yield %0 } }",
     "1:44: there is no tensor `z` here"},
    {"kernel @k() { %y: f32 = map [] { %0 = index %1 : index yield %0 } }",
     "1:45: there is no index value `1` here"},
    {"kernel @k() { %y: f32 = map [] { %0 = const 1 : f32 %0 = const 1 : f32 yield %0 } }",
     "1:53: `%0` is defined already"},
    {"kernel @k() { %y: f32 = map [] { %0 = const x : i32 yield %0 } }",
     "1:45: `x` is not a constant of i32"},
    {"kernel @k() { %y: f32 = map [] { yield () } }", "1:43: expected a value, found `}`"},
    {"kernel @k() -> (%y: f32) { %y: f64 = map [] { %0 = const 1 : f32 yield %0 } }",
     "1:28: `%y` was declared as f32, not as f64"},
    {"kernel @k() { %y: f32 = map [] { %0 = const 1 : f32 yield %0 } %y: f32 = map [] { %0 = const 1 : f32 "
     "yield %0 } }",
     "1:64: `%y` is defined already"},
    {"kernel @k(%x: f32) { %x: f32 = map [] { %0 = const 1 : f32 yield %0 } }",
     "1:22: `%x` is defined already"},
    {"kernel @k() { %y: f32 = map [] { %0 = const 1 : f32 %1 = fma %0, %0, %0, %0 : f32 yield %0 } }",
     "1:74: more than 3 operands"},
    {"kernel @k() where 1 < 2 as \"open {}", "1:28: this string has no end on its line"},
    {"kernel @k() \x01 {}", "1:13: unexpected byte 0x01"},
    {"kernel @k<N>(%x: f32[4611686018427387904 * N * 4]) {}", "1:22: this index expression leaves 64 bits"},
};

TEST(Text, MistakesAreReportedAtTheirPlace) {
  for (const Mistake& mistake : kMistakes) {
    Parsed parsed(mistake.text);
    EXPECT_FALSE(parsed.ok()) << mistake.text;
    EXPECT_EQ(parsed.first_error(), mistake.error) << mistake.text;
  }
}

// (a + b + ... + f) multiplied with itself has ever more terms.
TEST(Text, LongIndexExpressionsAreRefused) {
  std::string product = "(a + b + c + d + e + f)";
  for (int i = 0; i < 12; ++i) product += " * (a + b + c + d + e + f)";
  Parsed parsed("kernel @k<a, b, c, d, e, f>(%x: f32[" + product + "]) {}");
  EXPECT_FALSE(parsed.ok());
  EXPECT_NE(parsed.first_error().find("this index expression has more than"), std::string::npos)
      << parsed.first_error();
}

TEST(Text, EachDiagnosticHasACase) {
  // The verifier's own tests are in verifier_test.cpp; of terms see above.
  std::set<DiagnosticId> seen{DiagnosticId::kIrInvalid, DiagnosticId::kIrIndexTooLarge};
  for (const Mistake& mistake : kMistakes)
    for (const Diagnostic& diagnostic : Parsed(mistake.text).diagnostics.all()) seen.insert(diagnostic.id);
  for (size_t i = 0; i < diagnostic_count(); ++i) {
    const auto id = static_cast<DiagnosticId>(i);
    if (row(id).name.starts_with("kIr")) EXPECT_TRUE(seen.contains(id)) << row(id).code;
  }
}

// Whatever happens to a text, it is refused or prints as something that comes back.
TEST(Text, MutatedTextsDoNoHarm) {
  std::mt19937 random(7);
  constexpr std::string_view kPieces[] = {"%0",        "%x",  "[",       "]",   "{",
                                          "}",         "(",   ")",       ",",   "|",
                                          "reduce<",   "map", " where ", "-",   "99999999999999999999",
                                          "0x1p+5000", "i",   "N",       "f32", "group @g",
                                          "\""};
  int accepted = 0;
  for (int round = 0; round < 20000; ++round) {
    std::string text = round % 2 == 0 ? kSoftmax : kVaried;
    for (uint32_t edits = 1 + random() % 3; edits > 0; --edits) {
      size_t at = random() % text.size();
      switch (random() % 4) {
        case 0:
          text[at] = static_cast<char>(random());
          break;
        case 1:
          text.erase(at, random() % 20);
          break;
        case 2:
          text.insert(at, kPieces[random() % std::size(kPieces)]);
          break;
        default:
          text.insert(at, text.substr(random() % text.size(), random() % 80));
          break;
      }
      if (text.empty()) text = " ";
    }
    Parsed parsed(text);
    if (!parsed.ok()) continue;
    ++accepted;
    std::string printed = print(*parsed.module);
    ASSERT_EQ(reprinted(printed), printed) << text;
  }
  EXPECT_GT(accepted, 100);
}

}  // namespace
}  // namespace tenon::ir
