// Every diagnostic of the checker: its text and its place.
#include <set>

#include "test/unit/check/checked.h"

namespace tenon::frontend {
namespace {

struct Case {
  std::string_view name;
  std::string_view source;
  // "code line:column message", a line each.
  std::string_view messages;
};

// `T` is f32 in all of them.
constexpr Case kCases[] = {
    {"UnknownName", "kernel k(x: f32[N]) -> (y: f32[N]) { y[i] = x[j] }", "E0301 1:47 unknown name `j`\n"},
    {"UnknownTensor", "kernel k(input: f32[N]) -> (y: f32[N]) { y[i] = inptu[i] }",
     "E0301 1:49 unknown name `inptu`\n"},
    {"UnknownFunction", "kernel k(x: f32[N]) -> (y: f32[N]) { y[i] = expp(x[i]) }",
     "E0302 1:45 unknown function `expp`\n"},
    {"LibraryFunctionWithoutUse", "kernel k(x: f32[N]) -> (y: f32[N]) { y[i] = gelu(x[i]) }",
     "E0302 1:45 unknown function `gelu`\n"},
    {"LibraryTensorFunctionWithoutUse", "kernel k(x: f32[N]) -> (y: f32[N]) { y = softmax(x) }",
     "E0302 1:42 unknown function `softmax`\n"},
    {"UnknownNameOfOtherLetters", "kernel k(x: f32[N]) -> (y: f32[N]) { y[i] = \u6838[i] + x[i] }",
     "E0103 1:45 `\u6838`: names consist of ASCII letters, digits and `_`\n"},
    {"UnknownType", "kernel k(x: float32[N]) -> (y: f32[N]) { y[i] = 1 }",
     "E0303 1:13 unknown element type `float32`\n"},
    {"TypeMismatch", "kernel k(x: f16[N], s: f32) -> (y: f32[N]) { y[i] = x[i] * s }",
     "E0304 1:58 the operands of `*` have different types, f16 and f32\n"},
    {"TypeMismatchOfIndexAndInteger",
     "kernel k(x: f32[N], ids: i32[M]) -> (y: f32[M]) { y[i] = ids[i] >= 0 && ids[i] < N ? x[ids[i]] : 0 }",
     "E0304 1:80 the operands of `<` have different types, i32 and index\n"},
    {"OperandType", "kernel k(x: f32[N]) -> (y: f32[N]) { y[i] = x[i] % 2 }",
     "E0305 1:45 `%` is not defined for f32\n"},
    {"OperandTypeOfLiterals", "kernel k(x: f32[N]) -> (y: f32[N]) { y[i] = x[i] + 1 % 2 }",
     "E0305 1:52 `%` is not defined for f32\n"},
    {"OperandTypeBits", "kernel k(x: f32[N]) -> (y: f32[N]) { y[i] = x[i] & 3 }",
     "E0305 1:45 `&` is not defined for f32\n"},
    {"OperandTypeF8", "kernel k(x: f8e4m3[N]) -> (y: f32[N]) { y[i] = f32(x[i] + x[i]) }",
     "E0305 1:52 `+` is not defined for f8e4m3\n"},
    {"OperandTypeOfFunction", "kernel k(x: i32[N]) -> (y: i32[N]) { y[i] = exp(x[i]) }",
     "E0305 1:45 `exp` is not defined for i32\n"},
    {"MaxOfBools", "kernel k(x: f32[N]) -> (y: bool) { y = max[i](x[i] > 0) }",
     "E0305 1:40 `max` is not defined for bool\n"},
    {"NeedsBool", "kernel k(x: f32[N]) -> (y: f32[N]) { y[i] = x[i] ? 1 : 0 }",
     "E0306 1:45 the condition of `?:` has to be a bool, but this is f32\n"},
    {"NeedsInteger", "kernel k(x: f32[N]) -> (y: f32[N]) { y[i] = x[x[i]] }",
     "E0307 1:47 a subscript has to be an integer, but this is f32\n"},
    {"ElementMismatch", "kernel k(x: f32[N]) -> (y: f16[N]) { y[i] = x[i] }",
     "E0308 1:45 `y` is f16, but its value is f32\n"},
    {"ArgumentType",
     "fn f(a: f32) -> f32 = a\n"
     "kernel k(x: f16[N]) -> (y: f32[N]) { y[i] = f(x[i]) }",
     "E0309 2:47 the parameter `a` is f32, but the argument is f16\n"},
    {"ArgumentTypeOfTensor",
     "fn f(a: f32[N]) -> (b: f32[N]) { b[i] = a[i] }\n"
     "kernel k(x: f16[N]) -> (y: f32[N]) { y = f(x) }",
     "E0309 2:44 the parameter `a` is f32, but the argument is f16\n"},
    {"ArgumentCount", "kernel k(x: f32[N]) -> (y: f32[N]) { y[i] = atan2(x[i]) }",
     "E0310 1:45 `atan2` takes 2 arguments, not 1\n"},
    {"ArgumentCountOfTensorFunction",
     "use std.nn\n"
     "kernel k(x: f32[N]) -> (y: f32[N]) { y = softmax(x, x) }",
     "E0310 2:38 `softmax` takes 1 argument, not 2\n"},
    {"LiteralWithoutType", "kernel k(x: f32[N]) -> (y: f32[N]) { c = 3 y[i] = x[i] * c }",
     "E0311 1:42 this number meets nothing that gives it a type\n"},
    {"LiteralsCompared", "kernel k(x: f32[N]) -> (y: f32[N]) { y[i] = 1 < 2 ? x[i] : 0 }",
     "E0311 1:45 this number meets nothing that gives it a type\n"},
    {"LiteralNotInteger", "kernel k(x: i32[N]) -> (y: i32[N]) { y[i] = x[i] + 0.5 }",
     "E0312 1:52 0.5 is not an integer, and cannot be i32\n"},
    {"LiteralNotIntegerAsWritten",
     "kernel k(x: i32[N]) -> (y: i32[N], z: i32[N]) { y[i] = x[i] * 2.0 z[i] = x[i] + 1e2 }",
     "E0312 1:63 2.0 is not an integer, and cannot be i32\n"
     "E0312 1:81 100.0 is not an integer, and cannot be i32\n"},
    {"LiteralOutOfRange", "kernel k(x: u8[N]) -> (y: u8[N]) { y[i] = x[i] + 300 }",
     "E0313 1:50 300 does not fit into u8\n"},
    {"LiteralNotExact", "kernel k(x: f32[N]) -> (y: f32[N]) { y[i] = x[i] + 16777217 }",
     "E0314 1:52 16777217 is not exact in f32\n"},
    {"LiteralOverflow", "kernel k(x: f32[N]) -> (y: f32[N]) { y[i] = x[i] + 2e50 }",
     "E0315 1:52 2e+50 is too large for f32\n"},
    {"LiteralOverflowOfHalf", "kernel k(x: f16[N]) -> (y: f16[N]) { y[i] = x[i] + 70000 }",
     "E0315 1:52 70000 is too large for f16\n"},
    {"LiteralUnderflow", "kernel k(x: f32[N]) -> (y: f32[N]) { y[i] = x[i] + 1e-60 }",
     "E0316 1:52 1e-60 would be rounded to 0 in f32\n"},
    {"LiteralBool", "kernel k(x: f32[N]) -> (y: bool[N]) { y[i] = 1 }",
     "E0317 1:46 a bool is `true` or `false`, not 1\n"},
    {"MissingSubscripts", "kernel k(x: f32[N]) -> (y: f32[N]) { y[i] = x }",
     "E0318 1:45 `x` is a tensor [N]; only its elements have values here\n"},
    {"NotATensor", "kernel k(x: f32[N], s: f32) -> (y: f32[N]) { y[i] = x[i] + s[i] + N[i] }",
     "E0319 1:60 `s` is a scalar and has no elements\n"
     "E0319 1:67 `N` is a dimension and has no elements\n"},
    {"NotAFunction", "kernel k(x: f32[N]) -> (y: f32[N]) { y[i] = x(i) }",
     "E0320 1:45 `x` is a parameter and cannot be called\n"},
    {"KernelCalled",
     "kernel f(x: f32[N]) -> (y: f32[N]) { y[i] = x[i] }\n"
     "kernel k(x: f32[N]) -> (y: f32[N]) { y = f(x) }",
     "E0320 2:42 `f` is a kernel and cannot be called\n"},
    {"GenericAsValue", "kernel k<T: float>(x: T[N]) -> (y: T[N]) { y[i] = T }",
     "E0321 1:51 `T` is a type and has no value\n"},
    {"ReadBeforeDefinition", "kernel k(x: f32[N]) -> (y: f32[N]) { t: f32[N] y[i] = t[i] t[i] = x[i] }",
     "E0322 1:55 `t` is read before it is defined\n"},
    {"ReadOfALastElementBeforeDefinition",
     "kernel k(x: f32[N]) -> (y: f32[N], z: f32) { z = y[N - 1] y[i] = x[i] }",
     "E0322 1:50 `y` is read before it is defined\n"},
    {"GenericConflict",
     "fn f<T: float>(a: T, b: T) -> T = a + b\n"
     "kernel k(x: f32[N], z: f16[N]) -> (y: f32[N]) { y[i] = f(x[i], z[i]) }",
     "E0323 2:64 `T` of `f` is both f32 and f16\n"},
    {"GenericConflictOfTensors",
     "fn f<T: float>(a: T[N], b: T[N]) -> (c: T[N]) { c[i] = a[i] + b[i] }\n"
     "kernel k(x: f32[N], z: f16[N]) -> (y: f32[N]) { y = f(x, z) }",
     "E0323 2:58 `T` of `f` is both f32 and f16\n"},
    {"GenericUnknown",
     "fn f<T: float>(a: T) -> T = a + a\n"
     "kernel k(x: f32[N]) -> (y: f32[N]) { y[i] = f(1) }",
     "E0324 2:45 `T` of `f` cannot be told from the arguments\n"},
    {"DimensionUnknown",
     "fn f(a: f32[2 * N]) -> (b: f32[N]) { b[i] = a[2 * i] }\n"
     "kernel k(x: f32[2 * M]) -> (y: f32[M]) { y = f(x) }",
     "E0324 2:46 `N` of `f` cannot be told from the arguments\n"},
    {"GenericKind",
     "fn f<T: float>(a: T) -> T = a + a\n"
     "kernel k(x: i32[N]) -> (y: i32[N]) { y[i] = f(x[i]) }",
     "E0325 2:47 `T` of `f` is f64, f32, f16 or bf16, and cannot be i32\n"},
    {"GenericKindOfSetting", "kernel k<T: int>(x: T[N]) -> (y: T[N]) { y[i] = x[i] }",
     "E0325 1:10 `T` of `k` is an integer type, and cannot be f32\n"},
    {"ShapedFunctionInExpression",
     "use std.nn\n"
     "kernel k(x: f32[N]) -> (y: f32[N]) { y[i] = 2 * softmax(x) }",
     "E0326 2:49 `softmax` works on tensors and cannot stand in an expression\n"},
    {"SeveralResultsInExpression",
     "fn f(a: f32) -> (b: f32, c: f32) { b = a c = 2 * a }\n"
     "kernel k(x: f32[N]) -> (y: f32[N]) { y[i] = f(x[i]) }",
     "E0327 2:45 `f` has 2 results and cannot stand in an expression\n"},
    {"ArgumentNotAName",
     "use std.nn\n"
     "kernel k(x: f32[N]) -> (y: f32[N]) { y = softmax(2 * x) }",
     "E0328 2:50 the arguments of `softmax` have to be names\n"},
    {"ArgumentRank",
     "fn f(a: f32[M, N]) -> (b: f32) { b = sum[i, j](a[i, j]) }\n"
     "kernel k(x: f32[N]) -> (y: f32) { y = f(x) }",
     "E0329 2:41 `a` has 2 dimensions, but a tensor of 1 is given\n"},
    {"LeadingDimensions",
     "fn f(a: f32[..., N], b: f32[..., N]) -> (c: f32[..., N]) { c[..., j] = a[..., j] + b[..., j] }\n"
     "kernel k(x: f32[M, N], z: f32[N]) -> (y: f32[M, N]) { y = f(x, z) }",
     "E0330 2:64 `...` cannot stand for both 1 and 0 dimensions\n"},
    {"ShapeMismatch",
     "fn f(a: f32[N], b: f32[N + 1]) -> (c: f32[N]) { c[i] = a[i] + b[i] }\n"
     "kernel k(x: f32[N]) -> (y: f32[N]) { y = f(x, x) }",
     "E0331 2:47 a dimension of `b` is N + 1, but N is given\n"},
    {"ResultCount",
     "fn f(a: f32[N]) -> (b: f32[N], c: f32[N]) { b[i] = a[i] c[i] = a[i] }\n"
     "kernel k(x: f32[N]) -> (y: f32[N]) { y = f(x) }",
     "E0332 2:38 `f` has 2 results, but 1 name here\n"},
    {"SeveralNames", "kernel k(x: f32[N]) -> (y: f32) { a, b = x[0] y = a }",
     "E0333 1:35 one expression cannot define 2 names\n"},
    {"Recursion",
     "fn f(a: f32) -> f32 = g(a)\n"
     "fn g(a: f32) -> f32 = f(a) + 1\n"
     "kernel k(x: f32[N]) -> (y: f32[N]) { y[i] = f(x[i]) }",
     "E0334 2:23 `f` calls itself\n"},
    {"RecursionOfTensorFunctions",
     "fn f(a: f32[N]) -> (b: f32[N]) { b = f(a) }\n"
     "kernel k(x: f32[N]) -> (y: f32[N]) { y = f(x) }",
     "E0334 1:34 `f` calls itself\n"},
    {"FunctionClause",
     "fn f(a: f32[N]) -> (b: f32[N]) where N < 0 { b[i] = a[i] }\n"
     "kernel k(x: f32[8]) -> (y: f32[8]) { y = f(x) }",
     "E0335 2:38 a `where` clause of `f` cannot be shown to hold\n"},
    {"ArgmaxIndices", "kernel k(x: f32[M, N]) -> (y: index) { y = argmax[i, j](x[i, j]) }",
     "E0336 1:44 `argmax` takes one index\n"},
    {"OutOfBounds", "kernel k(x: f32[N]) -> (y: f32[N]) { y[i] = x[i + 1] }",
     "E0401 1:45 cannot show that this read of `x` is within bounds: i + 1 in a dimension of N\n"},
    {"OutOfBoundsOfData", "kernel k(x: f32[N], ids: i32[M]) -> (y: f32[M]) { y[i] = x[ids[i]] }",
     "E0401 1:58 cannot show that this read of `x` is within bounds: ids[i] in a dimension of N\n"},
    {"OutOfBoundsWithSuggestion", "kernel k(x: f32[N]) -> (y: f32[M]) { y[i] = x[i] }",
     "E0401 1:45 cannot show that this read of `x` is within bounds: i in a dimension of N\n"},
    {"RangeUnknown", "kernel k(x: f32[N]) -> (y: f32) { y = sum[j](x[2 * j | 0]) }",
     "E0402 1:43 nothing tells how far the index `j` runs\n"},
    {"RangesDiffer", "kernel k(x: f32[M], z: f32[N]) -> (t: f32) { t = sum[i](x[i] * z[i]) }",
     "E0403 1:66 the index `i` cannot run both up to M and up to N\n"},
    {"HiddenName", "kernel k(x: f32[N], i: index) -> (y: f32[N]) { y[i] = x[i] }",
     "E0404 1:50 the index `i` would hide a parameter of that name\n"},
    {"HiddenLocal", "kernel k(x: f32[N]) -> (y: f32[N]) { i = f32(3) y[i] = x[0] }",
     "E0404 1:51 the index `i` would hide a local of that name\n"},
    {"HiddenNameInReduction", "kernel k(x: f32[N]) -> (y: f32[N]) { y[i] = sum[i](x[i]) }",
     "E0404 1:49 the index `i` would hide an index of that name\n"},
    {"SubscriptCount", "kernel k(x: f32[M, N]) -> (y: f32[N]) { y[i] = x[i] }",
     "E0405 1:48 `x` has 2 dimensions, but 1 subscript here\n"},
    {"SubscriptCountOfTarget", "kernel k(x: f32[M, N]) -> (y: f32[M, N]) { y[i] = x[i, 0] }",
     "E0405 1:44 `y` has 2 dimensions, but 1 subscript here\n"},
    {"RepeatedIndex", "kernel k(x: f32[N]) -> (y: f32[N, N]) { y[i, i] = x[i] }",
     "E0406 1:46 the index `i` stands twice on the left\n"},
    {"EllipsisMisplaced",
     "fn f(a: f32[N]) -> (b: f32[N]) { b[..., i] = a[i] }\n"
     "kernel k(x: f32[N]) -> (y: f32[N]) { y = f(x) }",
     "E0407 1:36 `...` stands for no dimensions here\n"},
    {"SizeNotUniform", "kernel k(x: f32[N]) -> (y: f32[N]) { n = sum[j](index(x[j])) t: f32[n] y[i] = x[i] }",
     "E0408 1:69 a dimension has to be known at launch; this value is computed from data\n"},
    {"DeclaredTwice", "kernel k(x: f32[N], x: f32[N]) -> (y: f32[N]) { y[i] = x[i] }",
     "E0501 1:21 `x` is declared twice\n"},
    {"DeclaredTwiceResult", "kernel k(x: f32[N]) -> (x: f32[N]) { x[i] = x[i] }",
     "E0501 1:25 `x` is declared twice\n"},
    {"DeclaredTwiceLocal",
     "kernel k(x: f32[N]) -> (y: f32[N]) { t: f32[N] t: f32[N] t[i] = x[i] y[i] = t[i] }",
     "E0501 1:48 `t` is declared twice\n"},
    {"DeclaredTwiceKernel",
     "kernel k(x: f32[N]) -> (y: f32[N]) { y[i] = x[i] }\n"
     "kernel k(x: f32[N]) -> (y: f32[N]) { y[i] = x[i] }",
     "E0501 2:8 `k` is declared twice\n"},
    {"DeclaredTwiceFunction",
     "use std.nn\n"
     "fn relu(a: f32) -> f32 = a",
     "E0501 2:4 `relu` is declared twice\n"},
    {"DefinedTwice", "kernel k(x: f32[N]) -> (y: f32[N]) { y[i] = x[i] y[i] = 2 * x[i] }",
     "E0502 1:50 `y` is defined twice\n"},
    {"ResultUndefined", "kernel k(x: f32[N]) -> (y: f32[N], z: f32) { y[i] = x[i] }",
     "E0503 1:36 the result `z` is never defined\n"},
    {"InoutUndefined", "kernel k(x: inout f32[N]) { t[i] = x[i] }",
     "E0504 1:10 the inout parameter `x` is never defined\n"},
    {"ParameterDefined", "kernel k(x: f32[N]) -> (y: f32[N]) { x[i] = 1 y[i] = x[i] }",
     "E0505 1:38 `x` is a parameter and cannot be defined\n"},
    {"NotDefinable", "kernel k(x: f32[N]) -> (y: f32[N]) { N = x[0] y[i] = x[i] }",
     "E0506 1:38 `N` is a dimension and cannot be defined\n"},
    {"TensorDefinedAsScalar", "kernel k(x: f32[N]) -> (y: f32[N]) { y = x }",
     "E0507 1:38 `y` is a tensor [N], but is defined without subscripts\n"},
    {"InoutResult", "kernel k(x: f32[N]) -> (y: inout f32[N]) { y[i] = x[i] }",
     "E0508 1:28 `y` is a result; `inout` is for parameters\n"},
    {"NotASize", "kernel k(x: f32[N], n: i32) -> (y: f32[n]) { y[i] = x[i | 0] }",
     "E0509 1:40 `n` is no size\n"},
    {"ClauseNotUniform", "kernel k(x: f32[N]) -> (y: f32[N]) where x[0] > 1 { y[i] = x[i] }",
     "E0511 1:42 a clause of `where` has to be known at launch\n"},
    {"ClauseNeverHolds", "kernel k(x: f32[N]) -> (y: f32[N]) where N < N { y[i] = x[i] }",
     "E0512 1:42 `N < N` never holds\n"},
    {"UnknownAnnotation",
     "@alow(approx)\n"
     "kernel k(x: f32[N]) -> (y: f32[N]) { y[i] = x[i] }",
     "E0513 1:2 unknown annotation `@alow`\n"},
    {"UnknownPermission",
     "@allow(aprox)\n"
     "kernel k(x: f32[N]) -> (y: f32[N]) { y[i] = x[i] }",
     "E0514 1:8 unknown permission `aprox`\n"},
    {"UnknownModule", "use std.nm", "E0515 1:1 there is no module `std.nm`\n"},
    {"UnknownKernel",
     "kernel softmax(x: f32[N]) -> (y: f32[N]) { y[i] = x[i] }\n"
     "schedule sofmax on sm_80 { y.i = 64 }",
     "E0516 2:10 there is no kernel `sofmax`\n"},
    {"BuiltinRedefined", "fn exp(a: f32) -> f32 = a",
     "E0517 1:4 `exp` is a function of the language and cannot be declared\n"},
    {"ScalarFormWithShape",
     "fn f(a: f32[N]) -> f32 = 1\n"
     "kernel k(x: f32[N]) -> (y: f32) { y = f(x) }",
     "E0518 1:4 `f` works on tensors and needs a body in braces\n"},
    {"Scatter", "kernel k(x: f32[N], p: i32[N]) -> (y: f32[N]) { y[p[i] | drop] = x[i] }",
     "E0601 1:49 not built yet: scatters; the left side of `y` has to be distinct indices\n"},
    {"ScatterToExpression", "kernel k(x: f32[N]) -> (y: f32[N]) { y[i + 1] = x[i] }",
     "E0601 1:38 not built yet: scatters; the left side of `y` has to be distinct indices\n"},
    {"Accumulation", "kernel k(x: u8[N]) -> (h: i32[256]) { h[x[i]] += 1 }",
     "E0602 1:39 not built yet: accumulation into `h`\n"},
    {"Recurrence", "kernel k(x: f32[N]) -> (y: f32[N]) { y[t] = y[t - 1 | 0] + x[t] }",
     "E0603 1:45 not built yet: recurrences; `y` is read while it is being defined\n"},
    {"DataRange", "kernel k(x: f32[N], n: i32[M]) -> (y: f32[M]) { y[i] = sum[j in 0..n[i]](x[j | 0]) }",
     "E0604 1:65 not built yet: ranges that depend on data, here of `j`\n"},
    {"VaryingRange", "kernel k(x: f32[N]) -> (y: f32[N]) { y[i] = sum[j in 0..i * i](x[j | 0]) }",
     "E0605 1:54 not built yet: a range like this one of `j`, whose bounds vary with an outer index\n"},
    {"Strided", "kernel k(x: strided f32[M, N]) -> (y: f32[M, N]) { y[i, j] = x[i, j] }",
     "E0606 1:13 not built yet: `strided` parameters, here `x`\n"},
    {"Schedule",
     "kernel k(x: f32[N]) -> (y: f32[N]) { y[i] = x[i] }\n"
     "schedule k on sm_80 { y.i = 64 }",
     "E0607 2:1 not built yet: schedules, here for `k`\n"},
    {"F8Arithmetic", "kernel k(x: f8e4m3[N]) -> (y: f32) { y = sum[i](x[i]) }",
     "E0608 1:49 not built yet: arithmetic on f8e4m3\n"},
    {"F64Function", "kernel k(x: f64[N]) -> (y: f64[N]) { y[i] = exp(x[i]) }",
     "E0609 1:45 not built yet: `exp` for f64\n"},
    {"FunctionLocals",
     "fn f(a: f32) -> (b: f32) { t: f32[4] t[i] = a b = t[0] }\n"
     "kernel k(x: f32[N]) -> (y: f32[N]) { y[i] = f(x[i]) }",
     "E0610 1:28 not built yet: local tensors in `f`, which is called for each element\n"},
    {"FunctionWhere",
     "fn f(n: index) -> (b: index) where n > 0 { b = n }\n"
     "kernel k(x: f32[N]) -> (y: index[N]) { y[i] = f(i) }",
     "E0611 2:47 not built yet: `where` clauses of `f`, which is called in an expression\n"},
};

TEST(Diagnostics, HaveTheirTextAndPlace) {
  CheckOptions options;
  options.types = {{"T", ElementType::kF32}};
  for (const Case& each : kCases) {
    SCOPED_TRACE(each.name);
    EXPECT_EQ(Checked(each.source, options).messages(), each.messages);
  }
}

TEST(Diagnostics, NegativeSizesAreRefused) {
  CheckOptions options;
  options.sizes = {{"N", -1}};
  EXPECT_EQ(Checked("kernel k(x: f32[N]) -> (y: f32[N]) { y[i] = x[i] }", options).messages(),
            "E0510 1:17 the dimension `N` cannot be -1\n");
}

// Every row of the checker's sections has a case above; limits have theirs in limits_test.cpp.
TEST(Diagnostics, EachHasACase) {
  std::set<std::string> covered{"E0510"};
  for (const Case& each : kCases) {
    std::string_view rest = each.messages;
    while (!rest.empty()) {
      covered.insert(std::string(rest.substr(0, 5)));
      rest.remove_prefix(rest.find('\n') + 1);
    }
  }
  for (size_t i = 0; i < diagnostic_count(); ++i) {
    const std::string code(row(static_cast<DiagnosticId>(i)).code);
    const bool of_checker = code >= "E0300" && code < "E0700";
    if (of_checker) EXPECT_TRUE(covered.contains(code)) << code;
  }
}

TEST(Diagnostics, MixedTypesShowBothPlacesAndOfferTheCast) {
  EXPECT_EQ(Checked("kernel k(x: f16[N], s: f32) -> (y: f32[N]) { y[i] = x[i] * s }").rendered(),
            R"(test.tn:1:58: error[E0304]: the operands of `*` have different types, f16 and f32
  |
1 | kernel k(x: f16[N], s: f32) -> (y: f32[N]) { y[i] = x[i] * s }
  |                                                     ---- ^ - f32
  |                                                     |
  |                                                     f16
help: convert it to f32
  |
1 | kernel k(x: f16[N], s: f32) -> (y: f32[N]) { y[i] = f32(x[i]) * s }
  |                                                     ~~~~~~~~~
)");
}

TEST(Diagnostics, DifferentRangesShowBothPlacesAndSizes) {
  EXPECT_EQ(Checked("kernel k(x: f32[M], z: f32[N]) -> (t: f32) { t = sum[i](x[i] * z[i]) }").rendered(),
            R"(test.tn:1:66: error[E0403]: the index `i` cannot run both up to M and up to N
  |
1 | kernel k(x: f32[M], z: f32[N]) -> (t: f32) { t = sum[i](x[i] * z[i]) }
  |                                                           -      ^ up to N, a dimension of `z`
  |                                                           |
  |                                                           up to M, a dimension of `x`
  = note: if the sizes are always equal, say so: `where M == N`
)");
}

TEST(Diagnostics, ReadsOutOfBoundsShowTheGoalAndAFix) {
  EXPECT_EQ(
      Checked("kernel k(x: f32[N]) -> (y: f32[N]) { y[i] = x[i + 1] }").rendered(),
      R"(test.tn:1:45: error[E0401]: cannot show that this read of `x` is within bounds: i + 1 in a dimension of N
  |
1 | kernel k(x: f32[N]) -> (y: f32[N]) { y[i] = x[i + 1] }
  |          ---------                          ^^^^^^^^
  |          |                                    |
  |          |                                    has to be in 0..N
  |          |
  |          `x` is [N]
  = note: left to show: i + 2 <= N
  = note: it fails for N = 1, i = 0
help: give a value for elements outside
  |
1 | kernel k(x: f32[N]) -> (y: f32[N]) { y[i] = x[i + 1 | 0] }
  |                                                     +++
)");
}

TEST(Diagnostics, MistakesInFunctionsShowTheCall) {
  const std::string text =
      Checked("use std.nn\nkernel k(x: f64[N]) -> (y: f64[N]) { y[i] = gelu(x[i]) }").rendered();
  EXPECT_NE(text.find("std.nn:"), std::string::npos) << text;
  EXPECT_NE(text.find("test.tn:2:45"), std::string::npos) << text;
  EXPECT_NE(text.find("---------- called from here"), std::string::npos) << text;
  const std::string nested = Checked(
                                 "fn f(a: f32) -> f32 = a + i32(1)\n"
                                 "fn g(a: f32) -> f32 = f(a)\n"
                                 "fn h(a: f32[N]) -> (b: f32[N]) { b[i] = g(a[i]) }\n"
                                 "kernel k(x: f32[N]) -> (y: f32[N]) { y = h(x) }")
                                 .rendered();
  EXPECT_NE(nested.find("4 | kernel k(x: f32[N]) -> (y: f32[N]) { y = h(x) }\n"
                        "  |                                      -------- called from here"),
            std::string::npos)
      << nested;
}

TEST(Diagnostics, FixesAreRightWhereTheyStand) {
  EXPECT_NE(
      Checked("kernel k(x: bool[N]) -> (y: bool[N]) { y[i] = x[i + 1] }").rendered().find("x[i + 1 | false]"),
      std::string::npos);
  EXPECT_NE(
      Checked("kernel k(x: f32[N]) -> (y: bool[N]) { y[i] = !x[i] }").rendered().find("y[i] = !(x[i] != 0)"),
      std::string::npos);
  EXPECT_NE(Checked("kernel k(x: f32[N]) -> (y: f32[N]) { y[i] = exp(1) }").rendered().find("exp(f32(1))"),
            std::string::npos);
}

TEST(Diagnostics, ClausesThatContradictOneAnotherAreNotSuggested) {
  const std::string text =
      Checked(
          "kernel k(x: f32[B], z: f32[N]) -> (y: f32[N]) where N >= 3, B >= 1 { y[i] = x[N - B + i * i] }")
          .rendered();
  EXPECT_NE(text.find("it fails for"), std::string::npos) << text;
  EXPECT_EQ(text.find("would make it hold"), std::string::npos) << text;
}

TEST(Diagnostics, SlipsOfTheHandGetTheNameThatWasMeant) {
  const std::string text = Checked("kernel k(input: f32[N]) -> (y: f32[N]) { y[i] = inpt[i] }").rendered();
  EXPECT_NE(text.find("did you mean `input`?"), std::string::npos) << text;
}

TEST(Diagnostics, AMistakeDoesNotStopOtherKernelsNorCauseOthers) {
  const Checked checked(R"(
fn broken(a: f32) -> f32 = a + i32(1)
kernel first(x: f32[N]) -> (y: f32[N], z: f32[N]) {
  s[i] = missing[i]
  t[i] = s[i] + x[i]
  y[i] = t[i]
  z[i] = broken(x[i]) + broken(2 * x[i])
}
kernel second(x: f32[N]) -> (y: f32[N]) { y[i] = x[i] }
)");
  EXPECT_EQ(checked.messages(),
            "E0301 4:10 unknown name `missing`\n"
            "E0304 2:30 the operands of `+` have different types, f32 and i32\n");
  ASSERT_EQ(checked.result.module.kernels.size(), 1u);
  EXPECT_EQ(checked.result.module.kernels[0].name, "second");
}

TEST(Diagnostics, AGuardWithAMistakeHidesWhatItMayHaveShown) {
  EXPECT_EQ(Checked("kernel k(x: f32[N]) -> (y: f32[N]) { y[i] = i > zero ? x[i - 1] : 0 }").messages(),
            "E0301 1:49 unknown name `zero`\n");
}

TEST(Diagnostics, KernelsWithSyntaxMistakesStaySilentAboutWhatIsMissing) {
  for (const char* text :
       {"kernel k(x: f32[N]) -> (y: f32[N]) { t[i] = x[i] + ) y[i] = t[i] }",
        "kernel k(x: f32[N]) -> (t: f32[N], y: f32[N]) { t[i8] = x[i8] y[i] = t[i - 1 | 0] }"}) {
    const Checked checked(text);
    for (const Diagnostic& d : checked.diagnostics.all()) EXPECT_LT(row(d.id).code, "E0300") << d.message;
    EXPECT_TRUE(checked.result.module.kernels.empty());
  }
}

}  // namespace
}  // namespace tenon::frontend
