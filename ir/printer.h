// Tensor IR as text, the same on every run. ir/parser.h reads it back.
//
//   @allow(approx)
//   kernel @softmax<M, N>(%x: f32[M, N]) -> (%y: f32[M, N]) where N % 4 == 0 {
//     %m: f32[M] = reduce<max> [i: M | k: N] {
//       %0 = read %x[i, k] : f32
//       yield %0
//     }
//     ...
//   }
//
// The angle brackets hold the symbols in order: `M = 64` is fixed, `n: scalar` is the value of an index-typed
// parameter, which is written `%n: index = n`. An inout parameter is `%y: inout f32[N] as %y.new`: value at
// launch, new value. A `where` clause may be `implicit`, and has its own text behind `as` where the printed
// condition is not it. A reduction's `yield` has one value a result, `(%0, %1)` where the state has several
// slots, and its predicate behind `where`. After grouping, operations stand in `group @name { ... }`, where
// an axis name stands for one axis.
//
// Names are those of the module, made unique by a suffix, with what is no letter, digit, `_` or `.` replaced
// by `_`. Tensors that no operation or parameter defines, deleted operations and spans are not part of the
// text.
#pragma once

#include <string>

#include "ir/tensor.h"
#include "support/source.h"

namespace tenon::ir {

struct PrintOptions {
  // Adds `// loc(file:line:column)` to what has a place in these.
  const SourceManager* sources = nullptr;
};

std::string print(const Module& module, const PrintOptions& options = {});
std::string print(const Kernel& kernel, const PrintOptions& options = {});

// One operation in the names that the whole kernel gives it.
std::string print_op(const Kernel& kernel, TensorOpId op);

}  // namespace tenon::ir
