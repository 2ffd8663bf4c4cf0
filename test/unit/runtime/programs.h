// Program records as a compiler would write them, for the tests.
#pragma once

#include "runtime/program.h"

namespace tenon::runtime {

// kernel axpy(a: f32, x: f32[N], y: f32[N]) -> (z: f32[N]): two variants, "vector" for N % 4 == 0 on 16
// bytes, "any". Entries axpy_vector and axpy_any, each with (a, x, y, z, N).
Program axpy_program();

// kernel window(x: f16[M, N], n: i32) -> (y: f32[M - 2, N / n]) where N % n == 0, M > 2: two steps and a
// workspace.
Program window_program();

// A symbol for a dimension, added to the program.
SizeExpr add_dimension(Program& program, std::string name);
ParameterId add_parameter(Program& program, std::string source, ElementType type, Role role,
                          std::vector<SizeExpr> shape);

}  // namespace tenon::runtime
