#include "ir/verifier.h"

#include <gtest/gtest.h>

#include <functional>

#include "parsed.h"

namespace tenon::ir {
namespace {

constexpr const char* kGood = R"(@allow(approx)
kernel @good<M, N, n: scalar>(%x: f32[M, N], %acc: inout f32[M] as %acc.new, %n: index = n)
    -> (%y: f32[M, N], %best: index[M]) where N % 4 == 0 {
  group @rows {
    %m: f32[M], %best: index[M] = reduce<max, argmax> [i: M | k: N] {
      %0 = index k : index
      %1 = read %x[i, k] : f32
      %2 = const true : bool
      yield %1, (%1, %0) where %2
    }
    %y: f32[M, N] = map [i: M, j: N] {
      %0 = read %x[i, j] : f32
      %1 = read %m[i] : f32
      %2 = sub %0, %1 : f32
      %3 = exp %2 : f32 approx
      yield %3
    }
  }
  group @sums {
    %acc.new: f32[M] = map [i: M] {
      %0 = const 0x0p+0 : f32
      %1 = index i < n : index
      %2 = cast %1 : bool
      %3 = read %acc[i] where %2 else %0 : f32
      yield %3
    }
  }
}
)";

struct Case {
  const char* name;
  std::function<void(Kernel&)> damage;
  // The only violation, or the first.
  const char* expected;
};

constexpr TensorOpId kReduction(0), kMap(1), kGuarded(2);

TensorOp& op(Kernel& kernel, TensorOpId id) { return kernel.ops[id]; }
Instruction& at(Kernel& kernel, TensorOpId id, uint32_t value) { return kernel.ops[id].body[ValueId(value)]; }
// The monoid of a result of the reduction, made its own so that it can be broken.
Monoid& own_monoid(Kernel& kernel, size_t output) {
  auto copy = std::make_shared<Monoid>(*op(kernel, kReduction).outputs[output].monoid);
  op(kernel, kReduction).outputs[output].monoid = copy;
  return *copy;
}
IndexId axis_of(Kernel& kernel, TensorOpId id) { return kernel.index.axis(kernel.ops[id].parallel[0]); }

const Case kCases[] = {
    {"overflow", [](Kernel& k) { k.index.scale(k.index.constant(INT64_MAX), 2); },
     "@good: the index pool has overflowed"},
    {"unnamed symbol", [](Kernel& k) { k.symbols[SymbolId(0)].name = ""; }, "@good: a symbol has no name"},
    {"symbol twice", [](Kernel& k) { k.symbols[SymbolId(0)].name = "N"; }, "@good: two symbols are called N"},
    {"unnamed parameter", [](Kernel& k) { k.parameters[0].name = ""; }, "@good: a parameter has no name"},
    {"parameter twice", [](Kernel& k) { k.parameters[0].name = "y"; }, "@good: two parameters are called y"},
    {"extent mentions an axis", [](Kernel& k) { k.axes[op(k, kMap).parallel[1]].extent = axis_of(k, kMap); },
     "@good: the extent of axis j mentions an axis that is not of its domain"},
    {"shape mentions a value", [](Kernel& k) { k.tensors[TensorId(0)].shape[0] = k.index.value(ValueId(0)); },
     "@good: the shape of %x mentions a value of a body"},
    {"shape has nothing", [](Kernel& k) { k.tensors[TensorId(0)].shape[0] = {}; },
     "@good: the shape of %x has no index expression"},
    {"where mentions an axis", [](Kernel& k) { k.where[0].condition = axis_of(k, kMap); },
     "@good: a `where` clause mentions an axis that is not of its domain"},
    {"fixed symbol", [](Kernel& k) { k.symbols[SymbolId(2)].fixed = 3; },
     "@good: %acc.new: %1 = index: mentions n, which is fixed to 3"},
    {"unknown symbol", [](Kernel& k) { k.where[0].condition = k.index.symbol(SymbolId(9)); },
     "@good: a `where` clause mentions a symbol that there is not"},
    {"parameter without tensor", [](Kernel& k) { k.parameters[3].output = {}; },
     "@good: parameter y has no tensor"},
    {"parameter of unknown tensor", [](Kernel& k) { k.parameters[3].output = TensorId(99); },
     "@good: parameter y has a tensor that there is not"},
    {"shared tensor", [](Kernel& k) { k.parameters[4].output = k.parameters[3].output; },
     "@good: parameter best shares %y with another"},
    {"wrong role", [](Kernel& k) { k.tensors[TensorId(0)].role = Tensor::Role::kLocal; },
     "@good: parameter x has %x of another role"},
    {"role without parameter",
     [](Kernel& k) { k.tensors.add({"z", ElementType::kF32, {}, Tensor::Role::kInput, {}}); },
     "@good: %z has the role of a parameter and belongs to none"},
    {"inout changes type",
     [](Kernel& k) { k.tensors[k.parameters[1].output].shape.push_back(k.index.constant(1)); },
     "@good: parameter acc changes its type"},
    {"symbol of a tensor", [](Kernel& k) { k.parameters[0].symbol = SymbolId(2); },
     "@good: parameter x has a symbol and is no index scalar that the caller gives"},
    {"dimension as scalar", [](Kernel& k) { k.parameters[2].symbol = SymbolId(0); },
     "@good: parameter n has a symbol that is no scalar"},
    {"input behind result", [](Kernel& k) { std::swap(k.parameters[0], k.parameters[3]); },
     "@good: parameter acc stands behind a result"},
    {"unnamed group", [](Kernel& k) { k.groups[0].name = ""; }, "@good: a group has no name"},
    {"group of unknown", [](Kernel& k) { k.groups[1].ops.push_back(TensorOpId(7)); },
     "@good: group sums holds an operation that there is not"},
    {"group out of order", [](Kernel& k) { std::swap(k.groups[0].ops[0], k.groups[0].ops[1]); },
     "@good: group rows is not in program order"},
    {"not in a group", [](Kernel& k) { k.groups[1].ops.clear(); }, "@good: %acc.new is in 0 groups, not 1"},
    {"in two groups", [](Kernel& k) { k.groups[1].ops = {kMap, kGuarded}; },
     "@good: %y is in 2 groups, not 1"},
    {"deleted in a group", [](Kernel& k) { op(k, kGuarded).outputs.clear(); },
     "@good: a deleted operation is in 1 groups, not 0"},
    {"groups against definitions",
     [](Kernel& k) { k.groups = {{"b", {kMap}}, {"a", {kReduction, kGuarded}}}; },
     "@good: %y: %1 = read: reads %m before its definition"},
    {"no map", [](Kernel& k) { op(k, kMap).op = Opcode::kAdd; }, "@good: %y: is neither map nor reduce"},
    {"map reduces", [](Kernel& k) { op(k, kMap).reduction = {op(k, kReduction).reduction[0]}; },
     "@good: %y: a map has no reduction axes"},
    {"map predicate", [](Kernel& k) { op(k, kMap).predicate = ValueId(0); },
     "@good: %y: a map has no predicate"},
    {"map monoid",
     [](Kernel& k) { op(k, kMap).outputs[0].monoid = make_monoid(MonoidKind::kSum, ElementType::kF32); },
     "@good: %y: a map has no monoid"},
    {"map values", [](Kernel& k) { op(k, kMap).outputs[0].values.push_back(ValueId(0)); },
     "@good: %y: a map has one value for a result, not 2"},
    {"no reduction axis",
     [](Kernel& k) {
       op(k, kReduction).reduction.clear();
       op(k, kReduction).parallel.clear();
     },
     "@good: %m: a reduction has no reduction axis"},
    {"no monoid", [](Kernel& k) { op(k, kReduction).outputs[0].monoid.reset(); },
     "@good: %m: a reduction has a monoid for each result"},
    {"wrong slots", [](Kernel& k) { op(k, kReduction).outputs[1].values.pop_back(); },
     "@good: %m: lifts 1 values into a state of 2 slots"},
    {"wrong slot type", [](Kernel& k) { op(k, kReduction).outputs[1].values[1] = ValueId(1); },
     "@good: %m: lifts f32 into slot 1, which is index"},
    {"axis twice", [](Kernel& k) { op(k, kMap).parallel[1] = op(k, kMap).parallel[0]; },
     "@good: %y: has axis i twice"},
    {"unknown axis", [](Kernel& k) { op(k, kMap).parallel[1] = AxisId(99); },
     "@good: %y: has an axis that there is not"},
    {"shape is not the domain",
     [](Kernel& k) { std::swap(op(k, kMap).parallel[0], op(k, kMap).parallel[1]); },
     "@good: %y: dimension 0 of %y is not the extent of axis j"},
    {"rank is not the domain", [](Kernel& k) { k.tensors[k.parameters[4].output].shape.clear(); },
     "@good: %m: has 1 parallel axes, but %best has 0 dimensions"},
    {"element type", [](Kernel& k) { k.tensors[k.parameters[3].output].element = ElementType::kF64; },
     "@good: %y: gives f32, but %y has f64"},
    {"monoid's result type", [](Kernel& k) { k.tensors[k.parameters[4].output].element = ElementType::kI64; },
     "@good: %m: gives index, but %best has i64"},
    {"predicate is no bool", [](Kernel& k) { op(k, kReduction).predicate = ValueId(0); },
     "@good: %m: the predicate is index, not bool"},
    {"predicate is no value", [](Kernel& k) { op(k, kReduction).predicate = ValueId(44); },
     "@good: %m: the predicate is no value of the body"},
    {"unknown result", [](Kernel& k) { op(k, kMap).outputs[0].tensor = TensorId(55); },
     "@good: a tensor that there is not: defines a tensor that there is not"},
    {"two definitions", [](Kernel& k) { op(k, kMap).outputs.push_back(op(k, kMap).outputs[0]); },
     "@good: %y: defines %y again"},
    {"input defined", [](Kernel& k) { op(k, kGuarded).outputs[0].tensor = k.parameters[1].input; },
     "@good: %acc: defines %acc again"},
    {"result undefined",
     [](Kernel& k) {
       k.groups.pop_back();
       op(k, kGuarded).outputs.clear();
     },
     "@good: result %acc.new is defined nowhere"},
    {"result is no value", [](Kernel& k) { op(k, kMap).outputs[0].values[0] = ValueId(8); },
     "@good: %y: has a result that is no value of its body"},
    {"read before definition", [](Kernel& k) { at(k, kReduction, 1).tensor = k.parameters[3].output; },
     "@good: %m: %1 = read: reads %y before its definition"},
    {"read of nothing", [](Kernel& k) { at(k, kMap, 0).tensor = {}; },
     "@good: %y: %0 = read: reads no tensor"},
    {"read of another type", [](Kernel& k) { k.tensors[TensorId(0)].element = ElementType::kF16; },
     "@good: %m: %1 = read: is f32, but %x has f16"},
    {"subscript missing", [](Kernel& k) { at(k, kMap, 0).subscripts.pop_back(); },
     "@good: %y: %0 = read: has 1 subscripts, but %x has 2 dimensions"},
    {"foreign axis", [](Kernel& k) { at(k, kMap, 0).subscripts[0] = axis_of(k, kGuarded); },
     "@good: %y: %0 = read: mentions an axis that is not of its domain"},
    {"value from later", [](Kernel& k) { at(k, kMap, 0).subscripts[0] = k.index.value(ValueId(2)); },
     "@good: %y: %0 = read: mentions %2, which does not come before it"},
    {"value of another type", [](Kernel& k) { at(k, kMap, 1).subscripts[0] = k.index.value(ValueId(0)); },
     "@good: %y: %1 = read: mentions %0, which is f32 and not index"},
    {"operand from later", [](Kernel& k) { at(k, kMap, 2).operands[0] = ValueId(2); },
     "@good: %y: %2 = sub: uses %2, which does not come before it"},
    {"operand gap", [](Kernel& k) { at(k, kMap, 2).operands[0] = {}; },
     "@good: %y: %2 = sub: has an operand behind a missing one"},
    {"operand missing", [](Kernel& k) { at(k, kMap, 2).operands[1] = {}; },
     "@good: %y: %2 = sub: takes 2 operands, not 1"},
    {"tensor op in a body", [](Kernel& k) { at(k, kMap, 2).op = Opcode::kReduce; },
     "@good: %y: %2 = reduce: is no scalar operation"},
    {"large constant", [](Kernel& k) { at(k, kReduction, 2).bits = 2; },
     "@good: %m: %2 = const: has bits 0x2, more than bool has"},
    {"argument in a body", [](Kernel& k) { at(k, kReduction, 2).op = Opcode::kArg; },
     "@good: %m: %2 = arg: stands outside a monoid"},
    {"stray bits", [](Kernel& k) { at(k, kMap, 2).bits = 1; }, "@good: %y: %2 = sub: has bits of its own"},
    {"stray index", [](Kernel& k) { at(k, kMap, 2).index = k.index.constant(1); },
     "@good: %y: %2 = sub: has an index expression of its own"},
    {"stray access", [](Kernel& k) { at(k, kMap, 2).tensor = TensorId(0); },
     "@good: %y: %2 = sub: has an access of its own"},
    {"approximate", [](Kernel& k) { k.permissions = 0; },
     "@good: %y: %3 = exp: is approximate, which the kernel does not allow"},
    {"index type", [](Kernel& k) { at(k, kGuarded, 1).type = ElementType::kI64; },
     "@good: %acc.new: %1 = index: expected a result of type index, found i64"},
    {"read without default", [](Kernel& k) { at(k, kGuarded, 3).operands[1] = {}; },
     "@good: %acc.new: %3 = read: a read has a predicate and a default, or neither"},
    {"read predicate", [](Kernel& k) { at(k, kGuarded, 3).operands[0] = ValueId(0); },
     "@good: %acc.new: %3 = read: expected a bool as predicate, found f32"},
    {"read default", [](Kernel& k) { at(k, kGuarded, 3).operands[1] = ValueId(1); },
     "@good: %acc.new: %3 = read: operands are index, not f32"},
    {"monoid slots", [](Kernel& k) { own_monoid(k, 1).kind = MonoidKind::kMax; },
     "@good: %m: max has 1 slots, not 2"},
    {"monoid merges too little", [](Kernel& k) { own_monoid(k, 1).merged.pop_back(); },
     "@good: %m: merging does not give a value for each slot"},
    {"monoid argument", [](Kernel& k) { own_monoid(k, 0).merge[ValueId(1)].bits = 2; },
     "@good: %m: %1 = arg: is argument 2 of 2"},
    {"monoid argument type", [](Kernel& k) { own_monoid(k, 1).merge[ValueId(1)].bits = 0; },
     "@good: %m: %1 = arg: is index, but the state has f32 there"},
    {"monoid with an index", [](Kernel& k) { own_monoid(k, 0).merge.index(k.index.constant(1)); },
     "@good: %m: %3 = index: stands in a monoid"},
    {"monoid with a read", [](Kernel& k) { own_monoid(k, 0).merge.add(at(k, kReduction, 1)); },
     "@good: %m: %3 = read: stands in a monoid"},
    {"monoid merges another type", [](Kernel& k) { own_monoid(k, 1).merged[0] = ValueId(1); },
     "@good: %m: merging gives index for slot 0, which is f32"},
    {"monoid merges no value", [](Kernel& k) { own_monoid(k, 0).merged[0] = {}; },
     "@good: %m: merging gives no value of its body"},
    {"monoid projects no value", [](Kernel& k) { own_monoid(k, 0).projected = {}; },
     "@good: %m: projecting gives no value of its body"},
};

TEST(Verifier, AcceptsAGoodKernel) {
  Parsed parsed(kGood);
  ASSERT_TRUE(parsed.ok()) << parsed.errors();
  EXPECT_EQ(to_text(verify(*parsed.module)), "");
}

TEST(Verifier, NamesEveryViolation) {
  for (const Case& test : kCases) {
    Parsed parsed(kGood);
    ASSERT_TRUE(parsed.ok()) << parsed.errors();
    test.damage(parsed.kernel());
    std::vector<Violation> violations = verify(*parsed.module);
    ASSERT_FALSE(violations.empty()) << test.name;
    EXPECT_EQ(violations[0].text(), test.expected) << test.name << "\n" << to_text(violations);
  }
}

TEST(Verifier, KernelNamesDiffer) {
  Parsed parsed("kernel @k() {}\nkernel @k() {}");
  ASSERT_TRUE(parsed.ok());
  EXPECT_EQ(to_text(verify(*parsed.module)), "@k: two kernels have this name\n");
}

TEST(Verifier, ReportsToTheUser) {
  Parsed parsed("kernel @k() {\n  %y: f32 = map [] {\n    %0 = const true : bool\n    yield %0\n  }\n}");
  report(verify(*parsed.module), parsed.diagnostics);
  EXPECT_EQ(parsed.first_error(), "2:3: @k: %y: gives bool, but %y has f32");
  EXPECT_EQ(row(parsed.diagnostics.all()[0].id).code, "E0812");
}

struct TypeCase {
  const char* body;
  const char* expected;
};
constexpr TypeCase kTypeCases[] = {
    {"%0 = neg %f : f64", "%0 = neg: operands are f32, not f64"},
    {"%0 = add %f, %i : f32", "%0 = add: operands are i32, not f32"},
    {"%0 = add %b, %b : bool", "%0 = add: expected a numeric type, found bool"},
    {"%0 = rem %f, %f : f32", "%0 = rem: expected an integer type, found f32"},
    {"%0 = and %f, %f : f32", "%0 = and: expected an integer type or bool, found f32"},
    {"%0 = xor %b, %b : bool", ""},
    {"%0 = shl %i, %f : i32", "%0 = shl: expected an integer count, found f32"},
    {"%0 = shl %f, %i : f32", "%0 = shl: expected an integer type, found f32"},
    {"%0 = shl %i, %l : i32", ""},
    {"%0 = lt %i, %l : bool", "%0 = lt: operands are i64, not i32"},
    {"%0 = lt %i, %i : i32", "%0 = lt: expected a result of type bool, found i32"},
    {"%0 = eq %b, %b : bool", ""},
    {"%0 = select %i, %f, %f : f32", "%0 = select: expected a bool as condition, found i32"},
    {"%0 = select %b, %f, %i : f32", "%0 = select: operands are i32, not f32"},
    {"%0 = cast %f : f8e4m3", ""},
    {"%0 = exp %i : i32", "%0 = exp: expected an operand that the function takes, found i32"},
    {"%0 = exp %f : f64", "%0 = exp: the result is f64, not f32"},
    {"%0 = isnan %f : f32", "%0 = isnan: the result is f32, not bool"},
    {"%0 = pow %f, %i : f32", "%0 = pow: operands are i32, not f32"},
    {"%0 = popcount %i : i32", ""},
    {"%0 = fma %f, %f : f32", "%0 = fma: takes 3 operands, not 2"},
};

TEST(Verifier, TypesOfInstructions) {
  for (const TypeCase& test : kTypeCases) {
    Parsed parsed(
        std::string(
            "kernel @k() { %y: f32 = map [] {\n %f = const 1 : f32 %i = const 1 : i32 %l = const 1 : i64 "
            "%b = const true : bool\n") +
        test.body + "\n yield %f } }");
    ASSERT_TRUE(parsed.ok()) << parsed.errors();
    std::vector<Violation> violations = verify(*parsed.module);
    std::string expected = test.expected;
    if (expected.empty()) {
      EXPECT_EQ(to_text(violations), "") << test.body;
      continue;
    }
    ASSERT_EQ(violations.size(), 1u) << test.body << to_text(violations);
    expected.replace(0, 2, "%4");
    EXPECT_EQ(violations[0].text(), "@k: %y: " + expected);
    EXPECT_EQ(parsed.sources.position(violations[0].span.file, violations[0].span.begin).line, 3u);
  }
}

}  // namespace
}  // namespace tenon::ir
