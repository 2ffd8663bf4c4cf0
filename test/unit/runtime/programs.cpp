#include "programs.h"

#include <utility>

namespace tenon::runtime {

SizeExpr add_dimension(Program& program, std::string name) {
  return SizeExpr::symbol(program.symbols.add({.name = std::move(name), .parameter = {}, .fixed = {}}));
}

ParameterId add_parameter(Program& program, std::string source, ElementType type, Role role,
                          std::vector<SizeExpr> shape) {
  Parameter parameter;
  parameter.name = source.substr(0, source.find(':'));
  parameter.type = type;
  parameter.role = role;
  parameter.shape = std::move(shape);
  parameter.source = std::move(source);
  return program.parameters.add(std::move(parameter));
}

Program axpy_program() {
  Program program;
  program.name = "axpy";
  program.target = "sm_80";
  SizeExpr n = add_dimension(program, "N");
  ParameterId a = add_parameter(program, "a: f32", ElementType::kF32, Role::kInput, {});
  ParameterId x = add_parameter(program, "x: f32[N]", ElementType::kF32, Role::kInput, {n});
  ParameterId y = add_parameter(program, "y: f32[N]", ElementType::kF32, Role::kInput, {n});
  ParameterId z = add_parameter(program, "z: f32[N]", ElementType::kF32, Role::kResult, {n});
  std::vector<Argument> arguments = {Argument::scalar(a, PtxType::kF32), Argument::pointer(x),
                                     Argument::pointer(y), Argument::pointer(z),
                                     Argument::size(n, PtxType::kB32)};
  auto variant = [&](std::string name, int64_t elements, Guard guard) {
    Launch launch{"axpy_" + name, ceil_div(n, 256 * elements), 256, 0, arguments};
    LoweredVariant code{"// " + name, {}, {launch}};
    return Variant{name, std::move(guard), "i = grid(256)", std::move(code), {}};
  };
  Guard vector{{SizeExpr::binary(SizeOp::kEqual, floor_mod(n, 4), 0)}, {{x, 16}, {y, 16}, {z, 16}}};
  program.steps = {{"z", {variant("vector", 4, vector), variant("any", 1, {})}, {}}};
  return program;
}

Program window_program() {
  Program program;
  program.name = "window";
  program.target = "sm_80";
  SizeExpr m = add_dimension(program, "M");
  SizeExpr n = add_dimension(program, "N");
  ParameterId x = add_parameter(program, "x: f16[M, N]", ElementType::kF16, Role::kInput, {m, n});
  ParameterId n_parameter = add_parameter(program, "n: i32", ElementType::kI32, Role::kInput, {});
  SizeExpr divisor = SizeExpr::symbol(program.symbols.add({"n", SymbolKind::kScalar, n_parameter, {}}));
  ParameterId y = add_parameter(program, "y: f32[M - 2, N / n]", ElementType::kF32, Role::kResult,
                                {m - 2, floor_div(n, divisor)});
  program.clauses.push_back(
      {SizeExpr::binary(SizeOp::kEqual, floor_mod(n, divisor), 0), "N % n == 0", false, ""});
  program.clauses.push_back(
      {SizeExpr::binary(SizeOp::kGreater, m, 2), "M > 2", true, "the access x[i + 2, j]"});
  program.workspace.push_back({"partial", ElementType::kF32, m * n * 4});
  Launch first{"first", m, 128, 0, {Argument::pointer(x), Argument::workspace_buffer(0)}};
  Launch combine{
      "combine", 1, 64, n * 4, {Argument::workspace_buffer(0), Argument::variant_workspace_buffer(1)}};
  Launch second{"second",
                m - 2,
                32,
                0,
                {Argument::variant_workspace_buffer(0), Argument::scalar(n_parameter, PtxType::kB32),
                 Argument::pointer(y), Argument::magic_multiplier(n), Argument::magic_shift(n)}};
  std::vector<WorkspaceBuffer> scratch = {{"a", ElementType::kF32, 256}, {"b", ElementType::kF32, m * 8}};
  program.steps.push_back({"first", {{"only", {}, "", LoweredVariant{"// 1", {}, {first}}, {}}}, {}});
  program.steps.push_back(
      {"second", {{"only", {}, "", LoweredVariant{"// 2", scratch, {combine, second}}, {}}}, {}});
  return program;
}

}  // namespace tenon::runtime
