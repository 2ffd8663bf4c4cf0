// Every operation of ops.def is in a kernel that the conformance tests run: in tensor IR, and in the tiles of
// a variant.
#include <gtest/gtest.h>

#include <set>

#include "examples.h"
#include "functions_text.h"
#include "sweep.h"

namespace tenon::conformance {
namespace {

// What no example has.
constexpr const char* kOperators = R"(
kernel operators(x: i32[N], z: i32[N]) -> (a: i32[N], b: i32[N], c: i32[N], d: i32[N], e: i32[N], f: i32[N], g: i32[N],
    h: i32[N], l: i32[N], m: bool[N], n: bool[N], o: bool[N], p: bool[N], q: bool[N], r: bool[N], s: i32[N]) {
  a[i] = x[i] % z[i]
  b[i] = ~x[i]
  c[i] = x[i] << z[i]
  d[i] = x[i] >> z[i]
  e[i] = x[i] ^ z[i]
  f[i] = x[i] & z[i] | i32(i)
  g[i] = popcount(x[i]) - clz(-z[i])
  h[i] = min(x[i], z[i])
  l[i] = max(x[i], z[i])
  m[i] = x[i] < z[i]
  n[i] = x[i] <= z[i]
  o[i] = x[i] > z[i]
  p[i] = x[i] >= z[i]
  q[i] = x[i] == z[i]
  r[i] = x[i] != z[i]
  s[i] = x[i] < z[i] ? x[i] : z[i]
}
)";

class Coverage : public testing::Test {
 protected:
  // The kernel as the checker gives it, and every variant of its plan as code generation gets it.
  void add(const ir::Kernel& kernel) {
    for (const ir::TensorOp& op : kernel.ops) {
      tensor_.insert(op.op);
      for (const ir::Instruction& instruction : op.body) tensor_.insert(instruction.op);
    }
    api::CompiledKernel compiled(kernel, {.target = target_by_name("sm_80")}, nullptr);
    for (uint32_t s = 0; s < compiled.program().steps.size(); ++s)
      for (uint32_t v = 0; v < compiled.program().steps[s].variants.size(); ++v)
        for (const ir::TileOp& op : compiled.lower_to_tile(s, v).ops) tile_.insert(op.op);
  }

  // The examples run in examples_test; this runs here.
  void add(const std::string& source) {
    SourceProgram program("coverage.tn", source, {});
    ASSERT_EQ(program.kernels().size(), 1u) << program.complaints();
    add(program.kernels()[0]);
    Machine machine;
    Subject subject(program, program.kernels()[0], machine);
    const SweepResult result = sweep(subject, {{{"N", 333}}});
    EXPECT_EQ(result.failed, 0) << result.text();
    EXPECT_EQ(result.cases, 1);
  }

  // Those of the stage that were not met.
  static std::string missing(ir::Stage stage, const std::set<ir::Opcode>& met) {
    std::string text;
    for (unsigned i = 0; i < ir::opcode_count(); ++i) {
      const auto op = static_cast<ir::Opcode>(i);
      const bool wanted = ir::row(op).stage == stage || ir::row(op).stage == ir::Stage::kBody;
      // An argument stands in the bodies of monoids alone, a read in those of tensor IR.
      if (op == ir::Opcode::kArg || (stage == ir::Stage::kTile && op == ir::Opcode::kRead)) continue;
      if (wanted && !met.contains(op)) text += std::string(ir::row(op).mnemonic) + " ";
    }
    return text;
  }

  std::set<ir::Opcode> tensor_;
  std::set<ir::Opcode> tile_;
};

TEST_F(Coverage, EachOperationIsInAKernel) {
  for (const Example& example : examples()) {
    SourceProgram program = load(example);
    ASSERT_NE(program.kernel(example.kernel), nullptr) << program.complaints();
    add(*program.kernel(example.kernel));
  }
  add(functions_text("", "f32"));
  add(kOperators);
  EXPECT_EQ(missing(ir::Stage::kTensor, tensor_), "");
  EXPECT_EQ(missing(ir::Stage::kTile, tile_), "");
}

}  // namespace
}  // namespace tenon::conformance
