#include "ir/tile_verifier.h"

#include <gtest/gtest.h>

#include <functional>

#include "tile_parsed.h"

namespace tenon::ir {
namespace {

// The operation that defines a value of the text, which numbers values as they are printed: ids are found by
// the operation's place.
TileOp& op_at(TileModule& m, size_t at) { return m.ops[m.regions[m.kernels[0].body].ops[at]]; }
TileType& type_at(TileModule& m, size_t at) { return m.values[op_at(m, at).results[0]].type; }
AxisId axis(const TileModule& m, std::string_view name) {
  for (uint32_t i = 0; i < m.axes.size(); ++i)
    if (m.axes[AxisId(i)].name == name) return AxisId(i);
  ADD_FAILURE() << "no axis " << name;
  return {};
}

struct Case {
  const char* name;
  std::function<void(TileModule&)> damage;
  // The first violation: what it says, and a part of where.
  const char* message;
  const char* where;
};

// Places of operations in the first kernel's region.
enum {
  kPosition = 0,
  kMask = 2,
  kOtherwise = 3,
  kLoad = 4,
  kMul = 6,
  kArgmax = 8,
  kProducts = 9,
  kStore = 10
};

const Case kCases[] = {
    {"overflow", [](TileModule& m) { m.index.scale(m.index.constant(INT64_MAX), 2); },
     "the index pool has overflowed", "@good"},
    {"symbol twice", [](TileModule& m) { m.symbols[SymbolId(0)].name = "n"; }, "two symbols are called n",
     "@good"},
    {"shape of an axis", [](TileModule& m) { m.tensors[TensorId(2)].shape[0] = m.index.axis(axis(m, "k")); },
     "the shape of %acc mentions k, which has no value here", "@good"},
    {"fixed symbol", [](TileModule& m) { m.axes[axis(m, "j")].count = m.index.symbol(SymbolId(1)); },
     "the extent of axis j mentions N, which is fixed to 64", "@good"},
    {"same memory of two types", [](TileModule& m) { m.same_memory[0].first = TensorId(0); },
     "%x and %acc.new are the same memory and differ in type", "@good"},
    {"alignment", [](TileModule& m) { m.tensor_alignment[TensorId(0)] = 12; },
     "the alignment of %x is no power of two", "@good"},
    {"divisor", [](TileModule& m) { m.divisible[0].second = 3; }, "the divisor 3 is no power of two",
     "@good"},
    {"home of another extent", [](TileModule& m) { m.axes[axis(m, "c")].extent = 64; },
     "a home has 32 positions on axis c, not 64", "@good"},
    {"home with holes",
     [](TileModule& m) {
       Layout::Bases bases = m.homes[1].bases();
       bases.lanes[0] = {2};
       int64_t extent = 32;
       m.homes[1] = Layout::from_bases(m.homes[1].axes(), std::span(&extent, 1), bases);
     },
     "a home does not reach all positions", "@good"},
    {"homes of one axis", [](TileModule& m) { m.homes.push_back(m.homes[1]); },
     "two homes have an axis in common", "@good"},
    {"strides", [](TileModule& m) { m.buffers[BufferId(0)].strides.pop_back(); },
     "buffer %tile has not a stride for each dimension", "@good"},
    {"swizzle upwards", [](TileModule& m) { m.buffers[BufferId(1)].swizzle_to = 3; },
     "buffer %other has a swizzle that does not move bits to lower ones", "@good"},
    {"beyond shared memory", [](TileModule& m) { m.shared_bytes = 4284; },
     "buffer %other lies beyond the shared memory", "@good"},
    {"one buffer without place", [](TileModule& m) { m.buffers[BufferId(0)].offset = -1; },
     "buffer %tile has no place, but others have", "@good"},
    {"kernel names", [](TileModule& m) { m.kernels[1].name = "good.main"; },
     "two kernels are called good.main", "@good"},
    {"warps", [](TileModule& m) { m.kernels[1].warps = 3; }, "has 3 warps, not a power of two up to 32",
     "@good.merge"},
    {"grid of a tile axis", [](TileModule& m) { m.kernels[0].grid.push_back(axis(m, "k")); },
     "has a grid axis that is none", "@good.main"},
    {"grid axis twice", [](TileModule& m) { m.kernels[1].grid = {axis(m, "block_i")}; },
     "axis block_i belongs to something else too", "@good.merge"},
    {"shared region", [](TileModule& m) { m.kernels[1].body = m.kernels[0].body; }, "shares its region",
     "@good.merge"},
    {"no yield", [](TileModule& m) { m.regions[m.kernels[1].body].ops.pop_back(); },
     "its region does not end with its one yield", "@good.merge"},
    {"use before definition",
     [](TileModule& m) {
       std::vector<TileOpId>& ops = m.regions[m.kernels[0].body].ops;
       std::swap(ops[0], ops[2]);
     },
     "is not defined before it", "= lt "},
    {"use of another region's value",
     [](TileModule& m) {
       op_at(m, kStore).operands[0] =
           m.regions[m.ops[m.regions[m.kernels[0].body].ops[12]].regions[0]].arguments[0];
     },
     "is not defined before it", "store"},
    {"domain axis", [](TileModule& m) { op_at(m, kPosition).index = m.index.axis(axis(m, "j")); },
     "mentions j, an axis of the kernel's domain", "= index j"},
    {"another kernel's grid axis",
     [](TileModule& m) {
       TileOp& store = m.ops[m.regions[m.kernels[1].body].ops[1]];
       store.subscripts[0] = m.index.axis(axis(m, "block_i"));
     },
     "mentions block_i, which has no value here", "@good.merge: store"},
    {"float as index",
     [](TileModule& m) {
       op_at(m, kLoad).subscripts[1] = m.index.value(ValueId(op_at(m, kOtherwise).results[0].index()));
     },
     "which is f32 and not index", "= load"},
    {"types", [](TileModule& m) { type_at(m, kMul).element = ElementType::kF64; },
     "operands are f32, not f64", "= mul"},
    {"axes of a result",
     [](TileModule& m) {
       type_at(m, kMask).axes.clear();
       type_at(m, kMask).layout.reset();
     },
     "the result has not the axes that its operands have", "= lt"},
    {"axes descend", [](TileModule& m) { std::swap(type_at(m, kMul).axes[0], type_at(m, kMul).axes[1]); },
     "do not ascend", "= mul"},
    {"no layout", [](TileModule& m) { type_at(m, kMask).layout.reset(); },
     "has not a layout, unlike tiles before it", "= lt"},
    {"layout over other axes", [](TileModule& m) { type_at(m, kMask).layout = type_at(m, kMul).layout; },
     "is not over its axes", "= lt"},
    {"layout that is no projection",
     [](TileModule& m) {
       Layout::Bases bases = type_at(m, kMask).layout->bases();
       std::swap(bases.lanes[0], bases.lanes[4]);
       int64_t extent = 4;
       type_at(m, kMask).layout =
           Layout::from_bases(type_at(m, kMask).layout->axes(), std::span(&extent, 1), bases);
     },
     "is not in the layout in which it is used", "= lt"},
    {"layout for other warps", [](TileModule& m) { m.kernels[0].warps = 4; }, "is for 2 warps, not 4",
     "= index"},
    {"mask", [](TileModule& m) { op_at(m, kStore).operands[1] = op_at(m, kPosition).results[0]; },
     "has a mask of index, not bool", "store"},
    {"two values elsewhere",
     [](TileModule& m) { op_at(m, kLoad).operands.push_back(op_at(m, kLoad).operands[1]); },
     "has a mask and the value elsewhere, and no more", "= load"},
    {"two memories", [](TileModule& m) { op_at(m, kLoad).buffer = BufferId(0); },
     "accesses not one tensor or buffer", "= load"},
    {"subscripts", [](TileModule& m) { op_at(m, kLoad).subscripts.pop_back(); },
     "has 1 subscripts for 2 dimensions", "= load"},
    {"element type", [](TileModule& m) { m.tensors[TensorId(5)].element = ElementType::kF32; },
     "stores index to f32", "store"},
    {"positions of one element", [](TileModule& m) { op_at(m, kStore).subscripts[0] = m.index.constant(0); },
     "no subscript mentions axis i.1", "store"},
    {"reduced twice", [](TileModule& m) { op_at(m, kArgmax).reduced = {axis(m, "c")}; },
     "reduces along an axis that its operands have not", "tile.reduce"},
    {"slots", [](TileModule& m) { op_at(m, kArgmax).operands.pop_back(); }, "takes a state of 2 slots, not 1",
     "tile.reduce"},
    {"product of another monoid",
     [](TileModule& m) { op_at(m, kProducts).monoid = make_monoid(MonoidKind::kMax, ElementType::kF32); },
     "multiplies for a monoid that is no sum of floats", "tile.reduce"},
    {"layout of a reduction's result",
     [](TileModule& m) {
       Layout::Bases bases = type_at(m, kProducts).layout->bases();
       std::swap(bases.lanes[0], bases.lanes[4]);
       int64_t extent = 4;
       type_at(m, kProducts).layout =
           Layout::from_bases(type_at(m, kProducts).layout->axes(), std::span(&extent, 1), bases);
     },
     "a result is not in the projection of its operands' layout", "tile.reduce"},
    {"loop carries", [](TileModule& m) { op_at(m, 12).operands.pop_back(); }, "gives 2 results, not 1",
     "= loop"},
    {"loop starts", [](TileModule& m) { op_at(m, 12).operands[0] = op_at(m, kMask).results[0]; },
     "which is not of the carried type", "= loop"},
    {"loop yields",
     [](TileModule& m) {
       Region& region = m.regions[op_at(m, 12).regions[0]];
       m.ops[region.ops.back()].operands.pop_back();
     },
     "yields 1 values for 2 carried", "= loop"},
    {"loop result", [](TileModule& m) { type_at(m, 12).element = ElementType::kF64; },
     "is not of its argument's type", "= loop"},
    {"unrolled without count", [](TileModule& m) { op_at(m, 12).unroll = true; },
     "is unrolled and has no constant count", "= loop"},
    {"count of a tile", [](TileModule& m) { m.axes[axis(m, "loop_j")].count = m.index.axis(axis(m, "k")); },
     "has a count for each position of a tile", "= loop"},
    {"width", [](TileModule& m) { op_at(m, kLoad).vector = 3; }, "has a vector width of 3, no power of two",
     "= load"},
    {"width beyond the registers", [](TileModule& m) { op_at(m, kLoad).vector = 4; },
     "has a vector width of 4, which its registers do not fill", "= load"},
    {"width of a sum", [](TileModule& m) { op_at(m, kMul).vector = 2; }, "has a vector width", "= mul"},
    {"beyond a buffer", [](TileModule& m) { m.buffers[BufferId(0)].shape[1] = 16; },
     "accesses 0 to 31 of dimension 1, which has 16 positions", "= load"},
    {"bits", [](TileModule& m) { m.ops[m.regions[m.kernels[1].body].ops[0]].bits = 256; },
     "has bits 0x100, more than i8 has", "= const"},
    {"unused fields", [](TileModule& m) { op_at(m, kMul).bits = 1; }, "has bits of its own", "= mul"},
    {"approximate load", [](TileModule& m) { op_at(m, kLoad).approx = true; }, "has no approximate form",
     "= load"},
    {"tensor operation", [](TileModule& m) { op_at(m, kMul).op = Opcode::kMap; }, "is no operation on tiles",
     "= map"},
    {"unknown operand", [](TileModule& m) { op_at(m, kMul).operands[0] = TileValueId(999); },
     "has an operand that there is not", "= mul"},
};

TEST(TileVerifier, AcceptsAGoodModule) {
  ParsedTile parsed(kTileText);
  ASSERT_TRUE(parsed.ok()) << parsed.errors();
  EXPECT_EQ(to_text(verify(parsed.module())), "");
}

TEST(TileVerifier, NamesEveryViolation) {
  for (const Case& one : kCases) {
    ParsedTile parsed(kTileText);
    ASSERT_TRUE(parsed.ok()) << parsed.errors();
    one.damage(parsed.module());
    std::vector<Violation> violations = verify(parsed.module());
    ASSERT_FALSE(violations.empty()) << one.name;
    EXPECT_NE(violations[0].message.find(one.message), std::string::npos)
        << one.name << ": " << violations[0].text();
    EXPECT_NE(violations[0].where.find(one.where), std::string::npos)
        << one.name << ": " << violations[0].text();
  }
}

TEST(TileVerifier, SumsOverAxesOfBothFactors) {
  auto text = [](const char* b, const char* sum) {
    return std::string("tile.module @m { tile i: 2 tile j: 2 tile k: 2 tile.kernel @m threads(32) {") +
           "%a = const 1 : i32[i, k] %b = const 1 : i32[" + b + "] %c = const 0 : i32[" + sum +
           "] %d = mma %a, %b, %c : i32[" + sum + "] yield } }";
  };
  EXPECT_EQ(to_text(verify(ParsedTile(text("j, k", "i, j")).module())), "");
  EXPECT_EQ(to_text(verify(ParsedTile(text("j", "i, j")).module())),
            "@m: %3 = mma %0, %1, %2 : i32[i, j]: axis k of %0 is neither the accumulator's nor summed "
            "over\n");
}

}  // namespace
}  // namespace tenon::ir
